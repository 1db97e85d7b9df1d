// SPDX-License-Identifier: GPL-2.0-or-later
/* Run blocks, one after the other, until there is an exit to report. */
#include "soft/branch.h"
#include "soft/compile.h"
#include "soft/gate.h"
#include "soft/state.h"

/* The values of setjmp() in run(). */
enum { ESCAPE_FAULT = 1, ESCAPE_ALONE };

static void log_word(struct soft *c, uint32_t word)
{
	const struct engine_observer *o = c->base.observer;
	struct engine_log *log = c->log;

	if (log->at == log->end)
		o->flush(o->opaque);
	*log->at++ = word;
}

__attribute__((noinline)) void soft_log_cut(struct soft *c, const struct soft_uop *u, bool done)
{
	struct engine_log *log = c->log;
	unsigned int retired;

	if (vpt_likely(!log))
		return;
	retired = (unsigned int)c->logged->rest - u->rest + done;
	if (retired == c->logged->rest)
		return;
	c->logged = NULL;
	if (!retired && log->at > log->first) {
		log->at--;
		return;
	}
	log_word(c, ENGINE_LOG_CUT | retired);
}

/* Leave the block before the instruction of `u`, of which a micro-operation may have run. */
static void leave_before(struct soft *c, const struct soft_uop *u)
{
	soft_log_cut(c, u, false);
	c->base.branches -= !!(u->flags & SOFT_UOP_COUNTED);
	c->r[SOFT_R_RIP] = u->ip;
	c->left += u->rest;
}

_Noreturn void soft_fault(struct soft *c, const struct soft_uop *u,
			  const struct engine_exception *e)
{
	if (u)
		leave_before(c, u);
	c->bounce_bytes = 0;
	c->missed = NULL;
	c->exit->kind = ENGINE_EXIT_FAULT;
	c->exit->fault = *e;
	longjmp(c->escape, ESCAPE_FAULT);
}

_Noreturn void soft_raise(struct soft *c, const struct soft_uop *u, uint8_t vector)
{
	const struct engine_exception e = {.vector = vector};

	soft_fault(c, u, &e);
}

_Noreturn void soft_raise_code(struct soft *c, const struct soft_uop *u, uint8_t vector,
			       uint32_t error)
{
	const struct engine_exception e = {.vector = vector, .has_error = true, .error = error};

	soft_fault(c, u, &e);
}

/* Return the gate of the observer; NULL in step(), without an observer or without a trace. */
static struct vpt_gate *report_to(const struct soft *c)
{
	const struct engine_observer *o = c->base.observer;

	return c->call & SOFT_STEP || !o ? NULL : o->gate;
}

static inline __attribute__((always_inline)) void set_gate(struct soft *c, struct vpt_gate *gate)
{
	c->gate = gate;
	soft_look_at_gate(c);
}

/* Take the gate and the log of the observer, which may have changed. */
static inline __attribute__((always_inline)) void aim(struct soft *c)
{
	const struct engine_observer *o = c->base.observer;

	set_gate(c, report_to(c));
	c->log = c->gate && o->wants & ENGINE_WANTS_LOG ? o->log : NULL;
}

/* Returns true if each instruction is reported. */
static bool reports_each(const struct soft *c)
{
	return c->gate && c->base.observer->wants & ENGINE_WANTS_INSNS;
}

/*
 * Report the instructions that retired since the last report. The caller has set r->event and
 * r->next. The report is built in place, because a copy of an event just stored is slow.
 */
static inline __attribute__((always_inline)) void send(struct soft *c, struct engine_report *r)
{
	const struct engine_observer *o = c->base.observer;

	r->insns = c->base.retired - c->reported;
	r->flags = o->wants & ENGINE_WANTS_INSNS ? ENGINE_REPORT_INSN : 0;
	c->reported = c->base.retired;
	o->report(o->opaque, r);
}

/* Every-instruction mode: report the last instruction of a block that is left early. */
static __attribute__((noinline)) void report_last(struct soft *c, const struct soft_uop *u)
{
	uint64_t next = u->ip + u->len;

	if (reports_each(c))
		soft_report_plain(c, u, next);
}

void soft_report_plain(struct soft *c, const struct soft_uop *u, uint64_t next)
{
	struct engine_report r = {
		.event = {.kind = VPT_EV_INSN, .from = u->ip, .to = next, .next = next},
		.next = next,
	};

	c->base.retired = soft_retired(c, u) + 1;
	send(c, &r);
	soft_look_at_gate(c);
}

const struct soft_uop *soft_leave(struct soft *c, const struct soft_uop *u, bool done,
				  enum engine_exit_kind kind)
{
	if (done)
		report_last(c, u);
	else
		c->r[SOFT_R_RIP] = u->ip;
	soft_log_cut(c, u, done);
	c->left += u->rest - done;
	c->call |= SOFT_LEFT;
	c->exit->kind = kind;
	c->missed = NULL;
	return NULL;
}

static void resume(struct soft *c, const struct soft_uop *u)
{
	uint64_t next = u->ip + u->len;

	soft_log_cut(c, u, true);
	c->r[SOFT_R_RIP] = c->bits == 64 ? next : (uint32_t)next;
	c->left += u->rest - 1;
	c->missed = NULL;
	soft_derive(c);
}

const struct soft_uop *soft_resume(struct soft *c, const struct soft_uop *u)
{
	report_last(c, u);
	resume(c, u);
	return NULL;
}

void soft_isolate(struct soft *c, const struct soft_uop *u)
{
	if (!u || c->call & (SOFT_STEP | SOFT_ALONE) || (u->rest == 1 && c->logged != &c->part))
		return;
	leave_before(c, u);
	c->call |= SOFT_ALONE;
	c->bounce_bytes = 0;
	c->missed = NULL;
	longjmp(c->escape, ESCAPE_ALONE);
}

void soft_call_attention(struct soft *c)
{
	/* With a budget of zero no further link is followed. */
	c->stash += c->left;
	c->left = 0;
	c->call &= (uint8_t)~SOFT_DUE;
}

void soft_note_attention(struct soft *c)
{
	if (c->base.state & ENGINE_ATTENTION)
		soft_call_attention(c);
}

/*
 * Limit the budget to the instructions before the next timing packet of the trace unit is due. The
 * gate is open until then. pass_due() closes it and restores the budget.
 */
static void limit_to_due(struct soft *c)
{
	const struct engine_time *time = &c->base.time;
	struct vpt_gate *gate = c->gate;
	uint64_t due, now;

	if (vpt_likely(!gate || !(gate->state & VPT_GATE_TIMED)))
		return;
	now = c->begun + (uint64_t)(c->started - c->left - c->stash);
	due = engine_time_reach(time, gate->due_tsc);
	if (gate->due_cycles <= time->idle)
		due = 0;
	else if (due > gate->due_cycles - time->idle)
		due = gate->due_cycles - time->idle;
	/* The branch of the next instruction has the time `now` + 1. */
	if (due <= now + 1) {
		vpt_gate_expire(gate);
		soft_look_at_gate(c);
	} else if (c->left > 0 && (uint64_t)c->left > due - now - 1) {
		c->stash += c->left - (int64_t)(due - now - 1);
		c->left = (int64_t)(due - now - 1);
		c->call |= SOFT_DUE;
	}
}

static void ran_until(struct soft *c, uint64_t retired)
{
	const struct engine_observer *o = c->base.observer;
	struct engine_report r = {.event.kind = VPT_EV_COUNT, .insns = retired - c->reported};

	c->reported = retired;
	if (c->gate && !(o->wants & ENGINE_WANTS_INSNS) && r.insns)
		o->report(o->opaque, &r);
	soft_look_at_gate(c);
}

void soft_bus_io(struct soft *c, const struct soft_uop *u, uint16_t port, uint8_t size, bool in,
		 uint32_t count, void *data)
{
	c->base.retired = u ? soft_retired(c, u) : c->begun;
	/* A mark of the guest has the count of traced instructions. */
	ran_until(c, c->base.retired);
	if (c->base.bus.io)
		c->base.bus.io(c->base.bus.opaque, port, size, in, count, data);
	else if (in)
		memset(data, 0xff, (size_t)size * count);
	soft_look_at_gate(c);
	soft_note_attention(c);
}

void soft_bus_mmio(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint32_t len, bool write,
		   void *data)
{
	c->base.retired = u ? soft_retired(c, u) : c->begun;
	if (c->base.bus.mmio)
		c->base.bus.mmio(c->base.bus.opaque, gpa, len, write, data);
	else if (!write)
		memset(data, 0xff, len);
	soft_look_at_gate(c);
	soft_note_attention(c);
}

void soft_report_ran(struct soft *c)
{
	ran_until(c, c->begun + (uint64_t)(c->started - c->left - c->stash));
}

/* Apply the changes of an observer's call. This also runs after each reported branch. */
static inline __attribute__((always_inline)) void poll_observer(struct soft *c)
{
	const struct vpt_gate *gate = c->gate;

	aim(c);
	/* Blocks of SOFT_BLOCK_TRACED are slow without a gate. */
	if (vpt_unlikely(gate != c->gate))
		soft_unlink(c);
	limit_to_due(c);
	soft_note_attention(c);
}

void soft_poll_observer(struct soft *c)
{
	poll_observer(c);
}

static __attribute__((noinline)) void report_branch(struct soft *c, const struct soft_uop *u,
						    uint8_t kind, uint64_t next, uint64_t to,
						    bool taken)
{
	struct engine_report r = {
		.event = {.kind = kind,
			  .flags = taken ? VPT_EVF_TAKEN : 0,
			  .from = u->ip,
			  .to = to,
			  .next = next},
		.next = next,
	};

	send(c, &r);
	poll_observer(c);
}

/*
 * The next two functions are not in the files of their callers. The callers are cold, so GCC
 * compiles them for size. There it would clear the report with a slow string instruction.
 */
void soft_report_branch(struct soft *c, const struct soft_uop *u, uint8_t kind, uint64_t next,
			uint64_t to, bool taken)
{
	const uint64_t retired = soft_retired(c, u) + 1;
	const struct vpt_clock now = engine_time_clock(&c->base.time, retired);

	if (c->gate && vpt_gate_due(c->gate, &now))
		limit_to_due(c);
	if (vpt_likely(c->gate && vpt_gate_branch(c->gate, kind, taken, to, next, &now))) {
		soft_look_at_gate(c);
		return;
	}
	c->base.retired = retired;
	report_branch(c, u, kind, next, to, taken);
}

void soft_report_ptwrite(struct soft *c, const struct soft_uop *u, uint64_t value, bool wide)
{
	struct engine_report r = {
		.event = {.kind = VPT_EV_PTWRITE,
			  .flags = wide ? VPT_EVF_WIDE : 0,
			  .from = u->ip,
			  .to = u->imm,
			  .value = value},
		.next = u->imm,
	};

	c->base.retired = soft_retired(c, u) + 1;
	send(c, &r);
	poll_observer(c);
}

static __attribute__((noinline)) void report_if(struct soft *c, uint64_t ip)
{
	const uint64_t next = c->r[SOFT_R_RIP];
	struct engine_report r = {
		.event = {.kind = VPT_EV_INTR_FLAG, .from = ip, .to = next, .next = next},
		.next = next,
	};

	c->base.retired = c->begun + (uint64_t)(c->started - c->left - c->stash);
	send(c, &r);
	poll_observer(c);
}

const struct soft_uop *soft_resume_if(struct soft *c, const struct soft_uop *u)
{
	if (!soft_watches_if(c))
		return soft_resume(c, u);
	resume(c, u);
	report_if(c, u->ip);
	return NULL;
}

/* Restore the budget that call_attention() has withdrawn. */
static void unstash(struct soft *c)
{
	c->left += c->stash;
	c->stash = 0;
	c->call &= (uint8_t)~SOFT_DUE;
}

/* Returns true if run() must end before the next instruction. */
static bool is_over(struct soft *c)
{
	uint64_t rflags = c->r[SOFT_R_RFLAGS];

	unstash(c);
	if (c->base.state & ENGINE_ATTENTION || c->interrupted || c->left <= 0)
		c->exit->kind = ENGINE_EXIT_KICK;
	else if (rflags & X86_FL_TF || c->dr[7] & 0xff)
		c->exit->kind = ENGINE_EXIT_CORE;
	else if (c->call & SOFT_WANT_IRQ && rflags & X86_FL_IF && !(c->base.state & ENGINE_SHADOW))
		c->exit->kind = ENGINE_EXIT_IRQ_WINDOW;
	else
		return false;
	return true;
}

/* Restore the budget that a due time limits, and close the gate. */
static void go_beyond_due(struct soft *c)
{
	unstash(c);
	if (!c->gate)
		return;
	vpt_gate_expire(c->gate);
	soft_look_at_gate(c);
}

/*
 * Close the gate before a block that is longer than the instructions before a due time, so that
 * its branch is reported. Returns true if the block is not longer than the budget.
 */
static bool pass_due(struct soft *c, const struct soft_block *b)
{
	if (!c->stash || c->base.state & ENGINE_ATTENTION)
		return false;
	go_beyond_due(c);
	return b->insns <= c->left;
}

bool soft_pass_due(struct soft *c, int32_t insns)
{
	if (!(c->call & SOFT_DUE) || c->base.state & ENGINE_ATTENTION || c->interrupted ||
	    c->left + c->stash < insns)
		return false;
	go_beyond_due(c);
	c->left -= insns;
	return true;
}

static void run_single(struct soft *c, uint32_t mode)
{
	struct soft_block *b;

	c->missed = NULL;
	b = soft_block(c, mode | SOFT_BLOCK_SINGLE);
	c->base.interpreted++;
	c->base.state &= ~ENGINE_SHADOW;
	c->missed = NULL;
	/* The link of this block must not be followed, so set the budget to zero. */
	c->stash += c->left - b->insns;
	c->left = 0;
	c->call &= (uint8_t)~SOFT_DUE;
	soft_enter(c, b->uop);
	c->call &= (uint8_t)~SOFT_ALONE;
}

/*
 * Run the start of a block that is longer than the budget, as single instructions. The log has the
 * block, and how many of its instructions retired. A block that ends early for a fault or a device
 * is in the log in the same way. So a budget up to that place does not change the log.
 */
static void run_part(struct soft *c, const struct soft_block *whole, uint32_t mode)
{
	const uint64_t emptied = c->emptied;

	log_word(c, whole->uop->aux);
	for (c->part.rest = 1;; c->part.rest++) {
		c->logged = &c->part;
		run_single(c, mode & ~(uint32_t)SOFT_BLOCK_LOGGED);
		if (!c->log || c->logged != &c->part)
			return;
		unstash(c);
		if (!c->missed || c->left <= 0 || c->emptied != emptied || whole->dead)
			break;
	}
	log_word(c, ENGINE_LOG_CUT | c->part.rest);
	c->logged = NULL;
}

/*
 * Run from RIP like an indirect branch to it. Returns false, with the link to set, if its link is
 * not valid.
 */
static bool run_known(struct soft *c)
{
	struct soft_link *l = soft_jump_link(c, c->r[SOFT_R_RIP]);

	if (l->gen != c->gen || l->insns > c->left) {
		c->missed = l;
		return false;
	}
	c->left -= l->insns;
	soft_enter(c, l->first);
	return true;
}

/* Run one block, and the blocks that its links lead to. */
static void run_from_here(struct soft *c)
{
	const uint32_t mode = c->mode | (reports_each(c) ? SOFT_BLOCK_EVERY : 0) |
			      (c->log ? SOFT_BLOCK_LOGGED : 0) | (c->gate ? SOFT_BLOCK_TRACED : 0);
	struct soft_link *missed;
	struct soft_block *b;

	if (c->base.state & ENGINE_SHADOW || c->call & SOFT_ALONE) {
		run_single(c, mode);
		return;
	}
	if (!c->missed && run_known(c))
		return;
	missed = c->missed;
	/* A valid link was not followed only because the budget ended. */
	b = missed && missed->gen == c->gen ? soft_block_of(missed->first) : soft_block(c, mode);
	if (vpt_unlikely(b->insns > c->left) && !pass_due(c, b)) {
		if (c->log)
			run_part(c, b, mode);
		else
			run_single(c, mode);
		return;
	}
	if (c->missed == missed && missed) {
		if (missed->inner && missed->first != b->uop)
			soft_unit_moved(c->compiler, missed);
		*missed = (struct soft_link){c->gen, b->uop, b->insns, missed->inner};
	}
	c->missed = NULL;
	c->left -= b->insns;
	soft_enter(c, b->uop);
}

static void loop(struct soft *c)
{
	c->call &= (uint8_t)~SOFT_LEFT;
	if (setjmp(c->escape) == ESCAPE_FAULT)
		return;
	/*
	 * Check SOFT_LEFT before the budget, because a HLT may be the last instruction of the budget.
	 */
	while (!(c->call & SOFT_LEFT) && !is_over(c)) {
		soft_look_at_gate(c);
		limit_to_due(c);
		run_from_here(c);
	}
}

static void begin(struct soft *c, struct engine_exit *exit, uint64_t budget)
{
	struct vpt_gate *gate;

	c->exit = exit;
	exit->kind = ENGINE_EXIT_NONE;
	soft_set_rflags(c, c->regs.rflags);
	c->base.state &= ~ENGINE_REGS_DIRTY;
	c->begun = c->reported = c->base.retired;
	c->left = budget > INT64_MAX ? INT64_MAX : (int64_t)budget;
	c->started = c->left;
	c->stash = 0;
	c->missed = NULL;
	c->bounce_bytes = 0;
	c->debug = 0;
	gate = report_to(c);
	/* A new trace must record its code, so no link may skip the lookup of a block. */
	if (gate != c->gate && gate)
		soft_unlink(c);
	soft_code_again(c);
	aim(c);
	/* AC and CPL select the TLB. The caller may have changed RFLAGS. */
	soft_derive(c);
}

static void end(struct soft *c)
{
	unstash(c);
	c->base.retired = c->begun + (uint64_t)(c->started - c->left);
	ran_until(c, c->base.retired);
	c->regs.rflags = soft_rflags(c);
	c->base.state &= ~(uint32_t)ENGINE_ATTENTION;
	c->interrupted = false;
}

void soft_run(struct engine_vcpu *ev, bool want_irq, struct engine_exit *exit)
{
	struct soft *c = soft(ev);
	const uint64_t interpreted = ev->interpreted;

	c->call = want_irq ? SOFT_WANT_IRQ : 0;
	begin(c, exit, ev->budget);
	loop(c);
	end(c);
	if (!c->compiler || reports_each(c))
		ev->interpreted = interpreted + ev->retired - c->begun;
}

static __attribute__((noinline)) void step(struct soft *c, const struct engine_step_hint *hint,
					   struct engine_exit *exit)
{
	c->call = SOFT_STEP;
	c->base.state &= ~(uint32_t)ENGINE_ATTENTION;
	begin(c, exit, 1);
	if (hint->by_tables)
		soft_drop_stale_code(c);
	if (!setjmp(c->escape)) {
		struct soft_block *b = soft_block(c, c->mode | SOFT_BLOCK_SINGLE);

		c->left = 0;
		soft_enter(c, b->uop);
	}
	c->base.interpreted++;
	end(c);
	c->base.state &= ~ENGINE_SHADOW;
	if (exit->kind == ENGINE_EXIT_NONE && c->debug) {
		exit->kind = ENGINE_EXIT_DEBUG;
		exit->debug.dr6 = c->debug;
	}
}

void soft_step(struct engine_vcpu *ev, const struct engine_step_hint *hint,
	       struct engine_exit *exit)
{
	struct soft *c = soft(ev);
	struct vpt_gate *gate = c->gate;

	step(c, hint, exit);
	/* A step in the middle of a trace does not end it. The next run() aims at the log again. */
	set_gate(c, gate);
}
