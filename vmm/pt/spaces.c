// SPDX-License-Identifier: GPL-2.0-or-later
/* A list with the last one found first: execution stays where it is for long. */
#include "pt/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"
#include "vpt/vmx_pt.h"

/* Beyond the 46 bits of any CR3 that a guest of this VMM can have. */
#define FIRST_ID 0x000f000000001000ull
#define ID_STEP	 0x1000u

static bool is_same(const struct vpt_space *a, const struct vpt_space *b)
{
	return a->cr3 == b->cr3 && a->vmcs == b->vmcs && a->flags == b->flags;
}

static struct vpt_space describe(const struct vpt_pt_vmx *vmx, const struct vpt_context *ctx)
{
	struct vpt_space space = {
		.cr3 = ctx->cr3 & VPT_MASK64(51, ctx->pae ? 5 : 12),
		.vmcs = VPT_SPACE_ANY_VMCS,
		.vm = VPT_SPACE_NO_VM,
		.name = VPT_ROOT_NAME,
	};

	if (vmx->non_root) {
		space.vmcs = vmx->vmcs;
		space.flags = VPT_SPACE_NON_ROOT;
		space.vm = 0;
		memset(space.name, 0, sizeof(space.name));
	}
	return space;
}

int vpt_spaces_note(struct vpt_space_table *spaces, const struct vpt_pt_vmx *vmx,
		    const struct vpt_context *ctx, struct vpt_space *space)
{
	size_t i;

	*space = describe(vmx, ctx);
	for (i = 0; i < spaces->n; i++) {
		size_t at = (spaces->last + i) % spaces->n;

		if (is_same(&spaces->at[at], space)) {
			spaces->last = at;
			*space = spaces->at[at];
			return 0;
		}
	}
	if (!vpt_vec_room(spaces))
		return -ENOMEM;
	space->id = FIRST_ID + spaces->n * ID_STEP;
	spaces->last = spaces->n;
	spaces->at[spaces->n++] = *space;
	return 1;
}

void vpt_spaces_free(struct vpt_space_table *spaces)
{
	free(spaces->at);
	memset(spaces, 0, sizeof(*spaces));
}
