// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds address spaces that were written before their code was found. */
#include <errno.h>
#include <stdlib.h>

#include "trace/reader.h"
#include "trace/reader_state.h"
#include "trace/vec.h"

static int by_id(const void *a, const void *b)
{
	const struct trace_space *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* Clear NO_CODE of all spaces with this id, which are consecutive. */
static void has_code(struct trace_space **blind, size_t n, uint64_t id)
{
	size_t i = trace_vec_before(blind, n, e, (*e)->id < id);

	for (; i < n && blind[i]->id == id; i++)
		blind[i]->flags &= ~(uint32_t)TRACE_SPACE_NO_CODE;
}

int trace_reader_spaces_resolve(struct trace_reader *r)
{
	struct trace_space **blind;
	size_t n = 0, i;
	unsigned int v;

	if (!r->info || !r->spaces.n)
		return 0;
	blind = calloc(r->spaces.n, sizeof(struct trace_space *));
	if (!blind)
		return -ENOMEM;
	for (i = 0; i < r->spaces.n; i++) {
		if (r->spaces.at[i].flags & TRACE_SPACE_NO_CODE)
			blind[n++] = &r->spaces.at[i];
	}
	qsort(blind, n, sizeof(struct trace_space *), by_id);
	for (v = 0; n && v < r->info->vcpus; v++) {
		for (i = 0; i < r->vcpu[v].code.n; i++)
			has_code(blind, n, r->vcpu[v].code.at[i].page->cr3);
	}
	free(blind);
	return 0;
}
