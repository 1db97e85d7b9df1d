// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the current address space by PIPs, by the file, or by the place of code. */
#include "judge/ipt_flow.h"

void judge_flow_use_space(struct judge_ipt_flow *f, uint64_t cr3)
{
	f->cr3 = cr3;
	f->space = decode_spaces_find(f->spaces, cr3);
	decode_code_select(f->code, cr3);
}

static bool in_guest(const struct judge_ipt_flow *f)
{
	return f->space && (f->space->flags & TRACE_SPACE_NON_ROOT);
}

/*
 * Find the space of a session that has no PIPs (33.4.2.7), or none yet. CR3 blocks of the file have
 * it. Without these, guess it from the address of code.
 */
static void find_space(struct judge_ipt_flow *f, uint64_t ip)
{
	uint64_t cr3 = f->cr3;

	if (f->pip)
		return;
	if (!f->ncr3s)
		cr3 = decode_code_guess(f->code, ip);
	for (; f->next_cr3 < f->ncr3s && f->cr3s[f->next_cr3].insns <= f->insns; f->next_cr3++)
		cr3 = decode_code_space(f->code, f->cr3s[f->next_cr3].cr3 & ~TRACE_CR3_FLAGS);
	if (cr3 != DECODE_CR3_UNKNOWN && cr3 != f->cr3)
		judge_flow_use_space(f, cr3);
}

/* Enter the session at `offset`, up to which the decoder has read. */
static void enter_session(struct judge_ipt_flow *f, uint64_t offset)
{
	const struct decode_segment *s = &f->segments[f->next - 1];
	size_t last = s->first + s->count;
	size_t was = f->session;

	while (f->session + 1 < last && f->periods[f->session + 1].start->offset < offset)
		f->session++;
	if (f->session == was)
		return;
	f->pip = false;
	/* Correct the instruction counter, because the decoder cannot count everything. */
	if (f->periods[f->session].start->insns)
		f->insns = f->periods[f->session].start->insns;
}

/*
 * Returns true for INT n and for a WRMSR that clears TraceEn. Both count as retired, but libipt
 * only reports an event.
 */
static bool hides_insn(const struct judge_ipt_flow *f, const struct decode_item *item)
{
	uint8_t op[2] = {0, 0};
	size_t n = decode_code_read(f->code, f->cr3, item->ip, op, sizeof(op));

	if (n && (op[0] == 0xcc || op[0] == 0xcd || op[0] == 0xce || op[0] == 0xf1))
		return true;
	return n == 2 && item->event == DECODE_FLOW_ASYNC_DISABLED && op[0] == 0x0f &&
	       op[1] == 0x30;
}

/* Process a PIP, whose CR3 may be a space's id. */
static void take_pip(struct judge_ipt_flow *f, struct decode_item *item)
{
	const struct trace_space *space = decode_spaces_find(f->spaces, item->value);
	bool was_guest = in_guest(f);

	enter_session(f, item->offset);
	f->pip = true;
	judge_flow_use_space(f, decode_code_space(f->code, item->value));
	if (!space)
		return;
	f->space = space;
	item->value = space->cr3;
	/* The event was a VM exit, so the instruction has not retired. */
	if (f->counted && was_guest && !in_guest(f))
		f->insns--;
}

void judge_flow_note_event(struct judge_ipt_flow *f, struct decode_item *item)
{
	uint64_t was = f->insns;

	switch (item->event) {
	case DECODE_FLOW_PAGING:
		take_pip(f, item);
		break;
	case DECODE_FLOW_ENABLED:
	case DECODE_FLOW_OVERFLOW:
		enter_session(f, item->offset);
		find_space(f, item->to);
		break;
	case DECODE_FLOW_ASYNC_BRANCH:
	case DECODE_FLOW_ASYNC_DISABLED:
		f->insns += hides_insn(f, item);
		f->counted = f->insns != was;
		return;
	default:
		break;
	}
	f->counted = false;
}

/* Resume in the only other space that has code there. */
static bool guess_space(struct judge_ipt_flow *f, const struct decode_item *error)
{
	uint64_t space = decode_code_guess(f->code, error->ip);

	if (space == DECODE_CR3_UNKNOWN || space == f->cr3)
		return false;
	judge_flow_use_space(f, space);
	f->decoder->ops->retry(f->decoder);
	return true;
}

/*
 * Find the space after a concealed VM entry or exit, which sends no PIP. If the selected space has
 * no code there, and only one other space has, then execution is in that space.
 */
static bool find_concealed(struct judge_ipt_flow *f, const struct decode_item *error)
{
	if (!f->spaces || !f->decoder->ops->no_code(f->decoder))
		return false;
	/* A space without any code in the file is no sign of a concealed entry or exit. */
	if (f->space &&
	    (decode_spaces_learned(f->spaces, f->space) || (f->space->flags & TRACE_SPACE_NO_CODE)))
		return false;
	return guess_space(f, error);
}

/*
 * Find the space of a stream that is joined while tracing is on, before any event has reported it.
 */
static bool find_joined(struct judge_ipt_flow *f, const struct decode_item *error)
{
	if (f->cr3 != DECODE_CR3_UNKNOWN || !f->decoder->ops->no_code(f->decoder))
		return false;
	find_space(f, error->ip);
	if (f->cr3 == DECODE_CR3_UNKNOWN)
		return false;
	f->decoder->ops->retry(f->decoder);
	return true;
}

bool judge_flow_elsewhere(struct judge_ipt_flow *f, const struct decode_item *error)
{
	return find_joined(f, error) || find_concealed(f, error);
}
