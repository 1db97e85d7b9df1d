/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The layer that puts bytes: the internal buffer, deferred TIPs and TNT packets. */
#ifndef VPTI_SRC_GEN_BYTES_H
#define VPTI_SRC_GEN_BYTES_H

#include "gen_state.h"

VPT_BEGIN_DECLS

/*
 * [EN-FROZEN] Returns true if a packet of `len` bytes may be put, and adds it to the internal
 * buffer. Returns false for all packets after the end of the trace, so callers need not test
 * TriggerEn after each packet of an event.
 */
bool vpti_gen_room(struct vpt_pt *pt, size_t len);

/* Append a packet to the trace. */
static inline void vpti_gen_put(struct vpt_pt *pt, const uint8_t *bytes, size_t len)
{
	unsigned int events;

	if (vpt_unlikely(pt->put_slow) && !vpti_gen_room(pt, len))
		return;
	pt->psb_bytes += (uint32_t)len;
	events = vpt_output_put(&pt->out, bytes, len);
	if (vpt_unlikely(events != VPT_OUT_OK))
		vpti_gen_output_events(pt, events);
}

/* Empty the internal buffer for a trace that begins. */
void vpti_gen_buffer_start(struct vpt_pt *pt);

/* Remove the bytes that have left the internal buffer by the time `now`. */
void vpti_gen_buffer_drain(struct vpt_pt *pt);

/* Begin an overflow unless a PIP and the packets up to its TIP have room. */
void vpti_gen_reserve(struct vpt_pt *pt) VPT_COLD;

/* Record that a packet of this kind is lost, for the end of the overflow. */
void vpti_gen_note_lost(struct vpt_pt *pt, enum vpt_pkt_kind kind) VPT_COLD;

/* Move the deferred TIPs to `buf`, which has VPT_DEFER_BYTES (33.4.2.3). Returns their length. */
size_t vpti_gen_take_tips(struct vpt_pt *pt, uint8_t *buf);

/* [GEN-CYC-TNT] Returns the limit of gathered outcomes, in the form of vpt_gate.tnt. */
static inline uint64_t vpti_gen_tnt_limit(const struct vpt_pt *pt)
{
	/* A long TNT would report the time of one outcome of 47. */
	return VPT_BIT64(pt->time.cyc_en && !pt->dis_tnt ? VPT_TNT8_MAX : VPT_TNT_GATHER);
}

/* Returns true if the outcomes are a whole TNT packet. With CYC an open gate holds such a TNT. */
static inline bool vpti_gen_is_tnt_whole(const struct vpt_pt *pt)
{
	return pt->gate.tnt >= vpti_gen_tnt_limit(pt);
}

/* Set the gathered outcomes. With CYC an open gate does not take the first one, which has a CYC. */
static inline void vpti_gen_set_tnt(struct vpt_pt *pt, uint64_t tnt)
{
	pt->gate.tnt = tnt;
	pt->gate.tnt_full =
		pt->time.cyc_en && !pt->dis_tnt && tnt == 1 ? 2 : vpti_gen_tnt_limit(pt);
}

/*
 * [GEN-TNT-SIZE] Encode gathered outcomes in at most 8 bytes. Short packets carry six outcomes in a
 * byte, a long packet 47 in eight bytes. Up to 42 outcomes, short packets are not longer.
 */
static inline size_t vpti_gen_encode_tnt(uint8_t *buf, uint64_t tnt)
{
	unsigned int left = vpt_msb(tnt);
	size_t len = 0;

	if (left > 7 * VPT_TNT8_MAX)
		return vpt_encode_tnt64(buf, tnt);
	while (left) {
		unsigned int bits = left < VPT_TNT8_MAX ? left : VPT_TNT8_MAX;

		left -= bits;
		len += vpt_encode_tnt8(buf + len,
				       VPT_BIT64(bits) | (tnt >> left & (VPT_BIT64(bits) - 1)));
	}
	return len;
}

/* Send the gathered branch outcomes, if any. Every other packet does so first. */
void vpti_gen_flush_tnt(struct vpt_pt *pt);

/*
 * Send the outcomes that are a whole TNT packet. Each call that uses the state or the output does so
 * first, so nobody sees that the gate holds the TNT.
 */
static inline void vpti_gen_put_whole_tnt(struct vpt_pt *pt)
{
	if (vpt_unlikely(vpti_gen_is_tnt_whole(pt)))
		vpti_gen_flush_tnt(pt);
}

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_BYTES_H */
