// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The callbacks of the decoder of RTIT. They queue runs and events, and follow the code and the
 * address spaces of the file.
 *
 * RTIT has no packets for the address space and the code size at the start of a trace. CR3 blocks
 * of the file have both, by the instruction counter.
 */
#include "decode/pt_flow.h"

static struct decode_pt_flow *of(void *context)
{
	return context;
}

void decode_atom_end_run(struct decode_pt_flow *f)
{
	struct decode_told *last = f->told.n ? &f->told.at[f->told.n - 1] : NULL;

	if (!last || last->kind != DECODE_TOLD_RUN || last->class == DECODE_INSN_FAR_CALL ||
	    last->class == DECODE_INSN_FAR_RETURN || last->class == DECODE_INSN_FAR_JUMP)
		return;
	last->has_to = true;
	last->to = f->ahead.flow.ip;
}

/* Returns true if the last instruction of the block sent the current packet. */
static bool sent_it(const struct decode_pt_ahead *a, const struct dec_block *block)
{
	switch ((enum dec_end)block->end) {
	case DEC_END_RET:
	case DEC_END_JUMP_IND:
	case DEC_END_CALL_IND:
	case DEC_END_FAR:
		return a->atom.led != a->atom.offset;
	default:
		return false;
	}
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_pt_flow *f = of(context);
	bool sent = first + count == block->insns && sent_it(&f->ahead, block);
	struct decode_told *told;

	decode_atom_end_run(f);
	if (count > sent) {
		told = decode_pt_queue_run(f, block, first, count - sent);
		if (!told)
			return;
		told->code -= sent;
		told->offset = f->ahead.atom.led;
	}
	if (sent)
		(void)decode_pt_queue_run(f, block, first + count - 1, 1);
}

static void use_space(struct decode_pt_flow *f, uint64_t cr3, unsigned int mode)
{
	struct decode_pt_ahead *a = &f->ahead;

	decode_atom_end_run(f);
	if (cr3 != a->cr3)
		decode_pt_use_space(f, cr3);
	a->atom.cr3 = a->space ? a->space->cr3 : cr3;
	a->flow.mode = (uint8_t)mode;
}

void decode_atom_follow_space(struct decode_pt_flow *f, bool always)
{
	static const uint8_t modes[] = {64, 32, 16, 64};
	struct decode_pt_ahead *a = &f->ahead;
	unsigned int mode = a->flow.mode;
	uint64_t cr3 = a->cr3;

	for (; a->next_cr3 < f->ncr3s && f->cr3s[a->next_cr3].insns <= a->flow.insns;
	     a->next_cr3++) {
		uint64_t is = f->cr3s[a->next_cr3].cr3;
		uint64_t named = decode_code_space(a->store, is & ~TRACE_CR3_FLAGS);

		mode = modes[is & TRACE_CR3_CODE_MASK];
		if (named != DECODE_CR3_UNKNOWN && (always || a->atom.counts || !a->pip))
			cr3 = named;
	}
	use_space(f, cr3, mode);
}

static void on_limit(void *context)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;

	decode_pt_follow_code(f);
	decode_atom_follow_space(f, false);
	if (a->next_cr3 < f->ncr3s && f->cr3s[a->next_cr3].insns < a->flow.limit)
		a->flow.limit = f->cr3s[a->next_cr3].insns;
}

static bool guess_space(struct decode_pt_flow *f, uint64_t ip)
{
	uint64_t cr3 = decode_code_guess(f->ahead.store, ip);

	if (cr3 == DECODE_CR3_UNKNOWN || cr3 == f->ahead.cr3)
		return false;
	use_space(f, cr3, f->ahead.flow.mode);
	return true;
}

/*
 * Find the space with the missing code. The PIP of a new CR3 may be lost, or the file may lack the
 * space.
 */
static bool on_hole(void *context, uint64_t ip)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;

	if (a->cr3 == DECODE_CR3_UNKNOWN && !a->pip && !f->ncr3s)
		return guess_space(f, ip);
	if (!decode_pt_find_concealed(f, ip))
		return !a->atom.counts && guess_space(f, ip);
	use_space(f, a->cr3, a->flow.mode);
	return true;
}

/* Handle a PIP. If the file has SPACE blocks, only they identify the space of its CR3. */
static uint64_t on_space(void *context, uint64_t cr3)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;

	a->pip = true;
	if (!f->spaces)
		a->cr3 = decode_code_space(a->store, cr3);
	return decode_pt_space_key(a->cr3);
}

/* Resume after an overflow. CR3 blocks have a mark at its end. */
static bool on_resumed(void *context, uint64_t *insns)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;
	size_t at;

	if (!decode_pt_find_resumed(f, &at))
		return false;
	*insns = a->flow.insns;
	decode_atom_follow_space(f, true);
	return true;
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct decode_pt_flow *f = of(context);
	struct decode_told *told;

	decode_atom_end_run(f);
	/*
	 * Apply the space before the event, as before an instruction. The flow only checks the
	 * limit later.
	 */
	if (f->ahead.flow.limit <= f->ahead.flow.insns)
		decode_atom_follow_space(f, false);
	told = decode_pt_queue_event(f, event);
	if (told)
		told->offset = event->offset;
}

const struct dec_flow_ops decode_atom_flow_reports = {
	.run = on_run, .limit = on_limit, .hole = on_hole};
const struct dec_atom_ops decode_atom_reports = {
	.event = on_event, .space = on_space, .resumed = on_resumed};
