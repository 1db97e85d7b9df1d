// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder of a flow of RTIT. It gets the registers and the packets of sessions. */
#include <errno.h>

#include "decode/pt_flow.h"
#include "trace/atom_session.h"

static const struct trace_session *session_start(const struct decode_pt_flow *f)
{
	return f->ahead.segment->count ? f->periods[f->ahead.session].start : NULL;
}

static const struct trace_session *session_end(const struct decode_pt_flow *f)
{
	return f->ahead.segment->count ? f->periods[f->ahead.session].end : NULL;
}

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
	decode_atom_follow_space(f, false);
	a->flow.limit = 0; /* on_limit() sets the limit. */
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

	/* An incomplete packet is no error at a place where the file may be cut. */
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
	dec_atom_init(&a->atom, &a->flow, &config, &decode_atom_reports, f);
	a->atom.offset = segment->begin;
	a->offset = &a->atom.offset;
	start = session_start(f);
	/* If packets were lost, the previous segment may have counted too many instructions. */
	while (a->next_cr3 && start && f->cr3s[a->next_cr3 - 1].insns > start->insns)
		a->next_cr3--;
	/* The last applied record of the previous segment still applies here. */
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
			decode_atom_end_run(f);
			a->session++;
			begin_session(f);
		}
	}
	decode_atom_end_run(f);
	if (a->no_memory)
		return -ENOMEM;
	return a->segment != NULL;
}

const struct decode_ahead_system decode_ahead_atom = {
	.flow = &decode_atom_flow_reports,
	.is_psb = decode_is_atom_psb,
	.find_psb = vpt_atom_packet_find_psb,
	.begin = begin,
	.push = push,
};
