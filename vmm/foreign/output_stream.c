// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one stream: joins it, finds the places of changes in it, and writes it as sessions. */
#include <errno.h>
#include <stdlib.h>

#include "foreign/output_state.h"
#include "trace/vec.h"
#include "vpt/msr.h"

struct out {
	struct foreign_output *o;
	unsigned int vcpu;
	struct foreign_joined joined;
	struct foreign_changes changes;
	bool pips;	   /* PIPs report the address space */
	uint64_t sessions; /* number of sessions so far */
};

static int add_change(struct out *w, uint64_t time, size_t mm)
{
	if (!trace_vec_room(&w->changes))
		return -ENOMEM;
	w->changes.at[w->changes.n++] = (struct foreign_change){time, mm, FOREIGN_NONE};
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct foreign_change *x = a, *y = b;

	/* At equal times, sort switches before changes of code. */
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if ((x->mm == FOREIGN_NONE) != (y->mm == FOREIGN_NONE))
		return x->mm == FOREIGN_NONE ? 1 : -1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* List the processes that ran on the CPU of a stream, or the address spaces of its thread. */
static int list_owners(struct out *w)
{
	const struct foreign_stream *s = &w->o->trace->streams.at[w->vcpu];
	const struct foreign_tasks *k = &w->o->tasks;
	size_t i, last = FOREIGN_NONE;
	int err = 0;

	for (i = 0; i < k->owners.n && !err; i++) {
		const struct foreign_owner *owner = &k->owners.at[i];
		bool here = s->cpu == FOREIGN_ANY_CPU ? owner->tid == s->tid : owner->cpu == s->cpu;

		if (!here || owner->mm == last)
			continue;
		last = owner->mm;
		err = add_change(w, owner->time, last);
	}
	return err;
}

/* Add a thread without an event that says when it ran. */
static int list_thread(struct out *w)
{
	const struct foreign_stream *s = &w->o->trace->streams.at[w->vcpu];
	size_t mm = FOREIGN_NONE, i;

	if (s->cpu != FOREIGN_ANY_CPU || (w->changes.n && w->o->trace->timed))
		return 0;
	mm = w->changes.n ? w->changes.at[w->changes.n - 1].mm : FOREIGN_NONE;
	if (mm == FOREIGN_NONE)
		mm = foreign_tasks_last(&w->o->tasks, s->tid);
	for (i = 0; mm == FOREIGN_NONE && i < w->o->trace->events.n; i++) {
		const struct foreign_event *e = &w->o->trace->events.at[i];

		if (e->tid == s->tid && e->pid != s->tid)
			mm = foreign_tasks_last(&w->o->tasks, e->pid);
	}
	w->changes.n = 0;
	return mm == FOREIGN_NONE ? 0 : add_change(w, 0, mm);
}

/* List changes of code that a process of the stream maps, at any time. */
static int list_remaps(struct out *w)
{
	const struct foreign_tasks *k = &w->o->tasks;
	struct trace_pairs here = {0};
	size_t i;
	int err = 0;

	for (i = 0; i < w->changes.n && !err; i++)
		err = trace_pairs_add(&here, w->changes.at[i].mm, 0) ? 0 : -ENOMEM;
	for (i = 0; i < k->remaps.n && !err; i++) {
		if (trace_pairs_find(&here, k->remaps.at[i].mm, 0))
			err = add_change(w, k->remaps.at[i].time, FOREIGN_NONE);
	}
	trace_pairs_free(&here);
	return err;
}

static int list_code(struct out *w)
{
	const struct foreign_trace *t = w->o->trace;
	size_t i;
	int err = t->timed ? list_remaps(w) : 0;

	for (i = 0; t->timed && w->pips && i < t->events.n && !err; i++) {
		if (t->events.at[i].kind == FOREIGN_POKE)
			err = add_change(w, t->events.at[i].time, FOREIGN_NONE);
	}
	/* Use a stable order for equal times. */
	for (i = 0; i < w->changes.n; i++)
		w->changes.at[i].offset = i;
	if (w->changes.n)
		qsort(w->changes.at, w->changes.n, sizeof(*w->changes.at), by_time);
	return err;
}

static int session(struct out *w, enum trace_session_edge edge, enum trace_session_end end)
{
	const struct foreign_trace *t = w->o->trace;
	struct trace_session s = {
		.edge = edge,
		.end = end,
		.ctl = t->ctl,
		.cr3_match = t->cr3_match,
		.insns = w->sessions << FOREIGN_COUNTER,
	};

	return trace_writer_session(w->o->writer, w->vcpu, &s);
}

static int start(struct out *w)
{
	/* A counter of 0 would mean that it is not known. */
	w->sessions++;
	return session(w, TRACE_SESSION_START, TRACE_END_NONE);
}

static int write_bytes(struct out *w, size_t from, size_t to)
{
	return trace_writer_mapped(w->o->writer, w->vcpu, UINT64_MAX, w->joined.bytes + from,
				   to - from);
}

/* Write the address spaces of the stream: the places where each takes effect, and its code. */
static int write_switches(struct out *w)
{
	size_t i;
	int err = 0;

	for (i = 0; i < w->changes.n && !err; i++) {
		const struct foreign_change *c = &w->changes.at[i];
		struct trace_switch sw = {.offset = c->offset};

		if (c->mm == FOREIGN_NONE || c->offset == FOREIGN_NONE)
			continue;
		sw.space = foreign_mm_id(c->mm);
		sw.pid = w->o->tasks.mms.at[c->mm].pid;
		if (!trace_pairs_add(&w->o->used, w->vcpu, c->mm))
			return -ENOMEM;
		w->o->trace->report.switches++;
		if (!w->pips)
			err = trace_writer_switches(w->o->writer, w->vcpu, &sw, 1);
	}
	return err;
}

/*
 * Take the changes of code at one place, which begin the next session. Advance *next behind them.
 */
static int take_changes(struct out *w, size_t *next, size_t at)
{
	struct foreign_marks *marks = &w->o->marks[w->vcpu];
	uint64_t insns = w->sessions + 1;

	for (; *next < w->changes.n && w->changes.at[*next].offset <= at; ++*next) {
		if (!trace_vec_room(marks))
			return -ENOMEM;
		marks->at[marks->n++] =
			(struct foreign_mark){w->changes.at[*next].time, insns << FOREIGN_COUNTER};
	}
	return 0;
}

/* Return the place of the next change of code. */
static size_t next_change(const struct out *w, size_t next)
{
	while (next < w->changes.n && w->changes.at[next].mm != FOREIGN_NONE)
		next++;
	return next < w->changes.n ? w->changes.at[next].offset : FOREIGN_NONE;
}

static int write_sessions(struct out *w)
{
	const struct foreign_joined *j = &w->joined;
	size_t at = 0, next = 0, lost = 0;
	int err = take_changes(w, &next, 0);

	if (!err)
		err = start(w);
	while (!err && at < j->len) {
		size_t gap = lost < j->breaks.n ? j->breaks.at[lost] : FOREIGN_NONE;
		size_t change = next_change(w, next);
		size_t end = change < gap ? change : gap;

		if (end > j->len)
			end = j->len;
		err = write_bytes(w, at, end);
		at = end;
		if (err || at == j->len)
			break;
		err = session(w, TRACE_SESSION_END,
			      gap == at ? TRACE_END_LOST : TRACE_END_DISABLED);
		lost += gap == at;
		if (!err)
			err = take_changes(w, &next, at);
		if (!err)
			err = start(w);
	}
	return err ? err
		   : session(w, TRACE_SESSION_END,
			     lost < j->breaks.n ? TRACE_END_LOST : TRACE_END_CLOSED);
}

int foreign_write_stream(struct foreign_output *o, unsigned int vcpu)
{
	struct out w = {
		.o = o,
		.vcpu = vcpu,
		.pips = o->trace->ctl & VPT_CTL_MASK(OS),
	};
	const struct foreign_place place = {
		.trace = o->trace,
		.joined = &w.joined,
		.changes = &w.changes,
		.votes = &o->votes,
		.pips = &o->pips,
		.visits = &o->visits[vcpu],
	};
	int err = foreign_join(o->trace, &o->trace->streams.at[vcpu], &w.joined);

	if (!err)
		err = list_owners(&w);
	if (!err)
		err = list_thread(&w);
	if (!err)
		err = list_code(&w);
	if (!err)
		err = foreign_place(&place);
	if (!err && !o->trace->clock.known && w.changes.n > 1)
		o->trace->report.no_times = true;
	if (!err)
		err = write_sessions(&w);
	if (!err)
		err = write_switches(&w);
	o->trace->report.bytes += w.joined.len;
	foreign_joined_free(&w.joined);
	free(w.changes.at);
	return err;
}
