// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The callbacks of the decoder of Intel PT. They queue runs and events, and follow the code and the
 * address spaces of the file.
 */
#include "decode/pt_flow.h"

/*
 * The key that is selected if no space is known. No space of a file has this number, and it has no
 * code.
 */
#define NO_SPACE 1u

static struct decode_pt_flow *of(void *context)
{
	return context;
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct decode_pt_flow *f = of(context);
	uint32_t taken = f->offer.takers ? decode_pt_offer(f, block, first, count) : 0;

	if (taken < count)
		(void)decode_pt_queue_run(f, block, first + taken, count - taken);
}

static void map(struct decode_pt_flow *f, uint64_t space, uint64_t vaddr, const uint8_t *bytes)
{
	const uint8_t *page = decode_code_same(f->ahead.store, bytes);
	const uint64_t key = (uintptr_t)page; /* the key of all pages with this content */
	struct dec_code *code = f->ahead.code;

	if ((!dec_code_has(code, key) && dec_code_lend(code, key, page)) ||
	    dec_code_map(code, space, vaddr, key))
		f->ahead.no_memory = true;
}

bool decode_pt_fetch(void *context, uint64_t space, uint64_t vaddr)
{
	struct decode_pt_flow *f = of(context);
	const uint8_t *bytes =
		space == NO_SPACE ? NULL : decode_code_page(f->ahead.store, space, vaddr);

	if (bytes)
		map(f, space, vaddr, bytes);
	return bytes != NULL;
}

void decode_pt_follow_code(struct decode_pt_flow *f)
{
	struct decode_pt_ahead *a = &f->ahead;
	const bool by_offset = decode_code_by_offset(a->store);
	struct decode_code_changes changes =
		decode_code_advance_told(a->store, decode_pt_code_position(a));
	struct decode_code_change change;
	const uint8_t *is;
	uint64_t key;

	while (decode_code_changed(a->store, &changes, &change)) {
		/*
		 * A page that the decoder has not fetched yet will be fetched in its version of
		 * that time.
		 */
		if (dec_code_at_page(a->code, change.space, change.vaddr, &key, &is))
			map(f, change.space, change.vaddr, change.bytes);
	}
	a->flow.limit = by_offset ? UINT64_MAX : decode_code_next_change(a->store);
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
	told = decode_pt_queue(f, DECODE_TOLD_SPACE);
	if (!told)
		return;
	told->cr3 = cr3;
	told->space = f->ahead.space;
}

/* Handle a PIP before its event is reported. Returns the argument of dec_code_select(). */
static uint64_t on_space(void *context, uint64_t cr3, bool nr, uint64_t vmcs)
{
	struct decode_pt_flow *f = of(context);
	struct decode_pt_ahead *a = &f->ahead;
	const struct decode_space_key key = {
		.cr3 = cr3,
		/* All ones means that no VMCS is current (33.4.2.15). */
		.vmcs = vmcs == TRACE_SPACE_ID_MASK ? TRACE_SPACE_ANY_VMCS : vmcs,
		.non_root = nr,
	};
	const struct trace_source_key source = {key.cr3, key.vmcs, nr};
	uint64_t id = f->spaces ? decode_spaces_resolve(f->spaces, &key) : cr3;

	/* The side-band data identifies the spaces of this side (trace/format.h). */
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
 * Find the space of a session that has no PIPs (33.4.2.7), or none yet. CR3 blocks of the file have
 * it, or else the address of code does.
 */
static void find_space(struct decode_pt_flow *f, uint64_t ip)
{
	struct decode_pt_ahead *a = &f->ahead;
	uint64_t cr3 = a->cr3;

	if (a->pip || f->nswitches)
		return;
	decode_pt_live_asks(f);
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
	a->flow.limit = 0; /* on_limit() sets the limit. */
	*at = i;
	return true;
}

/*
 * Resume after an overflow. Lost packets may include a change of CR3, and the instruction counter
 * lags.
 */
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

	/* A space without any code in the file is no sign of a concealed entry or exit. */
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

	/* The stream is joined while tracing is on. */
	if (f->ahead.cr3 == DECODE_CR3_UNKNOWN) {
		find_space(f, ip);
		if (f->ahead.cr3 != DECODE_CR3_UNKNOWN)
			return true;
	}
	if (decode_pt_find_concealed(f, ip))
		return true;
	decode_code_missed(f->ahead.store, f->ahead.cr3, ip);
	return false;
}

struct decode_told *decode_pt_queue_event(struct decode_pt_flow *f, const struct vptd_event *event)
{
	struct decode_told *told;

	decode_pt_merge_flush(f);
	if (event->kind == VPTD_EVENT_PAGING) {
		told = decode_pt_queue(f, DECODE_TOLD_SPACE);
		if (!told)
			return NULL;
		told->cr3 = f->ahead.cr3;
		told->space = f->ahead.space;
	}
	if (event->kind == VPTD_EVENT_ERROR)
		f->ahead.failed = *f->ahead.offset;
	if (event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_LOOP)
		f->live.looped = true;
	if (event->kind == VPTD_EVENT_ERROR && event->value == VPTD_E_MEMORY)
		f->ahead.no_memory = true;
	told = decode_pt_queue(f, DECODE_TOLD_EVENT);
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
	told = decode_pt_queue_event(f, event);
	if (!told || !f->ahead.pt.timing)
		return;
	f->ahead.timing.what = DEC_TIMED_EVENT;
	dec_timing_point(&f->ahead.timing, &point);
	f->ahead.timing.what = DEC_TIMED_NONE;
	told->has_tsc = point.known;
	told->tsc = point.tsc;
}

const struct dec_flow_ops decode_pt_flow_reports = {
	.run = on_run, .limit = on_limit, .hole = on_hole};
const struct dec_pt_ops decode_pt_reports = {.event = on_event, .space = on_space};
