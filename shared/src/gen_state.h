/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The lowest layer of the packet generator: the enables, STATUS and the end of tracing. */
#ifndef VPTI_SRC_GEN_STATE_H
#define VPTI_SRC_GEN_STATE_H

#include "vpt/encode.h"
#include "vpt/pt.h"
#include "vpt/vmx.h"

VPT_BEGIN_DECLS

/* Compute PacketEn and the state of the fast path from the single enables. */
void vpti_gen_update(struct vpt_pt *pt);

/* Update the form of IPs, which depends on the mode of `ctx`. */
void vpti_gen_ip_form(struct vpt_pt *pt, const struct vpt_context *ctx);

/* Change TriggerEn, update STATUS and report the change to the engine. */
void vpti_gen_set_trigger(struct vpt_pt *pt, bool trigger_en);

/* Update STATUS, if TraceEn is set. */
void vpti_gen_sync_status(struct vpt_pt *pt);

/* Flush the output and update the output registers. */
void vpti_gen_sync_output(struct vpt_pt *pt);

/* TriggerEn is about to fall. Set PendPSB if a PSB is due and software preserves it. */
void vpti_gen_note_pending_psb(struct vpt_pt *pt);

/*
 * Clear TriggerEn and set `status_bit`, VPT_STATUS_MASK(STOPPED) or (ERROR). Does nothing if
 * TriggerEn is clear.
 */
void vpti_gen_halt(struct vpt_pt *pt, uint64_t status_bit);

/* Act on the events of an output: STOP, INT or an error. */
void vpti_gen_output_events(struct vpt_pt *pt, unsigned int events) VPT_COLD;

/* Drop all deferred TIPs (gen_defer.c). */
void vpti_gen_drop_tips(struct vpt_pt *pt);

/*
 * [EN-FROZEN] An event changes ContextEn and FilterEn through these functions. Neither moves after
 * the trace has ended, perhaps at an earlier packet of the same event.
 */
static inline void vpti_gen_set_context(struct vpt_pt *pt, const struct vpt_context *ctx)
{
	if (pt->trigger_en)
		pt->context_en = vpt_context_en(&pt->rtit, ctx);
}

static inline void vpti_gen_set_filter(struct vpt_pt *pt, bool filter_en)
{
	if (pt->trigger_en)
		pt->filter_en = filter_en;
}

/*
 * [GEN-RETC-LIP] Returns `ip` as payloads show it: a LIP where payloads are LIPs. The range
 * comparators and the stack of CALLs hold such IPs too (33.3.1.1).
 */
static inline uint64_t vpti_gen_payload_ip(const struct vpt_pt *pt, uint64_t ip)
{
	return (ip + pt->ip_base) & pt->ip_mask;
}

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_STATE_H */
