// SPDX-License-Identifier: GPL-2.0-or-later
#include "lane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blind.h"
#include "decode/code.h"
#include "token.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define EVENTS (VPT_CTL_MASK(PTW_EN) | VPT_CTL_MASK(PWR_EVT_EN) | VPT_CTL_MASK(EVENT_EN))

/* Instructions that perf takes for a nanosecond at most when it guesses the time. */
#define INSNS_PER_NS 512

int vpt_export_lane_open(struct vpt_export_lane *l, struct vpt_reader *reader)
{
	const struct vpt_file_info *info = vpt_reader_info(reader);
	size_t i, len;

	l->periods = vpt_reader_sessions(reader, l->vcpu, &l->nperiods);
	l->scan.bytes = vpt_reader_stream(reader, l->vcpu, &len);
	if (!l->scan.bytes)
		return -ENOMEM;
	l->len = len;
	l->scan.caps = &info->caps;
	for (i = 0; i < l->nperiods; i++) {
		l->timed |= (l->periods[i].start->ctl & VPT_CTL_MASK(TSC_EN)) != 0;
		l->events |= (l->periods[i].start->ctl & EVENTS) != 0;
	}
	l->start = vpt_scan_start(l->scan.bytes, len, &l->bits16);
	l->now = 1;
	l->blind = vpt_export_is_blind(l);
	l->done = l->start == VPT_SCAN_NONE || l->blind;
	if (l->done)
		return 0;
	return vpt_flow_open(reader, l->vcpu, VPT_FLOW_BLOCKS, &l->flow);
}

/* Nothing of the flow, but the time. */
static int begin_blind(struct vpt_export_lane *l)
{
	int err;

	vpt_scan_segment(&l->scan, l->start, l->len);
	err = vpt_export_pull(l, l->len);
	return err ? err : vpt_export_drop_to(l, l->len);
}

int vpt_export_lane_begin(struct vpt_export_lane *l)
{
	int err;

	if (l->blind)
		return begin_blind(l);
	err = vpt_export_lane_next(l);
	/* The time at which it begins, by which lanes take turns. */
	return err || l->done ? err : vpt_export_pull(l, l->scan.len);
}

void vpt_export_lane_close(struct vpt_export_lane *l)
{
	vpt_flow_close(l->flow);
	free(l->stamps.at);
	free(l->fixes.at);
	free(l->moves.at);
}

bool vpt_export_lane_first_tsc(const struct vpt_export_lane *l, uint64_t *tsc)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	vpt_scan_segment(&scan, 0, l->len);
	while (vpt_scan_next(&scan, &p, &at)) {
		if (scan.has_tsc) {
			*tsc = scan.tsc;
			return true;
		}
	}
	return false;
}

static size_t read_code(const struct vpt_export_lane *l, uint64_t cr3, uint64_t ip, uint8_t *bytes,
			size_t len)
{
	return vpt_code_read(vpt_flow_code(l->flow), cr3, ip, bytes, len);
}

/* INT n and the WRMSR that clears TraceEn are events, and count (format.h). */
static bool hides_insn(const struct vpt_export_lane *l, const struct vpt_item *item)
{
	uint8_t op[2] = {0, 0};
	size_t n;

	if (item->shown ||
	    (item->event != VPT_FLOW_ASYNC_BRANCH && item->event != VPT_FLOW_ASYNC_DISABLED))
		return false;
	n = read_code(l, item->cr3, item->ip, op, sizeof(op));
	if (n && (op[0] == 0xcc || op[0] == 0xcd || op[0] == 0xce || op[0] == 0xf1))
		return true;
	return n == 2 && item->event == VPT_FLOW_ASYNC_DISABLED && op[0] == 0x0f && op[1] == 0x30;
}

/* A branch with its displacement in it: where to. */
static bool direct_target(const uint8_t *op, size_t n, unsigned int mode, uint64_t ip, uint64_t *to)
{
	size_t i = 0;
	int32_t rel;

	while (i < n && (op[i] == 0x2e || op[i] == 0x3e || op[i] == 0x66 || op[i] == 0x67 ||
			 op[i] == 0xf2 || op[i] == 0xf3 || (mode == 64 && (op[i] & 0xf0) == 0x40)))
		i++;
	if (i + 1 < n && ((op[i] & 0xf0) == 0x70 || (op[i] & 0xfc) == 0xe0 || op[i] == 0xeb)) {
		rel = (int8_t)op[n - 1];
	} else if (i + 4 < n && (op[i] == 0xe8 || op[i] == 0xe9 ||
				 (op[i] == 0x0f && (op[i + 1] & 0xf0) == 0x80))) {
		memcpy(&rel, op + n - 4, sizeof(rel));
	} else {
		return false;
	}
	*to = ip + n + (uint64_t)(int64_t)rel;
	if (mode != 64)
		*to = (uint32_t)*to;
	return true;
}

/* Would tracing have gone on there? Only with ranges for filters is that certain. */
static bool traced(const struct vpt_session *s, uint64_t ip)
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

/* The block before ended tracing: does perf know where? */
static int note_disabled(struct vpt_export_lane *l)
{
	const struct vpt_item *b = &l->block;
	struct vpt_export_fix fix = {.end = VPT_EXPORT_END_IP};
	unsigned int size;
	uint8_t op[15];
	uint64_t to;
	size_t n;
	int err;

	if (!b->insns || b->class == VPT_INSN_UNKNOWN)
		return 0;
	n = read_code(l, b->cr3, b->last, op, sizeof(op));
	(void)vpt_disasm_class(l->disasm, b->mode, op, n, &size);
	if (!size)
		return 0;
	fix.ip = b->last + size;
	if (b->class == VPT_INSN_COND || b->class == VPT_INSN_JUMP || b->class == VPT_INSN_CALL) {
		if (!direct_target(op, size, b->mode, b->last, &to))
			return 0;
		/* Damage can take the session, and with it the filter. */
		if (b->class == VPT_INSN_COND && b->session >= l->nperiods)
			return 0;
		if (b->class != VPT_INSN_COND)
			fix.ip = to;
		else
			fix.end = traced(l->periods[b->session].start, to)
					  ? VPT_EXPORT_END_NOT_TAKEN
					  : VPT_EXPORT_END_TAKEN;
	} else if (b->class != VPT_INSN_OTHER) {
		return 0;
	}
	err = l->lost ? vpt_export_drop_to(l, l->item.offset) : vpt_export_pull(l, l->scan.len);
	if (err || !l->token.is || l->token.kind != VPT_PKT_TIP_PGD)
		return err;
	if (!vpt_vec_room(&l->fixes))
		return -ENOMEM;
	fix.at = l->token.at;
	l->fixes.at[l->fixes.n++] = fix;
	return 0;
}

static int note_event(struct vpt_export_lane *l)
{
	int err = 0;

	l->counter += hides_insn(l, &l->item);
	if (l->item.status) {
		vpt_export_pass(l, true);
		return vpt_export_pull(l, l->scan.len);
	}
	switch (l->item.event) {
	case VPT_FLOW_TSX:
		vpt_export_pass(l, false);
		return 0;
	case VPT_FLOW_DISABLED:
		err = note_disabled(l);
		return err ? err : vpt_export_expect(l, VPT_PKT_TIP_PGD, false);
	case VPT_FLOW_ASYNC_DISABLED:
		return vpt_export_expect(l, VPT_PKT_TIP_PGD, false);
	case VPT_FLOW_ASYNC_BRANCH:
		return vpt_export_expect(l, VPT_PKT_TIP, false);
	case VPT_FLOW_ENABLED:
		return vpt_export_expect(l, VPT_PKT_TIP_PGE, false);
	case VPT_FLOW_OVERFLOW:
		return vpt_export_expect(l, VPT_PKT_OVF, false);
	default:
		return 0;
	}
}

/* The packet that the block's last instruction needs. */
static int leave_block(struct vpt_export_lane *l)
{
	struct vpt_item *b = &l->item;
	unsigned int size;
	uint8_t op[15];
	uint64_t to;
	size_t n;

	/* libipt does not tell it of blocks that it cuts short. */
	if (b->class == VPT_INSN_UNKNOWN) {
		n = read_code(l, b->cr3, b->last, op, sizeof(op));
		b->class = (uint8_t)vpt_disasm_class(l->disasm, b->mode, op, n, &size);
		l->block.class = b->class;
	}
	switch (b->class) {
	case VPT_INSN_COND:
		return vpt_export_expect(l, VPT_PKT_TNT_8, true);
	case VPT_INSN_RETURN:
		return vpt_export_expect(l, VPT_PKT_TIP, true);
	case VPT_INSN_JUMP:
	case VPT_INSN_CALL:
		n = read_code(l, b->cr3, b->last, op, sizeof(op));
		if (direct_target(op, n, b->mode, b->last, &to))
			return 0;
		return vpt_export_expect(l, VPT_PKT_TIP, false);
	case VPT_INSN_FAR_CALL:
	case VPT_INSN_FAR_RETURN:
	case VPT_INSN_FAR_JUMP:
		return vpt_export_expect(l, VPT_PKT_TIP, false);
	default:
		return 0;
	}
}

/* Decoding starts afresh: no packet reaches from one segment into the next. */
static int note_segment(struct vpt_export_lane *l)
{
	const struct vpt_segment *segment = vpt_flow_segment(l->flow);
	int err = vpt_export_drop_to(l, l->scan.len);

	l->lost = false;
	vpt_scan_segment(&l->scan, segment->begin, segment->end);
	return err;
}

static void note_error(struct vpt_export_lane *l)
{
	if (!l->errors++)
		snprintf(l->error, sizeof(l->error), "vCPU %u, byte %llx: %s", l->vcpu,
			 (unsigned long long)l->item.offset, l->item.text);
}

int vpt_export_lane_next(struct vpt_export_lane *l)
{
	uint32_t session = l->item.session;
	int err = 0;

	if (l->item.kind == VPT_ITEM_BLOCK) {
		vpt_export_pass_events(l);
		err = leave_block(l);
	}
	if (!err)
		err = vpt_flow_next(l->flow, &l->item);
	if (!err && l->lost && l->item.kind != VPT_ITEM_SEGMENT)
		err = vpt_export_find_again(l);
	if (err)
		return err;
	if (l->item.session != session || l->item.kind == VPT_ITEM_SEGMENT) {
		if (l->item.session < l->nperiods && l->periods[l->item.session].start->insns)
			l->counter = l->periods[l->item.session].start->insns;
	}
	switch (l->item.kind) {
	case VPT_ITEM_BLOCK:
		l->counter += l->item.insns;
		if (vpt_export_lane_shown(l))
			l->insns += l->item.insns;
		else
			l->skipped += l->item.insns;
		if (!l->timed)
			l->now = l->insns + 1 > l->now ? l->insns + 1 : l->now;
		l->block = l->item;
		return 0;
	case VPT_ITEM_EVENT:
		err = note_event(l);
		break;
	case VPT_ITEM_SEGMENT:
		err = note_segment(l);
		break;
	case VPT_ITEM_ERROR:
		note_error(l);
		l->lost = true;
		break;
	case VPT_ITEM_END:
		l->done = true;
		err = vpt_export_drop_to(l, l->scan.len);
		break;
	}
	l->block.insns = 0;
	return err;
}

bool vpt_export_lane_shown(const struct vpt_export_lane *l)
{
	return l->item.kind == VPT_ITEM_BLOCK && l->item.mode != 16 && l->item.offset >= l->start;
}

/* At the beginning perf has decoded nothing that could be wrong. */
static bool begun(const struct vpt_export_lane *l)
{
	return l->place.is && l->place.at >= l->start;
}

uint64_t vpt_export_lane_change_time(const struct vpt_export_lane *l)
{
	return begun(l) ? l->now + 1 + (l->insns - l->mark) / INSNS_PER_NS : l->now;
}

int vpt_export_lane_change(struct vpt_export_lane *l, uint64_t ns)
{
	const struct vpt_export_stamp s = {
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
	l->rough += l->lost;
	return vpt_export_stamp_add(l, &s);
}
