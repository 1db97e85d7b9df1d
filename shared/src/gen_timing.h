/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The packet writer: packets and the timing packets before them. */
#ifndef VPTI_SRC_GEN_TIMING_H
#define VPTI_SRC_GEN_TIMING_H

#include "gen_bytes.h"

VPT_BEGIN_DECLS

/* Load the settings of CTL for time. */
void vpti_gen_time_load(struct vpt_pt *pt);

/* Start the counters, because TriggerEn rises. */
void vpti_gen_time_start(struct vpt_pt *pt);

/* Restore the position of MTC after a snapshot was loaded. */
void vpti_gen_time_loaded(struct vpt_pt *pt);

/* Stop both counters, or start both again. `now` is exact. */
void vpti_gen_time_sleep(struct vpt_pt *pt);
void vpti_gen_time_wake(struct vpt_pt *pt);

/* Replace vpti_gen_now() where the time since `now` was a stop. A TSC reports the stop. */
void vpti_gen_time_stop(struct vpt_pt *pt);

/* Work out the due times of an open gate, for an engine that keeps them; forget them. */
void vpti_gen_arm(struct vpt_pt *pt);
void vpti_gen_disarm(struct vpt_pt *pt);

/* Make the last reading independent of how an engine used the gate, for a snapshot. */
void vpti_gen_time_reread(struct vpt_pt *pt);

/* Returns true if the due times of the gate are valid, and not reached at the last reading. */
static inline bool vpti_gen_is_armed(const struct vpt_pt *pt)
{
	return pt->gate.state & VPT_GATE_TIMED && pt->time.now.cycles < pt->gate.due_cycles &&
	       pt->time.now.tsc < pt->gate.due_tsc;
}

/* Read the clock and send the MTC and CYC packets that are due. */
void vpti_gen_time_pass(struct vpt_pt *pt);

/*
 * Send the CYC of a packet that may have one (33.3.6). With `elapses` the engine may report
 * that time has passed within the event.
 */
void vpti_gen_cyc(struct vpt_pt *pt, bool elapses);

/* The same, where the engine may report time. */
static inline void vpti_gen_eligible(struct vpt_pt *pt)
{
	if (vpt_unlikely(pt->time.cyc_en))
		vpti_gen_cyc(pt, true);
}

/* Send a packet, with a CYC before it if one is due. */
void vpti_gen_write(struct vpt_pt *pt, const struct vpt_packet *packet);
void vpti_gen_packet(struct vpt_pt *pt, enum vpt_pkt_kind kind, uint64_t value, bool flag);

/* Send TSC, TMA and CBR, as on enabling without a PSB+ (33.2.8.3). The clock was read. */
void vpti_gen_timing(struct vpt_pt *pt, const struct vpt_context *ctx);

/* [TIME-ONE-MOMENT] Begin a call that sends packets. The clock is read here alone. */
static inline void vpti_gen_now(struct vpt_pt *pt)
{
	if (vpt_likely(!pt->slow) || !pt->trigger_en)
		return;
	vpti_gen_put_whole_tnt(pt);
	vpti_gen_time_pass(pt);
	if (pt->options.buffer_bytes)
		vpti_gen_buffer_drain(pt);
}

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_TIMING_H */
