// SPDX-License-Identifier: GPL-2.0-or-later
/* Keep a list of spaces, with a hash table by their keys. The last space found is checked first. */
#include "pt/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"
#include "vpt/vmx_pt.h"

/* The ids are beyond the 46 bits of any CR3 that a guest of this VMM can have. */
#define FIRST_ID 0x000f000000001000ull
#define ID_STEP	 0x1000u
#define BUCKETS	 (2 * TRACER_SPACES_MOST)

static bool is_same(const struct trace_space *a, const struct trace_space *b)
{
	return a->cr3 == b->cr3 && a->vmcs == b->vmcs && a->flags == b->flags;
}

static struct trace_space describe(const struct vpt_pt_vmx *vmx, const struct vpt_context *ctx)
{
	struct trace_space space = {
		.cr3 = ctx->cr3 & VPT_MASK64(51, ctx->pae ? 5 : 12),
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.vm = TRACE_SPACE_NO_VM,
		.name = TRACER_ROOT_NAME,
	};

	if (vmx->non_root) {
		space.vmcs = vmx->vmcs;
		space.flags = TRACE_SPACE_NON_ROOT;
		space.vm = 0;
		memset(space.name, 0, sizeof(space.name));
	}
	return space;
}

/* Return the bucket of a space, or the free bucket for it. */
static uint32_t *find(const struct tracer_space_table *spaces, const struct trace_space *space)
{
	uint64_t hash = ((space->cr3 >> 5) + space->vmcs + space->flags) * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(hash >> 32) % BUCKETS;

	while (spaces->bucket[i] && !is_same(&spaces->at[spaces->bucket[i] - 1], space))
		i = (i + 1) % BUCKETS;
	return &spaces->bucket[i];
}

int tracer_spaces_note(struct tracer_space_table *spaces, const struct vpt_pt_vmx *vmx,
		       const struct vpt_context *ctx, struct trace_space *space)
{
	uint32_t *bucket;

	*space = describe(vmx, ctx);
	if (spaces->n && is_same(&spaces->at[spaces->last], space)) {
		*space = spaces->at[spaces->last];
		return 0;
	}
	if (!spaces->bucket)
		spaces->bucket = calloc(BUCKETS, sizeof(*spaces->bucket));
	if (!spaces->bucket)
		return -ENOMEM;
	bucket = find(spaces, space);
	if (*bucket) {
		spaces->last = *bucket - 1;
		*space = spaces->at[spaces->last];
		return 0;
	}
	if (spaces->n == TRACER_SPACES_MOST)
		return -ENOSPC;
	if (!trace_vec_room(spaces))
		return -ENOMEM;
	space->id = FIRST_ID + spaces->n * ID_STEP;
	spaces->last = spaces->n;
	spaces->at[spaces->n++] = *space;
	*bucket = (uint32_t)spaces->n;
	return 1;
}

void tracer_spaces_free(struct tracer_space_table *spaces)
{
	free(spaces->at);
	free(spaces->bucket);
	memset(spaces, 0, sizeof(*spaces));
}
