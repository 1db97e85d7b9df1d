// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode a stream that grows. The decoder stops before the last TRACE block, because the side-band
 * of that block may be missing. Blocks that come later are compared with what the decoder has used.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/pt_flow.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define PSB_BYTES 16u

void decode_pt_live_asks(struct decode_pt_flow *f)
{
	f->live.asked_cr3 = true;
	if (f->ahead.flow.insns > f->live.cr3_at)
		f->live.cr3_at = f->ahead.flow.insns;
}

/* Returns true if the number of bytes before the first PSB of the next segment is known. */
static bool knows_begin(struct decode_pt_flow *f)
{
	const struct decode_segment *s = &f->segments[f->next];
	uint64_t from = f->live.scanned > s->begin ? f->live.scanned : s->begin, psb;

	if (s->begin >= f->live.limit)
		return false;
	if (f->next + 1 < f->nsegments && s->end <= f->live.limit)
		return true;
	psb = from + f->ahead.system->find_psb(f->stream + from, (size_t)(s->end - from));
	if (psb < s->end)
		return true;
	f->live.scanned = s->end - s->begin < PSB_BYTES ? s->begin : s->end - PSB_BYTES + 1;
	return false;
}

bool decode_pt_live_waits(struct decode_pt_flow *f)
{
	if (!f->live.on)
		return false;
	if (f->ahead.segment)
		return f->ahead.at >= f->live.limit;
	return f->next == f->nsegments || !knows_begin(f);
}

/* Returns the offset up to which the sessions and the side-band are complete. */
static uint64_t limit_of(const struct decode_pt_flow *f)
{
	uint64_t limit = trace_reader_settled(f->reader, f->vcpu);
	size_t i = f->nperiods;

	/* Whether a session begins a segment depends on its first bytes. */
	for (; i && f->periods[i - 1].start->offset + PSB_BYTES > f->len; i--) {
		if (f->periods[i - 1].start->offset < limit)
			limit = f->periods[i - 1].start->offset;
	}
	return limit;
}

/* Returns true if the sessions from number @from on are of places that the decoder has not passed. */
static bool sessions_fit(const struct decode_pt_flow *f, size_t from)
{
	size_t i;

	if (!f->next)
		return true;
	if (!from && f->nperiods)
		return false;
	for (i = from; i < f->nperiods; i++) {
		if (f->periods[i].start->offset < f->ahead.at ||
		    f->periods[i].start->ctl & VPT_CTL_MASK(DIS_TNT))
			return false;
	}
	return true;
}

/* Returns true if the decoder would not have used the CR3 blocks from number @from on. */
static bool cr3s_fit(const struct decode_pt_flow *f, size_t from)
{
	if (!f->live.asked_cr3 || from == f->ncr3s)
		return true;
	return from && f->cr3s[from].insns > f->live.cr3_at;
}

/* Get the side-band that the reader has now. Returns false if it contradicts earlier items. */
static bool take_lists(struct decode_pt_flow *f)
{
	const size_t nperiods = f->nperiods, ncr3s = f->ncr3s;

	f->periods = trace_reader_sessions(f->reader, f->vcpu, &f->nperiods);
	f->cr3s = trace_reader_cr3(f->reader, f->vcpu, &f->ncr3s);
	f->stream = trace_reader_stream(f->reader, f->vcpu, &f->len);
	return sessions_fit(f, nperiods) && cr3s_fit(f, ncr3s) &&
	       !trace_reader_is_open_ended(f->reader);
}

static int take_code(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const size_t changes = decode_code_changes(a->store);
	int err = decode_code_more(a->store, f->reader, f->vcpu, a->flow.insns);

	if (!err && f->store != a->store)
		err = decode_code_more(f->store, f->reader, f->vcpu, a->flow.insns);
	if (err)
		return err;
	if (f->live.looped && decode_code_changes(a->store) != changes)
		return -ESTALE;
	f->change = decode_code_next_change(f->store);
	a->flow.limit = decode_code_next_change(a->store);
	/* The page behind the current block may be there now. */
	if (a->flow.cur && a->flow.cur->end == DEC_END_HOLE)
		a->flow.limit = 0; /* on_limit() sets the limit. */
	return 0;
}

static int take_segments(struct decode_pt_flow *f)
{
	size_t n;
	struct decode_segment *all = decode_segments(f->periods, f->nperiods, f->stream, f->len,
						     f->ahead.system->is_psb, &n);

	if (!all)
		return -ENOMEM;
	free(f->segments);
	f->segments = all;
	f->nsegments = n;
	if (f->ahead.segment) {
		f->ahead.segment = &all[f->next - 1];
		f->bytes = f->stream + all[f->next - 1].begin;
	}
	return 0;
}

/* Open the code at the position of items, which differs from that of the decoder. */
static int open_store(struct decode_pt_flow *f)
{
	int err = 0;

	if (f->store == f->ahead.store && !f->counts.wanted)
		err = decode_code_open(f->reader, f->vcpu, &f->store);
	if (!err && f->store != f->ahead.store)
		err = decode_code_grow(f->store, f->reader, f->vcpu);
	return err;
}

int decode_pt_grow(struct decode_flow *flow)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;
	int err;

	if (decode_pt_is_atom(f) || f->spaces || trace_reader_source(f->reader) ||
	    trace_reader_is_open_ended(f->reader))
		return -ENOTSUP;
	err = decode_code_grow(f->ahead.store, f->reader, f->vcpu);
	if (!err)
		err = open_store(f);
	f->live.on = true;
	f->live.limit = limit_of(f);
	return err;
}

int decode_pt_more(struct decode_flow *flow, bool whole)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)flow;
	int err;

	if (!take_lists(f))
		return -ESTALE;
	err = take_code(f);
	if (!err)
		err = take_segments(f);
	f->live.limit = limit_of(f);
	f->live.on = !whole;
	return err;
}
