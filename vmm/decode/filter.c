// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter.h"

#include <errno.h>
#include <string.h>

#include "trace/vec.h"
#include "vpt/encode.h"
#include "vpt/msr.h"

/* The most a packet grows: TIP.PGD from 1 byte to 9. */
#define GROWTH 8

/* Each costs a decode of all that came before. */
#define KNOWN_MAX 1024

struct state {
	struct vpt_parser parser;
	uint64_t last_ip;
	uint64_t wrong_ip;		      /* the last IP of who reads the output */
	bool in_psb;			      /* between PSB and PSBEND */
	bool fup_taken;			      /* the next FUP belongs to a packet before it */
	bool fup;			      /* a FUP waits for its TIP */
	bool pip;			      /* the last packet of the flow was a PIP, */
	bool outside;			      /* and its CR3 is not the one that is traced */
	const struct vpt_filter_known *known; /* NULL: it is for the block decoder */
	struct vpt_filtered *out;
	bool no_memory;
	size_t session;
	uint64_t begin; /* of the segment */
};

static bool filters(const struct vpt_session *s)
{
	return (s->ctl & (VPT_CTL_MASK(ADDR0_CFG) | VPT_CTL_MASK(ADDR1_CFG) |
			  VPT_CTL_MASK(ADDR2_CFG) | VPT_CTL_MASK(ADDR3_CFG))) != 0;
}

/* Would a CR3 as a PIP shows it be outside the context? (33.2.5.2) */
static bool outside(const struct vpt_session *s, uint64_t cr3)
{
	return (s->ctl & VPT_CTL_MASK(CR3_FILTER)) &&
	       (cr3 & VPT_MASK64(51, 12)) != (s->cr3_match & VPT_MASK64(51, 12));
}

static enum vpt_ip_opcode opcode(enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_TIP_PGE:
		return VPT_OP_TIP_PGE;
	case VPT_PKT_TIP_PGD:
		return VPT_OP_TIP_PGD;
	case VPT_PKT_FUP:
		return VPT_OP_FUP;
	default:
		return VPT_OP_TIP;
	}
}

/*
 * An IP packet; `of_cond`: a TIP.PGD that needs an IP. Returns the bytes of its new
 * form in `buf`, or 0 to keep it as it is.
 */
static size_t ip_packet(struct state *st, const struct vpt_packet *p, bool of_cond, uint8_t *buf)
{
	bool stale = st->last_ip != st->wrong_ip;
	uint64_t ip;

	if (p->kind == VPT_PKT_FUP) {
		st->fup = !st->in_psb && !st->fup_taken;
		st->fup_taken = false;
	} else {
		st->fup = false;
	}

	if (vpt_ip_expand(st->last_ip, p->ip_bytes, p->value, &ip) == VPT_OK) {
		st->last_ip = ip;
		st->wrong_ip = ip;
		if (!stale)
			return 0;
		return vpt_encode_ip(buf, opcode(p->kind), VPT_IP_FULL, ip);
	}
	if (!of_cond)
		return 0;
	st->wrong_ip = VPT_FILTER_NO_IP;
	return vpt_encode_ip(buf, VPT_OP_TIP_PGD, VPT_IP_FULL, VPT_FILTER_NO_IP);
}

/*
 * The next packet, but for those that say nothing of the flow, PAD if there is
 * none. *at is moved to it.
 */
static enum vpt_pkt_kind next_kind(struct vpt_parser parser, const uint8_t *in, size_t len,
				   size_t *at)
{
	struct vpt_packet p;

	for (; vpt_packet_read(&parser, in + *at, len - *at, &p) == VPT_OK; *at += p.size) {
		switch (p.kind) {
		case VPT_PKT_PAD:
		case VPT_PKT_TSC:
		case VPT_PKT_TMA:
		case VPT_PKT_MTC:
		case VPT_PKT_CYC:
		case VPT_PKT_CBR:
		case VPT_PKT_PSBEND:
		case VPT_PKT_MODE_EXEC:
			break;
		default:
			return p.kind;
		}
	}
	return VPT_PKT_PAD;
}

static bool is_known(const struct vpt_filter_known *known, uint64_t at)
{
	size_t i;

	for (i = 0; i < known->n; i++) {
		if (known->at[i] == at)
			return true;
	}
	return false;
}

/* Take the TIP.PGD to be of MOV CR3, but remember that it need not be. */
static void doubt(struct state *st, uint64_t at, uint64_t until)
{
	if (!vpt_vec_room(&st->out->doubts)) {
		st->no_memory = true;
		return;
	}
	st->out->doubts.at[st->out->doubts.n++] = (struct vpt_filter_doubt){at, until};
}

/* Is the TIP.PGD without an IP that ends at in + at one of MOV CR3? */
static bool of_mov_cr3(struct state *st, const struct vpt_session *s, const uint8_t *in, size_t len,
		       size_t at)
{
	size_t next = at;
	enum vpt_pkt_kind kind;

	if (st->pip)
		return st->outside || next_kind(st->parser, in, len, &next) == VPT_PKT_TRACE_STOP;
	if (!st->known)
		return true;
	if (!(s->ctl & VPT_CTL_MASK(CR3_FILTER)) || !(s->ctl & VPT_CTL_MASK(OS)))
		return false;
	kind = next_kind(st->parser, in, len, &next);
	if (kind == VPT_PKT_TIP_PGE || is_known(st->known, st->begin + at - 1))
		return false;
	doubt(st, st->begin + at - 1, st->begin + next);
	return true;
}

/* As ip_packet(), for any packet, which ends at in + at. */
static size_t packet(struct state *st, const struct vpt_packet *p, const struct vpt_session *s,
		     const uint8_t *in, size_t len, size_t at, uint8_t *buf)
{
	bool pgd = p->kind == VPT_PKT_TIP_PGD && p->ip_bytes == VPT_IP_SUPPRESSED && !st->fup;
	size_t n;

	switch (p->kind) {
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		/* Sessions of a segment need not all filter. */
		n = ip_packet(st, p, pgd && filters(s) && !of_mov_cr3(st, s, in, len, at), buf);
		st->pip = false;
		return n;
	case VPT_PKT_PSB:
		st->in_psb = true;
		st->last_ip = 0;
		st->wrong_ip = 0;
		break;
	case VPT_PKT_PSBEND:
		st->in_psb = false;
		break;
	case VPT_PKT_OVF:
		st->in_psb = false;
		st->last_ip = 0;
		st->wrong_ip = 0;
		st->fup = false;
		st->fup_taken = true;
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		st->pip = false;
		st->fup_taken = false;
		break;
	case VPT_PKT_PIP:
		st->pip = !st->in_psb;
		st->outside = outside(s, p->value);
		break;
	case VPT_PKT_MODE_TSX:
		/* An abort's FUP does have a TIP. */
		st->fup_taken = !st->in_psb && !(p->value & 2);
		break;
	case VPT_PKT_PTW:
	case VPT_PKT_EXSTOP:
		st->fup_taken = p->flag;
		break;
	default:
		break;
	}
	return 0;
}

static bool shift(struct vpt_filtered *out, size_t grown)
{
	uint64_t back = out->shifts.n ? out->shifts.at[out->shifts.n - 1].back : 0;

	if (!vpt_vec_room(&out->shifts))
		return false;
	out->shifts.at[out->shifts.n++] = (struct vpt_filter_shift){out->len, back + grown};
	return true;
}

/* Make room for `more` bytes of output. */
static bool room_for(struct vpt_filtered *out, size_t *room, size_t more)
{
	size_t want = *room;
	void *p;

	if (*room - out->len >= more)
		return true;
	while (want - out->len < more)
		want += want / 8 + more;
	p = realloc(out->bytes, want);
	if (!p)
		return false;
	out->bytes = p;
	*room = want;
	return true;
}

static int rewrite(struct state *st, const struct vpt_segment *segment,
		   const struct vpt_period *periods, const uint8_t *stream)
{
	const uint8_t *in = stream + segment->begin;
	size_t len = segment->end - segment->begin;
	struct vpt_filtered *out = st->out;
	size_t room = 0, at = 0;

	while (at < len) {
		struct vpt_packet p;
		uint8_t buf[VPT_PKT_MAX];
		size_t size, n = 0;

		while (st->session + 1 < segment->first + segment->count &&
		       periods[st->session + 1].start->offset <= segment->begin + at)
			st->session++;

		if (vpt_packet_read(&st->parser, in + at, len - at, &p) == VPT_OK) {
			size = p.size;
			n = packet(st, &p, periods[st->session].start, in, len, at + size, buf);
		} else {
			/* Not ours to judge: libipt sees the same bytes. */
			size = vpt_packet_find_psb(in + at + 1, len - at - 1) + 1;
			memset(&st->parser, 0, sizeof(st->parser));
			st->pip = st->fup = st->fup_taken = st->in_psb = false;
		}

		if (st->no_memory || !room_for(out, &room, size + GROWTH))
			return -ENOMEM;
		memcpy(out->bytes + out->len, n ? buf : in + at, n ? n : size);
		out->len += n ? n : size;
		at += size;
		if (n > size && !shift(out, n - size))
			return -ENOMEM;
	}
	return 0;
}

bool vpt_filter_ranges(const struct vpt_segment *segment, const struct vpt_period *periods)
{
	size_t i;

	for (i = 0; i < segment->count; i++) {
		if (filters(periods[segment->first + i].start))
			return true;
	}
	return false;
}

int vpt_filter_rewrite(struct vpt_filtered *out, const struct vpt_segment *segment,
		       const struct vpt_period *periods, const uint8_t *stream,
		       const struct vpt_filter_known *known)
{
	struct state st = {
		.session = segment->first,
		.begin = segment->begin,
		.known = known,
		.out = out,
	};
	int err;

	memset(out, 0, sizeof(*out));
	if (!vpt_filter_ranges(segment, periods))
		return 0;
	err = rewrite(&st, segment, periods, stream);
	if (err)
		vpt_filter_free(out);
	return err;
}

bool vpt_filter_learn(const struct vpt_filtered *out, uint64_t offset,
		      struct vpt_filter_known *known)
{
	size_t i = out->doubts.n;

	while (i && out->doubts.at[i - 1].at >= offset)
		i--;
	if (!i || offset > out->doubts.at[i - 1].until || known->n == KNOWN_MAX ||
	    is_known(known, out->doubts.at[i - 1].at) || !vpt_vec_room(known))
		return false;
	known->at[known->n++] = out->doubts.at[i - 1].at;
	return true;
}

void vpt_filter_free(struct vpt_filtered *out)
{
	free(out->bytes);
	free(out->shifts.at);
	free(out->doubts.at);
	memset(out, 0, sizeof(*out));
}

uint64_t vpt_filter_offset(const struct vpt_filtered *out, uint64_t offset)
{
	size_t lo = 0, hi = out->shifts.n;

	/* The number of shifts at or before the offset. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (out->shifts.at[mid].at <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? offset - out->shifts.at[lo - 1].back : offset;
}
