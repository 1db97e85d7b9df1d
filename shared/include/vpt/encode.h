/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Encoders of the generator's hot packets. Each writes to `buf`, which has room
 * for VPT_PKT_MAX bytes, and returns the packet's length. Arguments are trusted;
 * vpt_packet_write() is the checked form for any packet.
 */
#ifndef VPT_ENCODE_H
#define VPT_ENCODE_H

#include "packet.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define VPT_STORES_LE 1
#else
#define VPT_STORES_LE 0
#endif

static inline void vpt_put_le(uint8_t *buf, uint64_t value, unsigned int bytes)
{
	unsigned int i;

	if (VPT_STORES_LE && bytes == 8) {
		vpt_memcpy(buf, &value, 8);
		return;
	}
	for (i = 0; i < bytes; i++)
		buf[i] = (uint8_t)(value >> (8 * i));
}

/*
 * Write exactly `len` bytes, 3 to 10. The first eight are in `low`. The values stay in registers,
 * because a load of bytes that were just stored in another size is slow. Stores that overlap need no
 * branch for the length, which is hard to predict.
 */
static inline void vpt_put_short(uint8_t *buf, uint64_t low, uint64_t high, size_t len)
{
	if (!VPT_STORES_LE) {
		vpt_put_le(buf, low, len < 8 ? (unsigned int)len : 8);
		vpt_put_le(buf + 8, high, len < 8 ? 0 : (unsigned int)len - 8);
	} else if (len <= 6) {
		size_t second = len < 4 ? len - 2 : 2;
		uint16_t a = (uint16_t)low, b = (uint16_t)(low >> (8 * second)),
			 c = (uint16_t)(low >> (8 * (len - 2)));

		vpt_memcpy(buf, &a, 2);
		vpt_memcpy(buf + second, &b, 2);
		vpt_memcpy(buf + len - 2, &c, 2);
	} else {
		size_t second = len < 8 ? len - 4 : 4;
		uint32_t a = (uint32_t)low, b = (uint32_t)(low >> (8 * second)),
			 c = (uint32_t)(low >> (8 * (len - 4)) | high << (64 - 8 * (len - 4)));

		vpt_memcpy(buf, &a, 4);
		vpt_memcpy(buf + second, &b, 4);
		vpt_memcpy(buf + len - 4, &c, 4);
	}
}

/* Bit position of the highest set bit; value is not 0. */
static inline unsigned int vpt_msb(uint64_t value)
{
	return 63 - (unsigned int)__builtin_clzll(value);
}

/*
 * TNT (33.4.2.1). `tnt` holds the outcomes, youngest in bit 0, below a leading 1
 * that marks where they begin: 1 is "none", 0b101 is "not taken, taken".
 */
static inline uint8_t vpt_tnt8(uint64_t tnt)
{
	/* The manual's stop bit is our leading 1: shifted over the header bit. */
	return (uint8_t)(tnt << 1);
}

static inline size_t vpt_encode_tnt8(uint8_t *buf, uint64_t tnt)
{
	buf[0] = vpt_tnt8(tnt);
	return 1;
}

static inline size_t vpt_encode_tnt64(uint8_t *buf, uint64_t tnt)
{
	vpt_put_le(buf, tnt << 16 | 0xa302, 8); /* one store: it is read again at once */
	return 8;
}

/* [PKT-CYC-EXP] CYC (33.4.2.14): five bits, then seven at a time for as long as there are any. */
static inline size_t vpt_encode_cyc(uint8_t *buf, uint64_t cycles)
{
	uint64_t more = cycles >> 5;
	size_t len = 1;

	buf[0] = (uint8_t)((cycles & 0x1f) << 3 | (more ? 7u : 3u));
	while (more) {
		uint64_t rest = more >> 7;

		buf[len++] = (uint8_t)((more & 0x7f) << 1 | (rest ? 1u : 0u));
		more = rest;
	}
	return len;
}

/* Header bits 4:0 of the IP packets (33.4.2.2 to 33.4.2.6). */
enum vpt_ip_opcode {
	VPT_OP_TIP = 0x0d,
	VPT_OP_TIP_PGE = 0x11,
	VPT_OP_TIP_PGD = 0x01,
	VPT_OP_FUP = 0x1d,
};

/* The shortest IPBytes that carries `ip` after `last_ip` (table 33-18). */
static inline enum vpt_ip_bytes vpt_ip_compress(uint64_t ip, uint64_t last_ip)
{
	uint64_t diff = ip ^ last_ip;

	/* Which of both is hard to predict, so it is computed. */
	if (!(diff >> 32))
		return (enum vpt_ip_bytes)(VPT_IP_UPDATE_16 + (diff > 0xffff));
	if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip)
		return VPT_IP_SEXT_48;
	if (!(diff >> 48))
		return VPT_IP_UPDATE_48;
	return VPT_IP_FULL;
}

/* Payload bytes by IPBytes, one nibble each: 0 2 4 6 6 - 8 -. */
static inline unsigned int vpt_ip_payload(enum vpt_ip_bytes ip_bytes)
{
	return (0x08066420u >> (4 * (unsigned int)ip_bytes)) & 0xf;
}

static inline size_t vpt_encode_ip(uint8_t *buf, enum vpt_ip_opcode op, enum vpt_ip_bytes ip_bytes,
				   uint64_t ip)
{
	buf[0] = (uint8_t)((unsigned int)ip_bytes << 5 | (unsigned int)op);
	/* All eight, as one store: what is not payload lies behind the packet. */
	vpt_put_le(buf + 1, ip, 8);
	return 1 + vpt_ip_payload(ip_bytes);
}

#endif /* VPT_ENCODE_H */
