/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The enables that decide what is traced (33.2.5, 33.2.6), as functions of the
 * registers and the context.
 */
#ifndef VPT_ENABLE_H
#define VPT_ENABLE_H

#include "event.h"
#include "rtit.h"

VPT_BEGIN_DECLS

/* TriggerEn: TraceEn set and neither Stopped nor Error (33.2.6.2). */
bool vpt_trigger_en(const struct vpt_rtit *rtit);

/* CR3 against CR3_MATCH, by the paging mode's width (33.2.5.2). */
bool vpt_cr3_matches(const struct vpt_rtit *rtit, const struct vpt_context *ctx);

/* ContextEn by CPL, CR3 and enclave (33.2.6.3). */
bool vpt_context_en(const struct vpt_rtit *rtit, const struct vpt_context *ctx);

/* Is any range configured so (an enum vpt_addr_cfg)? */
bool vpt_range_configured(const struct vpt_rtit *rtit, enum vpt_addr_cfg cfg);

/* Is `ip` inside a range that is configured so? Both ends are inclusive. */
bool vpt_range_hit(const struct vpt_rtit *rtit, enum vpt_addr_cfg cfg, uint64_t ip);

/* FilterEn for an IP: true where no filter range is configured (33.2.6.5). */
bool vpt_filter_en(const struct vpt_rtit *rtit, uint64_t ip);

VPT_END_DECLS

#endif /* VPT_ENABLE_H */
