/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Event trace inside of the packet generator. */
#ifndef VPT_SRC_GEN_EVENT_TRACE_H
#define VPT_SRC_GEN_EVENT_TRACE_H

#include "gen.h"

VPT_BEGIN_DECLS

/* Table 33-50. */
enum vpt_cfe_type {
	VPT_CFE_SMI = 0x3,
	VPT_CFE_RSM = 0x4,
	VPT_CFE_VMENTRY = 0x7,
	VPT_CFE_VMEXIT = 0x8,
	VPT_CFE_VMEXIT_INTR = 0x9,
};

/* Table 33-51. */
enum vpt_evd_type {
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

VPT_END_DECLS

#endif /* VPT_SRC_GEN_EVENT_TRACE_H */
