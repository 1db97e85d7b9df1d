/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Event trace inside of the packet generator. */
#ifndef VPTI_SRC_GEN_EVENT_TRACE_H
#define VPTI_SRC_GEN_EVENT_TRACE_H

#include "gen_packet.h"

VPT_BEGIN_DECLS

enum vpti_cfe_type {
#define VPT_CFE(name, type, tag, section, meaning) VPTI_CFE_##name = type,
#include "../spec/cfe.def"
#undef VPT_CFE
};

/* Table 33-51. */
enum vpti_evd_type {
	VPTI_EVD_PFA = 0,
	VPTI_EVD_VMXQ = 1,
	VPTI_EVD_VMXR = 2,
};

/* Returns true if TriggerEn and EventEn are set. The caller tests ContextEn. */
bool vpti_gen_event_en(const struct vpt_pt *pt);

/* Send a CFE. With `ip` set, a FUP that belongs to this CFE alone follows. */
void vpti_gen_cfe(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, bool ip);
/* Send a CFE and its FUP. */
void vpti_gen_cfe_at(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, uint64_t ip);

void vpti_gen_evd(struct vpt_pt *pt, enum vpti_evd_type type, uint64_t payload);

/*
 * Send the CFE of an event, if the event has one. Call the first function before all other packets
 * of the event and before ContextEn changes; set `fup` if branch trace sends a FUP. Call the second
 * one after ContextEn changed.
 */
void vpti_gen_event_out(struct vpt_pt *pt, const struct vpt_event *event, bool fup);
void vpti_gen_event_in(struct vpt_pt *pt, const struct vpt_event *event, bool was_context);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_EVENT_TRACE_H */
