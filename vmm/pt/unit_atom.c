// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of Atom's RTIT for the tracer. */
#include <string.h>

#include "pt/tracer.h"
#include "trace/atom_session.h"

#define TRIGGER (VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE))

/* Keep PT as after a reset, because the guest cannot turn PT on. */
static void init(struct tracer *t, const struct vpt_pt_ops *ops,
		 void (*stream)(void *opaque, const void *bytes, size_t len))
{
	vpt_pt_init(&t->pt, &t->caps, ops, t);
	vpt_atom_init(&t->atom, ops, t);
	if (t->config.owner == TRACE_OWNER_HOST)
		vpt_atom_set_stream(&t->atom, t->stage, sizeof(t->stage), stream);
}

static enum vpt_fault rdmsr(struct tracer *t, uint32_t msr, uint64_t *value)
{
	return vpt_atom_rdmsr(&t->atom, msr, value);
}

static bool triggers(uint64_t ctl)
{
	return (ctl & TRIGGER) == TRIGGER;
}

static bool loses(const struct tracer *t)
{
	return VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, t->atom.regs.status);
}

static enum vpt_fault wrmsr(struct tracer *t, uint32_t msr, uint64_t value, enum vpt_access who,
			    uint64_t ip, uint64_t next)
{
	enum vpt_fault fault;

	if (msr == VPT_ATOM_MSR_CTL && !triggers(value))
		t->state |= TRACER_DISABLING;
	fault = vpt_atom_wrmsr(&t->atom, msr, value, who, ip, next);
	t->state &= ~(uint32_t)TRACER_DISABLING;
	/* Software can end an overflow, and no packet reports that. */
	if (msr == VPT_ATOM_MSR_STATUS)
		tracer_recorder_set(&t->recorder, TRACER_RECORDER_LOSES, loses(t));
	return fault;
}

/* Get the registers that decoding depends on: all but the destination of bytes and PSBs. */
static void decoded_by(struct trace_session *s, const struct vpt_atom_regs *regs)
{
	memset(s, 0, sizeof(*s));
	trace_atom_session_set(s, regs);
	s->output_base = s->output_mask_ptrs = 0;
	s->addr[7] = regs->cntp;
}

static bool cuts(struct tracer *t, uint32_t msr, uint64_t value, struct trace_session *s)
{
	struct vpt_atom_regs after;
	struct trace_session was, is;
	uint64_t unused;

	if (!t->atom.trigger_en)
		return false;
	/* Update the registers that the processor changes. */
	(void)!vpt_atom_rdmsr(&t->atom, VPT_ATOM_MSR_CNTP, &unused);
	after = t->atom.regs;
	if (vpt_atom_regs_write(&after, msr, value) != VPT_FAULT_NONE || !triggers(after.ctl))
		return false;
	decoded_by(&was, &t->atom.regs);
	decoded_by(&is, &after);
	trace_atom_session_set(s, &after);
	return memcmp(&was, &is, sizeof(was));
}

static void event(struct tracer *t, const struct vpt_event *event)
{
	vpt_atom_event(&t->atom, event);
}

static void cond(struct tracer *t, const struct vpt_event *event)
{
	vpt_atom_cond(&t->atom, event->from, event->to, event->next, event->flags & VPT_EVF_TAKEN);
}

static void tick(struct tracer *t, uint64_t ip)
{
	vpt_atom_tick(&t->atom, ip);
}

static void flush(struct tracer *t)
{
	vpt_atom_flush(&t->atom);
}

static void registers(const struct tracer *t, struct trace_session *s)
{
	trace_atom_session_set(s, &t->atom.regs);
}

static enum trace_session_end why_ended(const struct tracer *t, struct trace_session *s)
{
	(void)s;
	if (!(t->state & TRACER_DISABLING))
		return TRACE_END_TRACE_STOP;
	return t->state & TRACER_CLOSING ? TRACE_END_CLOSED : TRACE_END_DISABLED;
}

static bool reports_space(const struct tracer *t)
{
	(void)t;
	return false;
}

/* Clear TraceActive alone. Software clears Trace_En later if it wants to. */
static bool closes(const struct tracer *t, uint32_t *msr, uint64_t *value)
{
	*msr = VPT_ATOM_MSR_CTL;
	*value = t->atom.regs.ctl & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE);
	return triggers(t->atom.regs.ctl);
}

static void save(struct tracer *t, struct tracer_state *state)
{
	const struct vpt_output *out = &t->atom.out;

	vpt_atom_save(&t->atom, &state->atom);
	state->staged = (uint32_t)vpt_output_unreported(out);
	if (out->kind == VPT_OUTPUT_STREAM)
		memcpy(state->stage, t->stage, state->staged);
}

static bool load(struct tracer *t, const struct tracer_state *state)
{
	if (vpt_atom_load(&t->atom, &state->atom) != VPT_OK ||
	    vpt_output_resume(&t->atom.out, state->staged) != VPT_OK)
		return false;
	if (t->atom.out.kind == VPT_OUTPUT_STREAM)
		memcpy(t->stage, state->stage, state->staged);
	return true;
}

const struct tracer_unit_ops tracer_unit_atom = {
	.init = init,
	.rdmsr = rdmsr,
	.wrmsr = wrmsr,
	.cuts = cuts,
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
