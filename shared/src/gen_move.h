/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Transitions of the packet generator, above the packets and below the events. */
#ifndef VPTI_SRC_GEN_MOVE_H
#define VPTI_SRC_GEN_MOVE_H

#include "gen_event_trace.h"

VPT_BEGIN_DECLS

/* [GEN-TRACESTOP] Returns true if `to` is in a TraceStop range and ContextEn is set (33.2.5.3). */
static inline bool vpti_gen_stops_at(const struct vpt_pt *pt, uint64_t to)
{
	return pt->has_ranges && pt->context_en &&
	       vpt_range_hit(&pt->rtit, VPT_ADDR_STOP, vpti_gen_payload_ip(pt, to));
}

/* End the trace: clear FilterEn, send TraceStop, and set Stopped. TriggerEn must be set. */
void vpti_gen_trace_stop(struct vpt_pt *pt);

/* Send MODE.Exec, if it is needed, and TIP.PGE. PacketEn has risen at `to`. */
void vpti_gen_packet_en_rises(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to);

/* Send TIP.PGD and clear the stack of CALLs. The packet has an IP, `to`, if `with_ip`. */
void vpti_gen_packet_en_falls(struct vpt_pt *pt, bool with_ip, uint64_t to);

/* MOV CR3: update ContextEn, and send PIP and the packets of a change of PacketEn. */
void vpti_gen_cr3_write(struct vpt_pt *pt, const struct vpt_event *event);

/* Begin or continue a trace at `ip` after TraceEn rose: TraceStop, FilterEn, TIP.PGE. */
void vpti_gen_trace_from(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t ip);

/* Send a whole far transfer, with a FUP if `fup` is set. */
void vpti_gen_far(struct vpt_pt *pt, const struct vpt_event *event, bool fup);

/*
 * End a far transfer at `to`. Its FUP and PIP were sent and ContextEn is updated. PacketEn was
 * `was` before the transfer.
 */
void vpti_gen_enter_target(struct vpt_pt *pt, const struct vpt_context *ctx, uint64_t to, bool was);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_MOVE_H */
