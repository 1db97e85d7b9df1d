// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * TNT and TIP packets while nothing waits. Most traces consist of them, so they are read here and
 * not by vpt_packet_read().
 */
#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"

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
static VPT_ALWAYS_INLINE void read_up_to(struct dec_pt *pt, uint64_t offset, unsigned int size)
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

size_t dec_pt_plain(struct dec_pt *pt, const uint8_t *bytes, size_t len, enum vptd_status *status)
{
	const uint64_t start = pt->offset;
	size_t i = 0;

	while (i < len && !*status) {
		unsigned int size = 1;

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
