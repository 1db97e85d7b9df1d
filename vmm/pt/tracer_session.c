// SPDX-License-Identifier: GPL-2.0-or-later
/* Record the sessions of a trace: why each starts and ends, and the address spaces in it. */
#include "pt/tracer_session.h"

#include <string.h>

static void fill_session(const struct tracer *t, struct trace_session *s,
			 enum trace_session_edge edge)
{
	memset(s, 0, sizeof(*s));
	s->insns = t->recorder.insns;
	t->unit.ops->registers(t, s);
	s->edge = edge;
}

void tracer_session_rise(struct tracer *t)
{
	struct tracer_recorder *rec = &t->recorder;
	struct trace_session s;

	rec->state &= ~(uint32_t)(TRACER_RECORDER_REFUSED | TRACER_RECORDER_LOST);
	if (rec->state & (TRACER_RECORDER_FULL | TRACER_RECORDER_DROPS)) {
		rec->state |= TRACER_RECORDER_LOST;
		return;
	}
	fill_session(t, &s, TRACE_SESSION_START);
	if (t->config.system == TRACER_SYSTEM_PT && VPT_STATUS_GET(s.status, PACKET_BYTE_CNT))
		t->state |= TRACER_RESUMES;
	tracer_recorder_session(rec, &s);
	t->happened |= TRACER_HAPPENED_RISE;
}

void tracer_session_fall(struct tracer *t)
{
	if (t->recorder.state & TRACER_RECORDER_LOST)
		return;
	fill_session(t, &t->end, TRACE_SESSION_END);
	t->end.end = t->unit.ops->why_ended(t, &t->end);
	t->happened |= TRACER_HAPPENED_FALL;
}

/* Write a CR3 block if no PIP reports the space. */
static void put_cr3_switch(struct tracer *t, const struct vpt_context *ctx)
{
	if (!t->unit.ops->reports_space(t))
		tracer_recorder_place(&t->recorder, ctx, 0);
}

/*
 * Record the space after an overflow. The packet of the overflow does not have the instruction
 * counter, and the next packet with the space may be far.
 */
static void note_resumed(struct tracer *t)
{
	struct tracer_recorder *rec = &t->recorder;
	bool did = rec->state & TRACER_RECORDER_LOSES;
	struct vpt_context ctx;

	tracer_recorder_set(rec, TRACER_RECORDER_LOSES, t->unit.ops->loses(t));
	/* An overflow whose packet is not in the file needs no block. */
	if (!did || rec->state & (TRACER_RECORDER_LOSES | TRACER_RECORDER_REFUSED))
		return;
	tracer_context(t, &ctx);
	tracer_recorder_place(rec, &ctx, TRACE_CR3_RESUMED);
}

static void note_start(struct tracer *t, uint64_t ip, const struct vpt_context *ctx)
{
	tracer_session_oracle(t, TRACE_ORACLE_START, ip, ctx->cpl, 0);
	t->recorder.state &= ~(uint32_t)TRACER_RECORDER_CR3_KNOWN;
	tracer_recorder_cr3(&t->recorder, ctx);
	/* A PSB+ out of context has no PIP, and the session may have no PSB+. */
	tracer_recorder_place(&t->recorder, ctx, 0);
}

static void note_end(struct tracer *t, uint64_t ip, const struct vpt_context *ctx)
{
	const unsigned int flags = ctx->wait_for_sipi ? TRACE_ORACLE_WAITS : 0;
	struct tracer_recorder *rec = &t->recorder;

	t->end.insns = rec->insns;
	t->unit.ops->flush(t);
	if (rec->state & TRACER_RECORDER_REFUSED)
		t->end.end = TRACE_END_LOST;
	rec->state &= ~(uint32_t)TRACER_RECORDER_REFUSED;
	tracer_session_oracle(t, TRACE_ORACLE_STOP, ip, ctx->cpl,
			      TRACE_ORACLE_AUX(t->end.end, flags));
	tracer_recorder_session(rec, &t->end);
}

/*
 * End the session at the bytes that memory or the file has refused, because no decoder can follow
 * the trace after them. The next session begins when TriggerEn rises.
 */
static void end_refused(struct tracer *t)
{
	t->recorder.state &= ~(uint32_t)TRACER_RECORDER_REFUSED;
	if (!(t->happened & TRACER_HAPPENED_FALL))
		fill_session(t, &t->end, TRACE_SESSION_END);
	t->end.end = TRACE_END_LOST;
	t->happened |= TRACER_HAPPENED_FALL;
}

void tracer_session_update(struct tracer *t, uint64_t ip)
{
	struct tracer_recorder *rec = &t->recorder;
	struct vpt_context ctx;

	if (t->unit.acts->state & VPT_GATE_MAY_LOSE)
		note_resumed(t);
	if (vpt_unlikely(rec->state & TRACER_RECORDER_REFUSED) &&
	    !(rec->state & TRACER_RECORDER_LOST))
		end_refused(t);
	if (!t->happened)
		return;
	tracer_context(t, &ctx);
	if (t->happened & TRACER_HAPPENED_RISE)
		note_start(t, ip, &ctx);
	if (t->happened & TRACER_HAPPENED_FALL) {
		note_end(t, ip, &ctx);
		if (t->end.end == TRACE_END_LOST)
			rec->state |= TRACER_RECORDER_LOST;
	}
	t->happened = 0;
}

void tracer_session_cut(struct tracer *t, struct trace_session *s, uint64_t ip)
{
	struct vpt_context ctx;

	tracer_context(t, &ctx);
	fill_session(t, &t->end, TRACE_SESSION_END);
	t->end.end = TRACE_END_CHANGED;
	note_end(t, ip, &ctx);
	s->edge = TRACE_SESSION_START;
	s->insns = t->recorder.insns;
	tracer_recorder_session(&t->recorder, s);
	note_start(t, ip, &ctx);
}

void tracer_session_leave(struct tracer *t, uint64_t ip)
{
	struct vpt_context ctx;

	tracer_context(t, &ctx);
	fill_session(t, &t->end, TRACE_SESSION_END);
	/* The rest of the trace is not in this file. */
	t->end.end = TRACE_END_LOST;
	note_end(t, ip, &ctx);
}

void tracer_session_enter(struct tracer *t, uint64_t ip, const uint8_t *bytes, size_t len)
{
	struct tracer_recorder *rec = &t->recorder;
	struct trace_session s;
	struct vpt_context ctx;

	tracer_context(t, &ctx);
	fill_session(t, &s, TRACE_SESSION_START);
	tracer_recorder_session(rec, &s);
	tracer_recorder_note(rec,
			     trace_writer_trace(rec->writer, rec->vcpu, UINT64_MAX, bytes, len));
	note_start(t, ip, &ctx);
}

void tracer_space(struct tracer *t)
{
	struct vpt_context ctx;

	if (!(t->unit.acts->state & VPT_GATE_TRIGGER_EN))
		return;
	tracer_context(t, &ctx);
	tracer_recorder_cr3(&t->recorder, &ctx);
	put_cr3_switch(t, &ctx);
}

void tracer_session_follow(struct tracer *t)
{
	struct vpt_context ctx;

	if (!(t->unit.acts->state & VPT_GATE_TRIGGER_EN))
		return;
	tracer_context(t, &ctx);
	tracer_recorder_cr3(&t->recorder, &ctx);
	if (tracer_recorder_moved(&t->recorder, &ctx))
		put_cr3_switch(t, &ctx);
}
