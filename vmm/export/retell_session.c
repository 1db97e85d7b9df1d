// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers, output, sessions and time of PT for a converted trace. */
#include "export/retell_session.h"

#include <string.h>

#include "decode/code.h"
#include "trace/atom_session.h"
#include "vpt/msr.h"

uint8_t export_retell_mode(const struct export_retell *r)
{
	if (r->ctx.cs_l)
		return 64;
	return r->ctx.cs_d ? 32 : 16;
}

void export_retell_set_mode(struct export_retell *r, unsigned int mode)
{
	r->ctx.lma = r->ctx.cs_l = mode == 64;
	r->ctx.cs_d = mode == 32;
}

/* Keep the first error. The writer keeps it too. */
static void note_error(struct export_retell *r, int error)
{
	if (error && !r->error)
		r->error = error;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	const struct export_retell *r = opaque;

	*ctx = r->ctx;
	ctx->tsc = r->tsc;
	ctx->cbr = r->cbr;
}

static void stream(void *opaque, const void *bytes, size_t len)
{
	struct export_retell *r = opaque;

	note_error(r, trace_writer_trace(r->writer, r->vcpu, ~0ull, bytes, len));
}

static const struct trace_period *period_of(const struct export_retell *r)
{
	return r->session < r->nperiods ? &r->periods[r->session] : NULL;
}

bool export_retell_by_cr3(const struct export_retell *r)
{
	const struct trace_period *period = period_of(r);

	return period && VPT_ATOM_GET(CTL, CR3_EN, period->start->ctl);
}

/* Write the registers of a session. The trace has already chosen what is traced. */
static void put_session(struct export_retell *r, enum trace_session_edge edge, uint32_t why)
{
	struct trace_session s = {
		.edge = edge,
		.end = why,
		.insns = r->insns,
		.ctl = r->pt.rtit.ctl,
		.status = r->pt.rtit.status,
	};

	if (export_retell_by_cr3(r)) {
		s.ctl |= VPT_CTL_MASK(CR3_FILTER);
		s.cr3_match = period_of(r)->start->cr3_match;
	}
	note_error(r, trace_writer_session(r->writer, r->vcpu, &s));
}

static void trigger(void *opaque, bool trigger_en)
{
	if (trigger_en)
		put_session(opaque, TRACE_SESSION_START, TRACE_END_NONE);
}

static const struct vpt_pt_ops ops = {.context = context, .trigger = trigger};

void export_retell_init(struct export_retell *r)
{
	vpt_pt_init(&r->pt, r->caps, &ops, r);
	vpt_output_set_stream(&r->pt.out, r->stage, sizeof(r->stage), stream);
	r->ctx.paging = true;
	/* With PAE paging, a PIP has bits 11:5 of CR3 too. */
	r->ctx.pae = true;
	r->ctx.cr3 = DECODE_CR3_UNKNOWN;
}

/* Write an MSR. The values are legal, and the output never fails. */
static void write_msr(struct export_retell *r, uint32_t msr, uint64_t value)
{
	(void)!vpt_pt_wrmsr(&r->pt, msr, value, VPT_ACCESS_HOST, r->ip, r->ip);
}

static void begin(struct export_retell *r)
{
	const struct trace_period *period = period_of(r);
	uint64_t from = period ? period->start->ctl : ~0ull;
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(FABRIC_EN) | VPT_CTL_MASK(BRANCH_EN);

	if (VPT_ATOM_GET(CTL, OS, from))
		ctl |= VPT_CTL_MASK(OS);
	if (VPT_ATOM_GET(CTL, USER, from))
		ctl |= VPT_CTL_MASK(USER);
	if (r->timed)
		ctl |= VPT_CTL_MASK(TSC_EN);
	if (period)
		r->insns = period->start->insns;
	/* The trace does not have the CPL. So use a traced CPL, and an enclave to stop tracing. */
	r->ctx.cpl = VPT_ATOM_GET(CTL, OS, from) ? 0 : 3;
	r->ctx.production_enclave = true;
	r->cr3 = DECODE_CR3_UNKNOWN;
	r->on = true;
	write_msr(r, VPT_MSR_STATUS, 0);
	write_msr(r, VPT_MSR_CTL, ctl);
}

/* Returns true if packets were being lost at the end of the session. */
static bool ends_in_overflow(const struct trace_session *end)
{
	return VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, end->status);
}

/*
 * Return the reason for the end: a written register, or DISABLED for a reason that PT does not
 * have.
 */
static uint32_t why_ended(const struct trace_session *end)
{
	return end->end == TRACE_END_CLOSED ? TRACE_END_CLOSED : TRACE_END_DISABLED;
}

static void end(struct export_retell *r)
{
	const struct trace_period *period = period_of(r);
	uint32_t why = TRACE_END_CLOSED;

	if (period && period->end) {
		r->gap |= ends_in_overflow(period->end);
		r->insns = period->end->insns;
		why = why_ended(period->end);
	}
	export_retell_leave(r);
	write_msr(r, VPT_MSR_CTL, 0);
	put_session(r, TRACE_SESSION_END, why);
	r->on = false;
	r->session++;
}

void export_retell_session(struct export_retell *r, const struct decode_item *item)
{
	if (r->on && r->session >= item->session)
		return;
	if (r->on)
		end(r);
	while (r->session < item->session && r->session < r->nperiods) {
		begin(r);
		end(r);
	}
	begin(r);
}

void export_retell_end(struct export_retell *r)
{
	if (r->on)
		end(r);
	while (r->session < r->nperiods) {
		begin(r);
		end(r);
	}
}

void export_retell_time(struct export_retell *r, const struct decode_item *item)
{
	/* perf and other decoders require ascending times. */
	if (!r->timed || !item->when.known || item->when.tsc <= r->tsc)
		return;
	r->tsc = item->when.tsc;
	vpt_pt_timing(&r->pt);
}
