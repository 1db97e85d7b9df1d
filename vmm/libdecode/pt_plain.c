// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * TNT and TIP packets while nothing waits. Most traces consist of them, so they are read here and
 * not by vpt_packet_read().
 */
#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"
#include "libdecode/stride.h"
#include "libdecode/tracelet.h"

#define TNT_LONG_BYTES 8u
#define TIP_BYTES_MAX  9u

/* The payload of a packet, whose lowest byte comes first. */
static inline uint64_t payload(const uint8_t *bytes, unsigned int n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | bytes[n];
	return value;
}

/* The packet ends at pt->offset: runs and events that it causes are reported with that. */
static VPT_ALWAYS_INLINE void read_up_to(struct dec_pt *pt, uint64_t offset, size_t size)
{
	pt->offset = offset;
	if (vpt_unlikely(pt->timing) && size > 1)
		dec_timing_pass(pt->timing, offset, size);
}

/* @tnt is the stop bit and the outcomes behind it. */
static VPT_ALWAYS_INLINE enum vptd_status outcomes(struct dec_pt *pt, uint64_t tnt)
{
	unsigned int n = 63u - (unsigned int)__builtin_clzll(tnt);

	return dec_flow_outcomes(pt->flow, tnt ^ VPT_BIT64(n), n);
}

/* Returns the size of the TIP at @bytes with its address, or 0 if it has none. */
static VPT_ALWAYS_INLINE unsigned int read_tip(struct dec_pt *pt, const uint8_t *bytes)
{
	static const uint8_t sizes[8] = {
		[VPT_IP_UPDATE_16] = 2, [VPT_IP_UPDATE_32] = 4, [VPT_IP_SEXT_48] = 6,
		[VPT_IP_UPDATE_48] = 6, [VPT_IP_FULL] = 8,
	};
	unsigned int ip_bytes = bytes[0] >> 5, n = sizes[ip_bytes];

	if (vpt_likely(ip_bytes == VPT_IP_UPDATE_16))
		pt->last_ip = (pt->last_ip & ~(uint64_t)0xffff) | bytes[1] | bytes[2] << 8;
	else if (!n || vpt_ip_expand(pt->last_ip, ip_bytes, payload(bytes + 1, n), &pt->last_ip))
		return 0;
	return n + 1;
}

static inline uint64_t read_8(const uint8_t *bytes)
{
	return (uint64_t)bytes[7] << 56 | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[5] << 40 |
	       (uint64_t)bytes[4] << 32 | (uint64_t)bytes[3] << 24 | bytes[2] << 16 |
	       bytes[1] << 8 | bytes[0];
}

#define IS_TNT(byte) (!((byte)&1) && ((byte)&0xff) > 2)
#define TIP_16	     0x2du

/* Read a unit. Returns the bytes of its packets, or 0 if they are others. */
static VPT_ALWAYS_INLINE unsigned int read_unit(const uint8_t *bytes, uint32_t *unit)
{
	uint64_t next = read_8(bytes);

	if (vpt_likely(((next ^ TIP_16 << 8) & 0xff01) == 0 && (next & 0xff) > 2)) {
		*unit = (uint32_t)((next >> 16 & 0xffff) | (next & 0xff) << 16);
		return 4;
	}
	if ((next & 0xff) == TIP_16) {
		*unit = (uint32_t)(next >> 8 & 0xffff);
		return 3;
	}
	if ((next >> 16 & 0xff) == TIP_16 && IS_TNT(next) && IS_TNT(next >> 8)) {
		*unit = (uint32_t)((next >> 24 & 0xffff) | (next >> 8 & 0xff) << 16 |
				   (next & 0xff) << 24);
		return 5;
	}
	return 0;
}

/* Read what a stride has. Returns false if that is too little for one. */
static VPT_ALWAYS_INLINE bool read_key(struct dec_stride_key *key, const uint8_t *bytes, size_t len)
{
	unsigned int i, size;
	uint32_t unit;

	if (len < DEC_STRIDE_BYTES)
		return false;
	*key = (struct dec_stride_key){{0}, 0, 0};
	for (i = 0; i < DEC_STRIDE_UNITS; i++) {
		size = read_unit(bytes + key->size, &unit);
		if (!size)
			break;
		key->units[i / 2] |= (uint64_t)unit << (i % 2 * 32);
		key->size += size;
	}
	key->n = i;
	return i > 1;
}

/*
 * Decode packets by strides, as far as there are any. Returns their bytes; behind them *next is the
 * number of bytes without a stride.
 */
static size_t strides(struct dec_pt *pt, const uint8_t *bytes, size_t len, size_t *next)
{
	struct dec_strides *s = dec_tracelets_strides(pt->flow->tracelets);
	struct dec_stride_key key;
	uint64_t tnts = 0;
	size_t i = 0;

	*next = 0;
	if (!s || (pt->timing && pt->timing->binds) || !dec_strides_fits(s, pt->flow, pt->last_ip))
		return 0;
	while (read_key(&key, bytes + i, len - i)) {
		if (!dec_strides_run(s, pt->flow, &key)) {
			*next = key.size;
			break;
		}
		tnts |= key.units[0] | key.units[1];
		i += key.size;
	}
	if (!i)
		return 0;
	pt->last_ip = pt->flow->ip;
	pt->offset += i;
	if (vpt_unlikely(pt->timing)) {
		dec_timing_pass(pt->timing, pt->offset, i);
		/* A TNT separates the TIP behind it from a CYC. */
		if (tnts >> 16 & 0xffff0000ffff)
			pt->timing->now.in_cycs = false;
		dec_timing_at_target(pt->timing);
	}
	return i;
}

size_t dec_pt_plain(struct dec_pt *pt, const uint8_t *bytes, size_t len, enum vptd_status *status)
{
	const uint64_t start = pt->offset;
	size_t next, i = strides(pt, bytes, len, &next);

	next += i;
	while (i < len && !*status) {
		size_t size = 1;

		if (!(bytes[i] & 1) && bytes[i] > 2) {
			read_up_to(pt, start + i + size, size);
			*status = outcomes(pt, bytes[i] >> 1);
		} else if (len - i < TIP_BYTES_MAX) {
			break;
		} else if ((bytes[i] & 0x1f) == 0x0d) {
			size = read_tip(pt, bytes + i);
			if (!size)
				break;
			read_up_to(pt, start + i + size, size);
			*status = dec_flow_target(pt->flow, pt->last_ip);
			if (vpt_unlikely(pt->timing))
				dec_timing_at_target(pt->timing);
			if (i + size >= next && !*status) {
				i += size;
				size = strides(pt, bytes + i, len - i, &next);
				next += i + size;
			}
		} else if (bytes[i] == 0x02 && bytes[i + 1] == 0xa3) {
			uint64_t tnt = payload(bytes + i + 2, TNT_LONG_BYTES - 2);

			size = TNT_LONG_BYTES;
			if (tnt <= 1)
				break;
			read_up_to(pt, start + i + size, size);
			*status = outcomes(pt, tnt);
		} else {
			break;
		}
		i += size;
	}
	return i;
}
