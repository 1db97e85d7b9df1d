// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The decoder of a flow of RTIT: give it the sessions' registers, packets and code, and queue what
 * it reports.
 *
 * RTIT has no packets for the address space and the code size where a trace begins, and for how it
 * ends. CR3 blocks of the file have the former, by the counter of instructions, and sessions the
 * latter.
 */
#include <errno.h>

#include "decode/pt_flow.h"
#include "trace/atom_session.h"

static struct decode_pt_flow *of(void *context)
{
	return context;
}

/* Set where execution went from the last run of the queue. A far transfer's TIP is yet to come. */
static void end_run(struct decode_pt_flow *f)
{
	struct decode_told *last = f->told.n ? &f->told.at[f->told.n - 1] : NULL;

	if (!last || last->kind != DECODE_TOLD_RUN || last->class == DECODE_INSN_FAR_CALL ||
	    last->class == DECODE_INSN_FAR_RETURN || last->class == DECODE_INSN_FAR_JUMP)
		return;
	last->has_to = true;
	last->to = f->ahead.flow.ip;
}

/* Did the last instruction of the block send the packet at hand? */
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

	end_run(f);
	if (count > sent) {
		told = decode_pt_tell_run(f, block, first, count - sent);
		if (!told)
			return;
		told->insns -= sent;
		told->offset = f->ahead.atom.led;
	}
	if (sent)
		(void)decode_pt_tell_run(f, block, first + count - 1, 1);
}

static void use_space(struct decode_pt_flow *f, uint64_t cr3, unsigned int mode)
{
	struct decode_pt_ahead *a = &f->ahead;

	end_run(f);
	if (cr3 != a->cr3)
		decode_pt_use_space(f, cr3);
	a->atom.cr3 = a->space ? a->space->cr3 : cr3;
	a->flow.mode = (uint8_t)mode;
}

/*
 * Use what the file says of the space, and of the code size, up to the counter. Where that lags,
 * since packets were lost, PIPs are right, if there are any, unless @always is set.
 */
static void follow_space(struct decode_pt_flow *f, bool always)
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
	follow_space(f, false);
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

/* CR3 was loaded where packets were lost, and with it the PIP; or the file does not say the space. */
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

/* A PIP. Only the SPACE blocks, if there are any, tell whose CR3 it has. */
static uint64_t on_space(void *context, uint64_t cr3)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;

	a->pip = true;
	if (!f->spaces)
		a->cr3 = decode_code_space(a->store, cr3);
	return decode_pt_space_key(a->cr3);
}

static const struct trace_session *session_start(const struct decode_pt_flow *f)
{
	return f->ahead.segment->count ? f->periods[f->ahead.session].start : NULL;
}

static const struct trace_session *session_end(const struct decode_pt_flow *f)
{
	return f->ahead.segment->count ? f->periods[f->ahead.session].end : NULL;
}

/* CR3 blocks have a mark where an overflow was over. */
static bool on_resumed(void *context, uint64_t *insns)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;
	size_t at;

	if (!decode_pt_find_resumed(f, &at))
		return false;
	*insns = a->flow.insns;
	follow_space(f, true);
	return true;
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct decode_pt_flow *f = of(context);
	struct decode_told *told;

	end_run(f);
	/* Before the event, as before an instruction. The flow finds the limit reached later on. */
	if (f->ahead.flow.limit <= f->ahead.flow.insns)
		follow_space(f, false);
	told = decode_pt_tell_event(f, event);
	if (told)
		told->offset = event->offset;
}

static const struct dec_flow_ops flow_ops = {.run = on_run, .limit = on_limit, .hole = on_hole};
static const struct dec_atom_ops atom_ops = {on_event, on_space, on_resumed};

static enum vptd_atom_end why_of(const struct trace_session *end)
{
	switch (end->end) {
	case TRACE_END_DISABLED:
		return VPTD_ATOM_CLEARED;
	case TRACE_END_TRACE_STOP:
		return VPTD_ATOM_STOPPED;
	case TRACE_END_CHANGED:
		return VPTD_ATOM_CHANGED;
	default:
		return VPTD_ATOM_ENDED;
	}
}

static void begin_session(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *start = session_start(f);
	struct vpt_atom_regs regs;

	a->pip = false;
	a->at = start->offset;
	trace_atom_session_get(start, &regs);
	dec_atom_begin(&a->atom, &regs, start->insns);
	follow_space(f, false);
	a->flow.limit = 0; /* on_limit() is called, and sets it. */
}

static bool is_last(const struct decode_pt_flow *f)
{
	const struct decode_segment *s = f->ahead.segment;

	return f->ahead.session + 1 >= s->first + s->count;
}

static void end_session(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *end = session_end(f);
	struct vpt_atom_regs regs;

	/* A packet that is not whole where the file may end too early is no error. */
	if (!end || (a->atom.carry.n && !a->atom.skips && a->segment->cut && is_last(f)))
		return;
	trace_atom_session_get(end, &regs);
	dec_atom_end(&a->atom, &regs, end->insns, why_of(end));
}

static void begin(struct decode_pt_flow *f, const struct decode_segment *segment)
{
	const struct trace_file_info *info = trace_reader_info(f->reader);
	const struct dec_atom_config config = {.errata = TRACE_INFO_ERRATA(info->flags),
					       .guest = info->owner == TRACE_OWNER_GUEST,
					       .at_once = true};
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *start;

	a->segment = segment;
	a->at = segment->begin;
	a->session = segment->first;
	a->pip = false;
	dec_atom_init(&a->atom, &a->flow, &config, &atom_ops, f);
	a->atom.offset = segment->begin;
	a->offset = &a->atom.offset;
	start = session_start(f);
	/* If packets were lost, the segment before may have counted too many instructions. */
	while (a->next_cr3 && start && f->cr3s[a->next_cr3 - 1].insns > start->insns)
		a->next_cr3--;
	/* The record that counted at the end of the segment before still counts here. */
	if (a->next_cr3)
		a->next_cr3--;
	decode_pt_select_space(f, DECODE_CR3_UNKNOWN);
	a->flow.mode = 64;
	if (start)
		begin_session(f);
}

static int push(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct decode_segment *s = a->segment;
	bool last = is_last(f);
	uint64_t end = last ? s->end : f->periods[a->session + 1].start->offset;
	size_t len = (size_t)(end - a->at < a->piece ? end - a->at : a->piece);

	if (len) {
		dec_atom_push(&a->atom, f->stream + a->at, len);
		a->at += len;
	} else {
		end_session(f);
		if (last) {
			dec_atom_finish(&a->atom);
			a->segment = NULL;
		} else {
			end_run(f);
			a->session++;
			begin_session(f);
		}
	}
	end_run(f);
	if (a->no_memory)
		return -ENOMEM;
	return a->segment != NULL;
}

const struct decode_ahead_system decode_ahead_atom = {
	.flow = &flow_ops,
	.is_psb = decode_is_atom_psb,
	.find_psb = vpt_atom_packet_find_psb,
	.begin = begin,
	.push = push,
};
