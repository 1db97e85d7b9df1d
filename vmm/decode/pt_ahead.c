// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder of a flow of Intel PT. It gets the sessions and the packets of a segment. */
#include <errno.h>

#include "decode/pt_errata.h"
#include "decode/pt_flow.h"
#include "trace/vec.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

/* Return the index of the last switch at or before @at, or 0. This switch is the next to apply. */
static size_t last_switch(const struct decode_pt_flow *f, uint64_t at)
{
	size_t n = trace_vec_before(f->switches, f->nswitches, e, e->offset <= at);

	return n ? n - 1 : 0;
}

/*
 * Apply the switches up to a->at. Returns the position of the next switch, or UINT64_MAX if there
 * is none.
 */
static uint64_t follow_switches(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const size_t before = a->next_switch;
	uint64_t space;

	while (a->next_switch < f->nswitches && f->switches[a->next_switch].offset <= a->at)
		a->next_switch++;
	if (a->next_switch != before) {
		space = f->switches[a->next_switch - 1].space;
		decode_pt_use_space(f, space ? decode_code_space(a->store, space)
					     : DECODE_CR3_UNKNOWN);
	}
	return a->next_switch < f->nswitches ? f->switches[a->next_switch].offset : UINT64_MAX;
}

static struct dec_pt_config config_of(const struct trace_session *s)
{
	struct dec_pt_config config = {0};

	if (!s)
		return config;
	config.no_flow = !(s->ctl & VPT_CTL_MASK(BRANCH_EN)) || s->ctl & VPT_CTL_MASK(DIS_TNT);
	config.no_os = !(s->ctl & VPT_CTL_MASK(OS));
	config.no_retc = s->ctl & VPT_CTL_MASK(DIS_RETC);
	config.event_en = s->ctl & VPT_CTL_MASK(EVENT_EN);
	config.cr3_filter = s->ctl & VPT_CTL_MASK(CR3_FILTER);
	config.cr3_match = s->cr3_match;
	return config;
}

static struct dec_time_config time_of(const struct decode_pt_flow *f, const struct trace_session *s)
{
	uint64_t ctl = s ? s->ctl : 0;
	unsigned int thresh = (unsigned int)VPT_CTL_GET(ctl, CYC_THRESH);
	const struct dec_time_config config = {
		.crystal_num = f->caps->l15_ebx,
		.crystal_den = f->caps->l15_eax,
		.max_nonturbo = f->caps->max_nonturbo,
		.mtc_freq = (uint8_t)VPT_CTL_GET(ctl, MTC_FREQ),
		.mtc = ctl & VPT_CTL_MASK(MTC_EN),
		.cyc = ctl & VPT_CTL_MASK(CYC_EN),
		.threshold = thresh ? VPT_BIT64(thresh - 1) : 0,
	};

	return config;
}

static void keep_time(struct decode_pt_flow *f, const struct trace_session *s)
{
	const struct dec_time_config config = time_of(f, s);

	dec_timing_init(&f->ahead.timing, &config, f->base.timed);
	/* Events have a TSC, which is unused in a flow that only counts. */
	f->ahead.pt.timing = f->base.timed || !f->counts.wanted ? &f->ahead.timing : NULL;
}

/* Make an empty cache of code, whose pages are fetched from the store. Returns 0 or -ENOMEM. */
static int new_code(struct decode_pt_flow *f)
{
	f->ahead.code = dec_code_new();
	if (!f->ahead.code)
		return -ENOMEM;
	dec_code_separate(f->ahead.code);
	dec_code_on_miss(f->ahead.code, decode_pt_fetch, f);
	return 0;
}

int decode_pt_renew_code(struct decode_pt_flow *f)
{
	int err;

	dec_code_free(f->ahead.code);
	err = new_code(f);
	if (!err)
		dec_flow_init(&f->ahead.flow, f->ahead.code, f->ahead.system->flow, f);
	return err;
}

int decode_pt_ahead_open(struct decode_pt_flow *f, const struct decode_ahead_system *system)
{
	struct decode_pt_ahead *a = &f->ahead;
	int err = decode_code_open(f->reader, f->vcpu, &a->store);

	if (!err)
		err = new_code(f);
	if (err)
		return err;
	a->failed = UINT64_MAX;
	a->refined = trace_reader_refined(f->reader, f->vcpu) != NULL;
	a->system = system;
	dec_flow_init(&a->flow, a->code, system->flow, f);
	a->flow.limit =
		decode_code_by_offset(a->store) ? UINT64_MAX : decode_code_next_change(a->store);
	return 0;
}

void decode_pt_ahead_close(struct decode_pt_flow *f)
{
	dec_code_free(f->ahead.code);
	decode_code_close(f->ahead.store);
}

static const struct trace_session *session_of(const struct decode_pt_flow *f)
{
	const struct decode_segment *s = f->ahead.segment;

	return s->count ? f->periods[f->ahead.session].start : NULL;
}

void decode_pt_ahead_begin_at(struct decode_pt_flow *f, const struct decode_segment *segment,
			      uint64_t at, size_t session)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *start;
	struct dec_pt_config config;

	a->segment = segment;
	a->at = at;
	a->session = session;
	a->pip = false;
	start = session_of(f);
	config = config_of(start);
	decode_pt_errata(f->reader, start, &config);
	dec_pt_init(&a->pt, &a->flow, &config, &decode_pt_reports, f);
	a->pt.offset = at;
	a->offset = &a->pt.offset;
	keep_time(f, start);
	decode_pt_select_space(f, DECODE_CR3_UNKNOWN);
	a->next_switch = last_switch(f, at);
}

static void begin(struct decode_pt_flow *f, const struct decode_segment *segment)
{
	const struct trace_session *start;

	decode_pt_ahead_begin_at(f, segment, segment->begin, segment->first);
	start = session_of(f);
	if (start && start->insns)
		f->ahead.flow.insns = start->insns;
}

/* Start another session of the segment, after TraceEn was cleared and set. */
static void next_session(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *start;
	struct dec_pt_config config;

	a->all_read = true;
	dec_pt_pause(&a->pt);
	a->all_read = false;
	a->session++;
	a->pip = false;
	start = session_of(f);
	config = config_of(start);
	decode_pt_errata(f->reader, start, &config);
	dec_pt_configure(&a->pt, &config);
	a->timing.config = time_of(f, start);
	/* Correct the instruction counter, because the decoder cannot count everything. */
	if (start->insns)
		a->flow.insns = start->insns;
	a->flow.limit = 0; /* on_limit() sets the limit. */
}

/*
 * A change of code is found at a read of the trace, but was made at any time since the read before.
 * So an error in between can show that the change was made already. If there is another one, it was
 * not. The changes of a refined file have their own places, and an error says nothing of them. Returns
 * the position up to which code has changed.
 */
static uint64_t changed_until(const struct decode_pt_flow *f)
{
	const struct decode_pt_ahead *a = &f->ahead;
	const uint64_t next = decode_code_change_behind(a->store, a->at);
	size_t n;
	const struct trace_epoch *reads = trace_reader_epochs(f->reader, f->vcpu, &n);

	if (a->refined)
		return a->at;
	if (a->failed == UINT64_MAX)
		return a->code_at > a->at ? a->code_at : a->at;
	n = trace_vec_before(reads, n, e, e->offset < next);
	if (next == UINT64_MAX || a->code_at >= next || !n || reads[n - 1].offset > a->failed)
		return a->at;
	return next;
}

/*
 * If code changes at offsets, have the code changed before the next instruction. Returns the
 * position of the next change, or UINT64_MAX.
 */
static uint64_t follow_offsets(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;

	if (!decode_code_by_offset(a->store))
		return UINT64_MAX;
	a->code_at = changed_until(f);
	a->failed = UINT64_MAX;
	if (decode_code_next_change(a->store) <= a->code_at ||
	    decode_code_last_change(a->store) > a->code_at)
		a->flow.limit = 0; /* on_limit() applies them. */
	return decode_code_change_behind(a->store, a->at);
}

/*
 * Return the number of the next @len bytes up to a PSB behind the first one. An error can change the
 * code, from the next PSB on. If that PSB were in the same piece, the result would depend on pieces.
 */
static uint64_t up_to_psb(const struct decode_pt_flow *f, uint64_t len)
{
	const struct decode_pt_ahead *a = &f->ahead;
	const uint8_t *bytes = f->bytes + (a->at - a->segment->begin);

	return len ? 1 + a->system->find_psb(bytes + 1, (size_t)len - 1) : 0;
}

static int push(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct decode_segment *s = a->segment;
	uint64_t end = s->end, len, next, change;
	int err = 0;

	if (a->at == s->end) {
		a->all_read = true;
		dec_pt_finish(&a->pt);
		a->all_read = false;
		decode_pt_counts_break(f);
		decode_pt_merge_flush(f);
		a->segment = NULL;
		return a->no_memory ? -ENOMEM : 0;
	}
	while (a->session + 1 < s->first + s->count &&
	       f->periods[a->session + 1].start->offset <= a->at)
		next_session(f);
	if (a->session + 1 < s->first + s->count && f->periods[a->session + 1].start->offset < end)
		end = f->periods[a->session + 1].start->offset;
	next = follow_switches(f);
	if (next < end)
		end = next;
	change = follow_offsets(f);
	if (change < end)
		end = change;
	if (decode_pt_stops_inside(f) && f->stop.at < end)
		end = f->stop.at;
	if (f->live.on && f->live.limit < end)
		end = f->live.limit;
	end = decode_pt_counts_until(f, end);
	len = end - a->at < a->piece ? end - a->at : a->piece;
	if (f->window.on && a->at + len > f->window.loaded)
		err = decode_pt_window_read(f, a->at + len);
	if (err)
		return err;
	if (change != UINT64_MAX)
		len = up_to_psb(f, len);
	dec_pt_push(&a->pt, f->bytes + (a->at - s->begin), (size_t)len);
	a->at += len;
	return a->no_memory ? -ENOMEM : 1;
}

const struct decode_ahead_system decode_ahead_pt = {
	.flow = &decode_pt_flow_reports,
	.is_psb = decode_is_psb,
	.find_psb = vpt_packet_find_psb,
	.begin = begin,
	.push = push,
};
