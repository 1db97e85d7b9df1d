// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the position of a flow in its packets. */
#include "export/place.h"

#include <errno.h>

#include "trace/vec.h"
#include "vpt/msr.h"

#define NS 1000000000u

static uint64_t ns_of(const struct export_lane *l, uint64_t tsc)
{
	uint64_t ticks = tsc > l->time->base ? tsc - l->time->base : 0;

	/* perf treats a time of 0 as no time. */
	if (!l->time->hz)
		return ticks + 1;
	return (uint64_t)((unsigned __int128)ticks * NS / l->time->hz) + 1;
}

int export_stamp_add(struct export_lane *l, const struct export_stamp *stamp)
{
	if (!trace_vec_room(&l->stamps))
		return -ENOMEM;
	l->stamps.at[l->stamps.n] = *stamp;
	l->stamps.at[l->stamps.n++].moves = l->moves.n;
	return 0;
}

/* Advance the time by a timing packet, or else by the number of decoded instructions. */
static int take_time(struct export_lane *l, const struct vpt_packet *p, uint64_t at, uint64_t group)
{
	uint64_t ns;

	/* perf begins with the first packet that has a time. */
	if (p->kind == VPT_PKT_PSB && (!l->timed || !l->scan.has_tsc))
		return export_stamp_add(l, &(struct export_stamp){.at = l->scan.at, .ns = l->now});
	if (!l->timed)
		return 0;
	if (p->kind != VPT_PKT_TSC && p->kind != VPT_PKT_MTC)
		return 0;
	ns = ns_of(l, l->scan.tsc);
	if (ns > l->now) {
		l->now = ns;
		l->mark = l->insns;
	}
	return export_stamp_add(
		l, &(struct export_stamp){.at = l->scan.in_psb ? at : group, .ns = l->now});
}

static bool is_tnt(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TNT_8 || kind == VPT_PKT_TNT_64;
}

static bool is_token(const struct vpt_packet *p)
{
	if (is_tnt(p->kind))
		return p->bits;
	return p->kind == VPT_PKT_TIP || p->kind == VPT_PKT_TIP_PGE || p->kind == VPT_PKT_TIP_PGD ||
	       p->kind == VPT_PKT_OVF;
}

static bool is_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD ||
	       kind == VPT_PKT_FUP;
}

static void take_ip(struct export_lane *l, const struct vpt_packet *p)
{
	if (p->kind == VPT_PKT_PSB)
		l->last_ip = 0;
	/* A packet without an IP leaves the last IP unchanged. */
	if (is_ip(p->kind))
		(void)!vpt_ip_expand(l->last_ip, p->ip_bytes, p->value, &l->last_ip);
}

/*
 * Return the end of an overflow. Its FUP has the place at which execution resumes, and belongs to
 * it.
 */
static uint64_t overflow_end(struct export_scan scan)
{
	uint64_t end = scan.at, at;
	struct vpt_packet p;

	while (export_scan_next(&scan, &p, &at)) {
		if (p.kind == VPT_PKT_FUP)
			return scan.at;
		if (p.kind != VPT_PKT_CYC && p.kind != VPT_PKT_MTC && p.kind != VPT_PKT_TSC &&
		    p.kind != VPT_PKT_TMA && p.kind != VPT_PKT_CBR && p.kind != VPT_PKT_PAD)
			break;
	}
	return end;
}

/* Set MTCFreq from the session. */
static void take_rate(struct export_lane *l)
{
	while (l->rate < l->nperiods && l->periods[l->rate].start->offset <= l->scan.at)
		l->scan.mtc_freq =
			(unsigned int)VPT_CTL_GET(l->periods[l->rate++].start->ctl, MTC_FREQ);
}

/* Read the next packet. Returns false if there is none. */
static bool read_packet(struct export_lane *l, struct vpt_packet *p, uint64_t *at, int *err)
{
	uint64_t group = l->scan.group, tsc = l->scan.tsc;

	take_rate(l);
	if (!export_scan_next(&l->scan, p, at))
		return false;
	l->backwards |= l->scan.tsc < tsc;
	*err = take_time(l, p, *at, group < *at ? group : *at);
	take_ip(l, p);
	return true;
}

int export_read_to(struct export_lane *l, uint64_t end)
{
	struct vpt_packet p;
	uint64_t at;
	int err = 0;

	while (!err && l->scan.at < end && read_packet(l, &p, &at, &err))
		;
	return err;
}

int export_read_token(struct export_lane *l)
{
	bool found = l->place.bit || l->scan.at > l->ahead.last.read;
	struct vpt_packet p;
	uint64_t at;
	int err = 0;

	while (!err && !found && read_packet(l, &p, &at, &err))
		found = is_token(&p) && at >= l->claimed;
	return err;
}

void export_begin_segment(struct export_lane *l, uint64_t begin, uint64_t end)
{
	export_scan_segment(&l->scan, begin, end);
	l->ahead.scan.bytes = l->scan.bytes;
	l->ahead.scan.caps = l->scan.caps;
	export_scan_segment(&l->ahead.scan, begin, end);
	l->ahead.has_packet = false;
	l->ahead.last.read = begin;
	l->ahead.ntnts = 0;
	l->ahead.has_pgd = false;
}

/* Account for a packet that the decoder has used, or whose outcomes it has read. */
static void take_ahead(struct export_ahead *a)
{
	const struct vpt_packet *p = &a->packet;

	if (!is_token(p))
		return;
	if (is_tnt(p->kind))
		a->tnts[a->ntnts++ % EXPORT_TNTS] = (struct export_tnt){
			.at = a->at,
			.end = a->scan.at,
			.bits = p->bits,
			.before = a->last,
		};
	a->has_pgd = p->kind == VPT_PKT_TIP_PGD;
	if (a->has_pgd) {
		a->pgd = a->at;
		a->before_pgd = a->last;
	}
	if (p->kind == VPT_PKT_TIP) {
		a->tip = a->at;
		a->tip_end = a->scan.at;
	}
	a->last.read = a->scan.at;
	a->last.end = p->kind == VPT_PKT_OVF ? overflow_end(a->scan) : a->scan.at;
}

/*
 * Read the packets before the decoder's current packet, which ends at the item's offset. At the end
 * of a session the decoder has used that packet too.
 */
static void read_ahead(struct export_ahead *a, const struct decode_item *item)
{
	for (;;) {
		if (!a->has_packet && !export_scan_next(&a->scan, &a->packet, &a->at))
			return;
		a->has_packet = a->scan.at > item->offset ||
				(a->scan.at == item->offset && !item->all_read);
		if (a->has_packet)
			return;
		take_ahead(a);
	}
}

/* Note a deferred TIP: a used TIP behind the TNT of the place. */
static int note_move(struct export_lane *l, const struct export_tnt *tnt, uint8_t bit)
{
	const struct export_ahead *a = &l->ahead;

	if (a->tip < tnt->end || a->tip < l->claimed)
		return 0;
	if (!trace_vec_room(&l->moves))
		return -ENOMEM;
	l->moves.at[l->moves.n++] = (struct export_move){
		.tnt = tnt->at,
		.at = a->tip,
		.bit = bit,
	};
	l->claimed = a->tip_end;
	return 0;
}

/* Set the place. The flow never goes backwards. */
static int set_place(struct export_lane *l, uint64_t at, uint8_t bit, uint64_t read)
{
	bool before = at < l->place.at || (at == l->place.at && bit <= l->place.bit);
	int err = export_read_to(l, read);

	if (err || (l->place.is && before))
		return err;
	l->place = (struct export_place){
		.is = true,
		.at = at,
		.last_ip = l->last_ip,
		.bit = bit,
	};
	return 0;
}

int export_find_place(struct export_lane *l)
{
	struct export_ahead *a = &l->ahead;
	unsigned int left = l->item.left;
	uint64_t i;

	read_ahead(a, &l->item);
	for (i = a->ntnts; left && i && a->ntnts - i < EXPORT_TNTS; i--) {
		const struct export_tnt *tnt = &a->tnts[(i - 1) % EXPORT_TNTS];

		if (left > tnt->bits) {
			left -= tnt->bits;
			continue;
		}
		if (left == tnt->bits)
			return set_place(l, tnt->before.end, 0, tnt->before.read);
		if (note_move(l, tnt, (uint8_t)(tnt->bits - left)))
			return -ENOMEM;
		return set_place(l, tnt->at, (uint8_t)(tnt->bits - left), tnt->end);
	}
	/* The next packet may decide how a TIP.PGD is used. */
	if (a->has_pgd && !l->disabled)
		return set_place(l, a->before_pgd.end, 0, a->before_pgd.read);
	return a->last.end ? set_place(l, a->last.end, 0, a->last.read) : 0;
}

bool export_find_pgd(const struct export_lane *l, uint64_t *at)
{
	const struct export_ahead *a = &l->ahead;

	if (a->has_packet && a->scan.at == l->item.offset && a->packet.kind == VPT_PKT_TIP_PGD) {
		*at = a->at;
		return true;
	}
	*at = a->pgd;
	return a->has_pgd;
}

/* Returns true if the packet has a FUP of its own, which belongs to no branch (33.4.2.6). */
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

void export_pass(struct export_lane *l, enum export_passed what)
{
	struct export_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	bool block = what == EXPORT_PASS_BLOCK, bound = false;
	uint64_t at, ip = l->place.last_ip;
	struct vpt_packet p;

	if ((block && !l->events) || !l->place.is || l->place.bit)
		return;
	export_scan_segment(&scan, l->place.at, l->scan.len);
	while (export_scan_next(&scan, &p, &at) && (at < l->claimed || !is_token(&p))) {
		if (p.kind == VPT_PKT_PSB && block)
			return;
		if (p.kind == VPT_PKT_PSB)
			ip = 0;
		if (is_ip(p.kind))
			(void)!vpt_ip_expand(ip, p.ip_bytes, p.value, &ip);
		if (what == EXPORT_PASS_PSB ? p.kind == VPT_PKT_PSBEND
					    : bound && p.kind == VPT_PKT_FUP) {
			if (block && (ip < l->item.ip || ip > l->item.last))
				return;
			l->place.at = scan.at;
			l->place.last_ip = ip;
			if (!block)
				return;
		}
		bound = binds(&p) && (block || p.kind == VPT_PKT_MODE_TSX);
	}
}
