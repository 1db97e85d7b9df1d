// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A packet's fields to its bytes (33.4.2). The inverse is packet_read.c. */
#include "vpt/encode.h"

#include "packet_bytes.h"
#include "packet_opcodes.h"
#include "packet_rows.h"

/* Header 02 `op` and `bytes` bytes of payload; zero bytes follow up to `size`. */
static size_t put_ext(uint8_t *buf, size_t size, unsigned int op, uint64_t value,
		      unsigned int bytes)
{
	vpt_memset(buf, 0, size);
	buf[0] = VPTI_OP_EXT;
	buf[1] = (uint8_t)op;
	vpt_put_le(buf + 2, value, bytes);
	return size;
}

static size_t put_tnt(uint8_t *buf, const struct vpt_packet *p)
{
	bool is_long = p->kind == VPT_PKT_TNT_64;
	unsigned int most = is_long ? VPT_TNT64_MAX : VPT_TNT8_MAX;

	/* [PKT-TNT-STOP] An empty TNT does not exist. */
	if (!p->bits || p->bits > most || !vpti_fits(p->value, p->bits))
		return 0;
	if (is_long)
		return vpt_encode_tnt64(buf, VPT_BIT64(p->bits) | p->value);
	return vpt_encode_tnt8(buf, VPT_BIT64(p->bits) | p->value);
}

static size_t put_ip(uint8_t *buf, const struct vpt_packet *p)
{
	static const uint8_t payload_bits[8] = {0, 16, 32, 48, 48, 0xff, 64, 0xff};
	enum vpt_ip_opcode op;

	if (p->ip_bytes > 7 || payload_bits[p->ip_bytes] == 0xff)
		return 0;
	if (!vpti_fits(p->value, payload_bits[p->ip_bytes]))
		return 0;
	switch (p->kind) {
	case VPT_PKT_TIP_PGE:
		op = VPT_OP_TIP_PGE;
		break;
	case VPT_PKT_TIP_PGD:
		op = VPT_OP_TIP_PGD;
		break;
	case VPT_PKT_FUP:
		op = VPT_OP_FUP;
		break;
	default:
		op = VPT_OP_TIP;
		break;
	}
	return vpt_encode_ip(buf, op, (enum vpt_ip_bytes)p->ip_bytes, p->value);
}

static size_t put_mode(uint8_t *buf, const struct vpt_packet *p)
{
	bool tsx = p->kind == VPT_PKT_MODE_TSX;
	unsigned int leaf = tsx ? VPTI_MODE_LEAF_TSX : VPTI_MODE_LEAF_EXEC;

	if (!vpti_fits(p->value, tsx ? 2 : 3))
		return 0;
	buf[0] = VPTI_OP_MODE;
	buf[1] = (uint8_t)(leaf << VPTI_MODE_LEAF_SHIFT | p->value);
	return 2;
}

static size_t put_plain(uint8_t *buf, unsigned int op, uint64_t value, unsigned int bytes)
{
	if (!vpti_fits(value, 8 * bytes))
		return 0;
	buf[0] = (uint8_t)op;
	vpt_put_le(buf + 1, value, bytes);
	return 1 + bytes;
}

/* [PKT-PTW-BYTES] */
static size_t put_ptw(uint8_t *buf, const struct vpt_packet *p)
{
	unsigned int op = VPTI_EXT_PTW | (p->flag ? VPTI_EXT_IP : 0);

	if ((p->bits != 32 && p->bits != 64) || !vpti_fits(p->value, p->bits))
		return 0;
	op |= (unsigned int)(p->bits == 64) << VPTI_PTW_SIZE_SHIFT;
	return put_ext(buf, 2 + p->bits / 8u, op, p->value, p->bits / 8u);
}

static size_t put_bip(uint8_t *buf, const struct vpt_packet *p)
{
	if ((p->bits != 32 && p->bits != 64) || !vpti_fits(p->value, p->bits) ||
	    !vpti_fits(p->aux, 5))
		return 0;
	return put_plain(buf, (unsigned int)p->aux << VPTI_BIP_ID_SHIFT | VPTI_BIP_LOW, p->value,
			 p->bits / 8u);
}

/* [PKT-TRIG] */
static size_t put_trig(uint8_t *buf, const struct vpt_packet *p)
{
	if ((p->bits != 0 && p->bits != 16) || !vpti_fits(p->value, p->bits) ||
	    !vpti_fits(p->aux, 9))
		return 0;
	buf[0] = VPTI_OP_TRIG;
	buf[1] = (uint8_t)((p->flag ? VPTI_TRIG_IP : 0) | (p->bits ? VPTI_TRIG_ICNTV : 0) |
			   (p->aux & VPT_TRIG_MULT ? VPTI_TRIG_MORE : 0));
	buf[2] = (uint8_t)p->aux;
	vpt_put_le(buf + 3, p->value, p->bits / 8u);
	return 3 + p->bits / 8u;
}

static size_t put_psb(uint8_t *buf)
{
	unsigned int i;

	for (i = 0; i < 16; i += 2)
		put_ext(buf + i, 2, VPTI_EXT_PSB, 0, 0);
	return 16;
}

static size_t put_mnt(uint8_t *buf, uint64_t payload)
{
	put_ext(buf, 11, VPTI_EXT_MNT, VPTI_MNT_THIRD, 1);
	vpt_put_le(buf + 3, payload, 8);
	return 11;
}

/* Add a member to the packet in `words`. Returns false if the member does not fit. */
static VPT_ALWAYS_INLINE bool add_field(uint64_t words[2], struct vpti_packet_field field,
					uint64_t member)
{
	const unsigned int low = field.at % 64u;
	const uint64_t bits = member >> field.shift;

	if (!field.bits)
		return true;
	if (member & ~(VPT_MASK64(field.bits - 1u, 0) << field.shift))
		return false;
	words[field.at / 64u] |= bits << low;
	if (low + field.bits > 64)
		words[1] |= bits >> (64 - low);
	return true;
}

/* Write a packet of a row VPT_PKT_EXT. The row is a constant, so its columns cost nothing. */
static VPT_ALWAYS_INLINE size_t put_row(uint8_t *buf, const struct vpt_packet *p,
					struct vpti_packet_row row)
{
	uint64_t words[2] = {VPTI_OP_EXT | (uint64_t)row.opcode << 8, 0};

	if (!add_field(words, row.value, p->value) || !add_field(words, row.aux, p->aux) ||
	    !add_field(words, row.flag, p->flag))
		return 0;
	vpt_put_le(buf, words[0], 8);
	if (row.size > 8)
		vpt_put_le(buf + 8, words[1], 8);
	return row.size;
}

size_t vpt_packet_write(uint8_t *buf, const struct vpt_packet *packet)
{
	const struct vpt_packet *p = packet;

	switch (p->kind) {
	case VPT_PKT_PAD:
		return put_plain(buf, VPTI_OP_PAD, 0, 0);
	case VPT_PKT_PSB:
		return put_psb(buf);
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		return put_tnt(buf, p);
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		return put_ip(buf, p);
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		return put_mode(buf, p);
	case VPT_PKT_TSC:
		return put_plain(buf, VPTI_OP_TSC, p->value, 7);
	case VPT_PKT_MTC:
		return put_plain(buf, VPTI_OP_MTC, p->value, 1);
	case VPT_PKT_CYC:
		return vpt_encode_cyc(buf, p->value);
	case VPT_PKT_MNT:
		return put_mnt(buf, p->value);
	case VPT_PKT_PTW:
		return put_ptw(buf, p);
	case VPT_PKT_BIP:
		return put_bip(buf, p);
	case VPT_PKT_TRIG:
		return put_trig(buf, p);
#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning) \
	case VPT_PKT_##kind: {                                                         \
		const struct vpti_packet_row row =                                     \
			VPTI_PACKET_ROW(kind, size, opcode, value, aux, flag);         \
		return put_row(buf, p, row);                                           \
	}
#include "../spec/packets.def"
#undef VPT_PKT
#undef VPT_PKT_EXT
	case VPT_PKT_COUNT:
		break;
	}
	return 0;
}
