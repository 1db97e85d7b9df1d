/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XSAVE state components, and the instructions that save and restore them. */
#ifndef VMM_SOFT_XSTATE_H
#define VMM_SOFT_XSTATE_H

#include "soft/x87.h"

#define SOFT_XCR0_X87	 (1u << 0)
#define SOFT_XCR0_SSE	 (1u << 1)
#define SOFT_XCR0_AVX	 (1u << 2)
#define SOFT_XCR0_K	 (1u << 5)
#define SOFT_XCR0_ZMM_HI (1u << 6)
#define SOFT_XCR0_ZMM_16 (1u << 7)
#define SOFT_XCR0_AVX512 (SOFT_XCR0_K | SOFT_XCR0_ZMM_HI | SOFT_XCR0_ZMM_16)
#define SOFT_XCR0_KNOWN	 (SOFT_XCR0_X87 | SOFT_XCR0_SSE | SOFT_XCR0_AVX | SOFT_XCR0_AVX512)

/* Bits of u->aux: how an instruction saves or restores. */
#define SOFT_XSTATE_WIDE      (1u << 0) /* FIP and FDP have 64 bits */
#define SOFT_XSTATE_LONG      (1u << 1) /* 64-bit mode: XMM8 and up exist */
#define SOFT_XSTATE_OPTIMIZED (1u << 2) /* components in initial configuration are not written */
#define SOFT_XSTATE_COMPACT   (1u << 3)
#define SOFT_XSTATE_SYSTEM    (1u << 4) /* XSAVES, XRSTORS: components of IA32_XSS too */

#define SOFT_XSTATE_PT 8u /* the only supported component of IA32_XSS */

/* Return subleaf n of CPUID leaf 0xd, which is for component n; NULL if absent. */
const struct engine_cpuid_entry *soft_xstate_cpuid(const struct soft *c, unsigned int n);
/* Return XINUSE, the components that are not in their initial configuration. */
uint64_t soft_xstate_in_use(struct soft *c);

/* Return true if XSAVES or XRSTORS would move the PT registers, by the current EDX:EAX. */
bool soft_xstate_moves_pt(const struct soft *c);

void soft_xstate_fxsave(struct soft *c, const struct soft_uop *u);
void soft_xstate_fxrstor(struct soft *c, const struct soft_uop *u);
void soft_xstate_xsave(struct soft *c, const struct soft_uop *u);
void soft_xstate_xrstor(struct soft *c, const struct soft_uop *u);

#endif /* VMM_SOFT_XSTATE_H */
