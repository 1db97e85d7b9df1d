// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of Intel PT for the tracer. */
#include <string.h>

#include "pt/tracer.h"

static void init(struct tracer *t, const struct vpt_pt_ops *ops,
		 void (*stream)(void *opaque, const void *bytes, size_t len))
{
	vpt_pt_init(&t->pt, &t->caps, ops, t);
	if (t->config.owner == TRACE_OWNER_HOST || t->config.flags & TRACER_CONFIG_VMX)
		vpt_output_set_stream(&t->pt.out, t->stage, sizeof(t->stage), stream);
}

static enum vpt_fault rdmsr(struct tracer *t, uint32_t msr, uint64_t *value)
{
	return vpt_pt_rdmsr(&t->pt, msr, value);
}

static enum vpt_fault wrmsr(struct tracer *t, uint32_t msr, uint64_t value, enum vpt_access who,
			    uint64_t ip, uint64_t next)
{
	return vpt_pt_wrmsr(&t->pt, msr, value, who, ip, next);
}

static void event(struct tracer *t, const struct vpt_event *event)
{
	vpt_pt_event(t->acting, event);
}

static void cond(struct tracer *t, const struct vpt_event *event)
{
	/* The gate takes a branch by its due times, which only run() keeps. */
	if (t->pt.gate.state & VPT_GATE_TIMED)
		vpt_pt_event(&t->pt, event);
	else
		vpt_pt_cond(&t->pt, event->from, event->to, event->flags & VPT_EVF_TAKEN);
}

static void tick(struct tracer *t, uint64_t ip)
{
	if (t->acting->slow)
		vpt_pt_tick(t->acting, ip);
}

/* Keep the TNT bits of an incomplete packet, so that flushes do not change the trace. */
static void flush(struct tracer *t)
{
	vpt_pt_commit(&t->pt);
}

static void registers(const struct tracer *t, struct trace_session *s)
{
	const struct vpt_rtit *rtit = &t->acting->rtit;

	s->ctl = rtit->ctl;
	s->status = rtit->status;
	s->output_base = rtit->output_base;
	s->output_mask_ptrs = rtit->output_mask_ptrs;
	s->cr3_match = rtit->cr3_match;
	memcpy(s->addr, rtit->addr, sizeof(s->addr));
}

static enum trace_session_end why_ended(const struct tracer *t, struct trace_session *s)
{
	if (VPT_STATUS_GET(t->acting->rtit.status, ERROR)) {
		s->error = t->acting->out.why;
		return TRACE_END_ERROR;
	}
	if (VPT_STATUS_GET(t->acting->rtit.status, STOPPED))
		return t->acting->out.stopped ? TRACE_END_TOPA_STOP : TRACE_END_TRACE_STOP;
	return t->state & TRACER_CLOSING ? TRACE_END_CLOSED : TRACE_END_DISABLED;
}

static bool reports_space(const struct tracer *t)
{
	return VPT_CTL_GET(t->acting->rtit.ctl, OS);
}

/*
 * One event cannot both begin and end an overflow. No time passes during an event, and the packets
 * after an OVF fit into the buffer (VPT_BUFFER_MIN).
 */
static bool loses(const struct tracer *t)
{
	return t->acting->buffer.overflow;
}

/* A write that only clears TraceEn never faults. */
static bool closes(const struct tracer *t, uint32_t *msr, uint64_t *value)
{
	*msr = VPT_MSR_CTL;
	*value = t->pt.rtit.ctl & ~VPT_CTL_MASK(TRACE_EN);
	return VPT_CTL_GET(t->pt.rtit.ctl, TRACE_EN);
}

static void save(struct tracer *t, struct tracer_state *state)
{
	vpt_pt_save(&t->pt, &state->pt);
	if (t->pt.out.kind == VPT_OUTPUT_STREAM)
		state->staged = (uint32_t)state->pt.unreported;
	memcpy(state->stage, t->stage, state->staged);
}

static bool load(struct tracer *t, const struct tracer_state *state)
{
	bool stream = state->pt.flags & VPT_STATE_OUTPUT && state->pt.ctl & VPT_CTL_MASK(FABRIC_EN);

	if (state->staged >= sizeof(state->stage) ||
	    state->staged != (stream ? state->pt.unreported : 0))
		return false;
	memcpy(t->stage, state->stage, state->staged);
	return vpt_pt_load(&t->pt, &state->pt) == VPT_OK;
}

const struct tracer_unit_ops tracer_unit_pt = {
	.tells_mode = true,
	.ends_refused = true,
	.init = init,
	.rdmsr = rdmsr,
	.wrmsr = wrmsr,
	.event = event,
	.cond = cond,
	.tick = tick,
	.flush = flush,
	.registers = registers,
	.why_ended = why_ended,
	.reports_space = reports_space,
	.loses = loses,
	.closes = closes,
	.save = save,
	.load = load,
};
