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

/* TriggerEn and EventEn; whose ContextEn counts depends on the event. */
bool vpti_gen_event_en(const struct vpt_pt *pt);

/* `ip`: the IP bit, a FUP of this CFE alone follows. */
void vpti_gen_cfe(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, bool ip);
/* With that FUP. */
void vpti_gen_cfe_at(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, uint64_t ip);

void vpti_gen_evd(struct vpt_pt *pt, enum vpti_evd_type type, uint64_t payload);

/*
 * An event as event trace tells it, if it does. Out: before anything else of it, with ContextEn
 * as it was; `fup`: branch trace will send the FUP. In: once ContextEn is as it is now.
 */
void vpti_gen_event_out(struct vpt_pt *pt, const struct vpt_event *event, bool fup);
void vpti_gen_event_in(struct vpt_pt *pt, const struct vpt_event *event, bool was_context);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_EVENT_TRACE_H */
