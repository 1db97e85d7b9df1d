// SPDX-License-Identifier: GPL-2.0-or-later
#include "lane.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define NS 1000000000u

/* Instructions that perf takes for a nanosecond at most when it guesses the time. */
#define INSNS_PER_NS 512

static uint64_t ns_of(const struct vpt_export_lane *l, uint64_t tsc)
{
	uint64_t ticks = tsc > l->time->base ? tsc - l->time->base : 0;

	/* Time 0 means none to perf. */
	if (!l->time->hz)
		return ticks + 1;
	return (uint64_t)((unsigned __int128)ticks * NS / l->time->hz) + 1;
}

static int stamp(struct vpt_export_lane *l, const struct vpt_export_stamp *stamp)
{
	if (!vpt_vec_room(&l->stamps))
		return -ENOMEM;
	l->stamps.at[l->stamps.n++] = *stamp;
	return 0;
}

/* Time goes on: what timing packets say, or else what has been decoded. */
static int take_time(struct vpt_export_lane *l, const struct vpt_packet *p, uint64_t at,
		     uint64_t group)
{
	uint64_t ns;

	if (!l->timed) {
		if (p->kind != VPT_PKT_PSB)
			return 0;
		return stamp(l, &(struct vpt_export_stamp){.at = l->scan.at, .ns = l->now});
	}
	if (p->kind != VPT_PKT_TSC && p->kind != VPT_PKT_MTC)
		return 0;
	ns = ns_of(l, l->scan.tsc);
	if (ns > l->now) {
		l->now = ns;
		l->mark = l->insns;
	}
	return stamp(l,
		     &(struct vpt_export_stamp){.at = l->scan.in_psb ? at : group, .ns = l->now});
}

static bool is_tnt(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TNT_8 || kind == VPT_PKT_TNT_64;
}

static bool is_token(enum vpt_pkt_kind kind)
{
	return is_tnt(kind) || kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE ||
	       kind == VPT_PKT_TIP_PGD || kind == VPT_PKT_OVF;
}

static void take_ip(struct vpt_export_lane *l, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_PSB:
		l->last_ip = 0;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		/* Without an IP it stays as it is. */
		(void)!vpt_ip_expand(l->last_ip, p->ip_bytes, p->value, &l->last_ip);
		break;
	default:
		break;
	}
}

/* The token that is next, if there is one before `end`. */
static int pull(struct vpt_export_lane *l, uint64_t end)
{
	struct vpt_packet p;
	uint64_t at, group;
	int err = 0;

	while (!l->token.is && !err && l->scan.at < end) {
		group = l->scan.group;
		if (!vpt_scan_next(&l->scan, &p, &at))
			break;
		if (group > at)
			group = at;
		err = take_time(l, &p, at, group);
		take_ip(l, &p);
		if (!is_token(p.kind) || (is_tnt(p.kind) && !p.bits))
			continue;
		l->token = (struct vpt_export_token){
			.is = true,
			.kind = p.kind,
			.at = at,
			.end = l->scan.at,
			.ip = l->last_ip,
			.bits = is_tnt(p.kind) ? p.bits : 1,
		};
	}
	return err;
}

/* The flow goes by the token, or by its next outcome. */
static void consume(struct vpt_export_lane *l)
{
	struct vpt_export_token *t = &l->token;

	t->is = ++t->used < t->bits;
	l->place = (struct vpt_export_place){
		.is = true,
		.at = t->is ? t->at : t->end,
		.bit = t->is ? t->used : 0,
	};
}

/*
 * The flow is past something between two tokens that has an IP of its own: a PSB+, or a
 * FUP that is of no branch (33.4.2.6). perf must not be led beyond that before it.
 */
static void pass(struct vpt_export_lane *l, bool psb)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	bool bound = false;
	struct vpt_packet p;
	uint64_t at;

	if (!l->place.is || l->place.bit || l->lost)
		return;
	vpt_scan_segment(&scan, l->place.at, l->scan.len);
	while (vpt_scan_next(&scan, &p, &at) && !is_token(p.kind)) {
		if (psb ? p.kind == VPT_PKT_PSBEND : bound && p.kind == VPT_PKT_FUP) {
			l->place.at = scan.at;
			return;
		}
		bound = p.flag && (p.kind == VPT_PKT_PTW || p.kind == VPT_PKT_EXSTOP);
	}
}

/* All up to there has been decoded, in whatever way. */
static int drop_to(struct vpt_export_lane *l, uint64_t end)
{
	int err;

	do {
		if (l->token.is) {
			l->token.used = l->token.bits - 1;
			consume(l);
		}
		err = pull(l, end);
	} while (!err && l->token.is);
	return err;
}

/* The decoder has read up to the item's offset: was it a TIP that led to its block? */
static int find_again(struct vpt_export_lane *l)
{
	int err;

	do {
		if (l->token.is) {
			bool found = l->item.kind == VPT_ITEM_BLOCK &&
				     l->token.kind == VPT_PKT_TIP && l->token.ip == l->item.ip;

			l->token.used = l->token.bits - 1;
			consume(l);
			if (found) {
				l->lost = false;
				return 0;
			}
		}
		err = pull(l, l->item.offset);
	} while (!err && l->token.is);
	return err;
}

/* The flow needs a token of this kind; `tnt`: or an outcome. */
static int expect(struct vpt_export_lane *l, enum vpt_pkt_kind kind, bool tnt)
{
	int err = l->lost ? 0 : pull(l, l->scan.len);

	if (err || l->lost)
		return err;
	/* An event ends what is left of a branch that it took the place of. */
	if (l->token.is && (l->token.kind == kind || (tnt && is_tnt(l->token.kind))))
		consume(l);
	else if (!l->token.is || l->token.kind != VPT_PKT_TIP_PGD)
		l->lost = true;
	return 0;
}

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
		uint64_t ctl = l->periods[i].start->ctl;

		l->timed |= (ctl & VPT_CTL_MASK(TSC_EN)) != 0;
		if (!l->scan.mtc_freq)
			l->scan.mtc_freq = (unsigned int)VPT_CTL_GET(ctl, MTC_FREQ);
	}
	l->start = vpt_scan_start(l->scan.bytes, len, &l->bits16);
	l->now = 1;
	l->done = l->start == VPT_SCAN_NONE;
	if (l->done)
		return 0;
	return vpt_flow_open(reader, l->vcpu, VPT_FLOW_BLOCKS, &l->flow);
}

int vpt_export_lane_begin(struct vpt_export_lane *l)
{
	int err = vpt_export_lane_next(l);

	/* The time at which it begins, by which lanes take turns. */
	return err || l->done ? err : pull(l, l->scan.len);
}

void vpt_export_lane_close(struct vpt_export_lane *l)
{
	vpt_flow_close(l->flow);
	free(l->stamps.at);
	free(l->fixes.at);
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

	if (item->event != VPT_FLOW_ASYNC_BRANCH && item->event != VPT_FLOW_ASYNC_DISABLED)
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
		if (b->class != VPT_INSN_COND)
			fix.ip = to;
		else
			fix.end = traced(l->periods[b->session].start, to)
					  ? VPT_EXPORT_END_NOT_TAKEN
					  : VPT_EXPORT_END_TAKEN;
	} else if (b->class != VPT_INSN_OTHER) {
		return 0;
	}
	err = l->lost ? drop_to(l, l->item.offset) : pull(l, l->scan.len);
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
		pass(l, true);
		return pull(l, l->scan.len);
	}
	switch (l->item.event) {
	case VPT_FLOW_PTWRITE:
	case VPT_FLOW_EXSTOP:
		pass(l, false);
		return 0;
	case VPT_FLOW_DISABLED:
		err = note_disabled(l);
		return err ? err : expect(l, VPT_PKT_TIP_PGD, false);
	case VPT_FLOW_ASYNC_DISABLED:
		return expect(l, VPT_PKT_TIP_PGD, false);
	case VPT_FLOW_ASYNC_BRANCH:
		return expect(l, VPT_PKT_TIP, false);
	case VPT_FLOW_ENABLED:
		return expect(l, VPT_PKT_TIP_PGE, false);
	case VPT_FLOW_OVERFLOW:
		return expect(l, VPT_PKT_OVF, false);
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
		return expect(l, VPT_PKT_TNT_8, true);
	case VPT_INSN_RETURN:
		return expect(l, VPT_PKT_TIP, true);
	case VPT_INSN_JUMP:
	case VPT_INSN_CALL:
		n = read_code(l, b->cr3, b->last, op, sizeof(op));
		if (direct_target(op, n, b->mode, b->last, &to))
			return 0;
		return expect(l, VPT_PKT_TIP, false);
	case VPT_INSN_FAR_CALL:
	case VPT_INSN_FAR_RETURN:
	case VPT_INSN_FAR_JUMP:
		return expect(l, VPT_PKT_TIP, false);
	default:
		return 0;
	}
}

/* Decoding starts afresh: no packet reaches from one segment into the next. */
static int note_segment(struct vpt_export_lane *l)
{
	const struct vpt_segment *segment = vpt_flow_segment(l->flow);
	int err = drop_to(l, l->scan.len);

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
	int err;

	err = l->item.kind == VPT_ITEM_BLOCK ? leave_block(l) : 0;
	if (!err)
		err = vpt_flow_next(l->flow, &l->item);
	if (!err && l->lost && l->item.kind != VPT_ITEM_SEGMENT)
		err = find_again(l);
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
		err = drop_to(l, l->scan.len);
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
	};

	if (ns > l->now)
		l->mark = l->insns;
	l->now = ns;
	if (!begun(l))
		return 0;
	l->rough += l->lost;
	return stamp(l, &s);
}
