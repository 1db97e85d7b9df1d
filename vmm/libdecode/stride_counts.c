// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Allocate the stride cache, and count how often blocks ran in its strides. */
#include <stdlib.h>

#include "libdecode/edges.h"
#include "libdecode/runs.h"
#include "libdecode/stride_inside.h"

#define FIRST_SLOTS 1024u
#define MAX_ENTRIES (1u << 24)

static size_t power_of_two(size_t max, size_t least)
{
	size_t n = least;

	while (n < MAX_ENTRIES && n <= max / 2)
		n *= 2;
	return n;
}

struct dec_strides *dec_strides_new(size_t max_bytes, bool counts)
{
	struct dec_strides *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->paths.kept = counts;
	s->mask = FIRST_SLOTS - 1;
	s->max = power_of_two(max_bytes / sizeof(*s->slot), FIRST_SLOTS);
	s->max_room =
		(uint32_t)power_of_two(max_bytes / sizeof(*s->paths.addresses), DEC_STRIDE_ROOM);
	s->slot = calloc(s->mask + 1, sizeof(*s->slot));
	if (!s->slot) {
		free(s);
		return NULL;
	}
	return s;
}

void dec_strides_free(struct dec_strides *s)
{
	if (!s)
		return;
	free(s->slot);
	dec_paths_free(&s->paths);
	free(s);
}

void dec_stride_expand(const struct dec_strides *s, const struct dec_flow *f, struct dec_stride *w)
{
	const uint32_t *path = s->paths.path + s->paths.addresses[w->stack + w->pops + w->pushes];
	uint32_t steps = *path++, i;

	for (i = 0; w->hits && i < steps; i++) {
		struct dec_block *block = dec_code_at(f->code, path[i] >> 1);
		const struct dec_block *to =
			i + 1 < steps ? dec_code_at(f->code, path[i + 1] >> 1) : w->to;

		if (f->walked)
			dec_runs_add(f->walked, block->id, w->hits);
		if (f->edges && DEC_NEEDS_TARGET >> block->end & 1)
			dec_edges_add(f->edges, block->id, to->ip, w->hits);
		else
			block->hits[path[i] & 1] += w->hits;
	}
	w->hits = 0;
}

void dec_strides_expand(struct dec_strides *s, const struct dec_flow *f)
{
	size_t i;

	for (i = 0; s->paths.kept && i <= s->mask; i++) {
		if (s->slot[i].from)
			dec_stride_expand(s, f, &s->slot[i]);
	}
}
