// SPDX-License-Identifier: GPL-2.0-or-later
#include "token.h"

#include <errno.h>

#include "trace/vec.h"
#include "vpt/msr.h"

#define NS 1000000000u

static uint64_t ns_of(const struct vpt_export_lane *l, uint64_t tsc)
{
	uint64_t ticks = tsc > l->time->base ? tsc - l->time->base : 0;

	/* Time 0 means none to perf. */
	if (!l->time->hz)
		return ticks + 1;
	return (uint64_t)((unsigned __int128)ticks * NS / l->time->hz) + 1;
}

int vpt_export_stamp_add(struct vpt_export_lane *l, const struct vpt_export_stamp *stamp)
{
	if (!vpt_vec_room(&l->stamps))
		return -ENOMEM;
	l->stamps.at[l->stamps.n] = *stamp;
	l->stamps.at[l->stamps.n++].moves = l->moves.n;
	return 0;
}

/* Time goes on: what timing packets say, or else what has been decoded. */
static int take_time(struct vpt_export_lane *l, const struct vpt_packet *p, uint64_t at,
		     uint64_t group)
{
	uint64_t ns;

	/* perf begins with the first packet that has a time. */
	if (p->kind == VPT_PKT_PSB && (!l->timed || !l->scan.has_tsc))
		return vpt_export_stamp_add(
			l, &(struct vpt_export_stamp){.at = l->scan.at, .ns = l->now});
	if (!l->timed)
		return 0;
	if (p->kind != VPT_PKT_TSC && p->kind != VPT_PKT_MTC)
		return 0;
	ns = ns_of(l, l->scan.tsc);
	if (ns > l->now) {
		l->now = ns;
		l->mark = l->insns;
	}
	return vpt_export_stamp_add(
		l, &(struct vpt_export_stamp){.at = l->scan.in_psb ? at : group, .ns = l->now});
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

static bool is_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD ||
	       kind == VPT_PKT_FUP;
}

static void take_ip(struct vpt_export_lane *l, const struct vpt_packet *p)
{
	if (p->kind == VPT_PKT_PSB)
		l->last_ip = 0;
	/* Without an IP it stays as it is. */
	if (is_ip(p->kind))
		(void)!vpt_ip_expand(l->last_ip, p->ip_bytes, p->value, &l->last_ip);
}

/* Where execution goes on after an overflow is told by a FUP, and is of it. */
static uint64_t overflow_end(const struct vpt_export_lane *l)
{
	struct vpt_scan scan = l->scan;
	struct vpt_packet p;
	uint64_t at;

	while (vpt_scan_next(&scan, &p, &at)) {
		if (p.kind == VPT_PKT_FUP)
			return scan.at;
		if (p.kind != VPT_PKT_CYC && p.kind != VPT_PKT_MTC && p.kind != VPT_PKT_TSC &&
		    p.kind != VPT_PKT_TMA && p.kind != VPT_PKT_CBR && p.kind != VPT_PKT_PAD)
			break;
	}
	return l->scan.at;
}

/* What an MTC packet counts is the session's matter. */
static void take_rate(struct vpt_export_lane *l)
{
	while (l->rate < l->nperiods && l->periods[l->rate].start->offset <= l->scan.at)
		l->scan.mtc_freq =
			(unsigned int)VPT_CTL_GET(l->periods[l->rate++].start->ctl, MTC_FREQ);
}

int vpt_export_pull(struct vpt_export_lane *l, uint64_t end)
{
	struct vpt_packet p;
	uint64_t at, group;
	int err = 0;

	while (!l->token.is && !err && l->scan.at < end) {
		uint64_t tsc = l->scan.tsc;

		group = l->scan.group;
		take_rate(l);
		if (!vpt_scan_next(&l->scan, &p, &at))
			break;
		l->backwards |= l->scan.tsc < tsc;
		if (group > at)
			group = at;
		err = take_time(l, &p, at, group);
		take_ip(l, &p);
		if (!is_token(p.kind) || (is_tnt(p.kind) && !p.bits) || at < l->claimed)
			continue;
		l->token = (struct vpt_export_token){
			.is = true,
			.kind = p.kind,
			.at = at,
			.end = p.kind == VPT_PKT_OVF ? overflow_end(l) : l->scan.at,
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
		.last_ip = l->last_ip,
		.bit = t->is ? t->used : 0,
	};
}

/* Has the packet a FUP of its own, which is of no branch (33.4.2.6)? */
static bool binds(const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_PTW:
	case VPT_PKT_EXSTOP:
	case VPT_PKT_BEP:
	case VPT_PKT_CFE:
	case VPT_PKT_TRIG:
		return p->flag;
	case VPT_PKT_MODE_EXEC:
		return true;
	case VPT_PKT_MODE_TSX:
		return !(p->value & 2);
	default:
		return false;
	}
}

void vpt_export_pass_events(struct vpt_export_lane *l)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	uint64_t at, ip = l->place.last_ip;
	bool bound = false;
	struct vpt_packet p;

	if (!l->events || !l->place.is || l->place.bit || l->lost)
		return;
	vpt_scan_segment(&scan, l->place.at, l->scan.len);
	while (vpt_scan_next(&scan, &p, &at)) {
		if (is_token(p.kind) && at >= l->claimed)
			return;
		if (is_ip(p.kind))
			(void)!vpt_ip_expand(ip, p.ip_bytes, p.value, &ip);
		if (p.kind == VPT_PKT_PSB)
			return;
		if (bound && p.kind == VPT_PKT_FUP) {
			if (ip < l->item.ip || ip > l->item.last)
				return;
			l->place.at = scan.at;
			l->place.last_ip = ip;
		}
		bound = binds(&p);
	}
}

void vpt_export_pass(struct vpt_export_lane *l, bool psb)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	uint64_t at, ip = l->place.last_ip;
	bool bound = false;
	struct vpt_packet p;

	if (!l->place.is || l->place.bit || l->lost)
		return;
	vpt_scan_segment(&scan, l->place.at, l->scan.len);
	while (vpt_scan_next(&scan, &p, &at) && (at < l->claimed || !is_token(p.kind))) {
		if (p.kind == VPT_PKT_PSB)
			ip = 0;
		if (is_ip(p.kind))
			(void)!vpt_ip_expand(ip, p.ip_bytes, p.value, &ip);
		if (psb ? p.kind == VPT_PKT_PSBEND : bound && p.kind == VPT_PKT_FUP) {
			l->place.at = scan.at;
			l->place.last_ip = ip;
			return;
		}
		bound = p.kind == VPT_PKT_MODE_TSX && binds(&p);
	}
}

int vpt_export_drop_to(struct vpt_export_lane *l, uint64_t end)
{
	int err;

	do {
		if (l->token.is) {
			l->token.used = l->token.bits - 1;
			consume(l);
		}
		err = vpt_export_pull(l, end);
	} while (!err && l->token.is);
	return err;
}

int vpt_export_find_again(struct vpt_export_lane *l)
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
		err = vpt_export_pull(l, l->item.offset);
	} while (!err && l->token.is);
	return err;
}

/* The flow needs a TIP in the middle of a TNT: is there a deferred one? */
static int claim(struct vpt_export_lane *l, bool *claimed)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	*claimed = false;
	vpt_scan_segment(&scan, l->claimed > l->token.end ? l->claimed : l->token.end, l->scan.len);
	if (!l->token.used || !vpt_scan_next(&scan, &p, &at) || p.kind != VPT_PKT_TIP)
		return 0;
	if (!vpt_vec_room(&l->moves))
		return -ENOMEM;
	l->moves.at[l->moves.n++] = (struct vpt_export_move){
		.tnt = l->token.at,
		.at = at,
		.bit = l->token.used,
	};
	l->claimed = scan.at;
	*claimed = true;
	return 0;
}

int vpt_export_expect(struct vpt_export_lane *l, enum vpt_pkt_kind kind, bool tnt)
{
	int err = l->lost ? 0 : vpt_export_pull(l, l->scan.len);
	bool claimed;

	if (!err && !l->lost && !tnt && kind == VPT_PKT_TIP && l->token.is &&
	    is_tnt(l->token.kind)) {
		err = claim(l, &claimed);
		if (claimed)
			return 0;
	}
	if (err || l->lost)
		return err;
	/* An event ends what is left of a branch that it took the place of. */
	if (l->token.is && (l->token.kind == kind || (tnt && is_tnt(l->token.kind))))
		consume(l);
	else if (!l->token.is || l->token.kind != VPT_PKT_TIP_PGD)
		l->lost = true;
	return 0;
}
