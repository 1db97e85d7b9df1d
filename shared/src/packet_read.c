// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A packet's bytes to its fields (33.4.2). The inverse is packet_write.c.
 *
 * Wrong bytes result in VPT_E_BAD_PACKET even if the rest of the packet is missing. VPT_E_EOS means
 * that more bytes can complete the packet.
 */
#include "vpt/encode.h"

#include "packet_bytes.h"
#include "packet_opcodes.h"
#include "packet_rows.h"

/* 5 + 8 * 7 bits, and three more in the tenth byte. */
#define CYC_BYTES_MAX 10

#define PSB_SIZE 16

/* Set kind and size; VPT_E_EOS if there are fewer bytes than that. */
static enum vpt_status take(struct vpt_packet *p, enum vpt_pkt_kind kind, unsigned int size,
			    size_t len)
{
	p->kind = kind;
	p->size = (uint8_t)size;
	return len < size ? VPT_E_EOS : VPT_OK;
}

/* [PKT-TNT-STOP] `tnt` is stop bit and outcomes. */
static enum vpt_status split_tnt(struct vpt_packet *p, uint64_t tnt)
{
	if (tnt <= 1)
		return VPT_E_BAD_PACKET;
	p->bits = (uint8_t)vpt_msb(tnt);
	p->value = tnt ^ VPT_BIT64(p->bits);
	return VPT_OK;
}

static enum vpt_status read_ip(struct vpt_packet *p, enum vpt_pkt_kind kind, const uint8_t *buf,
			       size_t len)
{
	/* [PKT-IP-RESERVED] by 0xff. */
	static const uint8_t payload[8] = {0, 2, 4, 6, 6, 0xff, 8, 0xff};
	unsigned int ip_bytes = buf[0] >> 5;
	enum vpt_status status;

	if (payload[ip_bytes] == 0xff)
		return VPT_E_BAD_PACKET;
	status = take(p, kind, 1u + payload[ip_bytes], len);
	if (status)
		return status;
	p->ip_bytes = (uint8_t)ip_bytes;
	p->value = vpti_get_le(buf + 1, payload[ip_bytes]);
	return VPT_OK;
}

/* [PKT-CYC-EXP] */
static enum vpt_status read_cyc(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	bool more = buf[0] & VPTI_CYC_EXP_FIRST;
	unsigned int size = 1, shift = 5;

	p->value = buf[0] >> 3;
	while (more) {
		uint64_t part;

		if (size == CYC_BYTES_MAX)
			return VPT_E_BAD_PACKET;
		if (size == len)
			return VPT_E_EOS;
		part = buf[size] >> 1;
		if (part << shift >> shift != part)
			return VPT_E_BAD_PACKET;
		p->value |= part << shift;
		more = buf[size] & VPTI_CYC_EXP;
		shift += 7;
		size++;
	}
	return take(p, VPT_PKT_CYC, size, len);
}

/* [PKT-MODE-LEAF] */
static enum vpt_status read_mode(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	if (len < 2)
		return VPT_E_EOS;
	switch (buf[1] >> VPTI_MODE_LEAF_SHIFT) {
	case VPTI_MODE_LEAF_EXEC:
		p->value = buf[1] & 0x07;
		return take(p, VPT_PKT_MODE_EXEC, 2, len);
	case VPTI_MODE_LEAF_TSX:
		p->value = buf[1] & 0x03;
		return take(p, VPT_PKT_MODE_TSX, 2, len);
	default:
		return VPT_E_BAD_PACKET;
	}
}

static enum vpt_status read_psb(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	unsigned int i;

	for (i = 2; i < PSB_SIZE && i < len; i++) {
		if (buf[i] != buf[i % 2])
			return VPT_E_BAD_PACKET;
	}
	return take(p, VPT_PKT_PSB, PSB_SIZE, len);
}

static enum vpt_status read_ptw(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	unsigned int code = (buf[1] & VPTI_PTW_SIZE_MASK) >> VPTI_PTW_SIZE_SHIFT;
	unsigned int bytes = 4u << code;
	enum vpt_status status;

	/* [PKT-PTW-BYTES] */
	if (code > 1)
		return VPT_E_BAD_PACKET;
	status = take(p, VPT_PKT_PTW, 2 + bytes, len);
	if (status)
		return status;
	p->flag = buf[1] & VPTI_EXT_IP;
	p->bits = (uint8_t)(8 * bytes);
	p->value = vpti_get_le(buf + 2, bytes);
	return VPT_OK;
}

static enum vpt_status read_mnt(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	enum vpt_status status;

	if (len > 2 && buf[2] != VPTI_MNT_THIRD)
		return VPT_E_BAD_PACKET;
	status = take(p, VPT_PKT_MNT, 11, len);
	if (!status)
		p->value = vpti_get_le(buf + 3, 8);
	return status;
}

static enum vpt_status read_tnt_64(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	enum vpt_status status = take(p, VPT_PKT_TNT_64, 8, len);

	return status ? status : split_tnt(p, vpti_get_le(buf + 2, 6));
}

static uint64_t get_field(const uint8_t *buf, struct vpti_packet_field field)
{
	const unsigned int low = field.at % 8u;
	uint64_t value;

	if (!field.bits)
		return 0;
	value = vpti_get_le(buf + field.at / 8u, (low + field.bits + 7) / 8);
	return (value >> low & VPT_MASK64(field.bits - 1u, 0)) << field.shift;
}

/* [PKT-RSVD] Only defined bits are taken. Reserved bits need not be 0. */
static enum vpt_status read_row(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	unsigned int count, i;
	const struct vpti_packet_row *row = vpti_packet_rows(&count);
	enum vpt_status status;

	for (i = 0; i < count && (buf[1] & row->opcode_mask) != row->opcode; i++)
		row++;
	if (i == count)
		return VPT_E_BAD_PACKET;
	status = take(p, row->kind, row->size, len);
	if (status)
		return status;
	p->value = get_field(buf, row->value);
	p->aux = (uint16_t)get_field(buf, row->aux);
	p->flag = get_field(buf, row->flag);
	return VPT_OK;
}

static enum vpt_status read_ext(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	if (len < 2)
		return VPT_E_EOS;
	if (buf[1] == VPTI_EXT_TNT_64)
		return read_tnt_64(p, buf, len);
	if (buf[1] == VPTI_EXT_PSB)
		return read_psb(p, buf, len);
	if (buf[1] == VPTI_EXT_MNT)
		return read_mnt(p, buf, len);
	if ((buf[1] & 0x1f) == VPTI_EXT_PTW)
		return read_ptw(p, buf, len);
	return read_row(p, buf, len);
}

/* [PKT-TRIG] */
static enum vpt_status read_trig(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	enum vpt_status status;
	bool counts;

	if (len < 2)
		return VPT_E_EOS;
	counts = buf[1] & VPTI_TRIG_ICNTV;
	status = take(p, VPT_PKT_TRIG, counts ? 5 : 3, len);
	if (status)
		return status;
	p->flag = buf[1] & VPTI_TRIG_IP;
	p->aux = (uint16_t)(buf[2] | (buf[1] & VPTI_TRIG_MORE ? VPT_TRIG_MULT : 0));
	if (counts) {
		p->bits = 16;
		p->value = vpti_get_le(buf + 3, 2);
	}
	return VPT_OK;
}

/* TSC, MTC, MODE and TRIG have bits 4:0 in common and use what are IPBytes elsewhere. */
static enum vpt_status read_timing_mode(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	enum vpt_status status;

	switch (buf[0]) {
	case VPTI_OP_TSC:
		status = take(p, VPT_PKT_TSC, 8, len);
		break;
	case VPTI_OP_MTC:
		status = take(p, VPT_PKT_MTC, 2, len);
		break;
	case VPTI_OP_MODE:
		return read_mode(p, buf, len);
	case VPTI_OP_TRIG:
		return read_trig(p, buf, len);
	default:
		return VPT_E_BAD_PACKET;
	}
	if (!status)
		p->value = vpti_get_le(buf + 1, p->size - 1u);
	return status;
}

static enum vpt_status read_odd(struct vpt_packet *p, const uint8_t *buf, size_t len)
{
	if ((buf[0] & VPTI_CYC_LOW) == VPTI_CYC_LOW)
		return read_cyc(p, buf, len);
	switch (buf[0] & 0x1f) {
	case VPT_OP_TIP:
		return read_ip(p, VPT_PKT_TIP, buf, len);
	case VPT_OP_TIP_PGE:
		return read_ip(p, VPT_PKT_TIP_PGE, buf, len);
	case VPT_OP_TIP_PGD:
		return read_ip(p, VPT_PKT_TIP_PGD, buf, len);
	case VPT_OP_FUP:
		return read_ip(p, VPT_PKT_FUP, buf, len);
	default:
		return read_timing_mode(p, buf, len);
	}
}

/*
 * Table 33-46 calls the header's bits 7:3 ID[5:0]. They are five, which is what
 * the 32 items of a block take.
 */
static enum vpt_status read_bip(struct vpt_packet *p, bool four_bytes, const uint8_t *buf,
				size_t len)
{
	unsigned int bytes = four_bytes ? 4 : 8;
	enum vpt_status status = take(p, VPT_PKT_BIP, 1 + bytes, len);

	if (status)
		return status;
	p->aux = (uint16_t)(buf[0] >> VPTI_BIP_ID_SHIFT);
	p->bits = (uint8_t)(8 * bytes);
	p->value = vpti_get_le(buf + 1, bytes);
	return VPT_OK;
}

static enum vpt_status read_any(const struct vpt_parser *parser, struct vpt_packet *p,
				const uint8_t *buf, size_t len)
{
	enum vpt_status status;

	if (!len)
		return VPT_E_EOS;
	if (buf[0] & 1)
		return read_odd(p, buf, len);
	if (buf[0] == VPTI_OP_EXT)
		return read_ext(p, buf, len);
	if (buf[0] == VPTI_OP_PAD)
		return take(p, VPT_PKT_PAD, 1, len);
	/* [PKT-BLOCK-OPEN] */
	if (parser->in_block && (buf[0] & 0x07) == VPTI_BIP_LOW)
		return read_bip(p, parser->block_4_bytes, buf, len);
	status = take(p, VPT_PKT_TNT_8, 1, len);
	return status ? status : split_tnt(p, buf[0] >> 1);
}

static void track_block(struct vpt_parser *parser, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_BBP:
		/* [PKT-BLOCK-OPEN] */
		parser->in_block = true;
		parser->block_4_bytes = p->flag;
		break;
	case VPT_PKT_BEP:
	case VPT_PKT_OVF:
		/* [PKT-BLOCK-END] */
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
	case VPT_PKT_PIP:
	case VPT_PKT_VMCS:
	case VPT_PKT_TRACE_STOP:
	case VPT_PKT_PSB:
	case VPT_PKT_PSBEND:
	case VPT_PKT_PTW:
	case VPT_PKT_MWAIT:
		/* [PKT-BLOCK-FORBIDDEN] The block's end was lost. */
		parser->in_block = false;
		parser->block_4_bytes = false;
		break;
	default:
		break;
	}
}

enum vpt_status vpt_packet_read(struct vpt_parser *parser, const uint8_t *buf, size_t len,
				struct vpt_packet *packet)
{
	struct vpt_packet p;
	enum vpt_status status;

	vpt_memset(&p, 0, sizeof(p));
	status = read_any(parser, &p, buf, len);
	if (status)
		return status;
	track_block(parser, &p);
	*packet = p;
	return VPT_OK;
}
