// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Packets of Atom's RTIT: bytes to fields (RTIT 4.1, 4.2). The inverse is atom_packet.c.
 *
 * Wrong bytes result in VPT_E_BAD_PACKET even if the rest of the packet is missing. VPT_E_EOS means
 * that more bytes can complete the packet.
 */
#include "vpt/encode.h"

#include "atom_opcodes.h"
#include "packet_bytes.h"

/* Set kind and size; VPT_E_EOS if there are fewer bytes than that. */
static enum vpt_status take(struct vpt_atom_packet *p, enum vpt_atom_pkt_kind kind,
			    unsigned int size, size_t len)
{
	p->kind = kind;
	p->size = (uint8_t)size;
	return len < size ? VPT_E_EOS : VPT_OK;
}

/* [ATOM-PKT-TNT] */
static enum vpt_status read_tnt(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	if (buf[0] <= 1)
		return VPT_E_BAD_PACKET;
	p->bits = (uint8_t)vpt_msb(buf[0]);
	p->value = buf[0] ^ VPT_BIT64(p->bits);
	return take(p, VPT_ATOM_PKT_TNT, 1, len);
}

/* [ATOM-PKT-PGE ATOM-PKT-PGD ATOM-PKT-BUFOVF ATOM-PKT-PCC ATOM-PKT-TIP ATOM-PKT-FAR] */
static enum vpt_status read_lip(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	/* By event; a TNT is none of them. */
	static const uint8_t kinds[8] = {
		VPT_ATOM_PKT_PGE, VPT_ATOM_PKT_PGD, VPT_ATOM_PKT_BUF_OVF, VPT_ATOM_PKT_PCC,
		VPT_ATOM_PKT_TNT, VPT_ATOM_PKT_TNT, VPT_ATOM_PKT_TIP,	  VPT_ATOM_PKT_FAR,
	};
	const unsigned int event = (buf[0] & VPTI_ATOM_EVENT_MASK) >> VPTI_ATOM_EVENT_SHIFT;
	const unsigned int cnt = buf[0] & VPTI_ATOM_CNT_MASK, bytes = vpti_atom_lip_bytes(cnt);
	enum vpt_status status;

	if (kinds[event] == VPT_ATOM_PKT_TNT || cnt > VPT_ATOM_CNT_6)
		return VPT_E_BAD_PACKET;
	status = take(p, (enum vpt_atom_pkt_kind)kinds[event], 1 + bytes, len);
	if (status)
		return status;
	p->cnt = (uint8_t)cnt;
	p->zext = buf[0] & VPTI_ATOM_ZEXT;
	p->value = vpti_get_le(buf + 1, bytes);
	return VPT_OK;
}

/* [ATOM-PKT-PSB] */
static enum vpt_status read_psb(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	unsigned int i;

	for (i = 1; i < VPT_ATOM_PSB_BYTES && i < len; i++) {
		if (buf[i])
			return VPT_E_BAD_PACKET;
	}
	return take(p, VPT_ATOM_PKT_PSB, VPT_ATOM_PSB_BYTES, len);
}

/* [ATOM-PKT-STS] */
static enum vpt_status read_sts(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	const enum vpt_status status = take(p, VPT_ATOM_PKT_STS, 7, len);
	unsigned int actual, effective;

	if (status)
		return status;
	actual = (buf[0] & 0x0fu) << 2 | buf[1] >> VPTI_ATOM_RATIO_BITS;
	effective = buf[1] & ((1u << VPTI_ATOM_RATIO_BITS) - 1);
	p->aux = (uint16_t)(actual | effective << 8);
	p->value = vpti_get_le(buf + 2, 5);
	return VPT_OK;
}

/* [ATOM-PKT-PIP] [ATOM-PKT-MTC] [ATOM-PKT-STOP] */
static enum vpt_status read_extended(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	enum vpt_status status;

	if (buf[0] == VPTI_ATOM_OP_PSB)
		return read_psb(p, buf, len);
	if (buf[0] == VPTI_ATOM_OP_TRACE_STOP)
		return take(p, VPT_ATOM_PKT_TRACE_STOP, 1, len);
	if ((buf[0] & 0xfe) == VPTI_ATOM_OP_PIP) {
		p->flag = buf[0] & 1;
		status = take(p, VPT_ATOM_PKT_PIP, 6, len);
	} else if ((buf[0] & 0xfc) == VPTI_ATOM_OP_MTC) {
		p->aux = buf[0] & 3;
		status = take(p, VPT_ATOM_PKT_MTC, 2, len);
	} else if ((buf[0] & 0xf0) == VPTI_ATOM_OP_STS) {
		return read_sts(p, buf, len);
	} else {
		return VPT_E_BAD_PACKET;
	}
	if (!status)
		p->value = vpti_get_le(buf + 1, p->size - 1u);
	return status;
}

/* [ATOM-CYC] */
static enum vpt_status read_cycles(struct vpt_atom_packet *p, const uint8_t *buf, size_t len)
{
	unsigned int bytes;

	if (!len)
		return VPT_E_EOS;
	bytes = buf[0] & VPTI_ATOM_CCNT_MASK;
	if (!bytes)
		return VPT_E_BAD_PACKET;
	if (len < bytes)
		return VPT_E_EOS;
	p->has_cycles = true;
	p->cycles = (uint32_t)(vpti_get_le(buf, bytes) >> VPTI_ATOM_CCNT_SHIFT);
	p->size = (uint8_t)(p->size + bytes);
	return VPT_OK;
}

enum vpt_status vpt_atom_packet_read(const uint8_t *buf, size_t len, bool cycle_acc,
				     struct vpt_atom_packet *packet)
{
	struct vpt_atom_packet p;
	enum vpt_status status;

	if (!len)
		return VPT_E_EOS;
	vpt_memset(&p, 0, sizeof(p));
	if (buf[0] < VPTI_ATOM_OP_LIP)
		status = read_tnt(&p, buf, len);
	else if (buf[0] < VPTI_ATOM_OP_PSB)
		status = read_lip(&p, buf, len);
	else
		status = read_extended(&p, buf, len);
	if (!status && cycle_acc && vpt_atom_pkt_has_cycles(p.kind, p.bits))
		status = read_cycles(&p, buf + p.size, len - p.size);
	if (!status)
		*packet = p;
	return status;
}

/* Does buf[0..8] end in eight zeros from 1 on? How far to go on if it is no PSB. */
static size_t psb_step(const uint8_t *buf)
{
	unsigned int i = VPT_ATOM_PSB_BYTES;

	/* The last byte that is not 0: no PSB begins before it, nor after it among the zeros. */
	while (i > 0 && !buf[i - 1])
		i--;
	if (i == 1 && buf[0] == VPTI_ATOM_OP_PSB)
		return 0;
	return i > 1 ? i - 1 : VPT_ATOM_PSB_BYTES;
}

size_t vpt_atom_packet_find_psb(const uint8_t *buf, size_t len)
{
	size_t at = 0;

	while (len - at >= VPT_ATOM_PSB_BYTES) {
		const size_t step = psb_step(buf + at);

		if (!step)
			return at;
		at += step;
	}
	return len;
}
