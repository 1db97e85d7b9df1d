// SPDX-License-Identifier: GPL-2.0-or-later
/* Address spaces that were written before their code was found. */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"
#include "reader_state.h"
#include "vec.h"

static int by_id(const void *a, const void *b)
{
	const struct vpt_space *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Clear NO_CODE of all spaces with this id, which are in a row. */
static void has_code(struct vpt_space **blind, size_t n, uint64_t id)
{
	size_t i = vpt_vec_before(blind, n, e, (*e)->id < id);

	for (; i < n && blind[i]->id == id; i++)
		blind[i]->flags &= ~(uint32_t)VPT_SPACE_NO_CODE;
}

int vpt_reader_spaces_resolve(struct vpt_reader *r)
{
	struct vpt_space **blind;
	size_t n = 0, i;
	unsigned int v;

	if (!r->info || !r->spaces.n)
		return 0;
	blind = calloc(r->spaces.n, sizeof(struct vpt_space *));
	if (!blind)
		return -ENOMEM;
	for (i = 0; i < r->spaces.n; i++) {
		if (r->spaces.at[i].flags & VPT_SPACE_NO_CODE)
			blind[n++] = &r->spaces.at[i];
	}
	qsort(blind, n, sizeof(struct vpt_space *), by_id);
	for (v = 0; n && v < r->info->vcpus; v++) {
		for (i = 0; i < r->vcpu[v].code.n; i++)
			has_code(blind, n, r->vcpu[v].code.at[i].page->cr3);
	}
	free(blind);
	return 0;
}
