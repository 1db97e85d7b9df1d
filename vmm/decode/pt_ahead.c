// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder of a flow: give it packets and code, and queue what it reports. */
#include <errno.h>
#include <string.h>

#include "decode/disasm.h"
#include "decode/pt_errata.h"
#include "decode/pt_flow.h"
#include "trace/vec.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

/* Selected where no space is known. No space of a file has this number, and it has no code. */
#define NO_SPACE 1u

static struct decode_pt_flow *of(void *context)
{
	return context;
}

static bool tell_time(struct decode_pt_flow *f, enum decode_told_kind kind)
{
	struct dec_timing *t = &f->ahead.timing;

	if (!trace_vec_room(&f->points))
		return false;
	t->what = kind == DECODE_TOLD_RUN     ? DEC_TIMED_RUN
		  : kind == DECODE_TOLD_EVENT ? DEC_TIMED_EVENT
					      : DEC_TIMED_NONE;
	dec_timing_point(t, &f->points.at[f->points.n++]);
	t->what = DEC_TIMED_NONE;
	return true;
}

struct decode_told *decode_pt_tell(struct decode_pt_flow *f, enum decode_told_kind kind)
{
	struct decode_told *told;

	if (!trace_vec_room(&f->told)) {
		f->ahead.no_memory = true;
		return NULL;
	}
	if (f->timed && !tell_time(f, kind)) {
		f->ahead.no_memory = true;
		return NULL;
	}
	told = &f->told.at[f->told.n++];
	told->kind = (uint8_t)kind;
	told->session = (uint32_t)f->ahead.session;
	told->offset = *f->ahead.offset;
	told->insns = f->ahead.flow.insns;
	told->left = (uint8_t)f->ahead.flow.nbits;
	told->all_read = f->ahead.all_read;
	return told;
}

enum decode_insn_class decode_pt_class(const struct dec_block *block)
{
	/* What an INT n calls is told by its event. */
	if (block->insn_kind == DEC_INSN_SOFT_INT || block->insn_kind == DEC_INSN_INTO)
		return DECODE_INSN_OTHER;
	return decode_disasm_class_of((enum dec_insn_kind)block->insn_kind);
}

struct decode_told *decode_pt_tell_run(struct decode_pt_flow *f, const struct dec_block *block,
				       unsigned int first, unsigned int count)
{
	struct decode_told *told = decode_pt_tell(f, DECODE_TOLD_RUN);

	if (!told)
		return NULL;
	told->has_to = false;
	told->block = block;
	told->first = first;
	told->count = count;
	told->mode = block->mode;
	told->insns -= count;
	told->class = (uint8_t)(first + count == block->insns ? decode_pt_class(block)
							      : DECODE_INSN_OTHER);
	told->ip = dec_code_ip(f->ahead.code, block, first);
	if (f->timed)
		dec_timing_ran(&f->ahead.timing, block, first, count);
	return told;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_pt_flow *f = of(context);
	uint32_t taken = f->offer.takers ? decode_pt_offer(f, block, first, count) : 0;

	if (taken < count)
		(void)decode_pt_tell_run(f, block, first + taken, count - taken);
}

static void map(struct decode_pt_flow *f, uint64_t space, uint64_t vaddr, const uint8_t *bytes)
{
	const uint8_t *page = decode_code_same(f->ahead.store, bytes);
	const uint64_t key = (uintptr_t)page; /* of all pages that have this content */
	struct dec_code *code = f->ahead.code;

	if ((!dec_code_has(code, key) && dec_code_lend(code, key, page)) ||
	    dec_code_map(code, space, vaddr, key))
		f->ahead.no_memory = true;
}

static bool fetch(void *context, uint64_t space, uint64_t vaddr)
{
	struct decode_pt_flow *f = of(context);
	const uint8_t *bytes =
		space == NO_SPACE ? NULL : decode_code_page(f->ahead.store, space, vaddr);

	if (bytes)
		map(f, space, vaddr, bytes);
	return bytes != NULL;
}

static void changed(void *context, uint64_t space, uint64_t vaddr, const uint8_t *bytes)
{
	struct decode_pt_flow *f = of(context);
	const uint8_t *is;
	uint64_t key;

	/* What was not looked at yet is fetched as it is then. */
	if (dec_code_at_page(f->ahead.code, space, vaddr, &key, &is))
		map(f, space, vaddr, bytes);
}

void decode_pt_follow_code(struct decode_pt_flow *f)
{
	decode_code_advance_told(f->ahead.store, f->ahead.flow.insns, changed, f);
	f->ahead.flow.limit = decode_code_next_change(f->ahead.store);
}

static void on_limit(void *context)
{
	decode_pt_follow_code(of(context));
}

uint64_t decode_pt_space_key(uint64_t cr3)
{
	return cr3 == DECODE_CR3_UNKNOWN ? NO_SPACE : cr3;
}

void decode_pt_select_space(struct decode_pt_flow *f, uint64_t cr3)
{
	f->ahead.cr3 = cr3;
	f->ahead.space = decode_spaces_find(f->spaces, cr3);
	if (dec_code_select(f->ahead.code, decode_pt_space_key(cr3)))
		f->ahead.no_memory = true;
}

void decode_pt_use_space(struct decode_pt_flow *f, uint64_t cr3)
{
	struct decode_told *told;

	decode_pt_select_space(f, cr3);
	decode_pt_merge_flush(f);
	told = decode_pt_tell(f, DECODE_TOLD_SPACE);
	if (!told)
		return;
	told->cr3 = cr3;
	told->space = f->ahead.space;
}

/* A PIP, before its event is reported. Returns what dec_code_select() is to be given. */
static uint64_t on_space(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;
	const struct decode_space_key key = {
		.cr3 = cr3,
		/* All ones: no VMCS is current (33.4.2.15). */
		.vmcs = vmcs == TRACE_SPACE_ID_MASK ? TRACE_SPACE_ANY_VMCS : vmcs,
		.non_root = nr,
	};
	const struct trace_source_key source = {key.cr3, key.vmcs, nr};
	uint64_t id = f->spaces ? decode_spaces_resolve(f->spaces, &key) : cr3;

	/* The side-band tells the spaces of this side (trace/format.h). */
	if (f->nswitches && !nr) {
		id = f->ahead.next_switch ? f->switches[f->ahead.next_switch - 1].space : 0;
		a->cr3 = id ? decode_code_space(a->store, id) : DECODE_CR3_UNKNOWN;
		a->space = decode_spaces_find(f->spaces, id);
		return decode_pt_space_key(a->cr3);
	}
	a->pip = true;
	a->cr3 = decode_code_space_by(a->store, id, &source);
	a->space = decode_spaces_find(f->spaces, id);
	if (a->cr3 == DECODE_CR3_UNKNOWN &&
	    (decode_code_leaves_out(a->store) ||
	     (nr && a->space && a->space->flags & TRACE_SPACE_NO_CODE)))
		return VPTD_NO_CODE;
	return decode_pt_space_key(a->cr3);
}

/*
 * A session that has no PIPs (33.4.2.7), or none yet, goes by what the file says of
 * CR3, or, if it says nothing, by where there is code.
 */
static void find_space(struct decode_pt_flow *f, uint64_t ip)
{
	struct decode_pt_ahead *a = &f->ahead;
	uint64_t cr3 = a->cr3;

	if (a->pip || f->nswitches)
		return;
	if (!f->ncr3s)
		cr3 = decode_code_guess(a->store, ip);
	for (; a->next_cr3 < f->ncr3s && f->cr3s[a->next_cr3].insns <= a->flow.insns; a->next_cr3++)
		cr3 = decode_code_space(a->store, f->cr3s[a->next_cr3].cr3 & ~TRACE_CR3_FLAGS);
	if (cr3 != DECODE_CR3_UNKNOWN && cr3 != a->cr3)
		decode_pt_use_space(f, cr3);
}

bool decode_pt_find_resumed(struct decode_pt_flow *f, size_t *at)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *end = a->segment->count ? f->periods[a->session].end : NULL;
	size_t i = a->next_resumed;

	while (i < f->ncr3s &&
	       (!(f->cr3s[i].cr3 & TRACE_CR3_RESUMED) || f->cr3s[i].insns < a->flow.insns))
		i++;
	if (i == f->ncr3s || !end || f->cr3s[i].insns > end->insns)
		return false;
	a->next_resumed = i + 1;
	a->next_cr3 = i;
	a->flow.insns = f->cr3s[i].insns;
	a->flow.limit = 0; /* on_limit() is called, and sets it. */
	*at = i;
	return true;
}

/* With packets a change of CR3 was lost, and the counter of what changes code. */
static bool resume(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	uint64_t cr3;
	size_t at;

	if (!decode_pt_find_resumed(f, &at))
		return false;
	cr3 = decode_code_space(a->store, f->cr3s[at].cr3 & ~TRACE_CR3_FLAGS);
	a->next_cr3++;
	if (cr3 != DECODE_CR3_UNKNOWN && cr3 != a->cr3)
		decode_pt_use_space(f, cr3);
	return true;
}

bool decode_pt_find_concealed(struct decode_pt_flow *f, uint64_t ip)
{
	struct decode_pt_ahead *a = &f->ahead;
	uint64_t cr3;

	/* A PIP or a switch to where nothing is known is another matter. */
	if (!f->spaces || f->nswitches ||
	    (a->space && (decode_spaces_learned(f->spaces, a->space) ||
			  (a->space->flags & TRACE_SPACE_NO_CODE))))
		return false;
	cr3 = decode_code_guess(a->store, ip);
	if (cr3 == DECODE_CR3_UNKNOWN || cr3 == a->cr3)
		return false;
	decode_pt_use_space(f, cr3);
	return true;
}

static bool on_hole(void *context, uint64_t ip)
{
	struct decode_pt_flow *f = of(context);

	/* A stream is joined where the trace is on already. */
	if (f->ahead.cr3 == DECODE_CR3_UNKNOWN) {
		find_space(f, ip);
		if (f->ahead.cr3 != DECODE_CR3_UNKNOWN)
			return true;
	}
	return decode_pt_find_concealed(f, ip);
}

struct decode_told *decode_pt_tell_event(struct decode_pt_flow *f, const struct vptd_event *event)
{
	struct decode_told *told;

	decode_pt_merge_flush(f);
	if (event->kind == VPTD_EVENT_PAGING) {
		told = decode_pt_tell(f, DECODE_TOLD_SPACE);
		if (!told)
			return NULL;
		told->cr3 = f->ahead.cr3;
		told->space = f->ahead.space;
	}
	if (event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_MEMORY)
		f->ahead.no_memory = true;
	told = decode_pt_tell(f, DECODE_TOLD_EVENT);
	if (!told)
		return NULL;
	told->event = *event;
	told->has_tsc = false;
	return told;
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct decode_pt_flow *f = of(context);
	struct dec_point point;
	struct decode_told *told;

	if (event->kind == VPTD_EVENT_OVERFLOW && resume(f)) {
		decode_pt_follow_code(f);
	} else if (event->flags & VPTD_EV_TO &&
		   (event->kind == VPTD_EVENT_ENABLED || event->kind == VPTD_EVENT_OVERFLOW ||
		    event->kind == VPTD_EVENT_SYNC))
		find_space(f, event->to);
	if (f->counts.wanted && decode_pt_is_item((enum vptd_event_kind)event->kind))
		decode_pt_counts_break(f);
	told = decode_pt_tell_event(f, event);
	if (!told || !f->ahead.pt.timing)
		return;
	f->ahead.timing.what = DEC_TIMED_EVENT;
	dec_timing_point(&f->ahead.timing, &point);
	f->ahead.timing.what = DEC_TIMED_NONE;
	told->has_tsc = point.known;
	told->tsc = point.tsc;
}

/* The last switch up to a place, which is to be the next one. 0 if there is none. */
static size_t last_switch(const struct decode_pt_flow *f, uint64_t at)
{
	size_t n = trace_vec_before(f->switches, f->nswitches, e, e->offset <= at);

	return n ? n - 1 : 0;
}

/*
 * Let the switches up to a->at count. Returns the place of the next one, UINT64_MAX if there is
 * none.
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

static const struct dec_flow_ops flow_ops = {.run = on_run, .limit = on_limit, .hole = on_hole};
static const struct dec_pt_ops pt_ops = {.event = on_event, .space = on_space};

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

	dec_timing_init(&f->ahead.timing, &config, f->timed);
	/* Events have a TSC, which nobody sees who only counts. */
	f->ahead.pt.timing = f->timed || !f->counts.wanted ? &f->ahead.timing : NULL;
}

int decode_pt_ahead_open(struct decode_pt_flow *f, const struct decode_ahead_system *system)
{
	struct decode_pt_ahead *a = &f->ahead;
	int err = decode_code_open(f->reader, f->vcpu, &a->store);

	if (err)
		return err;
	a->code = dec_code_new();
	if (!a->code)
		return -ENOMEM;
	dec_code_separate(a->code);
	dec_code_on_miss(a->code, fetch, f);
	a->system = system;
	dec_flow_init(&a->flow, a->code, system->flow, f);
	a->flow.limit = decode_code_next_change(a->store);
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

static void begin(struct decode_pt_flow *f, const struct decode_segment *segment)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct trace_session *start;
	struct dec_pt_config config;

	a->segment = segment;
	a->at = segment->begin;
	a->session = segment->first;
	a->pip = false;
	start = session_of(f);
	config = config_of(start);
	decode_pt_errata(f->reader, start, &config);
	if (start && start->insns)
		a->flow.insns = start->insns;
	dec_pt_init(&a->pt, &a->flow, &config, &pt_ops, f);
	a->pt.offset = segment->begin;
	a->offset = &a->pt.offset;
	keep_time(f, start);
	decode_pt_select_space(f, DECODE_CR3_UNKNOWN);
	a->next_switch = last_switch(f, segment->begin);
}

/* Another session of the segment: TraceEn was cleared and set. */
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
	/* Put right what the decoder cannot count. */
	if (start->insns)
		a->flow.insns = start->insns;
	a->flow.limit = 0; /* on_limit() is called, and sets it. */
}

static int push(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const struct decode_segment *s = a->segment;
	uint64_t end = s->end, len, next;

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
	len = end - a->at < a->piece ? end - a->at : a->piece;
	dec_pt_push(&a->pt, f->bytes + (a->at - s->begin), (size_t)len);
	a->at += len;
	return a->no_memory ? -ENOMEM : 1;
}

const struct decode_ahead_system decode_ahead_pt = {
	.flow = &flow_ops,
	.is_psb = decode_is_psb,
	.find_psb = vpt_packet_find_psb,
	.begin = begin,
	.push = push,
};
