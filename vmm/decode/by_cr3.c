// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_cr3.h"

#include <stdlib.h>

#include "code.h"
#include "spaces.h"
#include "trace/pairs.h"

#define PTI_USER 0x1000ull

/* The number of a space of trace/code_source.h: which guest it is of, and its CR3. */
#define GUEST_BITS 0xfff0000000000000ull
#define CR3_BITS   (~GUEST_BITS)

struct vpt_by_cr3 {
	struct vpt_pairs all; /* (number, 0) to the pointer of its space */
	struct vpt_space *last;
	bool pti;
};

struct vpt_by_cr3 *vpt_by_cr3_new(bool pti)
{
	struct vpt_by_cr3 *all = calloc(1, sizeof(*all));

	if (all)
		all->pti = pti;
	return all;
}

void vpt_by_cr3_free(struct vpt_by_cr3 *all)
{
	size_t i;

	if (!all)
		return;
	for (i = 0; i < all->all.n; i++)
		free((void *)(uintptr_t)all->all.at[i].value);
	vpt_pairs_free(&all->all);
	free(all);
}

static struct vpt_space *find(struct vpt_by_cr3 *all, uint64_t cr3)
{
	struct vpt_pair *entry;
	struct vpt_space *space;

	if (all->last && all->last->id == cr3)
		return all->last;
	entry = vpt_pairs_add(&all->all, cr3, 0);
	if (entry && !entry->value) {
		space = malloc(sizeof(*space));
		if (!space)
			return NULL;
		*space = (struct vpt_space){
			.id = cr3,
			.cr3 = cr3 & CR3_BITS,
			.vmcs = VPT_SPACE_ANY_VMCS,
			.flags = VPT_SPACE_ALONE | (cr3 & GUEST_BITS ? VPT_SPACE_NON_ROOT : 0),
			.vm = VPT_SPACE_NO_VM,
		};
		entry->value = (uintptr_t)space;
	}
	all->last = entry ? (struct vpt_space *)(uintptr_t)entry->value : NULL;
	return all->last;
}

bool vpt_by_cr3_item(struct vpt_by_cr3 *all, struct vpt_item *item)
{
	if (item->cr3 == VPT_CR3_UNKNOWN)
		return true;
	item->space = find(all, all->pti ? item->cr3 & ~PTI_USER : item->cr3);
	return item->space != NULL;
}
