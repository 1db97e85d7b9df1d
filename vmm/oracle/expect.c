// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the expected contents of a trace from the oracle and the registers. */
#include "oracle/expect_system.h"

#include <string.h>

#define INSN_MAX 15

static void report(struct oracle_expect *e, enum oracle_step_kind kind, uint64_t ip, uint64_t to)
{
	e->queue[e->queued++] = (struct oracle_step){
		.kind = kind,
		.session = e->session,
		.ip = ip,
		.to = to,
		.cr3 = e->cr3,
	};
}

static void wrong(struct oracle_expect *e, uint64_t ip, const char *text)
{
	report(e, ORACLE_STEP_WRONG, ip, 0);
	e->queue[e->queued - 1].text = text;
	e->over = true;
}

/* A step waits here until the continuation of the trace is known. */
static void report_pending(struct oracle_expect *e, bool on, uint64_t to)
{
	struct oracle_step *p = &e->pending;

	if (p->kind == ORACLE_STEP_ASYNC) {
		p->kind = on ? ORACLE_STEP_ASYNC : e->system->off;
		p->to = to;
		e->queue[e->queued++] = *p;
	} else if (p->kind == ORACLE_STEP_INSN) {
		e->queue[e->queued++] = *p;
		if (!on)
			report(e, ORACLE_STEP_DISABLED, 0, 0);
	} else if (on && !e->packet_en) {
		report(e, ORACLE_STEP_ENABLED, to, 0);
	}
	p->kind = ORACLE_STEP_END;
}

/*
 * Compute the enables for the point that execution has reached. Returns true if a TraceStop is hit.
 * With `ends`, this TraceStop or a held one ends the session.
 */
static bool reach(struct oracle_expect *e, const struct oracle_point *p, bool ends)
{
	bool stop, on = e->system->come_to(e, p, &stop);

	on = on && !(ends && (stop || e->held));
	report_pending(e, on, p->ip);
	e->packet_en = on;
	e->first = false;
	e->after_event = false;
	e->after_cr3 = false;
	return stop;
}

/* Compute the enables where the session continues. Returns false if it cannot continue. */
static bool goes_on_at(struct oracle_expect *e, const struct oracle_point *p)
{
	if (!reach(e, p, false))
		return true;
	if (!e->system->is_lossy) {
		wrong(e, p->ip, "a TraceStop range was entered, but the session went on");
		return false;
	}
	e->held = true;
	report(e, ORACLE_STEP_HELD, p->ip, 0);
	return true;
}

/* Only INSN records have to mark PAE paging. */
static struct oracle_point point_of(const struct oracle_expect *e,
				    const struct trace_oracle_record *r, unsigned int flags)
{
	return (struct oracle_point){
		.ip = r->ip,
		.cpl = r->cpl,
		.pae = r->kind == TRACE_ORACLE_INSN ? !!(flags & TRACE_ORACLE_PAE) : e->pae,
		.arrived = flags & TRACE_ORACLE_ARRIVED,
	};
}

static void wait_for(struct oracle_expect *e, enum oracle_step_kind kind, uint64_t ip)
{
	if (!e->packet_en)
		return;
	e->pending = (struct oracle_step){
		.kind = kind,
		.session = e->session,
		.ip = ip,
		.cr3 = e->cr3,
	};
}

static void insn(struct oracle_expect *e, const struct trace_oracle_record *r)
{
	struct oracle_point p = point_of(e, r, r->aux);

	if (!goes_on_at(e, &p))
		return;
	/* INT n sends FUP and TIP like an event (table 33-23). */
	e->pending_soft = r->aux & TRACE_ORACLE_SOFT_INT;
	if (e->pending_soft && e->tells_all && e->packet_en) {
		report(e, ORACLE_STEP_INSN, r->ip, 0);
		e->queue[e->queued - 1].told = true;
	}
	wait_for(e, e->pending_soft ? ORACLE_STEP_ASYNC : ORACLE_STEP_INSN, r->ip);
	e->after_event = e->pending_soft;
	/* A VM entry counts as a branch to the guest, with any first IP (33.5.2.1). */
	e->pending_entry = r->aux & TRACE_ORACLE_VM_ENTRY;
	e->after_event = e->after_event || e->pending_entry;
	e->after_cr3 = r->aux & TRACE_ORACLE_CR3_WRITE;
	e->root = e->root && !e->pending_entry;
	e->pae = p.pae;
	e->last_ip = r->ip;
	e->cpl = r->cpl;
	e->steady = !e->after_event && !e->after_cr3 && !e->walks && !e->stands;
}

/* An engine may omit the arrival flag: no instruction has this length, or length 0. */
static bool is_far(const struct oracle_expect *e, uint64_t ip)
{
	return !e->first && ip - e->last_ip - 1 >= INSN_MAX;
}

/*
 * Handle interrupts, exceptions, VM exits and INIT: control leaves ip. After INIT the processor is
 * not in context until SIPI (33.2.6.3).
 */
static void event(struct oracle_expect *e, const struct trace_oracle_record *r)
{
	struct oracle_point p = point_of(e, r, TRACE_ORACLE_AUX_FLAGS(r->aux));
	bool of_insn = e->pending_soft && e->last_ip == r->ip && r->kind == TRACE_ORACLE_EVENT;

	e->pending_soft = false;
	e->pending_entry = false;
	if (of_insn)
		return;
	p.arrived = p.arrived || is_far(e, r->ip);
	if (!goes_on_at(e, &p))
		return;
	wait_for(e, ORACLE_STEP_ASYNC, r->ip);
	if (r->kind == TRACE_ORACLE_INIT) {
		report_pending(e, false, 0);
		e->context = e->packet_en = false;
	}
	e->root = e->root || r->kind == TRACE_ORACLE_VM_EXIT;
	e->after_event = true;
	e->last_ip = r->ip;
}

static void start(struct oracle_expect *e, const struct trace_oracle_record *r)
{
	if (e->regs) {
		wrong(e, r->ip, "a session starts inside another");
		return;
	}
	if (e->session == e->nperiods) {
		wrong(e, r->ip, "there are more sessions than the file has registers for");
		return;
	}
	e->regs = e->periods[e->session].start;
	e->system->begin(e);
	e->first = true;
	e->last_ip = r->ip;
	/* The record of the WRMSR that changed a register has not been read yet. */
	if (e->changed) {
		e->changed = false;
		return;
	}
	e->held = e->held && e->system->is_lossy && e->system->is_lossy(e->regs);
	e->context = false;
	e->packet_en = false;
	e->after_event = false;
	e->after_cr3 = false;
	e->pending_soft = false;
	e->pending_entry = false;
}

/*
 * A WRMSR of the guest cleared TraceEn. PT sends FUP with its IP, then TIP.PGD (33.7). A VM exit
 * sends the same with the guest's IP, and so does an SMI (table 33-56, rows 9 and 11). A VM entry
 * has the IP after it, because it has completed.
 */
static void disabled_by_guest(struct oracle_expect *e)
{
	if (e->pending.kind == ORACLE_STEP_END)
		return;
	if (e->pending_entry || e->system->off == ORACLE_STEP_DISABLED) {
		report_pending(e, false, 0);
		return;
	}
	if (e->tells_all && e->pending.kind == ORACLE_STEP_INSN) {
		e->queue[e->queued] = e->pending;
		e->queue[e->queued++].told = true;
	}
	e->pending.kind = ORACLE_STEP_ASYNC_OFF;
	e->queue[e->queued++] = e->pending;
	e->pending.kind = ORACLE_STEP_END;
}

/*
 * A host cleared TraceEn between two instructions: the same packets, with the IP of the next
 * instruction. A processor that waits for a start-up IPI is not in context (33.2.6.3).
 */
static void disabled_by_host(struct oracle_expect *e, const struct trace_oracle_record *r,
			     struct oracle_point *p)
{
	if (TRACE_ORACLE_AUX_FLAGS(r->aux) & TRACE_ORACLE_WAITS)
		return;
	p->arrived = p->arrived || is_far(e, p->ip);
	if (goes_on_at(e, p) && e->packet_en)
		report(e, e->system->off, p->ip, 0);
}

/*
 * Handle a TraceStop. The previous WRMSR may have caused the TraceStop, so use the registers at the
 * end of the session.
 */
static void trace_stop(struct oracle_expect *e, struct oracle_point *p)
{
	if (e->periods[e->session].end)
		e->regs = e->periods[e->session].end;
	p->arrived = is_far(e, p->ip);
	p->stopped = !e->held;
	if (!reach(e, p, true) && !e->held) {
		wrong(e, p->ip, "a TraceStop was hit where no range calls for one");
		return;
	}
	e->held = false;
	report(e, ORACLE_STEP_STOP, 0, 0);
}

static void stop(struct oracle_expect *e, const struct trace_oracle_record *r)
{
	struct oracle_point p = point_of(e, r, TRACE_ORACLE_AUX_FLAGS(r->aux));
	/* In VMX operation a TraceStop needs an instruction or a transition. */
	bool guest = trace_reader_info(e->reader)->owner != TRACE_OWNER_HOST || e->nspaces;

	if (!e->regs) {
		wrong(e, r->ip, "a session ends that never started");
		return;
	}
	switch (TRACE_ORACLE_AUX_LOW(r->aux)) {
	case TRACE_END_DISABLED:
		if (guest) {
			disabled_by_guest(e);
			break;
		}
		disabled_by_host(e, r, &p);
		break;
	case TRACE_END_CLOSED:
		disabled_by_host(e, r, &p);
		break;
	case TRACE_END_TRACE_STOP:
		trace_stop(e, &p);
		break;
	case TRACE_END_CHANGED:
		e->changed = true;
		e->regs = NULL;
		e->session++;
		return;
	default:
		/*
		 * The output ended the session, so the contents of the trace for this step are not
		 * known.
		 */
		if (e->pending.kind == ORACLE_STEP_INSN)
			e->queue[e->queued++] = e->pending;
		break;
	}
	e->pending.kind = ORACLE_STEP_END;
	e->regs = NULL;
	e->session++;
}

/* The address space changes. CR3 filtering uses the value in CR3. */
static void space(struct oracle_expect *e, uint64_t cr3)
{
	size_t i;

	e->cr3 = cr3;
	e->hw_cr3 = cr3;
	for (i = 0; i < e->nspaces; i++) {
		if (e->spaces[i].id == cr3) {
			e->hw_cr3 = e->spaces[i].cr3;
			e->root = !(e->spaces[i].flags & TRACE_SPACE_NON_ROOT);
			return;
		}
	}
}

static void take(struct oracle_expect *e, const struct trace_oracle_record *r)
{
	e->steady = false;
	if (r->kind == TRACE_ORACLE_CR3) {
		space(e, r->ip);
		return;
	}
	if (r->kind == TRACE_ORACLE_START) {
		start(e, r);
		return;
	}
	if (r->kind == TRACE_ORACLE_STOP) {
		stop(e, r);
		return;
	}
	if (r->kind > TRACE_ORACLE_INIT) {
		wrong(e, r->ip, "a record is of no known kind");
		return;
	}
	/* Instructions outside a trace do not matter. */
	if (!e->regs)
		return;
	if (r->kind == TRACE_ORACLE_INSN)
		insn(e, r);
	else
		event(e, r);
}

void oracle_expect_init(struct oracle_expect *e, const struct trace_reader *reader,
			unsigned int vcpu)
{
	memset(e, 0, sizeof(*e));
	e->reader = reader;
	e->vcpu = vcpu;
	e->periods = trace_reader_sessions(reader, vcpu, &e->nperiods);
	e->spaces = trace_reader_spaces(reader, &e->nspaces);
	e->system = trace_reader_info(reader)->flags & TRACE_INFO_ATOM ? &oracle_expect_atom
								       : &oracle_expect_pt;
}

/* Returns true if insn() would change nothing, as for nearly all instructions. */
static bool goes_on(const struct oracle_expect *e, const struct trace_oracle_record *r)
{
	const unsigned int changes = TRACE_ORACLE_SOFT_INT | TRACE_ORACLE_CR3_WRITE |
				     TRACE_ORACLE_VM_ENTRY |
				     (e->ranges ? (unsigned int)TRACE_ORACLE_ARRIVED : 0);

	return e->steady && r->kind == TRACE_ORACLE_INSN && !(r->aux & changes) &&
	       r->cpl == e->cpl && !(r->aux & TRACE_ORACLE_PAE) == !e->pae;
}

void oracle_expect_next(struct oracle_expect *e, struct oracle_step *step)
{
	while (e->taken == e->queued) {
		const struct trace_oracle_record *r;

		if (e->over)
			break;
		e->taken = 0;
		e->queued = 0;
		r = trace_reader_oracle(e->reader, e->vcpu, &e->cursor);
		/* Do not report a waiting step: it may have been the WRMSR that ends the trace. */
		if (!r) {
			e->over = true;
			break;
		}
		if (!goes_on(e, r)) {
			take(e, r);
			continue;
		}
		e->last_ip = r->ip;
		if (e->packet_en) {
			*step = e->pending;
			e->pending.ip = r->ip;
			return;
		}
	}
	if (e->taken == e->queued) {
		memset(step, 0, sizeof(*step));
		step->session = e->session;
		return;
	}
	*step = e->queue[e->taken++];
	/* The walk cannot continue from here. */
	if (step->kind == ORACLE_STEP_WRONG)
		e->taken--;
}

void oracle_expect_pass(struct oracle_expect *e, struct oracle_step *step, const uint64_t ip[2])
{
	*step = e->pending;
	step->ip = ip[0];
	e->pending.ip = ip[1];
	e->last_ip = ip[1];
}
