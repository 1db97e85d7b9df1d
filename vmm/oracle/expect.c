// SPDX-License-Identifier: GPL-2.0-or-later
#include "expect.h"

#include <string.h>

/* Bits of CTL (33.2.8.2), stated here so as not to rely on the library's. */
#define CTL_OS		(1ull << 2)
#define CTL_USER	(1ull << 3)
#define CTL_CR3FILTER	(1ull << 7)
#define CTL_BRANCHEN	(1ull << 13)
#define CTL_ADDR_CFG(n) (32 + 4 * (n))

#define RANGE_FILTER 1
#define RANGE_STOP   2

#define INSN_MAX 15

/* Where execution stands: at an instruction that begins, or is to begin. */
struct point {
	uint64_t ip;
	unsigned int cpl;
	bool pae;
	bool arrived;
};

static bool in_range(const struct vpt_session *s, unsigned int cfg, uint64_t ip)
{
	unsigned int n;

	/* Both ends belong to a range (33.2.5.3). */
	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> CTL_ADDR_CFG(n) & 15) == cfg && ip >= s->addr[2 * n] &&
		    ip <= s->addr[2 * n + 1])
			return true;
	}
	return false;
}

static bool has_range(const struct vpt_session *s, unsigned int cfg)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> CTL_ADDR_CFG(n) & 15) == cfg)
			return true;
	}
	return false;
}

/* ContextEn (33.2.6.3); CR3 counts by 63:12, or 63:5 with PAE paging (33.2.5.2). */
static bool in_context(const struct vpt_expect *e, const struct point *p)
{
	const struct vpt_session *s = e->regs;
	unsigned int low = p->pae ? 5 : 12;

	if (!(s->ctl & (p->cpl ? CTL_USER : CTL_OS)))
		return false;
	return !(s->ctl & CTL_CR3FILTER) || e->hw_cr3 >> low == s->cr3_match >> low;
}

static void tell(struct vpt_expect *e, enum vpt_step_kind kind, uint64_t ip, uint64_t to)
{
	e->queue[e->queued++] = (struct vpt_step){
		.kind = kind,
		.session = e->session,
		.ip = ip,
		.to = to,
		.cr3 = e->cr3,
	};
}

static void wrong(struct vpt_expect *e, uint64_t ip, const char *text)
{
	tell(e, VPT_STEP_WRONG, ip, 0);
	e->queue[e->queued - 1].text = text;
	e->over = true;
}

/* What waited for it to be known whether the trace goes on, and where. */
static void tell_pending(struct vpt_expect *e, bool on, uint64_t to)
{
	struct vpt_step *p = &e->pending;

	if (p->kind == VPT_STEP_ASYNC) {
		p->kind = on ? VPT_STEP_ASYNC : VPT_STEP_ASYNC_OFF;
		p->to = to;
		e->queue[e->queued++] = *p;
	} else if (p->kind == VPT_STEP_INSN) {
		e->queue[e->queued++] = *p;
		if (!on)
			tell(e, VPT_STEP_DISABLED, 0, 0);
	} else if (on && !e->packet_en) {
		tell(e, VPT_STEP_ENABLED, to, 0);
	}
	p->kind = VPT_STEP_END;
}

/*
 * Execution has come to a point: work out the enables for it. FilterEn moves only
 * with a taken branch or event, or when ContextEn rises (33.2.5.3, 33.2.6.5).
 * TraceStop counts for these too, for MOV CR3 and for the WRMSR that sets TraceEn
 * (33.4.2.9), and only in context. Returns whether it hits.
 */
static bool come_to(struct vpt_expect *e, const struct point *p)
{
	bool context = in_context(e, p);
	bool rises = context && !e->context;
	bool arrived = e->first || e->after_event || p->arrived;
	bool stop = false, on;

	if (context && (arrived || rises || e->after_cr3))
		stop = in_range(e->regs, RANGE_STOP, p->ip);
	if (context && (arrived || rises))
		e->filter =
			!has_range(e->regs, RANGE_FILTER) || in_range(e->regs, RANGE_FILTER, p->ip);
	e->context = context;
	on = context && e->filter && !stop && (e->regs->ctl & CTL_BRANCHEN);

	tell_pending(e, on, p->ip);
	e->packet_en = on;
	e->first = false;
	e->after_event = false;
	e->after_cr3 = false;
	return stop;
}

/* Only INSN records need to say that paging is PAE. */
static struct point point_of(const struct vpt_expect *e, const struct vpt_oracle_record *r,
			     unsigned int flags)
{
	return (struct point){
		.ip = r->ip,
		.cpl = r->cpl,
		.pae = r->kind == VPT_ORACLE_INSN ? !!(flags & VPT_ORACLE_PAE) : e->pae,
		.arrived = flags & VPT_ORACLE_ARRIVED,
	};
}

static void wait_for(struct vpt_expect *e, enum vpt_step_kind kind, uint64_t ip)
{
	if (!e->packet_en)
		return;
	e->pending = (struct vpt_step){
		.kind = kind,
		.session = e->session,
		.ip = ip,
		.cr3 = e->cr3,
	};
}

static void insn(struct vpt_expect *e, const struct vpt_oracle_record *r)
{
	struct point p = point_of(e, r, r->aux);

	if (come_to(e, &p)) {
		wrong(e, r->ip, "a TraceStop range was entered, but the session went on");
		return;
	}
	/* INT n sends FUP and TIP as an event does (table 33-23). */
	e->pending_soft = r->aux & VPT_ORACLE_SOFT_INT;
	wait_for(e, e->pending_soft ? VPT_STEP_ASYNC : VPT_STEP_INSN, r->ip);
	e->after_event = e->pending_soft;
	/* VM entry: the guest is arrived at, whatever its first IP (33.5.2.1). */
	e->pending_entry = r->aux & VPT_ORACLE_VM_ENTRY;
	e->after_event = e->after_event || e->pending_entry;
	e->after_cr3 = r->aux & VPT_ORACLE_CR3_WRITE;
	e->pae = p.pae;
	e->last_ip = r->ip;
	e->cpl = r->cpl;
	e->steady = !e->after_event && !e->after_cr3;
}

/* Interrupts, exceptions and VM exits: control leaves ip. */
static void event(struct vpt_expect *e, const struct vpt_oracle_record *r)
{
	struct point p = point_of(e, r, VPT_ORACLE_AUX_FLAGS(r->aux));
	bool of_insn = e->pending_soft && e->last_ip == r->ip && r->kind == VPT_ORACLE_EVENT;

	e->pending_soft = false;
	e->pending_entry = false;
	if (of_insn)
		return;
	/* An engine need not say how it came here: no instruction is that long, or 0. */
	if (!e->first && r->ip - e->last_ip - 1 >= INSN_MAX)
		p.arrived = true;
	if (come_to(e, &p)) {
		wrong(e, r->ip, "a TraceStop range was entered, but the session went on");
		return;
	}
	wait_for(e, VPT_STEP_ASYNC, r->ip);
	e->after_event = true;
	e->last_ip = r->ip;
}

static void start(struct vpt_expect *e, const struct vpt_oracle_record *r)
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
	e->context = false;
	e->filter = false;
	e->packet_en = false;
	e->first = true;
	e->after_event = false;
	e->after_cr3 = false;
	e->pending_soft = false;
	e->pending_entry = false;
	e->last_ip = r->ip;
	e->ranges = has_range(e->regs, RANGE_FILTER) || has_range(e->regs, RANGE_STOP);
}

/*
 * A WRMSR of the guest cleared TraceEn: FUP with its IP, TIP.PGD (33.7). So does a VM
 * exit, with the guest's IP, and an SMI (table 33-56, rows 9 and 11). A VM entry has
 * the IP after it, since it is done.
 */
static void disabled_by_guest(struct vpt_expect *e)
{
	if (e->pending.kind == VPT_STEP_END)
		return;
	if (e->pending_entry) {
		tell_pending(e, false, 0);
		return;
	}
	e->pending.kind = VPT_STEP_ASYNC_OFF;
	e->queue[e->queued++] = e->pending;
	e->pending.kind = VPT_STEP_END;
}

/* A host did, between two instructions: the same with the IP of the next one. */
static void disabled_by_host(struct vpt_expect *e, const struct point *p)
{
	if (come_to(e, p)) {
		wrong(e, p->ip, "a TraceStop range was entered, but the session went on");
		return;
	}
	if (e->packet_en)
		tell(e, VPT_STEP_ASYNC_OFF, p->ip, 0);
}

static void stop(struct vpt_expect *e, const struct vpt_oracle_record *r)
{
	struct point p = point_of(e, r, VPT_ORACLE_AUX_FLAGS(r->aux));
	/* In VMX operation it takes an instruction, or a transition. */
	bool guest = vpt_reader_info(e->reader)->owner != VPT_OWNER_HOST || e->nspaces;

	if (!e->regs) {
		wrong(e, r->ip, "a session ends that never started");
		return;
	}
	switch (VPT_ORACLE_AUX_LOW(r->aux)) {
	case VPT_END_DISABLED:
		if (guest) {
			disabled_by_guest(e);
			break;
		}
		disabled_by_host(e, &p);
		break;
	case VPT_END_CLOSED:
		disabled_by_host(e, &p);
		break;
	case VPT_END_TRACE_STOP:
		/* Only what is arrived at or follows MOV CR3 can have done it. */
		p.arrived = !e->after_cr3;
		if (!come_to(e, &p)) {
			wrong(e, r->ip, "a TraceStop was hit where no range calls for one");
			return;
		}
		tell(e, VPT_STEP_STOP, 0, 0);
		break;
	default:
		/* The output ended it: what of this is in the trace, nobody knows. */
		if (e->pending.kind == VPT_STEP_INSN)
			e->queue[e->queued++] = e->pending;
		break;
	}
	e->pending.kind = VPT_STEP_END;
	e->regs = NULL;
	e->session++;
}

/* The address space is another one. CR3 filtering goes by what is in CR3. */
static void space(struct vpt_expect *e, uint64_t cr3)
{
	size_t i;

	e->cr3 = cr3;
	e->hw_cr3 = cr3;
	for (i = 0; i < e->nspaces; i++) {
		if (e->spaces[i].id == cr3) {
			e->hw_cr3 = e->spaces[i].cr3;
			return;
		}
	}
}

static void take(struct vpt_expect *e, const struct vpt_oracle_record *r)
{
	e->steady = false;
	if (r->kind == VPT_ORACLE_CR3) {
		space(e, r->ip);
		return;
	}
	if (r->kind == VPT_ORACLE_START) {
		start(e, r);
		return;
	}
	if (r->kind == VPT_ORACLE_STOP) {
		stop(e, r);
		return;
	}
	if (r->kind > VPT_ORACLE_VM_EXIT) {
		wrong(e, r->ip, "a record is of no known kind");
		return;
	}
	/* What runs without a trace does not concern it. */
	if (!e->regs)
		return;
	if (r->kind == VPT_ORACLE_INSN)
		insn(e, r);
	else
		event(e, r);
}

void vpt_expect_init(struct vpt_expect *e, const struct vpt_reader *reader, unsigned int vcpu)
{
	memset(e, 0, sizeof(*e));
	e->reader = reader;
	e->vcpu = vcpu;
	e->periods = vpt_reader_sessions(reader, vcpu, &e->nperiods);
	e->spaces = vpt_reader_spaces(reader, &e->nspaces);
}

/* What insn() comes to where nothing changes, which is so for nearly all of them. */
static bool goes_on(const struct vpt_expect *e, const struct vpt_oracle_record *r)
{
	const unsigned int changes = VPT_ORACLE_SOFT_INT | VPT_ORACLE_CR3_WRITE |
				     VPT_ORACLE_VM_ENTRY |
				     (e->ranges ? (unsigned int)VPT_ORACLE_ARRIVED : 0);

	return e->steady && r->kind == VPT_ORACLE_INSN && !(r->aux & changes) && r->cpl == e->cpl &&
	       !(r->aux & VPT_ORACLE_PAE) == !e->pae;
}

void vpt_expect_next(struct vpt_expect *e, struct vpt_step *step)
{
	while (e->taken == e->queued) {
		const struct vpt_oracle_record *r;

		if (e->over)
			break;
		e->taken = 0;
		e->queued = 0;
		r = vpt_reader_oracle(e->reader, e->vcpu, &e->cursor);
		/* What waits is not told: it may have been the WRMSR that ends it all. */
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
	/* There is no way on from here. */
	if (step->kind == VPT_STEP_WRONG)
		e->taken--;
}
