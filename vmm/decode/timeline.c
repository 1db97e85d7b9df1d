// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the time at an offset of a stream by its marks. */
#include "decode/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "decode/timeline_scan.h"

/* The maximum number of marks to read ahead for the next known time. */
#define MARKS 16384
/* The number of used marks that are dropped at once. */
#define DROP (MARKS / 2)

#define NEVER DECODE_NEVER

struct decode_timeline {
	struct decode_timeline_scan scan;
	bool end;     /* the end of the stream was reached */
	size_t n, at; /* the number of marks; the first mark after the last requested offset */
	struct {
		size_t from, to; /* mark `to` is the first anchor at or after `from` */
	} found[2];
	size_t none_from, none_to; /* no anchor is in this range */
	struct decode_mark last;   /* the mark before `at` */
	struct decode_mark from;   /* the anchor before `at` */
	bool has_last, has_from;
	struct decode_mark flow, flow_from; /* the same marks for the last packet of the flow */
	bool has_flow, flow_has_from;
	bool flow_new;	  /* flow_time must still be computed */
	size_t flow_next; /* the mark after `flow`, while flow_new is set */
	struct decode_when flow_time;
	struct decode_timeline_sum sum;
	struct decode_mark marks[MARKS];
};

struct decode_timeline *decode_timeline_new(const struct decode_timeline_config *config)
{
	struct decode_timeline *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	memset(c, 0, offsetof(struct decode_timeline, marks));
	decode_timeline_scan_init(&c->scan, config);
	return c;
}

void decode_timeline_free(struct decode_timeline *c)
{
	free(c);
}

/* Return mark `i`. NULL if the stream has no such mark, or if it is too far ahead. */
static const struct decode_mark *mark(struct decode_timeline *c, size_t i)
{
	while (i >= c->n) {
		if (c->end || c->n == MARKS)
			return NULL;
		if (decode_timeline_scan_next(&c->scan, &c->marks[c->n]))
			c->n++;
		else
			c->end = true;
	}
	return &c->marks[i];
}

/* Return the first anchor at or after mark `i`, or NULL. */
static const struct decode_mark *next_anchor(struct decode_timeline *c, size_t i)
{
	const struct decode_mark *m;
	size_t from = i, k;

	for (k = 0; k < 2; k++) {
		if (c->found[k].from <= i && i <= c->found[k].to && c->found[k].to < c->n &&
		    c->marks[c->found[k].to].anchor)
			return &c->marks[c->found[k].to];
	}
	if (c->none_from <= i && i < c->none_to)
		i = c->none_to;
	while ((m = mark(c, i)) && !m->anchor)
		i++;
	if (m) {
		c->found[1] = c->found[0];
		c->found[0].from = from;
		c->found[0].to = i;
	} else {
		if (from < c->none_from || from > c->none_to)
			c->none_from = from;
		c->none_to = i;
	}
	return m;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > NEVER - b ? NEVER : a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t ticks_up(uint64_t part)
{
	return part / DECODE_TICK + (part % DECODE_TICK != 0);
}

/*
 * Return the upper bound for `m`, which is eligible. `a` is the anchor before it, and `b` the
 * anchor after it or NULL.
 */
static uint64_t upper(const struct decode_mark *m, const struct decode_mark *a,
		      const struct decode_mark *b)
{
	uint64_t hi = NEVER;

	if (m->lost == a->lost && a->next != NEVER)
		hi = sub(a->next, 1);
	if (m->wild == a->wild) {
		uint64_t by = add(a->tsc_hi, ticks_up(m->most - a->most + m->slack) + 1);

		hi = by < hi ? by : hi;
	}
	if (b && b->tsc_hi != NEVER) {
		uint64_t gone = sub(b->least - m->least, m->slack) / DECODE_TICK;
		uint64_t by = add(sub(b->tsc_hi, gone), gone != 0);

		hi = by < hi ? by : hi;
	}
	return hi;
}

static uint64_t lower(const struct decode_mark *m, const struct decode_mark *a,
		      const struct decode_mark *b)
{
	uint64_t lo = add(a->tsc_lo, sub(sub(m->least - a->least, a->slack) / DECODE_TICK, 1));

	if (b && !b->alone && m->wild == b->wild) {
		uint64_t by = sub(b->tsc_lo, ticks_up(b->most - m->most + b->slack) + 1);

		lo = by > lo ? by : lo;
	}
	return lo;
}

/* Return the upper bound for instructions before or at mark `i`. `a` is the anchor before it. */
static uint64_t upper_from(struct decode_timeline *c, size_t i, const struct decode_mark *a)
{
	const struct decode_mark *m;

	while ((m = mark(c, i)) && !m->anchor && !m->eligible)
		i++;
	if (!m) /* The absence of an MTC can still bound the time. */
		return i && c->marks[i - 1].lost == a->lost ? sub(a->next, a->next != NEVER)
							    : NEVER;
	return m->anchor ? m->tsc_hi : upper(m, a, next_anchor(c, i + 1));
}

/* Return the upper bound for instructions before the next packet of the flow, from mark `i` on. */
static uint64_t upper_flow(struct decode_timeline *c, size_t i, struct decode_mark a)
{
	const struct decode_mark *m;

	for (; (m = mark(c, i)) && !m->flow; i++) {
		if (m->anchor)
			a = *m;
	}
	return upper_from(c, i, &a);
}

static uint64_t middle(const struct decode_mark *a)
{
	return a->tsc_hi == NEVER ? a->tsc_lo : a->tsc_lo + (a->tsc_hi - a->tsc_lo) / 2;
}

static uint64_t estimate(const struct decode_mark *m, const struct decode_mark *a,
			 const struct decode_mark *b)
{
	uint64_t ticks = m->ticks - a->ticks;
	uint64_t begin = middle(a);

	if (b && !b->alone && b->ticks - a->ticks && middle(b) > begin)
		return begin + decode_muldiv(middle(b) - begin, ticks, b->ticks - a->ticks);
	return add(begin, ticks / DECODE_TICK);
}

/* Return the packet that has the CYC of the event that `m` begins, or `m` itself. */
static const struct decode_mark *joined(struct decode_timeline *c, const struct decode_mark *m,
					size_t i)
{
	const struct decode_mark *next;

	while ((next = mark(c, i)) && next->joins)
		i++;
	return next && next->eligible && next->lost == m->lost ? next : m;
}

/* Compute the time of mark `m`. `a` is the anchor before it. Later marks begin with `i`. */
static void make_time(struct decode_timeline *c, const struct decode_mark *m,
		      const struct decode_mark *a, size_t i, struct decode_when *t)
{
	const struct decode_mark *b = next_anchor(c, i);

	t->known = true;
	t->relative = a->relative;
	t->cycles = m->cycles;
	t->span_cycles = t->span_ticks = 0;
	if (b && !b->alone && b->counted && b->lost == a->lost && b->tsc_lo > a->tsc_lo) {
		t->span_cycles = b->cycles - a->cycles;
		t->span_ticks = b->tsc_lo - a->tsc_lo;
	}
	t->until = upper_flow(c, i, *a);
	if (m->anchor) {
		t->tsc = middle(m);
		t->lo = m->tsc_lo;
		t->hi = m->tsc_hi;
		t->until = t->until < t->hi ? t->hi : t->until;
		return;
	}
	t->lo = lower(m, a, b);
	t->hi = m->eligible ? upper(m, a, b) : upper_from(c, i, a);
	/* The core clock does not match CBR. */
	if (t->lo > t->hi) {
		t->lo = a->tsc_lo;
		t->hi = b && b->tsc_hi >= t->lo ? b->tsc_hi : NEVER;
	}
	t->tsc = estimate(m->joins ? joined(c, m, i) : m, a, b);
	if (t->tsc < t->lo)
		t->tsc = t->lo;
	if (t->tsc > t->hi)
		t->tsc = t->hi;
	if (t->until < t->hi)
		t->until = t->hi;
}

static void make_flow_time(struct decode_timeline *c)
{
	if (!c->flow_new)
		return;
	c->flow_new = false;
	memset(&c->flow_time, 0, sizeof(c->flow_time));
	c->flow_time.cycles = c->flow.cycles;
	if (c->flow_has_from)
		make_time(c, &c->flow, &c->flow_from, c->flow_next, &c->flow_time);
}

static void drop(struct decode_timeline *c)
{
	c->n -= DROP;
	c->at -= DROP;
	memset(c->found, 0, sizeof(c->found));
	c->none_from = sub(c->none_from, DROP);
	c->none_to = sub(c->none_to, DROP);
	memmove(c->marks, c->marks + DROP, c->n * sizeof(c->marks[0]));
}

static void pass_anchor(struct decode_timeline *c, const struct decode_mark *m)
{
	const struct decode_mark *a = &c->from;

	if (c->has_from && !m->alone && m->counted && a->counted && m->lost == a->lost &&
	    m->tsc_lo > a->tsc_lo) {
		c->sum.cycles += m->cycles - a->cycles;
		c->sum.ticks += m->tsc_lo - a->tsc_lo;
	}
	c->from = *m;
	c->has_from = true;
}

static void go_to(struct decode_timeline *c, uint64_t offset)
{
	const struct decode_mark *m;

	while ((m = mark(c, c->at)) && m->end <= offset) {
		c->at++;
		c->last = *m;
		c->has_last = true;
		if (m->anchor)
			pass_anchor(c, m);
		if (m->flow) {
			c->flow = *m;
			c->flow_from = c->from;
			c->has_flow = true;
			c->flow_has_from = c->has_from;
			c->flow_new = true;
			c->flow_next = c->at;
		}
		if (c->at > DROP) {
			make_flow_time(c);
			drop(c);
		}
	}
}

void decode_timeline_packet(struct decode_timeline *c, uint64_t offset, struct decode_when *time)
{
	go_to(c, offset);
	memset(time, 0, sizeof(*time));
	time->cycles = c->has_last ? c->last.cycles : 0;
	if (c->has_last && c->has_from)
		make_time(c, &c->last, &c->from, c->at, time);
}

void decode_timeline_flow(struct decode_timeline *c, uint64_t offset, struct decode_when *time)
{
	go_to(c, offset);
	if (!c->has_flow) {
		decode_timeline_packet(c, offset, time);
		return;
	}
	make_flow_time(c);
	*time = c->flow_time;
}

void decode_timeline_sum(const struct decode_timeline *c, struct decode_timeline_sum *sum)
{
	*sum = c->sum;
}
