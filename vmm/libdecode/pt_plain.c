// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Read TNT and TIP packets while no packet waits. Most traces consist of these packets, so this
 * file reads them without vpt_packet_read().
 */
#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"
#include "libdecode/stride.h"
#include "libdecode/tracelet.h"

#define TNT_LONG_BYTES 8u
#define TIP_BYTES_MAX  9u

/* Returns the payload of a packet, whose lowest byte is first. */
static inline uint64_t payload(const uint8_t *bytes, unsigned int n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | bytes[n];
	return value;
}

/* Set the end of the packet, with which the resulting runs and events are reported. */
static VPT_ALWAYS_INLINE void read_up_to(struct dec_pt *pt, uint64_t offset, size_t size)
{
	pt->offset = offset;
	if (vpt_unlikely(pt->timing) && size > 1)
		dec_timing_pass(pt->timing, offset, size);
}

/* Append the outcomes of @tnt, which follow a stop bit. */
static VPT_ALWAYS_INLINE enum vptd_status outcomes(struct dec_pt *pt, uint64_t tnt)
{
	unsigned int n = 63u - (unsigned int)__builtin_clzll(tnt);

	return dec_flow_outcomes(pt->flow, tnt ^ VPT_BIT64(n), n);
}

/* Returns the size of the TIP at @bytes including its address, or 0 if it has none. */
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
#define UNIT_BYTES   12u /* at most, CYCs included */

/*
 * Returns the size of a CYC of one or two bytes at the begin of @next, or 0. Sets *@clocks. A
 * second byte of 02H can be an OVF's (SKD007).
 */
static VPT_ALWAYS_INLINE unsigned int read_cyc(uint64_t next, unsigned int *clocks)
{
	*clocks = next >> 3 & 0x1f;
	if (vpt_likely((next & 7) == 3))
		return 1;
	*clocks |= (next >> 9 & 0x7f) << 5;
	return (next & 0x107) == 7 && (next & 0xff00) != 0x0200 ? 2 : 0;
}

/* Take a CYC. Returns false if its clocks cannot be added now. @cycs may be NULL. */
static VPT_ALWAYS_INLINE bool take_cyc(struct dec_time_cycs *cycs, unsigned int clocks)
{
	if (!cycs)
		return true;
	if (vpt_unlikely(!cycs->adds))
		return false;
	dec_time_add_cyc(cycs, clocks);
	return true;
}

/* Read the rest of a unit, after its first @at bytes. Returns the bytes of its packets, or 0. */
static VPT_ALWAYS_INLINE unsigned int read_rest(const uint8_t *bytes, unsigned int at,
						uint32_t *unit, struct dec_time_cycs *cycs)
{
	unsigned int clocks, size;

	for (; at < UNIT_BYTES; at += size) {
		uint64_t next = bytes[at] | bytes[at + 1] << 8;

		size = read_cyc(next, &clocks);
		if (size) {
			if (!take_cyc(cycs, clocks))
				break;
		} else if ((next & 0xff) == TIP_16) {
			*unit |= bytes[at + 1] | (uint32_t)bytes[at + 2] << 8;
			return at + 3;
		} else if (IS_TNT(next) && *unit < 1u << 24) {
			*unit = *unit << 8 | (uint32_t)(next & 0xff) << 16;
			if (cycs)
				cycs->in_cycs = false;
			size = 1;
		} else {
			break;
		}
	}
	return 0;
}

/*
 * Read a unit with CYCs. Returns the bytes of its packets, or 0 if it has other packets. @cycs is
 * NULL if the caller does not ask for the time. Most units are CYC, TNT, CYC and TIP, or CYC and
 * TIP.
 */
static VPT_ALWAYS_INLINE unsigned int read_cyc_unit(const uint8_t *bytes, uint64_t next,
						    uint32_t *unit, struct dec_time_cycs *cycs)
{
	unsigned int at = 0;

	*unit = 0;
	if (vpt_likely((next & 7) == 3)) {
		if (!take_cyc(cycs, next >> 3 & 0x1f))
			return 0;
		next >>= 8;
		at++;
	}
	if (IS_TNT(next)) {
		*unit = (uint32_t)(next & 0xff) << 16;
		if (cycs)
			cycs->in_cycs = false;
		next >>= 8;
		at++;
		if (vpt_likely((next & 7) == 3)) {
			if (!take_cyc(cycs, next >> 3 & 0x1f))
				return 0;
			next >>= 8;
			at++;
		}
	}
	if (vpt_likely((next & 0xff) == TIP_16)) {
		*unit |= (uint32_t)(next >> 8 & 0xffff);
		return at + 3;
	}
	return read_rest(bytes, at, unit, cycs);
}

/* Read a unit. Returns the bytes of its packets, or 0 if it has other packets. */
static VPT_ALWAYS_INLINE unsigned int read_unit(const uint8_t *bytes, uint32_t *unit,
						struct dec_time_cycs *cycs)
{
	uint64_t next = read_8(bytes);

	if (vpt_likely(((next ^ TIP_16 << 8) & 0xff01) == 0 && (next & 0xff) > 2)) {
		*unit = (uint32_t)((next >> 16 & 0xffff) | (next & 0xff) << 16);
		if (cycs)
			cycs->in_cycs = false;
		return 4;
	}
	if ((next & 0xff) == TIP_16) {
		*unit = (uint32_t)(next >> 8 & 0xffff);
		return 3;
	}
	return read_cyc_unit(bytes, next, unit, cycs);
}

/* Read the key of a stride. Returns false if there are too few packets for a stride. */
static VPT_ALWAYS_INLINE bool read_key(struct dec_stride_key *key, const uint8_t *bytes, size_t len,
				       struct dec_time_cycs *cycs)
{
	struct dec_time_cycs until;
	unsigned int i, size;
	uint32_t unit;

	if (len < DEC_STRIDE_UNITS * (UNIT_BYTES + 4u))
		return false;
	*key = (struct dec_stride_key){{0}, 0, 0};
	for (i = 0; i < DEC_STRIDE_UNITS; i++) {
		if (cycs)
			until = *cycs;
		size = read_unit(bytes + key->size, &unit, cycs);
		if (!size) {
			if (cycs)
				*cycs = until;
			break;
		}
		key->units[i / 2] |= (uint64_t)unit << (i % 2 * 32);
		key->size += size;
	}
	key->n = i;
	return i > 1;
}

/* Use strides while there are any. Returns the bytes of their packets. */
static VPT_ALWAYS_INLINE size_t run_strides(struct dec_pt *pt, struct dec_strides *s,
					    const uint8_t *bytes, size_t len, size_t *next,
					    struct dec_time_cycs *cycs)
{
	struct dec_time_cycs until = {0}, now;
	struct dec_stride_key key;
	size_t i = 0;

	if (cycs)
		until = *cycs;
	for (now = until; read_key(&key, bytes + i, len - i, cycs ? &now : NULL); until = now) {
		if (!dec_strides_run(s, pt->flow, &key)) {
			*next = key.size;
			break;
		}
		i += key.size;
	}
	if (cycs)
		*cycs = until;
	if (i) {
		pt->last_ip = pt->flow->ip;
		pt->offset += i;
	}
	return i;
}

/*
 * Decode packets by strides while there are any. Returns the bytes of the packets. Sets *next to
 * the number of bytes after them that have no stride.
 */
static size_t any_strides(struct dec_pt *pt, const uint8_t *bytes, size_t len, size_t *next)
{
	struct dec_strides *s = dec_tracelets_strides(pt->flow->tracelets);
	struct dec_timing *t = pt->timing;
	struct dec_time_cycs cycs;
	size_t n;

	if (!dec_strides_fits(s, pt->flow, pt->last_ip))
		return 0;
	if (vpt_likely(!t))
		return run_strides(pt, s, bytes, len, next, NULL);
	if (t->binds)
		return 0;
	cycs = dec_time_begin_cycs(&t->now, t->end == pt->offset);
	n = run_strides(pt, s, bytes, len, next, &cycs);
	if (n)
		dec_timing_pass_cycs(t, pt->offset, &cycs);
	return n;
}

static VPT_ALWAYS_INLINE size_t strides(struct dec_pt *pt, const uint8_t *bytes, size_t len,
					size_t *next)
{
	*next = 0;
	return pt->flow->tracelets ? any_strides(pt, bytes, len, next) : 0;
}

/*
 * Take the CYC at @bytes, @offset bytes into the stream. Returns its size, or 0 if read_cyc() does.
 */
static VPT_ALWAYS_INLINE unsigned int pass_cyc(struct dec_pt *pt, const uint8_t *bytes,
					       uint64_t offset, enum vptd_status *status)
{
	struct vpt_packet p = {.kind = VPT_PKT_CYC};
	unsigned int clocks;

	p.size = read_cyc(bytes[0] | bytes[1] << 8, &clocks) & 3;
	if (!p.size)
		return 0;
	pt->offset = offset + p.size;
	if (vpt_unlikely(pt->timing)) {
		p.value = clocks;
		*status = dec_pt_time_before(pt, &p);
		dec_pt_time_after(pt, &p);
	}
	return p.size;
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
		} else if ((bytes[i] & 3) == 3) {
			size = pass_cyc(pt, bytes + i, start + i, status);
			if (!size)
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
