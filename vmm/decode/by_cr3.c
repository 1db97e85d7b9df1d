// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_cr3.h"

#include <stdlib.h>

#include "code.h"
#include "spaces.h"

#define PTI_USER   0x1000ull
#define FIRST_SIZE 64u

/* The number of a space of trace/code_source.h: which guest it is of, and its CR3. */
#define GUEST_BITS 0xfff0000000000000ull
#define CR3_BITS   (~GUEST_BITS)

struct vpt_by_cr3 {
	struct vpt_space **at; /* a hash table, NULL: free */
	size_t size, used;
	struct vpt_space *last;
	bool pti;
};

struct vpt_by_cr3 *vpt_by_cr3_new(bool pti)
{
	struct vpt_by_cr3 *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->size = FIRST_SIZE;
	all->pti = pti;
	all->at = calloc(all->size, sizeof(struct vpt_space *));
	if (!all->at) {
		free(all);
		return NULL;
	}
	return all;
}

void vpt_by_cr3_free(struct vpt_by_cr3 *all)
{
	size_t i;

	if (!all)
		return;
	for (i = 0; i < all->size; i++)
		free(all->at[i]);
	free(all->at);
	free(all);
}

/* Where a CR3 is, or would be. */
static struct vpt_space **slot(struct vpt_space **at, size_t size, uint64_t cr3)
{
	size_t i = (cr3 * 0x9e3779b97f4a7c15ull >> 32) & (size - 1);

	while (at[i] && at[i]->id != cr3)
		i = (i + 1) & (size - 1);
	return &at[i];
}

static bool grow(struct vpt_by_cr3 *all)
{
	struct vpt_space **more = calloc(2 * all->size, sizeof(struct vpt_space *));
	size_t i;

	if (!more)
		return false;
	for (i = 0; i < all->size; i++) {
		if (all->at[i])
			*slot(more, 2 * all->size, all->at[i]->id) = all->at[i];
	}
	free(all->at);
	all->at = more;
	all->size *= 2;
	return true;
}

static struct vpt_space *find(struct vpt_by_cr3 *all, uint64_t cr3)
{
	struct vpt_space **at;

	if (all->last && all->last->id == cr3)
		return all->last;
	if (2 * all->used >= all->size && !grow(all))
		return NULL;
	at = slot(all->at, all->size, cr3);
	if (!*at) {
		*at = malloc(sizeof(**at));
		if (!*at)
			return NULL;
		**at = (struct vpt_space){
			.id = cr3,
			.cr3 = cr3 & CR3_BITS,
			.vmcs = VPT_SPACE_ANY_VMCS,
			.flags = VPT_SPACE_ALONE | (cr3 & GUEST_BITS ? VPT_SPACE_NON_ROOT : 0),
			.vm = VPT_SPACE_NO_VM,
		};
		all->used++;
	}
	all->last = *at;
	return *at;
}

bool vpt_by_cr3_item(struct vpt_by_cr3 *all, struct vpt_item *item)
{
	if (item->cr3 == VPT_CR3_UNKNOWN)
		return true;
	item->space = find(all, all->pti ? item->cr3 & ~PTI_USER : item->cr3);
	return item->space != NULL;
}
