// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets of Atom's RTIT: fields to bytes (RTIT 4.1, 4.2). The inverse is atom_packet_read.c. */
#include "vpt/encode.h"

#include "atom_opcodes.h"
#include "packet_bytes.h"

/* [ATOM-CYC] Kinds that a cycle count follows, as bits; TNT if it is full. */
#define VPT_ATOM_PKT(kind, text, size, cycles, tag, section, meaning) \
	| (unsigned int)(cycles) << VPT_ATOM_PKT_##kind
static const unsigned int with_cycles = 0u
#include "../spec/rtit.def"
	;

bool vpt_atom_pkt_has_cycles(enum vpt_atom_pkt_kind kind, unsigned int bits)
{
	if ((unsigned int)kind >= VPT_ATOM_PKT_COUNT || !(with_cycles >> kind & 1))
		return false;
	return kind != VPT_ATOM_PKT_TNT || bits == VPT_ATOM_TNT_MAX;
}

/* [ATOM-PKT-TNT] An empty one does not exist. */
static size_t put_tnt(uint8_t *buf, const struct vpt_atom_packet *p)
{
	if (!p->bits || p->bits > VPT_ATOM_TNT_MAX || !vpti_fits(p->value, p->bits))
		return 0;
	buf[0] = (uint8_t)(1u << p->bits | p->value);
	return 1;
}

/* [ATOM-PKT-PGE ATOM-PKT-PGD ATOM-PKT-BUFOVF ATOM-PKT-PCC ATOM-PKT-TIP ATOM-PKT-FAR] */
static size_t put_lip(uint8_t *buf, const struct vpt_atom_packet *p)
{
	const unsigned int bytes = vpti_atom_lip_bytes(p->cnt);

	if (p->cnt > VPT_ATOM_CNT_6 || !vpti_fits(p->value, 8 * bytes))
		return 0;
	buf[0] = (uint8_t)(VPTI_ATOM_OP_LIP | vpti_atom_event_of(p->kind) << VPTI_ATOM_EVENT_SHIFT |
			   (p->zext ? VPTI_ATOM_ZEXT : 0) | p->cnt);
	/* One store of eight bytes: those after the payload lie behind the packet. */
	vpt_put_le(buf + 1, p->value, 8);
	return 1 + bytes;
}

/* Header and `bytes` bytes of payload, written as eight. */
static size_t put_plain(uint8_t *buf, unsigned int op, uint64_t value, unsigned int bytes)
{
	if (!vpti_fits(value, 8 * bytes))
		return 0;
	buf[0] = (uint8_t)op;
	vpt_put_le(buf + 1, value, 8);
	return 1 + bytes;
}

/* [ATOM-PKT-MTC] */
static size_t put_mtc(uint8_t *buf, const struct vpt_atom_packet *p)
{
	return vpti_fits(p->aux, 2) ? put_plain(buf, VPTI_ATOM_OP_MTC | p->aux, p->value, 1) : 0;
}

/* [ATOM-PKT-STS] The actual ratio stands across the first two bytes. */
static size_t put_sts(uint8_t *buf, const struct vpt_atom_packet *p)
{
	const unsigned int actual = p->aux & 0xffu, effective = p->aux >> 8;

	if (!vpti_fits(actual, VPTI_ATOM_RATIO_BITS) ||
	    !vpti_fits(effective, VPTI_ATOM_RATIO_BITS) || !vpti_fits(p->value, VPTI_ATOM_TSC_BITS))
		return 0;
	return put_plain(buf, VPTI_ATOM_OP_STS | actual >> 2,
			 p->value << 8 | (actual & 3u) << VPTI_ATOM_RATIO_BITS | effective, 6);
}

static size_t put_packet(uint8_t *buf, const struct vpt_atom_packet *p)
{
	switch (p->kind) {
	case VPT_ATOM_PKT_TNT:
		return put_tnt(buf, p);
	case VPT_ATOM_PKT_PGE:
	case VPT_ATOM_PKT_PGD:
	case VPT_ATOM_PKT_BUF_OVF:
	case VPT_ATOM_PKT_PCC:
	case VPT_ATOM_PKT_TIP:
	case VPT_ATOM_PKT_FAR:
		return put_lip(buf, p);
	case VPT_ATOM_PKT_PSB:
		/* [ATOM-PKT-PSB] */
		return put_plain(buf, VPTI_ATOM_OP_PSB, 0, VPT_ATOM_PSB_BYTES - 1);
	case VPT_ATOM_PKT_TRACE_STOP:
		/* [ATOM-PKT-STOP] */
		return put_plain(buf, VPTI_ATOM_OP_TRACE_STOP, 0, 0);
	case VPT_ATOM_PKT_PIP:
		/* [ATOM-PKT-PIP] */
		return put_plain(buf, VPTI_ATOM_OP_PIP | (p->flag ? 1u : 0u), p->value, 5);
	case VPT_ATOM_PKT_MTC:
		return put_mtc(buf, p);
	case VPT_ATOM_PKT_STS:
		return put_sts(buf, p);
	case VPT_ATOM_PKT_COUNT:
		break;
	}
	return 0;
}

/* In one byte up to 6 bits, in two up to 14 (RTIT 4.2.14). Writes four. */
static size_t put_cycles(uint8_t *buf, uint32_t cycles)
{
	const unsigned int bytes = cycles < 1u << 6 ? 1 : cycles < 1u << 14 ? 2 : 3;

	vpt_put_le(buf, (uint64_t)cycles << VPTI_ATOM_CCNT_SHIFT | bytes, 4);
	return bytes;
}

size_t vpt_atom_packet_write(uint8_t *buf, const struct vpt_atom_packet *packet)
{
	const size_t len = put_packet(buf, packet);

	if (!packet->has_cycles || !len)
		return len;
	if (!vpt_atom_pkt_has_cycles(packet->kind, packet->bits) ||
	    !vpti_fits(packet->cycles, VPT_ATOM_CNTP_BITS))
		return 0;
	return len + put_cycles(buf + len, packet->cycles);
}
