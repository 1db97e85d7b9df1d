// SPDX-License-Identifier: GPL-2.0-or-later
/* Pass the events of a vCPU to its trace unit, and record the instructions and their effects. */
#include "pt/tracer.h"

#include <string.h>

#include "pt/tracer_host.h"
#include "pt/tracer_session.h"
#include "vpt/xsave.h"

/* The number of instructions after which the file is synced. They take a second or less. */
#define SYNC_INSNS (1u << 15)

static bool by_hardware(const struct tracer *t)
{
	return t->config.engine && t->config.engine->pt;
}

int tracer_init(struct tracer *t, const struct tracer_config *config)
{
	int error;

	memset(t, 0, sizeof(*t));
	t->config = *config;
	t->caps = *config->caps;
	t->recorder.writer = config->writer;
	t->recorder.mem = config->mem;
	t->recorder.vcpu = config->vcpu;
	tracer_unit_choose(t, config->system);
	if (config->flags & TRACER_CONFIG_ORACLE)
		t->recorder.wants |= TRACER_RECORDER_ORACLE;
	if (config->flags & TRACER_CONFIG_BLOCKS)
		t->recorder.wants |= TRACER_RECORDER_WORDS;
	if (config->flags & TRACER_CONFIG_PARTS)
		t->recorder.wants |= TRACER_RECORDER_PARTS;
	if (!t->unit.ops->tells_mode)
		t->recorder.wants |= TRACER_RECORDER_MODES;
	error = tracer_recorder_init(&t->recorder);
	if (error)
		return error;
	t->unit.ops->init(t, tracer_ops(), tracer_host_stream);
	return 0;
}

void tracer_move(struct tracer *t, const struct engine *engine, struct engine_vcpu *ev,
		 uint32_t flags)
{
	t->config.engine = engine;
	t->config.ev = ev;
	t->config.flags = flags;
}

void tracer_free(struct tracer *t)
{
	tracer_collect_end(&t->hardware.collect);
	tracer_recorder_free(&t->recorder);
}

/* End a running trace before the instruction at `ip`. */
static void end_trace(struct tracer *t, uint64_t ip)
{
	uint64_t value;
	uint32_t msr;

	t->state |= TRACER_CLOSING;
	if (t->unit.ops->closes(t, &msr, &value))
		(void)!tracer_host_write(t, msr, value, ip);
}

/*
 * The end of the trace must not depend on when the engine returns. A guest then makes the same
 * file each time, with and without snapshots. With an engine that steps, the core stops at the next
 * step. In VMX operation a transition must be completed first.
 */
void tracer_end_full(struct tracer *t, uint64_t ip)
{
	if (tracer_is_full(t))
		return;
	t->recorder.state |= TRACER_RECORDER_FULL;
	if (!t->config.engine || !(t->config.engine->can & ENGINE_REPORTS) ||
	    t->config.flags & TRACER_CONFIG_VMX)
		return;
	end_trace(t, ip);
	t->recorder.state |= TRACER_RECORDER_LOST;
}

/* Complete an event or MSR write. @ip: the next instruction. */
static void finish(struct tracer *t, uint64_t ip)
{
	if (tracer_session_changed(t))
		tracer_session_update(t, ip);
	tracer_limit(t, ip);
}

void tracer_take(struct tracer *t)
{
	tracer_hardware_take(t);
}

void tracer_sync(struct tracer *t)
{
	t->unit.ops->flush(t);
	tracer_recorder_sync(&t->recorder);
}

/*
 * Sync the file, so that a killed run loses no more than its last second. A sync does not change
 * the trace. The number of instructions alone decides when the file is synced, and not how reports
 * combine instructions.
 */
static void sync_now_and_then(struct tracer *t)
{
	if (t->config.flags & TRACER_CONFIG_CALLER_SYNCS || ++t->since_sync < SYNC_INSNS)
		return;
	t->since_sync = 0;
	tracer_sync(t);
}

/* Record an instruction. @traced: it began with PacketEn set, and so counts (trace/format.h). */
static void retired(struct tracer *t, const struct engine_report *r, bool traced)
{
	t->recorder.insns += traced;
	tracer_session_oracle(t, TRACE_ORACLE_INSN, r->event.from, r->cpl, r->about);
	sync_now_and_then(t);
}

enum vpt_fault tracer_rdmsr(struct tracer *t, uint32_t msr, uint64_t *value)
{
	if (t->config.owner != TRACE_OWNER_GUEST)
		return VPT_FAULT_GP;
	return t->unit.ops->rdmsr(t, msr, value);
}

enum vpt_fault tracer_wrmsr(struct tracer *t, uint32_t msr, uint64_t value, struct engine_report *r)
{
	if (t->config.owner != TRACE_OWNER_GUEST)
		return VPT_FAULT_GP;
	if (by_hardware(t))
		return tracer_hardware_wrmsr(t, msr, value);
	return tracer_root_wrmsr(t, msr, value, r);
}

/* Return the enables for the report of an instruction that is about to write registers. */
static uint8_t enables(const struct tracer *t)
{
	const uint32_t state = t->unit.acts->state;

	return (uint8_t)((state & VPT_GATE_TRIGGER_EN ? ENGINE_REPORT_TRIGGER_EN : 0) |
			 (state & VPT_GATE_PACKET_EN ? ENGINE_REPORT_PACKET_EN : 0));
}

enum vpt_fault tracer_root_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
				 struct engine_report *r)
{
	const uint8_t before = enables(t);
	const struct tracer_unit_ops *unit = t->unit.ops;
	struct trace_session s = {.edge = TRACE_SESSION_START};
	bool cuts = unit->cuts && !(t->recorder.state & TRACER_RECORDER_LOST) &&
		    unit->cuts(t, msr, value, &s);
	enum vpt_fault fault;

	/* The old session ends before the write, and has the WRMSR as its last instruction. */
	if (cuts) {
		retired(t, r, before & ENGINE_REPORT_PACKET_EN);
		tracer_session_cut(t, &s, r->next);
	}
	fault = unit->wrmsr(t, msr, value, VPT_ACCESS_GUEST, r->event.from, r->next);
	if (fault == VPT_FAULT_NONE)
		r->flags |= ENGINE_REPORT_WROTE | (cuts ? 0 : before);
	return fault;
}

void tracer_xsaves(struct tracer *t, void *state, struct engine_report *r)
{
	r->flags |= ENGINE_REPORT_WROTE | enables(t);
	vpt_pt_xsaves(&t->pt, state, r->event.from, r->next);
}

/* The core has checked the state, and TraceEn is clear. So no instruction is counted. */
void tracer_xrstors(struct tracer *t, const void *state, struct engine_report *r)
{
	r->flags |= ENGINE_REPORT_WROTE;
	(void)!vpt_pt_xrstors(&t->pt, state, r->event.from, r->next);
}

enum vpt_fault tracer_host_write(struct tracer *t, uint32_t msr, uint64_t value, uint64_t next_ip)
{
	enum vpt_fault fault;

	if (by_hardware(t))
		return tracer_hardware_host_write(t, msr, value);
	fault = t->unit.ops->wrmsr(t, msr, value, VPT_ACCESS_HOST, next_ip, next_ip);
	finish(t, next_ip);
	return fault;
}

void tracer_vm_exit(struct tracer *t, uint64_t ip, uint8_t cpl, uint8_t flags)
{
	if (t->unit.acts->state & VPT_GATE_TRIGGER_EN)
		tracer_session_oracle(t, TRACE_ORACLE_VM_EXIT, ip, cpl, TRACE_ORACLE_AUX(0, flags));
}

void tracer_complete(struct tracer *t, uint64_t ip)
{
	finish(t, ip);
}

/* Returns true if the event may change the mode or the address space. */
static bool goes_far(const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_FAR:
	case VPT_EV_SOFT_INT:
	case VPT_EV_ASYNC:
	case VPT_EV_PAGING:
	case VPT_EV_INIT:
	case VPT_EV_SIPI:
		return true;
	default:
		return false;
	}
}

void tracer_event_at(struct tracer *t, const struct vpt_event *event, uint8_t cpl, bool arrived)
{
	if (!tracer_acts(t))
		return;
	if ((event->kind == VPT_EV_ASYNC || event->kind == VPT_EV_SOFT_INT ||
	     event->kind == VPT_EV_INIT) &&
	    t->unit.acts->state & VPT_GATE_TRIGGER_EN)
		tracer_session_oracle(
			t, event->kind == VPT_EV_INIT ? TRACE_ORACLE_INIT : TRACE_ORACLE_EVENT,
			event->from, cpl,
			TRACE_ORACLE_AUX(event->vector, arrived ? TRACE_ORACLE_ARRIVED : 0));
	if (event->kind == VPT_EV_ASYNC && t->unit.acts->state & VPT_GATE_PACKET_EN)
		t->recorder.insns += tracer_seems_to_run(t, event);
	if (event->kind == VPT_EV_CR3)
		tracer_space(t);
	else if (!t->unit.ops->tells_mode && goes_far(event))
		tracer_session_follow(t);
	t->unit.ops->event(t, event);
	finish(t, event->to);
}

/* Pass the event of the last instruction of *r to the unit. */
static void report_event(struct tracer *t, const struct engine_report *r)
{
	const struct vpt_event *event = &r->event;

	switch (event->kind) {
	case VPT_EV_COUNT:
		return;
	case VPT_EV_INSN:
		if (vpt_likely(!(r->flags & ENGINE_REPORT_INSN) ||
			       !(t->unit.acts->state & VPT_GATE_EACH_INSN)))
			return;
		t->unit.ops->event(t, event);
		break;
	case VPT_EV_COND:
		t->unit.ops->cond(t, event);
		break;
	default:
		tracer_event_at(t, event, r->cpl, false);
		return;
	}
	finish(t, event->to);
}

/* Count an instruction that wrote registers, by the enables before the write. */
static void report_write(struct tracer *t, const struct engine_report *r)
{
	if (r->flags & ENGINE_REPORT_TRIGGER_EN)
		retired(t, r, r->flags & ENGINE_REPORT_PACKET_EN);
	finish(t, r->next);
}

void tracer_report(struct tracer *t, const struct engine_report *r)
{
	const uint32_t state = t->unit.acts->state;

	if (vpt_unlikely(r->flags & ENGINE_REPORT_WROTE)) {
		report_write(t, r);
		return;
	}
	if (!(r->flags & ENGINE_REPORT_INSN))
		t->recorder.insns += state & VPT_GATE_PACKET_EN ? r->insns : 0;
	else if (state & VPT_GATE_TRIGGER_EN)
		retired(t, r, state & VPT_GATE_PACKET_EN);
	report_event(t, r);
}

void tracer_tick(struct tracer *t, uint64_t ip)
{
	if (!tracer_acts(t))
		return;
	t->unit.ops->tick(t, ip);
	finish(t, ip);
}

/* With RTIT the registers of `pt` are 0. */
bool tracer_needs_time(const struct tracer *t)
{
	const uint64_t ctl = t->pt.rtit.ctl;

	return t->config.owner == TRACE_OWNER_GUEST && !(t->config.flags & TRACER_CONFIG_VMX) &&
	       t->unit.gate->state & VPT_GATE_TRIGGER_EN && VPT_CTL_GET(ctl, TSC_EN) &&
	       !VPT_CTL_GET(ctl, MTC_EN) && !VPT_CTL_GET(ctl, CYC_EN);
}

void tracer_timing(struct tracer *t, uint64_t ip)
{
	if (!tracer_needs_time(t))
		return;
	vpt_pt_timing(&t->pt);
	finish(t, ip);
}

void tracer_close(struct tracer *t, uint64_t ip)
{
	tracer_hardware_close(t);
	end_trace(t, ip);
}

void tracer_reopen(struct tracer *t)
{
	t->state &= ~TRACER_CLOSING;
}
