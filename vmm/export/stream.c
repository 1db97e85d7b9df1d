// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the packets of a vCPU for perf. */
#include "export/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/segment.h"

struct rewrite {
	struct export_lane *lane;
	FILE *out;
	uint64_t bytes;
	bool keep;		 /* keep the trace's timing packets; there are no stamps */
	size_t stamp, fix, move; /* the indices of the next entries */
	size_t moved;		 /* the next move whose TIP must be skipped */
	uint64_t tsc;		 /* the last written TSC */
	uint64_t last_ip;
	bool trig;		  /* the next FUP belongs to a TRIG */
	bool full;		  /* perf's last IP differs, so the next IP is sent in full */
	uint8_t cyc[VPT_PKT_MAX]; /* a CYC that waits for the next packet */
	size_t ncyc;
};

static void put(struct rewrite *r, const uint8_t *bytes, size_t len)
{
	fwrite(bytes, 1, len, r->out);
	r->bytes += len;
}

static void put_packet(struct rewrite *r, const struct vpt_packet *p)
{
	uint8_t buf[VPT_PKT_MAX];

	put(r, buf, vpt_packet_write(buf, p));
}

static void put_cyc(struct rewrite *r)
{
	put(r, r->cyc, r->ncyc);
	r->ncyc = 0;
}

static void put_ip(struct rewrite *r, enum vpt_pkt_kind kind, uint64_t ip)
{
	put_packet(r, &(struct vpt_packet){.kind = kind, .ip_bytes = VPT_IP_FULL, .value = ip});
}

static void put_stamp(struct rewrite *r, const struct export_stamp *stamp)
{
	uint64_t tsc = stamp->ns << EXPORT_TSC_SHIFT;

	if (tsc > r->tsc) {
		r->tsc = tsc;
		put_packet(r, &(struct vpt_packet){
				      .kind = VPT_PKT_TSC,
				      .value = tsc & 0x00ffffffffffffffull,
			      });
	}
	if (!stamp->look)
		return;
	put_packet(r, &(struct vpt_packet){.kind = VPT_PKT_BEP, .flag = true});
	put_ip(r, VPT_PKT_FUP, stamp->ip);
	r->full = true;
}

/* Write the stamps before the packet at `at`, but not those within it. */
static void put_stamps(struct rewrite *r, uint64_t at)
{
	const struct export_lane *l = r->lane;

	for (; r->stamp < l->stamps.n; r->stamp++) {
		const struct export_stamp *stamp = &l->stamps.at[r->stamp];

		if (stamp->at > at || (stamp->at == at && stamp->bit))
			return;
		put_stamp(r, stamp);
	}
}

static void put_tnt(struct rewrite *r, const struct vpt_packet *p, unsigned int from,
		    unsigned int to)
{
	struct vpt_packet part = {
		.kind = to - from > VPT_TNT8_MAX ? VPT_PKT_TNT_64 : VPT_PKT_TNT_8,
		.bits = (uint8_t)(to - from),
		.value = p->value >> (p->bits - to) & ((1ull << (to - from)) - 1),
	};

	if (part.bits)
		put_packet(r, &part);
}

/* Update the last IP. Returns false if the packet has no IP. */
static bool take_ip(struct rewrite *r, const struct vpt_packet *p)
{
	return vpt_ip_expand(r->last_ip, p->ip_bytes, p->value, &r->last_ip) == VPT_OK;
}

static void end_of_tracing(struct rewrite *r, const struct vpt_packet *p,
			   const struct export_fix *fix)
{
	(void)take_ip(r, p);
	r->full = true;
	if (fix->end == EXPORT_END_IP) {
		put_ip(r, VPT_PKT_FUP, fix->ip);
		put_packet(r, &(struct vpt_packet){.kind = VPT_PKT_TIP_PGD});
		return;
	}
	put_packet(r, &(struct vpt_packet){
			      .kind = VPT_PKT_TNT_8,
			      .bits = 1,
			      .value = fix->end == EXPORT_END_TAKEN,
		      });
	/* perf stops there without walking code. */
	put_packet(r, &(struct vpt_packet){.kind = VPT_PKT_TRACE_STOP});
}

static void ip_packet(struct rewrite *r, const struct vpt_packet *p, const uint8_t *raw,
		      uint64_t at)
{
	const struct export_lane *l = r->lane;

	if (p->kind == VPT_PKT_TIP_PGD) {
		while (r->fix < l->fixes.n && l->fixes.at[r->fix].at < at)
			r->fix++;
		if (r->fix < l->fixes.n && l->fixes.at[r->fix].at == at) {
			end_of_tracing(r, p, &l->fixes.at[r->fix]);
			return;
		}
	}
	if (!take_ip(r, p) || !r->full) {
		put(r, raw, p->size);
		return;
	}
	put_ip(r, p->kind, r->last_ip);
	r->full = false;
}

/* Returns true for a timing packet, which put_stamps() or put_cyc() replaces. */
static bool fold(struct rewrite *r, const struct vpt_packet *p, const uint8_t *raw)
{
	if (r->keep)
		return false;
	switch (p->kind) {
	case VPT_PKT_TSC:
	case VPT_PKT_TMA:
	case VPT_PKT_MTC:
	case VPT_PKT_CBR:
	case VPT_PKT_PAD:
		return true;
	case VPT_PKT_CYC:
		put_cyc(r);
		memcpy(r->cyc, raw, p->size);
		r->ncyc = p->size;
		return true;
	default:
		return false;
	}
}

/* Write the outcomes of a TNT up to `bit`, except for the first *done, which are written. */
static void put_outcomes(struct rewrite *r, const struct vpt_packet *p, unsigned int *done,
			 unsigned int bit)
{
	if (bit > *done && bit < p->bits) {
		put_tnt(r, p, *done, bit);
		*done = bit;
	}
}

/* Write the deferred TIPs of the TNT at `at` before the move `end` at their places. */
static void put_deferred(struct rewrite *r, const struct vpt_packet *p, uint64_t at,
			 unsigned int *done, size_t end)
{
	const struct export_lane *l = r->lane;
	struct vpt_packet tip;

	/* Skip moves of packets before the start of the stream. */
	while (r->move < l->moves.n && l->moves.at[r->move].tnt < at)
		r->moved = ++r->move;
	for (; r->move < end && l->moves.at[r->move].tnt == at; r->move++) {
		const struct export_move *move = &l->moves.at[r->move];
		const uint8_t *raw = l->scan.bytes + move->at;
		struct vpt_parser parser = {0};

		put_outcomes(r, p, done, move->bit);
		if (vpt_packet_read(&parser, raw, l->len - (size_t)move->at, &tip) == VPT_OK)
			ip_packet(r, &tip, raw, move->at);
	}
}

/* Write a TNT in parts, split by stamps and deferred TIPs. */
static void tnt_packet(struct rewrite *r, const struct vpt_packet *p, uint64_t at)
{
	const struct export_lane *l = r->lane;
	unsigned int done = 0;

	for (; r->stamp < l->stamps.n && l->stamps.at[r->stamp].at == at; r->stamp++) {
		put_deferred(r, p, at, &done, l->stamps.at[r->stamp].moves);
		put_outcomes(r, p, &done, l->stamps.at[r->stamp].bit);
		put_stamp(r, &l->stamps.at[r->stamp]);
	}
	put_deferred(r, p, at, &done, l->moves.n);
	put_tnt(r, p, done, p->bits);
}

/* Returns true for a deferred TIP that has been written at its place. */
static bool was_moved(struct rewrite *r, uint64_t at)
{
	const struct export_lane *l = r->lane;

	if (r->moved >= r->move || l->moves.at[r->moved].at != at)
		return false;
	r->moved++;
	return true;
}

/*
 * Clear NR, because the export is of one machine. For NR, perf would assume a guest of that
 * machine, and it shows nothing of a guest without side-band data.
 */
static void pip_packet(struct rewrite *r, const struct vpt_packet *p, const uint8_t *raw)
{
	if (p->flag)
		put_packet(r, &(struct vpt_packet){.kind = VPT_PKT_PIP, .value = p->value});
	else
		put(r, raw, p->size);
}

/*
 * Returns true for TRIG and its FUP. perf does not know them, and would lose everything up to the
 * next PSB.
 */
static bool is_trigger(struct rewrite *r, const struct vpt_packet *p)
{
	if (p->kind == VPT_PKT_TRIG) {
		r->trig = p->flag;
		return true;
	}
	if (!r->trig || p->kind != VPT_PKT_FUP)
		return false;
	r->trig = false;
	r->full = take_ip(r, p) || r->full;
	return true;
}

static void take(struct rewrite *r, const struct vpt_packet *p, const uint8_t *raw, uint64_t at)
{
	if (p->kind == VPT_PKT_PSB) {
		r->last_ip = 0;
		/* perf reads the IP of a PSB+ ahead, with the last IP from before the PSB. */
		r->full = true;
	}
	if (fold(r, p, raw) || is_trigger(r, p))
		return;
	put_cyc(r);
	switch (p->kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		tnt_packet(r, p, at);
		return;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		if (!was_moved(r, at))
			ip_packet(r, p, raw, at);
		return;
	case VPT_PKT_PIP:
		pip_packet(r, p, raw);
		return;
	default:
		put(r, raw, p->size);
	}
}

/* Find the IP of a PSB+. Returns false if there is none. */
static bool psb_ip(struct export_scan scan, uint64_t *ip)
{
	struct vpt_packet p;
	uint64_t at;

	while (export_scan_next(&scan, &p, &at) && p.kind != VPT_PKT_PSBEND) {
		if (p.kind == VPT_PKT_FUP)
			return vpt_ip_expand(0, p.ip_bytes, p.value, ip) == VPT_OK;
	}
	return false;
}

/* After a gap, stop perf from walking code between the old position and the PSB. */
static void begin_afresh(struct rewrite *r, const struct export_scan *scan)
{
	uint64_t ip;

	if (r->bytes && psb_ip(*scan, &ip))
		put_ip(r, VPT_PKT_TIP_PGE, ip);
}

static void segment(struct rewrite *r, const struct decode_segment *s, bool gap)
{
	struct export_lane *l = r->lane;
	struct export_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at, begin = s->begin;

	if (begin < l->start) {
		begin = l->start;
		gap = true;
	}
	if (begin >= s->end)
		return;
	if (gap)
		begin += vpt_packet_find_psb(l->scan.bytes + begin, (size_t)(s->end - begin));
	export_scan_segment(&scan, begin, s->end);
	if (gap && begin < s->end)
		begin_afresh(r, &scan);
	while (export_scan_next(&scan, &p, &at)) {
		/* perf reads nothing before the first PSB. */
		if (at > begin || r->bytes)
			put_stamps(r, at);
		take(r, &p, l->scan.bytes + at, at);
	}
	put_cyc(r);
}

static int by_place(const void *a, const void *b)
{
	const struct export_stamp *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->bit != y->bit)
		return x->bit - y->bit;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

int export_stream(struct export_lane *l, bool keep, FILE *out, uint64_t *bytes)
{
	static const uint8_t pad[8];
	struct rewrite r = {.lane = l, .out = out, .keep = keep};
	struct decode_segment *segments;
	size_t n, i;

	segments =
		decode_segments(l->periods, l->nperiods, l->scan.bytes, l->len, decode_is_psb, &n);
	if (!segments)
		return -ENOMEM;
	if (keep) {
		l->stamps.n = 0;
		l->moves.n = 0;
	}
	if (l->stamps.n)
		qsort(l->stamps.at, l->stamps.n, sizeof(*l->stamps.at), by_place);
	for (i = 0; i < n && l->start != EXPORT_SCAN_NONE; i++)
		segment(&r, &segments[i], !i || segments[i - 1].cut);
	free(segments);
	put(&r, pad, (size_t)(-r.bytes & 7));
	*bytes = r.bytes;
	return ferror(out) ? -EIO : 0;
}
