// SPDX-License-Identifier: GPL-2.0-or-later
/* Record address spaces and execution modes, in the trace and in the oracle. */
#include <errno.h>

#include "pt/recorder.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)

uint64_t tracer_recorder_space(struct tracer_recorder *rec, const struct vpt_context *ctx)
{
	struct trace_space space;
	int is_new;

	if (!tracer_recorder_records(rec))
		return 0;
	is_new = tracer_spaces_note(&rec->spaces, rec->vmx, ctx, &space);
	/* Code in this space cannot be recorded, so the session ends before it. */
	if (is_new == -ENOSPC)
		rec->state |=
			TRACER_RECORDER_CROWDED | TRACER_RECORDER_REFUSED | TRACER_RECORDER_FULL;
	else if (is_new < 0)
		tracer_recorder_note(rec, is_new);
	else if (is_new)
		tracer_recorder_note(rec, trace_writer_spaces(rec->writer, &space, 1));
	return space.id;
}

void tracer_recorder_cr3(struct tracer_recorder *rec, const struct vpt_context *ctx)
{
	uint64_t cr3 = rec->vmx ? tracer_recorder_space(rec, ctx) : ctx->cr3;

	if (rec->state & TRACER_RECORDER_CROWDED ||
	    (rec->state & TRACER_RECORDER_CR3_KNOWN && rec->oracle_cr3 == cr3))
		return;
	rec->oracle_cr3 = cr3;
	rec->state |= TRACER_RECORDER_CR3_KNOWN;
	tracer_recorder_oracle(rec, TRACE_ORACLE_CR3, cr3, ctx->cpl, 0);
}

/* Return the execution mode of the next instruction (trace/format.h) if the file must have it. */
static uint64_t mode_of(const struct tracer_recorder *rec, const struct vpt_context *ctx)
{
	if (!(rec->wants & TRACER_RECORDER_MODES))
		return 0;
	if (ctx->lma && ctx->cs_l)
		return TRACE_CR3_CODE64;
	return ctx->cs_d ? TRACE_CR3_CODE32 : TRACE_CR3_CODE16;
}

static uint64_t place_of(struct tracer_recorder *rec, const struct vpt_context *ctx)
{
	uint64_t space = rec->vmx ? tracer_recorder_space(rec, ctx) : ctx->cr3 & ~PAGE_MASK;

	return space | mode_of(rec, ctx);
}

bool tracer_recorder_moved(struct tracer_recorder *rec, const struct vpt_context *ctx)
{
	return place_of(rec, ctx) != rec->place;
}

void tracer_recorder_place(struct tracer_recorder *rec, const struct vpt_context *ctx,
			   uint64_t flags)
{
	struct trace_cr3_switch sw = {.insns = rec->insns};

	if (!tracer_recorder_records(rec))
		return;
	rec->place = place_of(rec, ctx);
	if (rec->state & TRACER_RECORDER_CROWDED)
		return;
	sw.cr3 = rec->place | flags;
	tracer_recorder_note(rec, trace_writer_cr3(rec->writer, rec->vcpu, &sw));
}
