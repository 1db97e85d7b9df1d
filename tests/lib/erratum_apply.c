// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies errata by their public descriptions (names and texts: vmm/libdecode/errata.def). Values
 * that a description leaves open are random.
 */
#include "lib/erratum_inside.h"

#include <string.h>

struct apply {
	struct erratum_stream *s;
	const struct walk_config *config;
	const struct walk_result *walk;
	unsigned int places;
};

static enum vpt_pkt_kind kind_at(const struct apply *a, size_t i)
{
	return i < a->s->count ? a->s->packet[i].p.kind : VPT_PKT_COUNT;
}

/* The next packet that is not a timing packet, from @i on; `count` if there is none. */
static size_t skip_timing(const struct apply *a, size_t i)
{
	while (i < a->s->count && erratum_is_timing(kind_at(a, i)))
		i++;
	return i;
}

/* The packet before @i that is not a timing packet; `count` if there is none. */
static size_t before(const struct apply *a, size_t i)
{
	while (i--)
		if (!erratum_is_timing(kind_at(a, i)))
			return i;
	return a->s->count;
}

/* The first of the packets that belong to the branch or event whose TIP is packet @i. */
static size_t first_of(const struct apply *a, size_t i)
{
	bool seen[VPT_PKT_COUNT] = {false};
	size_t b;

	for (b = before(a, i); b < i; b = before(a, b)) {
		enum vpt_pkt_kind kind = kind_at(a, b);

		if (a->s->packet[b].in_psb || seen[kind] ||
		    (kind != VPT_PKT_PIP && kind != VPT_PKT_MODE_EXEC && kind != VPT_PKT_VMCS))
			break;
		seen[kind] = true;
		i = b;
	}
	return i;
}

static struct erratum_packet *add(struct apply *a, size_t *i, enum vpt_pkt_kind kind)
{
	struct erratum_packet *p = erratum_insert(a->s, (*i)++);

	p->p.kind = kind;
	return p;
}

static void add_fup(struct apply *a, size_t *i, uint64_t ip)
{
	struct erratum_packet *p = add(a, i, VPT_PKT_FUP);

	p->p.ip_bytes = VPT_IP_FULL;
	p->ip = ip;
}

static void add_raw(struct apply *a, size_t *i, const void *bytes, uint8_t n)
{
	struct erratum_packet *p = add(a, i, VPT_PKT_PAD);

	p->wrong = true;
	p->p.size = n;
	memcpy(p->raw, bytes, n);
}

/* Return the address of a random executed instruction, or an address without code. */
static uint64_t any_ip(struct apply *a)
{
	if (!a->walk->count || !erratum_below(a->s, 8))
		return UINT64_C(0x7f0000001000) + erratum_below(a->s, 0x10000);
	return a->walk->items[erratum_below(a->s, (uint32_t)a->walk->count)].ip;
}

/* BDM70: add the packets that a PSB+ should only have if PacketEn is 1. */
static void add_place(struct apply *a, size_t *i, uint64_t ip)
{
	bool mode_first = erratum_below(a->s, 2);

	if (mode_first)
		add(a, i, VPT_PKT_MODE_EXEC)->p.value = 1;
	add_fup(a, i, ip);
	if (!mode_first)
		add(a, i, VPT_PKT_MODE_EXEC)->p.value = 1;
	a->places++;
}

/* Change the PSB+ before a TIP.PGE. If there is none, a PSB may be due there, so insert one. */
static void bdm70(struct apply *a)
{
	size_t i, at, b;

	for (i = 0; i < a->s->count; i++) {
		uint64_t ip = a->s->packet[i].ip;

		if (kind_at(a, i) != VPT_PKT_TIP_PGE)
			continue;
		at = first_of(a, i);
		b = before(a, at);
		if (erratum_below(a->s, 4))
			ip = any_ip(a);
		if (b < i && kind_at(a, b) == VPT_PKT_PSBEND) {
			at = b;
			add_place(a, &at, ip);
			i += 2;
		} else if (erratum_below(a->s, 2)) {
			add(a, &at, VPT_PKT_PSB);
			add_place(a, &at, ip);
			add(a, &at, VPT_PKT_PSBEND);
			i += 4;
		}
	}
}

/* The TIP directly before an abort has a wrong target. */
static void bdm64(struct apply *a)
{
	size_t i, tip, fup;

	for (i = 0; i < a->s->count; i++) {
		uint64_t wrong;

		if (kind_at(a, i) != VPT_PKT_MODE_TSX || !(a->s->packet[i].p.value & 2) ||
		    a->s->packet[i].in_psb)
			continue;
		tip = before(a, i);
		fup = skip_timing(a, i + 1);
		if (kind_at(a, tip) != VPT_PKT_TIP || kind_at(a, fup) != VPT_PKT_FUP ||
		    a->s->packet[tip].ip != a->s->packet[fup].ip)
			continue;
		/* Direct branches of walks lead forward only. */
		do {
			wrong = any_ip(a);
		} while (wrong <= a->s->packet[fup].ip);
		a->s->packet[tip].ip = wrong;
		a->places++;
	}
}

/* Insert the first byte of a CYC that announces further bytes. */
static void skd007(struct apply *a)
{
	size_t i, at;

	for (i = 0; i < a->s->count; i++) {
		uint8_t byte = (uint8_t)(erratum_below(a->s, 32) << 3 | 7);

		if (kind_at(a, i) != VPT_PKT_OVF)
			continue;
		if (i && kind_at(a, i - 1) == VPT_PKT_CYC)
			erratum_remove(a->s, --i);
		at = i;
		add_raw(a, &at, &byte, 1);
		i = at;
		a->places++;
	}
}

/*
 * The FUP of a VM entry that clears TraceEn has the address of the entry instruction, not of the
 * target.
 */
static void skd022(struct apply *a)
{
	size_t i, fup;

	for (i = 0; i < a->s->count; i++) {
		const struct walk_item *item = erratum_item_before(a->walk, a->s->packet[i].at);
		const uint8_t *insn;

		fup = before(a, first_of(a, i));
		if (kind_at(a, i) != VPT_PKT_TIP_PGD || kind_at(a, fup) != VPT_PKT_FUP || !item ||
		    item->kind != WALK_INSN)
			continue;
		insn = a->walk->code + (item->ip - WALK_CODE_BASE);
		if (memcmp(insn, "\x0f\x01", 2) || (insn[2] != 0xc2 && insn[2] != 0xc3) ||
		    a->s->packet[fup].ip != item->ip + 3)
			continue;
		/* An entry that failed early has a TIP to its target, and the walk ended. */
		if (kind_at(a, before(a, fup)) == VPT_PKT_TIP)
			continue;
		a->s->packet[fup].ip = item->ip;
		a->places++;
	}
}

/*
 * Could a decoder mistake the next FUP for the missing one? This is possible if no TNT or TIP
 * precedes an event's FUP.
 */
static bool misleads(const struct apply *a, size_t i)
{
	for (; i < a->s->count; i++) {
		if (a->s->packet[i].in_psb || erratum_is_timing(kind_at(a, i)))
			continue;
		switch (kind_at(a, i)) {
		case VPT_PKT_FUP:
			return true;
		case VPT_PKT_PIP:
		case VPT_PKT_MODE_EXEC:
		case VPT_PKT_VMCS:
			break;
		default:
			return false;
		}
	}
	return false;
}

static void skd010(struct apply *a)
{
	size_t i, at;

	for (i = 0; i < a->s->count; i++) {
		if (kind_at(a, i) != VPT_PKT_OVF)
			continue;
		at = skip_timing(a, i + 1);
		if ((kind_at(a, at) != VPT_PKT_FUP && kind_at(a, at) != VPT_PKT_TIP_PGE) ||
		    misleads(a, at + 1))
			continue;
		erratum_remove(a->s, at);
		a->places++;
	}
}

static void skl014(struct apply *a)
{
	size_t i;

	for (i = 0; i < a->s->count; i++) {
		const struct walk_item *item = erratum_item_before(a->walk, a->s->packet[i].at);
		uint8_t opcode;

		if (kind_at(a, i) != VPT_PKT_TIP_PGD || !item || item->kind != WALK_INSN ||
		    a->s->packet[i].p.ip_bytes == VPT_IP_SUPPRESSED)
			continue;
		opcode = a->walk->code[item->ip - WALK_CODE_BASE];
		if (opcode != 0xe8 && opcode != 0xe9)
			continue;
		a->s->packet[i].p.ip_bytes = VPT_IP_SUPPRESSED;
		a->s->packet[i].p.value = 0;
		a->places++;
	}
}

/* Does the overflow @i resolve while packets are disabled, and does tracing resume later? */
static bool resolves_disabled(const struct apply *a, size_t i, bool *resumes)
{
	for (i++; i < a->s->count; i++) {
		if (a->s->packet[i].in_psb)
			continue;
		switch (kind_at(a, i)) {
		case VPT_PKT_TIP_PGE:
			*resumes = true;
			return true;
		case VPT_PKT_FUP:
		case VPT_PKT_OVF:
		case VPT_PKT_TIP_PGD:
			*resumes = false;
			return kind_at(a, i) == VPT_PKT_OVF;
		default:
			break;
		}
	}
	*resumes = false;
	return true;
}

static void apl12(struct apply *a)
{
	bool resumes;
	size_t i, at;

	for (i = 0; i < a->s->count; i++) {
		if (kind_at(a, i) != VPT_PKT_OVF || !resolves_disabled(a, i, &resumes) || !resumes)
			continue;
		at = i + 1;
		add_fup(a, &at, any_ip(a));
		a->places++;
	}
}

static void apl11(struct apply *a)
{
	bool resumes;
	size_t i, at;

	for (i = 0; i < a->s->count; i++) {
		if (kind_at(a, i) != VPT_PKT_OVF || !resolves_disabled(a, i, &resumes))
			continue;
		at = i + 1;
		add(a, &at, VPT_PKT_TIP_PGD)->p.ip_bytes = VPT_IP_SUPPRESSED;
		a->places++;
	}
}

/* The CYC directly before a PSB is missing, and sometimes the MTC as well. */
static void skl168(struct apply *a)
{
	size_t i;

	for (i = 1; i < a->s->count; i++) {
		size_t cyc = i - 1, mtc = i;

		if (kind_at(a, i) != VPT_PKT_PSB)
			continue;
		if (kind_at(a, cyc) == VPT_PKT_MTC && cyc)
			mtc = cyc--;
		if (kind_at(a, cyc) != VPT_PKT_CYC)
			continue;
		if (mtc < i && erratum_below(a->s, 4))
			erratum_remove(a->s, mtc);
		erratum_remove(a->s, cyc);
		i = cyc;
		a->places++;
	}
}

/*
 * Give a TMA random fields and one more byte. A reserved bit is always set, or a decoder could not
 * detect the erratum.
 */
static void skz84(struct apply *a)
{
	size_t i;
	unsigned int k;

	for (i = 0; i < a->s->count; i++) {
		struct erratum_packet *p = &a->s->packet[i];

		if (p->p.kind != VPT_PKT_TMA)
			continue;
		for (k = 2; k < 8; k++)
			p->raw[k] = (uint8_t)erratum_below(a->s, 256);
		if (erratum_below(a->s, 2))
			p->raw[4] |= 1 << erratum_below(a->s, 8);
		else
			p->raw[6] |= 2 << erratum_below(a->s, 7);
		p->wrong = true;
		p->p.size = 8;
		a->places++;
	}
}

unsigned int erratum_apply(struct erratum_stream *s, enum dec_erratum_bit erratum,
			   const struct walk_config *config, const struct walk_result *walk)
{
	static void (*const errata[DEC_ERRATUM_COUNT])(struct apply * a) = {
		[DEC_ERRATUM_BIT_BDM70] = bdm70,   [DEC_ERRATUM_BIT_BDM64] = bdm64,
		[DEC_ERRATUM_BIT_SKD007] = skd007, [DEC_ERRATUM_BIT_SKD022] = skd022,
		[DEC_ERRATUM_BIT_SKD010] = skd010, [DEC_ERRATUM_BIT_SKL014] = skl014,
		[DEC_ERRATUM_BIT_APL12] = apl12,   [DEC_ERRATUM_BIT_APL11] = apl11,
		[DEC_ERRATUM_BIT_SKL168] = skl168, [DEC_ERRATUM_BIT_SKZ84] = skz84,
	};
	struct apply a = {.s = s, .config = config, .walk = walk};

	if (errata[erratum])
		errata[erratum](&a);
	return a.places;
}
