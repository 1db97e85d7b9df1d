// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A packet's fields to its bytes (33.4.2). The inverse is packet_read.c. */
#include "vpt/encode.h"

#include "packet_bytes.h"
#include "packet_opcodes.h"

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

static size_t put_tma(uint8_t *buf, const struct vpt_packet *p)
{
	if (!vpti_fits(p->value, 16) || !vpti_fits(p->aux, 9))
		return 0;
	put_ext(buf, 7, VPTI_EXT_TMA, p->value, 2);
	vpt_put_le(buf + 5, p->aux, 2);
	return 7;
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

static size_t put_power(uint8_t *buf, const struct vpt_packet *p)
{
	if (!vpti_fits(p->value, 8))
		return 0;
	switch (p->kind) {
	case VPT_PKT_MWAIT:
		if (!vpti_fits(p->aux, 2))
			return 0;
		return put_ext(buf, 10, VPTI_EXT_MWAIT, p->value | (uint64_t)p->aux << 32, 8);
	case VPT_PKT_PWRE:
		return put_ext(buf, 4, VPTI_EXT_PWRE, p->value << 8 | (p->flag ? 0x80 : 0), 2);
	default:
		if (!vpti_fits(p->aux, 4))
			return 0;
		return put_ext(buf, 7, VPTI_EXT_PWRX, p->value | (uint64_t)p->aux << 8, 5);
	}
}

/* CFE and EVD (33.4.2.29, 33.4.2.30). */
static size_t put_event(uint8_t *buf, const struct vpt_packet *p)
{
	if (p->kind == VPT_PKT_CFE) {
		if (!vpti_fits(p->value, 5) || !vpti_fits(p->aux, 8))
			return 0;
		return put_ext(buf, 4, VPTI_EXT_CFE,
			       p->value | (p->flag ? VPTI_EXT_IP : 0) | (uint64_t)p->aux << 8, 2);
	}
	if (!vpti_fits(p->aux, 6))
		return 0;
	put_ext(buf, 11, VPTI_EXT_EVD, p->aux, 1);
	vpt_put_le(buf + 3, p->value, 8);
	return 11;
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

/* [PKT-PIP] CR3[51:5] stands above NR in bit 0, so four places below its own. */
static size_t put_pip(uint8_t *buf, const struct vpt_packet *p)
{
	if (p->value & ~VPTI_PIP_CR3_MASK)
		return 0;
	return put_ext(buf, 8, VPTI_EXT_PIP, p->value >> 4 | (p->flag ? 1 : 0), 6);
}

size_t vpt_packet_write(uint8_t *buf, const struct vpt_packet *packet)
{
	const struct vpt_packet *p = packet;
	unsigned int ip = p->flag ? VPTI_EXT_IP : 0;

	switch (p->kind) {
	case VPT_PKT_PAD:
		return put_plain(buf, VPTI_OP_PAD, 0, 0);
	case VPT_PKT_PSB:
		return put_psb(buf);
	case VPT_PKT_PSBEND:
		return put_ext(buf, 2, VPTI_EXT_PSBEND, 0, 0);
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		return put_tnt(buf, p);
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		return put_ip(buf, p);
	case VPT_PKT_PIP:
		return put_pip(buf, p);
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		return put_mode(buf, p);
	case VPT_PKT_TRACE_STOP:
		return put_ext(buf, 2, VPTI_EXT_TRACE_STOP, 0, 0);
	case VPT_PKT_CBR:
		return vpti_fits(p->value, 8) ? put_ext(buf, 4, VPTI_EXT_CBR, p->value, 1) : 0;
	case VPT_PKT_TSC:
		return put_plain(buf, VPTI_OP_TSC, p->value, 7);
	case VPT_PKT_MTC:
		return put_plain(buf, VPTI_OP_MTC, p->value, 1);
	case VPT_PKT_TMA:
		return put_tma(buf, p);
	case VPT_PKT_CYC:
		return vpt_encode_cyc(buf, p->value);
	case VPT_PKT_VMCS:
		if (p->value & ~VPTI_VMCS_PTR_MASK)
			return 0;
		return put_ext(buf, 7, VPTI_EXT_VMCS, p->value >> 12, 5);
	case VPT_PKT_OVF:
		return put_ext(buf, 2, VPTI_EXT_OVF, 0, 0);
	case VPT_PKT_MNT:
		return put_mnt(buf, p->value);
	case VPT_PKT_PTW:
		return put_ptw(buf, p);
	case VPT_PKT_EXSTOP:
		return put_ext(buf, 2, VPTI_EXT_EXSTOP | ip, 0, 0);
	case VPT_PKT_MWAIT:
	case VPT_PKT_PWRE:
	case VPT_PKT_PWRX:
		return put_power(buf, p);
	case VPT_PKT_BBP:
		return vpti_fits(p->value, 5) ? put_ext(buf, 3, VPTI_EXT_BBP, p->value | ip, 1) : 0;
	case VPT_PKT_BIP:
		return put_bip(buf, p);
	case VPT_PKT_BEP:
		return put_ext(buf, 2, VPTI_EXT_BEP | ip, 0, 0);
	case VPT_PKT_CFE:
	case VPT_PKT_EVD:
		return put_event(buf, p);
	case VPT_PKT_TRIG:
		return put_trig(buf, p);
	case VPT_PKT_COUNT:
		break;
	}
	return 0;
}
