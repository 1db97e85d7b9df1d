// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keep the longest calls of each cell of a vCPU. The length classes of calls are powers of two. If there
 * are too many calls, the fullest cell drops its class of the shortest calls. If most of its calls are
 * of this class, it drops them in every second chunk of the cell. In the other chunks calls remain
 * below their callers.
 */
#include "formats/report_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace/vec.h"

#define CELLS	256u
#define CLASSES 65u
/* Calls that are longer than a cell are in a cell of their own, which may have more calls. */
#define LONG	   CELLS
#define LONG_SHARE 64u
/* A cell has 2^CHUNKS chunks. */
#define CHUNKS 6u

struct cell {
	uint32_t n, of[CLASSES]; /* the number of kept calls, and of each class */
	uint8_t least;		 /* shorter classes are dropped */
	uint8_t stride;		 /* log2: one of so many chunks has class @least */
};

struct format_report_cells {
	unsigned int shift; /* a cell has 2^shift instructions */
	struct cell at[CELLS + 1];
};

static unsigned int class_of(uint64_t insns)
{
	return insns ? 64u - (unsigned int)__builtin_clzll(insns) : 0;
}

static uint64_t place(const struct format_report_spans *s, uint64_t clock)
{
	return clock > s->base ? clock - s->base : 0;
}

static struct cell *cell_of(const struct format_report_spans *s, struct format_report_cells *c,
			    const struct format_report_span *span)
{
	if ((span->end - span->begin) >> c->shift)
		return &c->at[LONG];
	return &c->at[place(s, span->begin) >> c->shift];
}

int format_report_spans_begin(struct format_report_spans *s, unsigned int vcpus, size_t max,
			      uint64_t base)
{
	*s = (struct format_report_spans){.max = max, .base = base, .nvcpus = vcpus};
	s->vcpus = calloc(vcpus, sizeof(*s->vcpus));
	return s->vcpus ? 0 : -ENOMEM;
}

void format_report_spans_free(struct format_report_spans *s)
{
	unsigned int i;

	for (i = 0; s->vcpus && i < s->nvcpus; i++)
		free(s->vcpus[i]);
	free(s->vcpus);
	free(s->lanes.at);
}

int format_report_spans_lane(struct format_report_spans *s, struct format_report_kept *lane)
{
	struct format_report_cells **cells = &s->vcpus[lane->vcpu];

	if (!*cells)
		*cells = calloc(1, sizeof(**cells));
	if (!*cells || !trace_vec_room(&s->lanes))
		return -ENOMEM;
	s->lanes.at[s->lanes.n++] = lane;
	return 0;
}

/* Returns true if a cell keeps a call. */
static bool stays(const struct format_report_spans *s, const struct format_report_cells *c,
		  const struct cell *cell, const struct format_report_span *span)
{
	const unsigned int class = class_of(span->end - span->begin);
	const unsigned int shift = cell == &c->at[LONG] ? c->shift
				   : c->shift > CHUNKS	? c->shift - CHUNKS
							: 0;

	if (class != cell->least)
		return class > cell->least;
	return !((place(s, span->begin) >> shift) & ((1u << cell->stride) - 1));
}

static void sweep_lane(struct format_report_spans *s, struct format_report_kept *lane)
{
	struct format_report_cells *c = s->vcpus[lane->vcpu];
	size_t i, n = 0;

	for (i = 0; i < lane->n; i++) {
		const struct format_report_span *span = &lane->at[i];
		const unsigned int class = class_of(span->end - span->begin);
		struct cell *cell = cell_of(s, c, span);

		if (!stays(s, c, cell, span))
			continue;
		cell->n++;
		cell->of[class]++;
		lane->at[n++] = *span;
	}
	lane->omitted += lane->n - n;
	s->n -= lane->n - n;
	lane->n = n;
}

/* Drop the calls that no cell keeps, and count the others. */
static void sweep(struct format_report_spans *s)
{
	unsigned int v, i, k;
	size_t l;

	for (v = 0; v < s->nvcpus; v++)
		for (i = 0; s->vcpus[v] && i <= CELLS; i++) {
			struct cell *cell = &s->vcpus[v]->at[i];

			cell->n = 0;
			for (k = 0; k < CLASSES; k++)
				cell->of[k] = 0;
		}
	for (l = 0; l < s->lanes.n; l++)
		sweep_lane(s, s->lanes.at[l]);
}

/* Let a cell keep no more than another. */
static void limit(struct cell *cell, const struct cell *by)
{
	if (by->least > cell->least) {
		cell->least = by->least;
		cell->stride = by->stride;
	} else if (by->least == cell->least && by->stride > cell->stride) {
		cell->stride = by->stride;
	}
}

/* Double the length of the cells of a vCPU. */
static void grow(struct format_report_spans *s, struct format_report_cells *c)
{
	static const struct cell none;
	unsigned int i;

	for (i = 0; i < CELLS; i++) {
		if (i >= CELLS / 2) {
			c->at[i] = none;
		} else {
			c->at[i] = c->at[2 * i];
			limit(&c->at[i], &c->at[2 * i + 1]);
		}
		/* Calls that are no longer long become a part of it. */
		if (c->at[LONG].least >= class_of(UINT64_C(1) << c->shift))
			limit(&c->at[i], &c->at[LONG]);
	}
	c->shift++;
	sweep(s);
}

static uint32_t fullness(const struct format_report_cells *c, unsigned int i)
{
	return i == LONG ? c->at[i].n / LONG_SHARE : c->at[i].n;
}

static struct cell *fullest(const struct format_report_spans *s)
{
	struct cell *best = NULL;
	uint32_t most = 0;
	unsigned int v, i;

	for (v = 0; v < s->nvcpus; v++)
		for (i = 0; s->vcpus[v] && i <= CELLS; i++)
			if (fullness(s->vcpus[v], i) >= most && s->vcpus[v]->at[i].n) {
				most = fullness(s->vcpus[v], i);
				best = &s->vcpus[v]->at[i];
			}
	return best;
}

/* Drop calls of a cell at the next sweep. Returns about how many. */
static uint32_t drop(struct cell *cell)
{
	uint32_t n;

	while (cell->least < CLASSES - 1 && !cell->of[cell->least]) {
		cell->least++;
		cell->stride = 0;
	}
	n = cell->of[cell->least];
	if (n > cell->n / 2 && cell->stride < CHUNKS) {
		cell->stride++;
		cell->of[cell->least] = n - n / 2;
		n /= 2;
	} else {
		cell->of[cell->least++] = 0;
		cell->stride = 0;
	}
	cell->n -= n;
	return n;
}

static void thin(struct format_report_spans *s)
{
	const size_t enough = s->max - s->max / 4;
	struct cell *cell;
	size_t n;

	while (s->n > enough) {
		n = s->n;
		while (n > enough && (cell = fullest(s)))
			n -= drop(cell);
		sweep(s);
	}
}

int format_report_spans_add(struct format_report_spans *s, struct format_report_kept *lane,
			    const struct format_report_span *span)
{
	struct format_report_cells *c = s->vcpus[lane->vcpu];
	struct cell *cell;

	while (place(s, span->end) >> c->shift >= CELLS)
		grow(s, c);
	cell = cell_of(s, c, span);
	if (!stays(s, c, cell, span)) {
		lane->omitted++;
		return 0;
	}
	if (!trace_vec_room(lane))
		return -ENOMEM;
	lane->at[lane->n++] = *span;
	cell->n++;
	cell->of[class_of(span->end - span->begin)]++;
	if (++s->n > s->max)
		thin(s);
	return 0;
}

/* Return the number of instructions from which on a cell has all calls. */
static uint64_t least_of(const struct cell *cell)
{
	const unsigned int all = cell->least + (cell->stride ? 1u : 0u);

	return all ? UINT64_C(1) << (all - 1) : 0;
}

uint64_t format_report_spans_least(const struct format_report_spans *s, unsigned int vcpu,
				   uint64_t clock)
{
	const struct format_report_cells *c = s->vcpus[vcpu];
	uint64_t own, other, i;

	if (!c)
		return 0;
	i = place(s, clock) >> c->shift;
	own = i < CELLS ? least_of(&c->at[i]) : 0;
	other = least_of(&c->at[LONG]);
	/* Long calls are missing only if the class of this length is dropped among them. */
	if (other <= UINT64_C(1) << c->shift)
		other = 0;
	return own > other ? own : other;
}

uint64_t format_report_spans_most(const struct format_report_spans *s)
{
	uint64_t most = 0, n;
	unsigned int v, i;

	for (v = 0; v < s->nvcpus; v++)
		for (i = 0; s->vcpus[v] && i <= CELLS; i++) {
			n = least_of(&s->vcpus[v]->at[i]);
			if (n > most)
				most = n;
		}
	return most;
}

void format_report_spans_write(const struct format_report_spans *s, FILE *out)
{
	unsigned int v, i;

	for (v = 0; v < s->nvcpus; v++) {
		const struct format_report_cells *c = s->vcpus[v];

		fprintf(out, "%s{\"from\":%" PRIu64 ",\"shift\":%u,\"least\":[", v ? "," : "[",
			s->base, c ? c->shift : 0);
		for (i = 0; c && i < CELLS; i++)
			fprintf(out, "%s%" PRIu64, i ? "," : "",
				format_report_spans_least(s, v,
							  s->base + ((uint64_t)i << c->shift)));
		fputs("]}", out);
	}
	putc(']', out);
}
