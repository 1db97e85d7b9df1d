// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gather the contents of the page of vpt report. The longest calls of each part are kept. Frequent events are
 * thinned out by halves, and all of them are counted. Functions and address spaces are all kept.
 */
#include "formats/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/walk.h"
#include "trace/vec.h"

#define SPANS_MAX  60000u
#define EVENTS_MAX 100000u
#define MARKS_MAX  20000u

/* Return the clock at which the calls of a page begin. */
static uint64_t base_of(const struct format_run *run)
{
	const struct format_walk *walk = run->walk;
	uint64_t base = walk->cut ? DECODE_CUT_NEVER : 0;
	unsigned int i;

	for (i = 0; walk->cut && i < trace_reader_info(run->reader)->vcpus; i++)
		if (walk->cut[i].from < base)
			base = walk->cut[i].from;
	return base == DECODE_CUT_NEVER ? 0 : base;
}

static struct format_report *begin_any(struct format_run *run)
{
	const unsigned int vcpus = trace_reader_info(run->reader)->vcpus;
	struct format_report *r = calloc(1, sizeof(*r));

	run->own = r;
	if (!r)
		return NULL;
	r->times = calloc(vcpus, sizeof(*r->times));
	if (!r->times || format_report_spans_begin(&r->spans, vcpus, SPANS_MAX, base_of(run)))
		return NULL;
	return r;
}

static int begin(struct format_run *run)
{
	struct format_report_served *served = run->own;
	struct format_report *r = begin_any(run);

	if (r)
		r->served = served;
	return r ? 0 : -ENOMEM;
}

static int begin_window(struct format_run *run)
{
	const struct format_report_window *window = run->own;
	struct format_report *r = begin_any(run);

	if (r)
		r->window = window;
	return r ? 0 : -ENOMEM;
}

static int new_lane(struct format_run *run, struct format_lane *lane)
{
	struct format_report *r = run->own;
	struct format_report_lane *l = calloc(1, sizeof(*l));

	lane->own = l;
	if (!l)
		return -ENOMEM;
	l->kept.vcpu = lane->vcpu;
	return format_report_spans_lane(&r->spans, &l->kept);
}

static int span_begin(struct format_run *run, struct format_lane *lane, uint64_t func,
		      enum decode_span_edge edge)
{
	const struct format_report_window *window = ((struct format_report *)run->own)->window;
	struct format_report_lane *l = lane->own;
	bool before;

	if (!trace_vec_room(&l->open))
		return -ENOMEM;
	/* A lane reports the calls that are active at the begin of a window once it runs. */
	before = window && window->from && !window->cuts_from && !l->ran &&
		 edge == DECODE_SPAN_RESUMED;
	l->ran |= !before;
	l->open.at[l->open.n] = (struct format_report_span){
		.func = func,
		.begin = before ? window->from : run->clock,
		.depth = (uint16_t)l->open.n,
		.cut = !before && edge != DECODE_SPAN_WHOLE,
	};
	l->open.n++;
	return 0;
}

static int span_end(struct format_run *run, struct format_lane *lane, enum decode_span_edge edge)
{
	struct format_report *r = run->own;
	struct format_report_lane *l = lane->own;
	struct format_report_span *s;

	if (!l->open.n)
		return 0;
	l->ran = true;
	s = &l->open.at[--l->open.n];
	s->end = run->clock;
	if (edge == DECODE_SPAN_CUT &&
	    (!r->window || r->window->cuts_to || run->clock != r->window->to))
		s->cut |= 2;
	return format_report_spans_add(&r->spans, &l->kept, s);
}

static int runs(struct format_run *run, struct format_lane *lane, uint64_t begin)
{
	struct format_report_lane *l = lane->own;

	return format_report_runs_add(&l->runs, begin, run->clock);
}

static struct format_report_series *find_series(struct format_report *r, unsigned int vcpu,
						const char *name)
{
	struct format_report_series *s;
	size_t i;

	for (i = 0; i < r->series.n; i++)
		if (r->series.at[i].vcpu == vcpu && !strcmp(r->series.at[i].name, name))
			return &r->series.at[i];
	if (!trace_vec_room(&r->series))
		return NULL;
	s = &r->series.at[r->series.n++];
	*s = (struct format_report_series){.name = name, .vcpu = vcpu, .stride = 1};
	return s;
}

/* Count an event. Buckets are merged in pairs if the clock is after the last one. */
static void count(struct format_report_series *s, uint64_t clock)
{
	size_t i;

	while (clock >> s->shift >= FORMAT_REPORT_BUCKETS) {
		for (i = 0; i < FORMAT_REPORT_BUCKETS; i++)
			s->bucket[i] = i < FORMAT_REPORT_BUCKETS / 2
					       ? s->bucket[2 * i] + s->bucket[2 * i + 1]
					       : 0;
		s->shift++;
	}
	s->bucket[clock >> s->shift]++;
	s->total++;
}

static void thin_events(struct format_report_series *s)
{
	size_t i;

	for (i = 0; i < s->kept.n; i++) {
		if (i % 2)
			free(s->kept.at[i].text);
		else
			s->kept.at[i / 2] = s->kept.at[i];
	}
	s->kept.n = (s->kept.n + 1) / 2;
	s->stride *= 2;
}

static int instant(struct format_run *run, struct format_lane *lane,
		   const struct format_instant *instant)
{
	const bool mark = !strncmp(instant->name, "mark: ", 6);
	struct format_report_series *s =
		find_series(run->own, run->vcpu, mark ? "mark" : instant->name);
	const struct format_report_times *times =
		&((struct format_report *)run->own)->times[run->vcpu];
	struct format_report_event e = {
		.clock = run->clock,
		.timed = !mark && times->known,
		.tsc = times->last,
		.of = *instant,
	};

	(void)lane;
	if (!s)
		return -ENOMEM;
	count(s, run->clock);
	if ((s->total - 1) % s->stride)
		return 0;
	if (!trace_vec_room(&s->kept))
		return -ENOMEM;
	e.of.name = NULL;
	if (mark) {
		e.text = strdup(instant->name + 6);
		if (!e.text)
			return -ENOMEM;
	}
	s->kept.at[s->kept.n++] = e;
	if (s->kept.n > (mark ? MARKS_MAX : EVENTS_MAX))
		thin_events(s);
	return 0;
}

static int take_time(struct format_run *run, const struct decode_when *when)
{
	struct format_report *r = run->own;
	struct format_report_times *t = &r->times[run->vcpu];

	t->inside |= run->inside;
	/* Before a cut, only the last point is of use. */
	if (!t->inside && t->n && t->at[t->n - 1].clock < run->clock)
		t->n = 0;
	return format_report_times_add(t, run->clock, when);
}

static int end(struct format_run *run)
{
	return format_report_write(run);
}

static void close(struct format_run *run)
{
	struct format_report *r = run->own;
	size_t i, j;

	for (i = 0; i < run->lanes.n; i++) {
		struct format_report_lane *l = run->lanes.at[i]->own;

		if (l) {
			free(l->open.at);
			free(l->runs.at);
			free(l->kept.at);
		}
		free(l);
	}
	for (i = 0; r && i < r->series.n; i++) {
		for (j = 0; j < r->series.at[i].kept.n; j++)
			free(r->series.at[i].kept.at[j].text);
		free(r->series.at[i].kept.at);
	}
	for (i = 0; r && r->times && i < trace_reader_info(run->reader)->vcpus; i++)
		free(r->times[i].at);
	if (r) {
		format_report_spans_free(&r->spans);
		free(r->times);
		free(r->series.at);
		trace_pairs_free(&r->funcs);
		trace_pairs_free(&r->totals);
	}
	free(r);
}

const struct format_type format_type_report = {
	.name = "report",
	.lines = true,
	.begin = begin,
	.lane = new_lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.runs = runs,
	.instant = instant,
	.time = take_time,
	.end = end,
	.close = close,
};

const struct format_type format_type_window = {
	.name = "window",
	.begin = begin_window,
	.lane = new_lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.runs = runs,
	.instant = instant,
	.time = take_time,
	.end = format_report_write_window,
	.close = close,
};
