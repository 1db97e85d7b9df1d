// SPDX-License-Identifier: GPL-2.0-or-later
/* Goes to places, and searches backwards, by checkpoints and runs from there. */
#include "gdb/state.h"

/* A search that has found no position begins this many times further back. */
#define WIDER 64u
/* A search for a stop runs at least this far, because a fork takes longer than these instructions. */
#define SCAN_LEAST 16384u

/* The position where the session began: the first checkpoint, which stays. */
static uint64_t begin(const struct gdb_session *s)
{
	return s->timeline.shared->at[0].position;
}

static _Noreturn void go(struct gdb_session *s, uint64_t position)
{
	int n = gdb_timeline_find(&s->timeline, position);

	s->flush(s->opaque);
	gdb_timeline_go(&s->timeline, n < 0 ? 0 : n);
}

void gdb_go_to(struct gdb_session *s, const struct gdb_place *to)
{
	struct gdb_plan *p = &s->shared->plan;
	const struct gdb_place place = *to;

	p->goal = GDB_ARRIVE;
	p->to = place;
	if (place.position < gdb_position(s) || s->ended)
		go(s, place.position);
}

/* The beginning has no earlier position. */
static _Noreturn void go_to_begin(struct gdb_session *s)
{
	struct gdb_plan *p = &s->shared->plan;

	p->goal = GDB_ARRIVE;
	p->to = (struct gdb_place){
		.position = begin(s),
		.stop = {.reason = GDB_BEGIN, .cpu = s->shared->cpu},
	};
	go(s, begin(s));
}

/* Look for the last position of a step, from @window before the origin. */
static _Noreturn void search_back(struct gdb_session *s, uint64_t window)
{
	struct gdb_plan *p = &s->shared->plan;

	p->window = window;
	p->bound = p->origin - begin(s) > window ? p->origin - window : begin(s);
	p->found = false;
	go(s, p->bound);
}

/*
 * Choose the checkpoint from which to look for a stop before @bound. A checkpoint further back must have
 * all changes by the debugger that the nearest has, because gdb_timeline_go() discards later ones.
 */
static int scan_from(const struct gdb_session *s, uint64_t bound)
{
	const struct gdb_checkpoint *at = s->timeline.shared->at;
	const int near = gdb_timeline_find(&s->timeline, bound - 1);
	const int far = gdb_timeline_find(
		&s->timeline, bound - begin(s) > SCAN_LEAST ? bound - SCAN_LEAST : begin(s));

	return near >= 0 && far >= 0 && at[far].epoch == at[near].epoch ? far : near;
}

static _Noreturn void scan(struct gdb_session *s, uint64_t bound)
{
	struct gdb_plan *p = &s->shared->plan;
	int n = scan_from(s, bound);

	p->bound = bound;
	p->begun = n < 0 ? begin(s) : s->timeline.shared->at[n].position;
	p->found = false;
	go(s, p->begun);
}

void gdb_search_begin(struct gdb_session *s, bool step)
{
	struct gdb_plan *p = &s->shared->plan;

	p->origin = gdb_position(s);
	p->step = (struct gdb_step){
		.on = step,
		.cpu = s->shared->cpu,
		.count = s->vm->cpu[s->shared->cpu]->ev->retired,
	};
	if (p->origin <= begin(s) || (step && !p->step.count))
		go_to_begin(s);
	p->goal = step ? GDB_BACK : GDB_SCAN;
	if (step)
		search_back(s, 1);
	/* The last instruction may not have retired, and then has the position of the end. */
	scan(s, p->origin + s->ended);
}

void gdb_search_next(struct gdb_session *s)
{
	struct gdb_plan *p = &s->shared->plan;

	if (p->found) {
		gdb_go_to(s, &p->to);
		/* The place is not ahead of a search, but that of a machine that has ended is here. */
		go(s, p->to.position);
	}
	if (p->goal == GDB_SCAN && p->begun > begin(s))
		scan(s, p->begun);
	if (p->goal == GDB_BACK && p->bound > begin(s))
		search_back(s, p->window > UINT64_MAX / WIDER ? UINT64_MAX : p->window * WIDER);
	go_to_begin(s);
}
