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

/* Send the gathered branch outcomes, if any. Every other packet does so first. */
void vpti_gen_flush_tnt(struct vpt_pt *pt);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_BYTES_H */
