// SPDX-License-Identifier: GPL-2.0-or-later
/* A debugging session: the hooks of the machine, which follow the plan. */
#include "gdb/session.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "gdb/state.h"

/* While the guest runs, the session looks at the client after so many instructions. */
#define LOOK 4000000u
/* A search that steps looks at the client at multiples of this number. */
#define STEPS 1024u
/* The least distance of checkpoints while the guest runs forward. */
#define DISTANCE 16000000u

/*
 * On the way to a place there are checkpoints this far before it, as powers of two. Steps backwards
 * from the place are then short.
 */
static const uint8_t before[] = {23, 19, 15, 11, 7, 4};

int gdb_session_create(struct gdb_session **session, int fd)
{
	struct gdb_session *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return -ENOMEM;
	error = gdb_timeline_create(&s->timeline, sizeof(struct gdb_shared));
	if (error) {
		gdb_session_destroy(s);
		return error;
	}
	s->shared = gdb_timeline_common(&s->timeline);
	s->shared->link.fd = fd;
	s->shared->link.alive = s->timeline.alive[0];
	*session = s;
	return 0;
}

void gdb_session_destroy(struct gdb_session *s)
{
	if (!s)
		return;
	gdb_timeline_destroy(&s->timeline);
	free(s);
}

/* The position before which a checkpoint is useful, or 0. */
static uint64_t target(const struct gdb_plan *p)
{
	return p->goal == GDB_ARRIVE ? p->to.position : p->goal == GDB_BACK ? p->bound : 0;
}

/* The next stop on the way to a target. */
static uint64_t on_the_way(uint64_t position, uint64_t to)
{
	size_t i;

	for (i = 0; i < sizeof(before); i++)
		if (to - position > 1ull << before[i])
			return to - (1ull << before[i]);
	return to;
}

static uint64_t next_pause(const struct gdb_session *s)
{
	const struct gdb_plan *p = &s->shared->plan;
	const uint64_t position = gdb_position(s);
	uint64_t next = UINT64_MAX;

	if (s->shared->left)
		return UINT64_MAX;
	if (position < target(p))
		next = on_the_way(position, target(p));
	else if (p->goal == GDB_SCAN)
		next = p->bound;
	else if (p->goal != GDB_FORWARD || p->step.on)
		next = position + 1;
	return next - position > LOOK ? position + LOOK : next;
}

static void follow(struct gdb_session *s);
static bool mark(struct gdb_session *s);

/*
 * Serve the client, and take the points that it has set. What it has changed is not repeated by a run
 * from an earlier checkpoint, so there is one here.
 */
static void stop(struct gdb_session *s, const struct gdb_stop *why)
{
	gdb_serve(s, why);
	gdb_points_apply(s);
	if (s->shared->changed) {
		s->shared->changed = false;
		if (mark(s))
			follow(s);
	}
	if (gdb_timeline_is_over(&s->timeline))
		s->shared->killed = true;
	if (s->shared->killed)
		core_vm_stop(s->vm, TRACE_STOP_INTERRUPTED, "%s", "by gdb");
}

static bool is_step_done(const struct gdb_session *s)
{
	const struct gdb_step *step = &s->shared->plan.step;
	const struct core_vcpu *v = s->vm->cpu[step->cpu];

	return step->on && v->ev->retired > step->count &&
	       (v->regs->rip < step->first || v->regs->rip >= step->last);
}

/* Returns true if the last checkpoint is so far away that another one is useful here. */
static bool is_far(const struct gdb_session *s)
{
	const int last = gdb_timeline_find(&s->timeline, gdb_position(s));

	return last < 0 || gdb_position(s) - s->timeline.shared->at[last].position >= DISTANCE;
}

/* The same on the way to a place, which has more checkpoints shortly before it. */
static bool is_useful_before(const struct gdb_session *s, uint64_t to)
{
	return to - gdb_position(s) <= 1ull << before[0] || is_far(s);
}

/* Follow the plan at a pause. Returns true if a checkpoint here is useful. */
static bool pause_forward(struct gdb_session *s)
{
	const struct gdb_stop why = {.reason = GDB_STEPPED, .cpu = s->shared->plan.step.cpu};

	if (is_step_done(s)) {
		stop(s, &why);
		return false;
	}
	return is_far(s);
}

static bool pause_arriving(struct gdb_session *s)
{
	struct gdb_plan *p = &s->shared->plan;
	const uint64_t position = gdb_position(s);
	/* An event may be due whose handler begins with the breakpoint. */
	const bool later = p->to.at_breakpoint && position == p->to.position &&
			   s->vm->cpu[p->to.stop.cpu]->regs->rip != p->to.ip;

	if (position < p->to.position)
		return is_useful_before(s, p->to.position);
	if (!later) {
		const struct gdb_stop why = p->to.stop;

		stop(s, &why);
	}
	return false;
}

static bool pause_back(struct gdb_session *s)
{
	struct gdb_plan *p = &s->shared->plan;
	const uint64_t position = gdb_position(s);

	if (position >= p->origin)
		gdb_search_next(s);
	if (position < p->bound)
		return is_useful_before(s, p->bound);
	if (s->vm->cpu[p->step.cpu]->ev->retired < p->step.count) {
		p->found = true;
		p->to = (struct gdb_place){
			.position = position,
			.stop = {.reason = GDB_STEPPED, .cpu = p->step.cpu},
		};
		/* There is no later position before the origin. */
		if (position + 1 == p->origin) {
			const struct gdb_stop why = p->to.stop;

			stop(s, &why);
		}
	}
	return false;
}

static bool pause_scanning(struct gdb_session *s)
{
	if (gdb_position(s) >= s->shared->plan.bound)
		gdb_search_next(s);
	return false;
}

/* Stop where the client interrupts the run. A search looks less often, because it steps. */
static bool stop_if_interrupted(struct gdb_session *s)
{
	const struct gdb_plan *p = &s->shared->plan;
	struct gdb_stop why = {.reason = GDB_INTERRUPTED, .cpu = s->vm->current->index};

	if ((p->goal == GDB_BACK && gdb_position(s) % STEPS) ||
	    !gdb_link_interrupts(&s->shared->link))
		return false;
	/* A command is answered all the same. */
	if (p->goal == GDB_ARRIVE && p->to.stop.reason == GDB_WENT)
		why.reason = GDB_WENT;
	stop(s, &why);
	return true;
}

static bool pause_once(struct gdb_session *s)
{
	if (stop_if_interrupted(s))
		return false;
	switch (s->shared->plan.goal) {
	case GDB_FORWARD:
		return pause_forward(s);
	case GDB_ARRIVE:
		return pause_arriving(s);
	case GDB_BACK:
		return pause_back(s);
	default:
		return pause_scanning(s);
	}
}

/* Make a checkpoint. Returns true if this process is that of the checkpoint, later. */
static bool mark(struct gdb_session *s)
{
	s->flush(s->opaque);
	if (!gdb_timeline_mark(&s->timeline, gdb_position(s)))
		return false;
	if (s->vm->engine->vm_forked && s->vm->engine->vm_forked(s->vm->machine))
		core_vm_stop(s->vm, TRACE_STOP_HOST, "%s", "no memory for host code");
	gdb_points_apply(s);
	return true;
}

/* Follow the plan between two instructions. After a mark, the process of the checkpoint has another plan. */
static void follow(struct gdb_session *s)
{
	while (pause_once(s) && mark(s))
		;
}

uint64_t gdb_session_pause(struct gdb_session *s)
{
	if (s->shared->left)
		return UINT64_MAX;
	follow(s);
	return next_pause(s);
}

/* The guest stood at a place outside pause(). Returns true if it has to look at the machine again. */
static bool stop_here(struct gdb_session *s, const struct gdb_stop *why)
{
	const uint64_t rip = s->vm->current->regs->rip;

	stop(s, why);
	core_vm_pause(s->vm, next_pause(s));
	return s->vm->stop.kind || s->vm->current->regs->rip != rip;
}

static void note_hit(struct gdb_plan *p, const struct gdb_place *here)
{
	if (here->position >= p->bound)
		return;
	p->to = *here;
	p->found = true;
}

bool gdb_session_reached(struct gdb_session *s, uint64_t ip)
{
	struct gdb_plan *p = &s->shared->plan;
	const struct gdb_place here = {
		.position = gdb_position(s),
		.at_breakpoint = true,
		.ip = ip,
		.stop = {.reason = GDB_BREAKPOINT, .cpu = s->vm->current->index},
	};
	bool again;

	if (s->shared->left)
		return false;
	switch (p->goal) {
	case GDB_FORWARD:
		if (here.position == p->from && ip == p->from_ip)
			return false;
		again = stop_here(s, &here.stop);
		/* This is a checkpoint that a search has woken. */
		if (p->goal == GDB_SCAN && here.position == gdb_position(s))
			note_hit(p, &here);
		return again;
	case GDB_ARRIVE:
		return p->to.at_breakpoint && here.position == p->to.position && ip == p->to.ip &&
		       stop_here(s, &here.stop);
	case GDB_SCAN:
		note_hit(p, &here);
		return false;
	default:
		return false;
	}
}

void gdb_session_touched(struct gdb_session *s, struct core_vcpu *v)
{
	struct gdb_plan *p = &s->shared->plan;
	const struct engine_data_watch *w = &s->data[v->ev->data_hit - 1];
	const uint64_t position = gdb_position(s);
	const struct gdb_stop why = {
		.reason = GDB_WATCHPOINT,
		.address = w->lin,
		.access = w->access,
		.cpu = v->index,
	};

	if (s->shared->left)
		return;
	if (p->goal == GDB_FORWARD) {
		(void)stop_here(s, &why);
	} else if (p->goal == GDB_SCAN && position <= p->bound && position) {
		/* Backwards, the place is before the access. */
		p->to = (struct gdb_place){.position = position - 1, .stop = why};
		p->found = true;
	}
}

bool gdb_session_prints(struct gdb_session *s)
{
	if (++s->printed <= s->shared->printed)
		return false;
	s->shared->printed = s->printed;
	return true;
}

void gdb_session_repeats(struct gdb_session *s)
{
	s->shared->repeats = true;
}

uint64_t gdb_session_repeat_to(const struct gdb_session *s)
{
	return s->shared->until;
}

bool gdb_session_changed(const struct gdb_session *s)
{
	return s->timeline.shared->epoch > 0;
}

void gdb_hand_over(struct gdb_session *s)
{
	struct gdb_shared *h = s->shared;

	if (!h->repeats || gdb_session_changed(s) || gdb_timeline_is_over(&s->timeline))
		return;
	h->until = h->killed && !s->ended ? gdb_position(s) : UINT64_MAX;
	s->flush(s->opaque);
	_exit(0);
}

int gdb_session_begin(struct gdb_session *s, struct core_vm *vm, void (*flush)(void *opaque),
		      void *opaque, int *status)
{
	int first;

	s->vm = vm;
	s->flush = flush;
	s->opaque = opaque;
	flush(opaque);
	first = gdb_timeline_begin(&s->timeline, status);
	if (first)
		return first;
	s->shared->plan = (struct gdb_plan){
		.goal = GDB_ARRIVE,
		.to = {.position = gdb_position(s), .stop = {.reason = GDB_STEPPED}},
	};
	(void)mark(s);
	if (gdb_timeline_find(&s->timeline, gdb_position(s)) < 0)
		return -EAGAIN;
	core_vm_pause(vm, gdb_position(s));
	return 0;
}

void gdb_session_ended(struct gdb_session *s)
{
	struct gdb_plan *p = &s->shared->plan;
	struct gdb_stop end = {.reason = GDB_END, .cpu = s->vm->current->index};

	s->ended = true;
	while (!s->shared->left && !s->shared->killed &&
	       s->vm->stop.kind != TRACE_STOP_INTERRUPTED) {
		if (p->goal == GDB_SCAN || p->goal == GDB_BACK)
			gdb_search_next(s);
		/* A command to go behind the end ends here. */
		if (p->goal == GDB_ARRIVE && p->to.stop.reason == GDB_WENT)
			end.reason = GDB_WENT;
		gdb_serve(s, &end);
		end.reason = GDB_END;
	}
	gdb_timeline_end();
}
