// SPDX-License-Identifier: GPL-2.0-or-later
/* Follow the flow of one vCPU, and note where its packets must change. */
#include "export/lane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/blind.h"
#include "decode/code.h"
#include "export/place.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define EVENTS (VPT_CTL_MASK(PTW_EN) | VPT_CTL_MASK(PWR_EVT_EN) | VPT_CTL_MASK(EVENT_EN))

/* The maximum number of instructions per nanosecond in perf's estimate of the time. */
#define INSNS_PER_NS 512

int export_lane_open(struct export_lane *l, struct trace_reader *reader)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	size_t i, len;

	l->periods = trace_reader_sessions(reader, l->vcpu, &l->nperiods);
	l->scan.bytes = trace_reader_stream(reader, l->vcpu, &len);
	if (!l->scan.bytes)
		return -ENOMEM;
	l->len = len;
	l->scan.caps = &info->caps;
	for (i = 0; i < l->nperiods; i++) {
		l->timed |= (l->periods[i].start->ctl & VPT_CTL_MASK(TSC_EN)) != 0;
		l->events |= (l->periods[i].start->ctl & EVENTS) != 0;
	}
	l->start = export_scan_start(l->scan.bytes, len, &l->bits16);
	l->now = 1;
	l->blind = export_is_blind(l);
	l->done = l->start == EXPORT_SCAN_NONE || l->blind;
	if (l->done)
		return 0;
	return decode_flow_open(reader, l->vcpu, DECODE_FLOW_BLOCKS, &l->flow);
}

int export_lane_begin(struct export_lane *l)
{
	int err;

	/* Read only the time, because there is no flow. */
	if (l->blind) {
		export_scan_segment(&l->scan, l->start, l->len);
		return export_read_to(l, l->len);
	}
	err = export_lane_next(l);
	/* Read the start time, which decides the order of lanes. */
	return err || l->done ? err : export_read_token(l);
}

void export_lane_close(struct export_lane *l)
{
	decode_flow_close(l->flow);
	free(l->stamps.at);
	free(l->fixes.at);
	free(l->moves.at);
}

bool export_lane_first_tsc(const struct export_lane *l, uint64_t *tsc)
{
	struct export_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	export_scan_segment(&scan, 0, l->len);
	while (export_scan_next(&scan, &p, &at)) {
		if (scan.has_tsc) {
			*tsc = scan.tsc;
			return true;
		}
	}
	return false;
}

/*
 * Returns true if tracing would have continued at `ip`. Only address ranges for filtering make that
 * certain.
 */
static bool traced(const struct trace_session *s, uint64_t ip)
{
	bool in = false;
	unsigned int i;

	for (i = 0; i < VPT_MAX_RANGES; i++) {
		unsigned int cfg = s->ctl >> (VPT_CTL_ADDR0_CFG_SHIFT + 4 * i) & 15;

		if (!cfg || ip < s->addr[2 * i] || ip > s->addr[2 * i + 1])
			continue;
		if (cfg == 2)
			return false;
		in = true;
	}
	return in;
}

/* Handle the end of tracing at the previous block: add a fix if perf cannot find the place. */
static int note_disabled(struct export_lane *l)
{
	const struct decode_item *b = &l->block;
	struct export_fix fix = {.end = EXPORT_END_IP};
	struct dec_insn insn;
	uint8_t op[15];
	uint64_t to;
	size_t n;

	if (!b->insns)
		return 0;
	n = decode_code_read(decode_flow_code(l->flow), b->cr3, b->last, op, sizeof(op));
	if (decode_disasm_read(l->disasm, b->mode, op, n, &insn) != 1)
		return 0;
	fix.ip = b->last + insn.len;
	to = decode_disasm_target(&insn, b->mode, b->last);
	if (insn.kind == DEC_INSN_JUMP || insn.kind == DEC_INSN_CALL) {
		fix.ip = to;
	} else if (insn.kind == DEC_INSN_COND) {
		/* Damage can remove the session, and with it the filter. */
		if (b->session >= l->nperiods)
			return 0;
		fix.end = traced(l->periods[b->session].start, to) ? EXPORT_END_NOT_TAKEN
								   : EXPORT_END_TAKEN;
	} else if (b->class != DECODE_INSN_OTHER) {
		return 0;
	}
	if (!export_find_pgd(l, &fix.at))
		return 0;
	if (!trace_vec_room(&l->fixes))
		return -ENOMEM;
	l->fixes.at[l->fixes.n++] = fix;
	return 0;
}

static int note_event(struct export_lane *l)
{
	if (l->item.status) {
		export_pass(l, EXPORT_PASS_PSB);
		return export_read_token(l);
	}
	switch (l->item.event) {
	case DECODE_FLOW_TSX:
		export_pass(l, EXPORT_PASS_TSX);
		return 0;
	case DECODE_FLOW_DISABLED:
		l->disabled = true;
		return note_disabled(l);
	case DECODE_FLOW_ASYNC_DISABLED:
		l->disabled = true;
		return 0;
	default:
		return 0;
	}
}

/* Start a new segment. No packet crosses the boundary. */
static int note_segment(struct export_lane *l)
{
	const struct decode_segment *segment = decode_flow_segment(l->flow);
	int err = export_read_to(l, l->scan.len);

	export_begin_segment(l, segment->begin, segment->end);
	return err;
}

static void note_error(struct export_lane *l)
{
	if (!l->errors++)
		snprintf(l->error, sizeof(l->error), "vCPU %u, byte %llx: %s", l->vcpu,
			 (unsigned long long)l->item.offset, l->item.text);
}

int export_lane_next(struct export_lane *l)
{
	int err;

	if (l->item.kind == DECODE_ITEM_BLOCK)
		export_pass(l, EXPORT_PASS_BLOCK);
	err = decode_flow_next(l->flow, &l->item);
	if (!err && (l->item.kind == DECODE_ITEM_BLOCK || l->item.kind == DECODE_ITEM_EVENT))
		err = export_find_place(l);
	if (err)
		return err;
	switch (l->item.kind) {
	case DECODE_ITEM_BLOCK:
		if (export_lane_shown(l))
			l->insns += l->item.insns;
		else
			l->skipped += l->item.insns;
		if (!l->timed)
			l->now = l->insns + 1 > l->now ? l->insns + 1 : l->now;
		l->block = l->item;
		l->disabled = false;
		return 0;
	case DECODE_ITEM_EVENT:
		err = note_event(l);
		break;
	case DECODE_ITEM_SEGMENT:
		err = note_segment(l);
		break;
	case DECODE_ITEM_ERROR:
		note_error(l);
		break;
	case DECODE_ITEM_END:
		l->done = true;
		err = export_read_to(l, l->scan.len);
		break;
	}
	l->block.insns = 0;
	return err;
}

bool export_lane_shown(const struct export_lane *l)
{
	/*
	 * Use the place of the block if possible. The decoder has read past the outcome that ends
	 * the block.
	 */
	uint64_t at = l->place.is ? l->place.at : l->item.offset;

	return l->item.kind == DECODE_ITEM_BLOCK && l->item.mode != 16 && at >= l->start;
}

/* Returns true if perf has decoded anything that a change could affect. */
static bool begun(const struct export_lane *l)
{
	return l->place.is && l->place.at >= l->start;
}

uint64_t export_lane_change_time(const struct export_lane *l)
{
	return begun(l) ? l->now + 1 + (l->insns - l->mark) / INSNS_PER_NS : l->now;
}

int export_lane_change(struct export_lane *l, uint64_t ns)
{
	const struct export_stamp s = {
		.at = l->place.at,
		.bit = l->place.bit,
		.ns = ns,
		.ip = l->item.ip,
		.look = true,
		.first = l->insns == l->item.insns,
	};

	if (ns > l->now)
		l->mark = l->insns;
	l->now = ns;
	if (!begun(l))
		return 0;
	return export_stamp_add(l, &s);
}
