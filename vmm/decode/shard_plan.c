// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the places at which a stream is cut into shards. */
#include "decode/shard_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/vec.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

/* The maximum number of bytes of a PSB+ that is a cut. */
#define PSB_PLUS_MAX 256u
/* The number of bytes that are searched at a time. */
#define WINDOW 65536u

struct shards {
	struct decode_shard *at;
	size_t n, room;
};

/* The packets of a PSB+. */
struct plus {
	bool fup, mode, pip, vmcs;
};

/* Returns false if PSB+ cannot end here, or if the packet cannot be in it. */
static bool note_packet(const struct vpt_packet *p, struct plus *plus)
{
	switch (p->kind) {
	case VPT_PKT_FUP:
		plus->fup = p->ip_bytes != VPT_IP_SUPPRESSED;
		return plus->fup;
	case VPT_PKT_MODE_EXEC:
		plus->mode = true;
		return true;
	case VPT_PKT_PIP:
		plus->pip = true;
		return true;
	case VPT_PKT_VMCS:
		plus->vmcs = true;
		return true;
	case VPT_PKT_PAD:
	case VPT_PKT_TSC:
	case VPT_PKT_TMA:
	case VPT_PKT_MTC:
	case VPT_PKT_CYC:
	case VPT_PKT_CBR:
	case VPT_PKT_MODE_TSX:
		return true;
	default:
		return false;
	}
}

/* Returns the size of a PSB+ with the whole state, or 0. */
static size_t whole_psb_plus(const struct decode_shard_input *in, const uint8_t *bytes, size_t len)
{
	struct vpt_parser parser = {0};
	struct plus plus = {.pip = in->switches, .vmcs = !in->vmcs};
	struct vpt_packet p;
	size_t at = 0;

	if (len > PSB_PLUS_MAX)
		len = PSB_PLUS_MAX;
	while (!vpt_packet_read(&parser, bytes + at, len - at, &p)) {
		const bool first = !at;

		at += p.size;
		if (p.kind == VPT_PKT_PSBEND)
			return plus.fup && plus.mode && plus.pip && plus.vmcs ? at : 0;
		if (first ? p.kind != VPT_PKT_PSB : !note_packet(&p, &plus))
			return 0;
	}
	return 0;
}

/*
 * Find the session of a cut. Returns false if the session has no flow, or if another session starts
 * in the PSB+.
 */
static bool find_session(const struct decode_shard_input *in, struct decode_cut *cut)
{
	const struct decode_segment *s = &in->segments[cut->segment];
	const uint64_t psb = cut->psb, flow = VPT_CTL_MASK(BRANCH_EN);
	size_t n;

	cut->session = s->first;
	if (!s->count)
		return true;
	n = trace_vec_before(in->periods + s->first, s->count, e, e->start->offset < psb);
	if (!n || (n < s->count && in->periods[s->first + n].start->offset <= cut->end))
		return false;
	cut->session = s->first + n - 1;
	return (in->periods[cut->session].start->ctl & (flow | VPT_CTL_MASK(DIS_TNT))) == flow;
}

/* Returns true if a PSB+ with the whole state is at @psb, and sets the cut there. */
static bool is_cut(const struct decode_shard_input *in, uint64_t psb, struct decode_cut *cut)
{
	const uint64_t end = in->segments[cut->segment].end;
	const size_t plus = whole_psb_plus(in, in->stream + psb, (size_t)(end - psb));

	cut->begins = false;
	cut->psb = psb;
	cut->end = psb + plus;
	return plus && cut->end < end && find_session(in, cut);
}

/*
 * Find the first PSB from @at on that is a cut in the segment. Returns 1, 0 if there is none, or
 * -errno.
 */
static int find_in_segment(const struct decode_shard_input *in, uint64_t at, struct decode_cut *cut)
{
	const uint64_t end = in->segments[cut->segment].end;
	uint64_t psb, to, most;

	while (at < end) {
		to = end - at < WINDOW ? end : at + WINDOW;
		most = end - to < PSB_PLUS_MAX ? end : to + PSB_PLUS_MAX;
		int err = trace_reader_load(in->reader, in->vcpu, at, most);

		/* Bytes that the file lacks are 0. */
		if (err && err != -ENODATA)
			return err;
		psb = at + vpt_packet_find_psb(in->stream + at, (size_t)(most - at));
		if (psb < to && is_cut(in, psb, cut))
			return 1;
		at = psb < to ? psb + 1 : to;
	}
	return 0;
}

static struct decode_cut at_segment(const struct decode_shard_input *in, size_t segment)
{
	struct decode_cut cut = {.segment = segment, .begins = true};

	cut.psb = segment < in->nsegments ? in->segments[segment].begin
					  : in->segments[in->nsegments - 1].end;
	cut.end = cut.psb;
	return cut;
}

/* Find the first cut at or after @at. Returns 0 or -errno. */
static int find_cut(const struct decode_shard_input *in, uint64_t at, struct decode_cut *cut)
{
	size_t segment = trace_vec_before(in->segments, in->nsegments, e, e->end <= at);
	int found;

	if (segment < in->nsegments && at > in->segments[segment].begin) {
		cut->segment = segment++;
		found = find_in_segment(in, at, cut);
		if (found)
			return found < 0 ? found : 0;
	}
	*cut = at_segment(in, segment);
	return 0;
}

/* Returns true if a session of the shard starts behind its first bytes. */
static bool has_edge(const struct decode_shard_input *in, const struct decode_shard *shard)
{
	const struct decode_cut *from = &shard->from, *to = &shard->to;
	const struct decode_segment *s = &in->segments[from->segment];
	const uint64_t begin = from->end, end = to->end;
	size_t next = s->first, i;

	if (to->segment > from->segment + 1 || (to->segment > from->segment && !to->begins))
		return true;
	next += trace_vec_before(in->periods + next, s->count, e, e->start->offset <= begin);
	for (i = next; i < s->first + s->count && in->periods[i].start->offset <= end; i++)
		return true;
	return false;
}

/* Returns true if no code changes near the shard, and sets its counter. */
static bool is_free(const struct decode_shard_input *in, struct decode_shard *shard)
{
	const size_t n = decode_code_changes(in->code);
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (decode_code_change_at(in->code, mid).place + in->near < shard->from.psb)
			lo = mid + 1;
		else
			hi = mid;
	}
	shard->insns = lo ? decode_code_change_at(in->code, lo - 1).from : 0;
	return lo == n || decode_code_change_at(in->code, lo).place > shard->to.end + in->near;
}

static enum decode_shard_counter counter_of(const struct decode_shard_input *in,
					    struct decode_shard *shard)
{
	const struct decode_segment *s = &in->segments[shard->from.segment];
	const struct trace_session *start = s->count ? in->periods[s->first].start : NULL;

	if (!decode_code_changes(in->code) && !in->cr3s && !in->exact)
		return DECODE_SHARD_UNUSED;
	if (shard->from.begins && (!shard->from.segment || (start && start->insns))) {
		shard->insns = start ? start->insns : 0;
		return DECODE_SHARD_KNOWN;
	}
	if (in->exact || in->resumes || has_edge(in, shard) || !is_free(in, shard))
		return DECODE_SHARD_AFTER;
	return DECODE_SHARD_FREE;
}

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

int decode_shard_plan(const struct decode_shard_input *in, struct decode_shard_plan *plan)
{
	struct decode_cut from = in->nsegments ? at_segment(in, 0) : (struct decode_cut){0};
	uint32_t random = in->random;
	struct shards shards = {0};
	struct decode_shard *shard;
	struct decode_cut to;
	int err;

	while (from.segment < in->nsegments) {
		uint64_t bytes = in->bytes;

		if (in->random)
			bytes = 1 + next_random(&random) % (4 * in->bytes);
		err = find_cut(in, from.end + bytes, &to);
		trace_reader_drop(in->reader, in->vcpu, from.psb);
		if (!err && !trace_vec_room(&shards))
			err = -ENOMEM;
		if (err) {
			free(shards.at);
			return err;
		}
		shard = &shards.at[shards.n++];
		*shard = (struct decode_shard){.from = from, .to = to};
		shard->counter = counter_of(in, shard);
		from = shard->to;
	}
	*plan = (struct decode_shard_plan){shards.at, shards.n};
	return 0;
}

bool decode_cut_is_right(const struct decode_shard_input *in, const struct decode_cut *cut)
{
	struct decode_cut found;

	if (cut->segment > in->nsegments || (cut->segment == in->nsegments && !cut->begins))
		return false;
	found = at_segment(in, cut->segment);
	if (!cut->begins) {
		const uint64_t end = in->segments[cut->segment].end;

		/* Without a PSB there, all bytes behind would be searched for one. */
		if (cut->psb < found.psb || cut->psb >= end ||
		    !decode_is_psb(in->stream + cut->psb, (size_t)(end - cut->psb)) ||
		    !is_cut(in, cut->psb, &found))
			return false;
	}
	return found.begins == cut->begins && found.psb == cut->psb && found.end == cut->end &&
	       found.session == cut->session;
}
