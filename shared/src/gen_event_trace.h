/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Event trace inside of the packet generator. */
#ifndef VPT_SRC_GEN_EVENT_TRACE_H
#define VPT_SRC_GEN_EVENT_TRACE_H

#include "gen.h"

VPT_BEGIN_DECLS

enum vpt_cfe_type {
#define VPT_CFE(name, type, tag, section, meaning) VPT_CFE_##name = type,
#include "../spec/cfe.def"
#undef VPT_CFE
};

/* Table 33-51. */
enum vpt_evd_type {
	VPT_EVD_PFA = 0,
	VPT_EVD_VMXQ = 1,
	VPT_EVD_VMXR = 2,
};

/* TriggerEn and EventEn; whose ContextEn counts depends on the event. */
bool vpt_gen_event_en(const struct vpt_pt *pt);

/* `ip`: the IP bit, a FUP of this CFE alone follows. */
void vpt_gen_cfe(struct vpt_pt *pt, enum vpt_cfe_type type, uint8_t vector, bool ip);
/* With that FUP. */
void vpt_gen_cfe_at(struct vpt_pt *pt, enum vpt_cfe_type type, uint8_t vector, uint64_t ip);

void vpt_gen_evd(struct vpt_pt *pt, enum vpt_evd_type type, uint64_t payload);

/*
 * An event as event trace tells it, if it does. Out: before anything else of it, with ContextEn
 * as it was; `fup`: branch trace will send the FUP. In: once ContextEn is as it is now.
 */
void vpt_gen_event_out(struct vpt_pt *pt, const struct vpt_event *event, bool fup);
void vpt_gen_event_in(struct vpt_pt *pt, const struct vpt_event *event, bool was_context);

VPT_END_DECLS

#endif /* VPT_SRC_GEN_EVENT_TRACE_H */
