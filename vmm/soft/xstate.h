/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State components, and the instructions that move them to memory and back. */
#ifndef VMM_SOFT_XSTATE_H
#define VMM_SOFT_XSTATE_H

#include "soft/x87.h"

#define VPT_XCR0_X87	(1u << 0)
#define VPT_XCR0_SSE	(1u << 1)
#define VPT_XCR0_AVX	(1u << 2)
#define VPT_XCR0_K	(1u << 5)
#define VPT_XCR0_ZMM_HI (1u << 6)
#define VPT_XCR0_ZMM_16 (1u << 7)
#define VPT_XCR0_AVX512 (VPT_XCR0_K | VPT_XCR0_ZMM_HI | VPT_XCR0_ZMM_16)
#define VPT_XCR0_KNOWN	(VPT_XCR0_X87 | VPT_XCR0_SSE | VPT_XCR0_AVX | VPT_XCR0_AVX512)

/* u->aux, how an instruction saves or restores. */
#define VPT_XSTATE_WIDE	     (1u << 0) /* FIP and FDP have 64 bits */
#define VPT_XSTATE_LONG	     (1u << 1) /* 64-bit mode: XMM8 and up exist */
#define VPT_XSTATE_OPTIMIZED (1u << 2) /* what is initial is not written */
#define VPT_XSTATE_COMPACT   (1u << 3)
#define VPT_XSTATE_SYSTEM    (1u << 4) /* XSAVES, XRSTORS: components of IA32_XSS too */

#define VPT_XSTATE_PT 8u /* the one that there is of those */

/* CPUID leaf 0xd, of component n; NULL if there is no such leaf. */
const struct vpt_cpuid_entry *vpt_xstate_cpuid(const struct vpt_soft *c, unsigned int n);
/* Components that are not as after a reset: XINUSE. */
uint64_t vpt_xstate_in_use(struct vpt_soft *c);

/* Does XSAVES or XRSTORS with these registers move PT's? */
bool vpt_xstate_moves_pt(const struct vpt_soft *c);

void vpt_xstate_fxsave(struct vpt_soft *c, const struct vpt_uop *u);
void vpt_xstate_fxrstor(struct vpt_soft *c, const struct vpt_uop *u);
void vpt_xstate_xsave(struct vpt_soft *c, const struct vpt_uop *u);
void vpt_xstate_xrstor(struct vpt_soft *c, const struct vpt_uop *u);

#endif /* VMM_SOFT_XSTATE_H */
