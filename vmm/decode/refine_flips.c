// SPDX-License-Identifier: GPL-2.0-or-later
/* Let sites change at other places than those of the recording, in the store of code. */
#include <stdlib.h>
#include <string.h>

#include "decode/refine_sites.h"
#include "trace/vec.h"

/* Insert the changes of a group behind @psb into the store of code. */
static void insert(struct decode_refine_sites *s, const struct decode_refine_group *g, uint64_t psb)
{
	const uint8_t *old = g->old;
	size_t i, k;

	for (k = 0; k < g->flips.n; k++) {
		const struct decode_refine_flip *flip = &g->flips.at[k];

		for (i = 0; i < g->count + g->more.n && flip->at > psb && !s->no_memory; i++) {
			const struct decode_code_step step = {decode_refine_sites_space(s, g, i),
							      g->vaddr, flip->at, old, flip->bytes};

			s->no_memory = decode_code_insert(s->store, &step);
		}
		old = flip->bytes;
	}
}

static void remove_all(struct decode_refine_sites *s, const struct decode_refine_group *g,
		       uint64_t psb)
{
	size_t i, k;

	for (k = g->flips.n; k-- > 0 && g->flips.at[k].at > psb;) {
		const struct decode_refine_flip *flip = &g->flips.at[k];
		const uint8_t *old = k ? flip[-1].bytes : g->old;

		for (i = 0; i < g->count + g->more.n; i++) {
			const struct decode_code_step step = {decode_refine_sites_space(s, g, i),
							      g->vaddr, flip->at, old, flip->bytes};

			decode_code_remove(s->store, &step);
		}
	}
}

/* Give a site its other content. */
static void toggle(const struct decode_refine_group *g, const struct decode_refine_site *site,
		   uint8_t *bytes)
{
	const size_t len = site->end - site->begin;
	const bool is_old = !memcmp(bytes + site->begin, g->old + site->begin, len);

	memcpy(bytes + site->begin, (is_old ? g->new : g->old) + site->begin, len);
}

/* Make the contents from change @k on. Earlier contents may still be in use by a decoder. */
static void make_contents(struct decode_refine_sites *s, struct decode_refine_group *g, size_t k)
{
	for (; k < g->flips.n && !s->no_memory; k++) {
		struct decode_refine_flip *flip = &g->flips.at[k];
		const uint8_t *old = k ? flip[-1].bytes : g->old;
		uint8_t *bytes = trace_vec_room(&s->pool) ? malloc(TRACE_CODE_BYTES) : NULL;

		if (!bytes) {
			s->no_memory = true;
			return;
		}
		s->pool.at[s->pool.n++] = bytes;
		memcpy(bytes, flip->site == DECODE_REFINE_SITE_ALL ? g->new : old,
		       TRACE_CODE_BYTES);
		if (flip->site != DECODE_REFINE_SITE_ALL)
			toggle(g, &g->sites[flip->site], bytes);
		flip->bytes = bytes;
	}
}

void decode_refine_sites_flip(struct decode_refine_sites *s,
			      const struct decode_refine_visit *visit, uint64_t psb)
{
	struct decode_refine_group *g = &s->groups[visit->group];
	size_t k;

	remove_all(s, g, psb);
	if (!trace_vec_room(&g->flips)) {
		s->no_memory = true;
		return;
	}
	k = trace_vec_before(g->flips.at, g->flips.n, e, e->at <= visit->at);
	memmove(g->flips.at + k + 1, g->flips.at + k, (g->flips.n - k) * sizeof(*g->flips.at));
	g->flips.at[k] = (struct decode_refine_flip){.at = visit->at, .site = visit->site};
	g->flips.n++;
	s->nflips++;
	make_contents(s, g, k);
	if (!s->no_memory)
		insert(s, g, psb);
}

void decode_refine_sites_unflip(struct decode_refine_sites *s,
				const struct decode_refine_visit *visit, uint64_t psb)
{
	struct decode_refine_group *g = &s->groups[visit->group];
	size_t k = g->flips.n;

	if (s->no_memory)
		return;
	remove_all(s, g, psb);
	while (k-- > 0 && (g->flips.at[k].at != visit->at || g->flips.at[k].site != visit->site))
		;
	g->flips.n--;
	s->nflips--;
	memmove(g->flips.at + k, g->flips.at + k + 1, (g->flips.n - k) * sizeof(*g->flips.at));
	make_contents(s, g, k);
	if (!s->no_memory)
		insert(s, g, psb);
}

static size_t reads_before(const struct decode_refine_sites *s, uint64_t at)
{
	return trace_vec_before(s->reads, s->ngroups, e, (*e)->from <= at);
}

uint64_t decode_refine_sites_next_read(const struct decode_refine_sites *s, uint64_t at)
{
	const size_t i = reads_before(s, at);

	return i < s->ngroups ? s->reads[i]->from : UINT64_MAX;
}

/* Returns true if all sites of the group can change right behind @psb, and sets the visit. */
static bool visit_all(const struct decode_refine_sites *s, size_t read, uint64_t psb,
		      struct decode_refine_visit *visit)
{
	const struct decode_refine_group *g = s->reads[read];

	*visit = (struct decode_refine_visit){
		.at = psb + 1,
		.group = (uint32_t)(g - s->groups),
		.site = DECODE_REFINE_SITE_ALL,
	};
	return g->after <= psb && g->from > psb + 1;
}

size_t decode_refine_sites_flip_reads(struct decode_refine_sites *s, uint64_t psb, uint64_t until)
{
	const size_t end = reads_before(s, until);
	struct decode_refine_visit visit;
	size_t i, n = 0;

	for (i = reads_before(s, psb); i < end && !s->no_memory; i++) {
		if (!visit_all(s, i, psb, &visit))
			continue;
		decode_refine_sites_flip(s, &visit, psb);
		n++;
	}
	return n;
}

void decode_refine_sites_unflip_reads(struct decode_refine_sites *s, uint64_t psb, uint64_t until)
{
	const size_t begin = reads_before(s, psb);
	struct decode_refine_visit visit;
	size_t i = reads_before(s, until);

	while (i-- > begin && !s->no_memory) {
		if (visit_all(s, i, psb, &visit))
			decode_refine_sites_unflip(s, &visit, psb);
	}
}

static int by_address(const void *a, const void *b)
{
	const uintptr_t x = (uintptr_t) * (uint8_t *const *)a,
			y = (uintptr_t) * (uint8_t *const *)b;

	return (x > y) - (x < y);
}

void decode_refine_sites_tidy(struct decode_refine_sites *s)
{
	uint8_t **kept = calloc(s->nflips + 1, sizeof(uint8_t *));
	size_t i, k, n = 0, left = 0;

	if (!kept)
		return;
	for (i = 0; i < s->ngroups; i++) {
		for (k = 0; k < s->groups[i].flips.n; k++)
			kept[n++] = s->groups[i].flips.at[k].bytes;
	}
	qsort(kept, n, sizeof(uint8_t *), by_address);
	for (i = 0; i < s->pool.n; i++) {
		uint8_t *bytes = s->pool.at[i];

		if (bsearch(&bytes, kept, n, sizeof(uint8_t *), by_address))
			s->pool.at[left++] = bytes;
		else
			free(bytes);
	}
	s->pool.n = left;
	free(kept);
}
