// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Allocate the tracelet cache, and count how often blocks ran in its walks. */
#include <stdlib.h>

#include "libdecode/edges.h"
#include "libdecode/runs.h"
#include "libdecode/stride.h"
#include "libdecode/tracelet_inside.h"

#define TRACELET_SLOTS 4096u
/* The maximum number of entries of any array, whose indexes have 32 bits. */
#define MAX_ENTRIES (1u << 30)

/* Returns how many entries of @size bytes an array may have: a power of two. */
static uint32_t entries(size_t max_bytes, size_t size, uint32_t least)
{
	uint32_t n = least;

	while (n < MAX_ENTRIES && n <= max_bytes / size / 2)
		n *= 2;
	return n;
}

struct dec_tracelets *dec_tracelets_new(size_t max_bytes, bool counts)
{
	struct dec_tracelets *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->paths.kept = counts;
	t->mask = TRACELET_SLOTS - 1;
	t->max = entries(max_bytes, sizeof(*t->walk), TRACELET_SLOTS);
	t->max_addresses = entries(max_bytes, sizeof(*t->paths.addresses), DEC_TRACELET_ROOM);
	t->max_path = entries(max_bytes, sizeof(*t->paths.path), DEC_TRACELET_ROOM);
	t->walk = calloc(t->mask + 1, sizeof(*t->walk));
	t->strides = dec_strides_new(max_bytes / 8, counts);
	if (!t->walk || !t->strides) {
		dec_tracelets_free(t);
		return NULL;
	}
	return t;
}

void dec_tracelets_free(struct dec_tracelets *t)
{
	if (!t)
		return;
	dec_strides_free(t->strides);
	free(t->walk);
	dec_paths_free(&t->paths);
	free(t);
}

struct dec_strides *dec_tracelets_strides(const struct dec_tracelets *t)
{
	return t ? t->strides : NULL;
}

/*
 * The hits of all walks, by block. This array is a fraction of the size of the blocks, which are
 * not in the order of the walks.
 */
struct sum {
	uint64_t *hits;		  /* hits by id of the block and link, as in a path */
	struct dec_edges returns; /* the target is an id */
};

/*
 * A marker instead of the hits of a block's first link. The block ends with a RET, whose edges are
 * counted.
 */
#define IS_RET UINT64_MAX

static bool begin_sum(struct sum *sum, const struct dec_flow *f)
{
	uint32_t n = dec_code_count(f->code), id;

	*sum = (struct sum){.hits = calloc((size_t)n + 1, DEC_LINKS * sizeof(*sum->hits))};
	if (!sum->hits)
		return false;
	for (id = 0; f->edges && id < n; id++) {
		if (dec_code_at(f->code, id)->end == DEC_END_RET)
			sum->hits[(size_t)DEC_LINKS * id + DEC_FALL] = IS_RET;
	}
	return true;
}

static void add_path(struct sum *sum, const uint32_t *header, uint64_t count)
{
	const uint32_t *path = header + DEC_PATH_HEADER;
	uint32_t steps = header[DEC_PATH_STEPS], i;

	for (i = 0; i < steps; i++) {
		if (vpt_unlikely(sum->hits[path[i] ^ DEC_TAKEN] == IS_RET))
			dec_edges_add(&sum->returns, path[i] >> 1,
				      i + 1 < steps ? path[i + 1] >> 1 : header[DEC_PATH_TO],
				      count);
		else
			sum->hits[path[i]] += count;
	}
}

static void end_sum(struct sum *sum, const struct dec_flow *f)
{
	const struct dec_edges *returns = &sum->returns;
	uint32_t n = dec_code_count(f->code), id;
	size_t i;

	for (id = 0; id < n; id++) {
		const uint64_t *hits = &sum->hits[(size_t)DEC_LINKS * id];

		if (hits[DEC_FALL] == IS_RET || !(hits[DEC_FALL] | hits[DEC_TAKEN]))
			continue;
		if (f->walked)
			dec_runs_add(f->walked, id, hits[DEC_FALL] + hits[DEC_TAKEN]);
		dec_code_at(f->code, id)->hits[DEC_FALL] += hits[DEC_FALL];
		dec_code_at(f->code, id)->hits[DEC_TAKEN] += hits[DEC_TAKEN];
	}
	for (i = 0; returns->slots && i <= returns->mask; i++) {
		const struct dec_edge *e = &returns->slots[i];

		if (!e->count)
			continue;
		dec_edges_add(f->edges, e->from, dec_code_at(f->code, (uint32_t)e->to)->ip,
			      e->count);
		if (f->walked)
			dec_runs_add(f->walked, e->from, e->count);
	}
	if (returns->lost)
		f->edges->lost = true;
	dec_edges_free(&sum->returns);
	free(sum->hits);
}

/* Uses are gathered first, so that paths and their counts are read in the order of memory. */
bool dec_tracelets_expand(struct dec_tracelets *t, const struct dec_flow *f)
{
	struct sum sum;
	uint32_t at;
	size_t i;

	dec_strides_expand(t->strides, f);
	if (!t->paths.kept || dec_tracelet_marks(f) || !t->paths.npath)
		return true;
	if (!begin_sum(&sum, f))
		return false;
	for (i = 0; i <= t->mask; i++) {
		if (t->walk[i].hits)
			dec_tracelet_keep_hits(t, &t->walk[i]);
	}
	for (at = 0; at < t->paths.npath;
	     at += DEC_PATH_HEADER + t->paths.path[at + DEC_PATH_STEPS]) {
		uint64_t *count = &t->paths.addresses[t->paths.path[at + DEC_PATH_PLACE] + 1];

		if (*count)
			add_path(&sum, &t->paths.path[at], *count);
		*count = 0;
	}
	end_sum(&sum, f);
	return true;
}
