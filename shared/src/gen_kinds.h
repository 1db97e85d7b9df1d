/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Events of single kinds, which gen_event.c dispatches. */
#ifndef VPTI_SRC_GEN_KINDS_H
#define VPTI_SRC_GEN_KINDS_H

#include "gen_move.h"

VPT_BEGIN_DECLS

/* Each function sends the packets of one kind of event. */
void vpti_gen_ptwrite(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_sleep(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_wake(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_cbr(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_tsx(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_init(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_sipi(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_shutdown(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_enclave(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_uintr(struct vpt_pt *pt, const struct vpt_event *event);
void vpti_gen_intr_flag(struct vpt_pt *pt, const struct vpt_event *event);

/* Enter a C-state (event.h) at `ip` without MWAIT: by HLT, shutdown or hardware. */
void vpti_gen_power_enter(struct vpt_pt *pt, uint8_t cstate, uint64_t ip, bool hw);

VPT_END_DECLS

#endif /* VPTI_SRC_GEN_KINDS_H */
