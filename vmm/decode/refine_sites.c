// SPDX-License-Identifier: GPL-2.0-or-later
/* List the sites of recorded changes, and group them. */
#include "decode/refine_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

/* Differing bytes with fewer equal bytes between them are one site. */
#define SITE_GAP 4u
/* The maximum number of sites of a page: a differing byte, and SITE_GAP equal ones. */
#define SITES_MAX (TRACE_CODE_BYTES / (SITE_GAP + 1) + 1)

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_bytes(const uint8_t *a, const uint8_t *b)
{
	return a == b ? 0 : memcmp(a, b, TRACE_CODE_BYTES);
}

static int by_group(const void *a, const void *b)
{
	const struct decode_code_step *x = &((const struct decode_refine_step *)a)->is;
	const struct decode_code_step *y = &((const struct decode_refine_step *)b)->is;
	int d = compare(x->vaddr, y->vaddr);

	if (!d)
		d = compare(x->from, y->from);
	if (!d)
		d = compare_bytes(x->old, y->old);
	return d ? d : compare_bytes(x->new, y->new);
}

static int by_place(const void *a, const void *b)
{
	const struct decode_code_step *x = &(*(struct decode_refine_step *const *)a)->is;
	const struct decode_code_step *y = &(*(struct decode_refine_step *const *)b)->is;
	int d = compare(x->cr3, y->cr3);

	if (!d)
		d = compare(x->vaddr, y->vaddr);
	return d ? d : compare(x->from, y->from);
}

static int by_read(const void *a, const void *b)
{
	const struct decode_refine_group *x = *(struct decode_refine_group *const *)a;
	const struct decode_refine_group *y = *(struct decode_refine_group *const *)b;
	const int d = compare(x->from, y->from);

	return d ? d : (x > y) - (x < y);
}

static bool find_sites(struct decode_refine_group *g)
{
	struct decode_refine_site all[SITES_MAX];
	unsigned int i;

	for (i = 0; i < TRACE_CODE_BYTES; i++) {
		if (g->old[i] == g->new[i])
			continue;
		if (!g->nsites || i - all[g->nsites - 1].end >= SITE_GAP)
			all[g->nsites++].begin = (uint16_t)i;
		all[g->nsites - 1].end = (uint16_t)(i + 1);
	}
	g->sites = malloc(g->nsites * sizeof(*all));
	if (g->sites)
		memcpy(g->sites, all, g->nsites * sizeof(*all));
	return g->sites;
}

/*
 * Return the position at which the version before a step was found. A read in between proves nothing,
 * because the recorder does not compare every page at every read.
 */
static uint64_t known_at(const struct decode_refine_sites *s, size_t place)
{
	const struct decode_code_step *is = &s->places[place]->is;
	const struct decode_code_step *before = place ? &s->places[place - 1]->is : NULL;

	return before && before->cr3 == is->cr3 && before->vaddr == is->vaddr
		       ? before->from
		       : decode_code_first(s->store, is->cr3, is->vaddr);
}

static bool make_groups(struct decode_refine_sites *s)
{
	size_t i;

	for (i = 0; i < s->nsteps; i++) {
		const struct decode_code_step *is = &s->steps[i].is;

		if (!i || by_group(&s->steps[i - 1], &s->steps[i])) {
			s->groups[s->ngroups] = (struct decode_refine_group){
				.vaddr = is->vaddr,
				.from = is->from,
				.old = is->old,
				.new = is->new,
				.first = i,
			};
			s->reads[s->ngroups] = &s->groups[s->ngroups];
			if (!find_sites(&s->groups[s->ngroups++]))
				return false;
		}
		s->groups[s->ngroups - 1].count++;
		s->steps[i].group = s->ngroups - 1;
		s->places[i] = &s->steps[i];
	}
	return true;
}

int decode_refine_sites_open(struct decode_refine_sites *s, struct decode_code_store *store)
{
	const size_t n = decode_code_changes(store);
	size_t i;

	*s = (struct decode_refine_sites){.store = store};
	s->steps = calloc(n + 1, sizeof(*s->steps));
	s->places = calloc(n + 1, sizeof(struct decode_refine_step *));
	s->groups = calloc(n + 1, sizeof(*s->groups));
	s->reads = calloc(n + 1, sizeof(struct decode_refine_group *));
	if (!s->steps || !s->places || !s->groups || !s->reads || n > UINT32_MAX)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		s->steps[s->nsteps].is = decode_code_step_at(store, i);
		if (compare_bytes(s->steps[s->nsteps].is.old, s->steps[s->nsteps].is.new))
			s->nsteps++;
	}
	qsort(s->steps, s->nsteps, sizeof(*s->steps), by_group);
	if (!make_groups(s))
		return -ENOMEM;
	qsort(s->places, s->nsteps, sizeof(struct decode_refine_step *), by_place);
	qsort(s->reads, s->ngroups, sizeof(struct decode_refine_group *), by_read);
	for (i = 0; i < s->nsteps; i++) {
		struct decode_refine_group *g = &s->groups[s->places[i]->group];
		const uint64_t at = known_at(s, i);

		if (at > g->after)
			g->after = at;
	}
	return 0;
}

void decode_refine_sites_close(struct decode_refine_sites *s)
{
	size_t i;

	for (i = 0; i < s->ngroups; i++) {
		free(s->groups[i].sites);
		free(s->groups[i].flips.at);
		free(s->groups[i].more.at);
	}
	for (i = 0; i < s->pool.n; i++)
		free(s->pool.at[i]);
	free(s->pool.at);
	free(s->copies.at);
	free(s->steps);
	free(s->places);
	free(s->groups);
	free(s->reads);
}

static size_t copies_before(const struct decode_refine_sites *s, uint64_t cr3, uint64_t vaddr)
{
	return trace_vec_before(s->copies.at, s->copies.n, e,
				e->cr3 < cr3 || (e->cr3 == cr3 && e->vaddr < vaddr));
}

/* Return the space whose versions the page has: its own or a donor. */
static uint64_t donor_of(const struct decode_refine_sites *s, uint64_t cr3, uint64_t vaddr)
{
	const size_t i = copies_before(s, cr3, vaddr);
	const struct decode_refine_copy *copy = i < s->copies.n ? &s->copies.at[i] : NULL;

	return copy && copy->cr3 == cr3 && copy->vaddr == vaddr ? copy->donor : cr3;
}

/* Find the first change behind @at of the page at @vaddr. Returns NULL if there is none. */
static const struct decode_refine_step *next_step(const struct decode_refine_sites *s, uint64_t cr3,
						  uint64_t vaddr, uint64_t at)
{
	const uint64_t donor = s->copies.n ? donor_of(s, cr3, vaddr) : cr3;
	struct decode_refine_step key = {.is = {.cr3 = donor, .vaddr = vaddr, .from = at}};
	struct decode_refine_step *pointer = &key;
	const size_t i = trace_vec_before(s->places, s->nsteps, e, by_place(e, &pointer) <= 0);
	const struct decode_refine_step *step = i < s->nsteps ? s->places[i] : NULL;

	return step && step->is.cr3 == donor && step->is.vaddr == vaddr ? step : NULL;
}

int decode_refine_sites_copy(struct decode_refine_sites *s, const struct decode_refine_copy *copy)
{
	const struct decode_refine_step *step = next_step(s, copy->donor, copy->vaddr, 0);
	const size_t i = copies_before(s, copy->cr3, copy->vaddr);
	struct decode_refine_copy is = *copy;

	is.donor = donor_of(s, copy->donor, copy->vaddr);
	if (!trace_vec_room(&s->copies))
		return -ENOMEM;
	memmove(s->copies.at + i + 1, s->copies.at + i, (s->copies.n - i) * sizeof(is));
	s->copies.at[i] = is;
	s->copies.n++;
	for (; step; step = next_step(s, is.donor, is.vaddr, step->is.from)) {
		struct decode_refine_group *g = &s->groups[step->group];

		if (!trace_vec_room(&g->more))
			return -ENOMEM;
		g->more.at[g->more.n++] = is.cr3;
	}
	return 0;
}

void decode_refine_sites_uncopy(struct decode_refine_sites *s,
				const struct decode_refine_copy *copy)
{
	const struct decode_refine_step *step = next_step(s, copy->cr3, copy->vaddr, 0);
	const size_t i = copies_before(s, copy->cr3, copy->vaddr);

	for (; step; step = next_step(s, copy->cr3, copy->vaddr, step->is.from))
		s->groups[step->group].more.n--;
	s->copies.n--;
	memmove(s->copies.at + i, s->copies.at + i + 1, (s->copies.n - i) * sizeof(*s->copies.at));
}

uint64_t decode_refine_sites_space(const struct decode_refine_sites *s,
				   const struct decode_refine_group *g, size_t i)
{
	return i < g->count ? s->steps[g->first + i].is.cr3 : g->more.at[i - g->count];
}

static bool append(struct decode_refine_visits *v, const struct decode_refine_visit *visit)
{
	if (v->n == 2 * DECODE_REFINE_VISITS_MAX) {
		memmove(v->at, v->at + DECODE_REFINE_VISITS_MAX,
			DECODE_REFINE_VISITS_MAX * sizeof(*v->at));
		v->n = DECODE_REFINE_VISITS_MAX;
	}
	if (!trace_vec_room(v))
		return false;
	v->at[v->n++] = *visit;
	return true;
}

bool decode_refine_sites_find(const struct decode_refine_sites *s,
			      const struct decode_refine_range *range,
			      struct decode_refine_visits *visits)
{
	const uint64_t first = range->begin & ~(uint64_t)(TRACE_CODE_BYTES - 1);
	const uint64_t pages = (range->end - 1 - first) / TRACE_CODE_BYTES + 1;
	uint64_t k, at = range->at > range->psb ? range->at : range->psb + 1;
	uint32_t i;

	for (k = 0; k < pages; k++) {
		const uint64_t page = first + k * TRACE_CODE_BYTES;
		const struct decode_refine_step *step = next_step(s, range->cr3, page, at);
		const struct decode_refine_group *g = step ? &s->groups[step->group] : NULL;
		struct decode_refine_visit visit = {.at = at};

		if (!g)
			continue;
		if (visit.at <= g->after)
			visit.at = g->after + 1;
		visit.group = (uint32_t)step->group;
		for (i = 0; i < g->nsites && visit.at < g->from; i++) {
			/* Compare distances, because addresses can wrap around. */
			if (page + g->sites[i].end - first <= range->begin - first ||
			    page + g->sites[i].begin - first >= range->end - first)
				continue;
			visit.site = i;
			if (!append(visits, &visit))
				return false;
		}
	}
	return true;
}
