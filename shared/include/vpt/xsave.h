/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * State component 8 of the XSAVE feature set (33.3.5.2; SDM vol. 1, 13.5.6): what XSAVES and
 * XRSTORS do with the registers of PT.
 */
#ifndef VPT_XSAVE_H
#define VPT_XSAVE_H

#include "pt.h"

VPT_BEGIN_DECLS

#define VPT_XSAVE_COMPONENT 8

/*
 * CTL, OUTPUT_BASE, OUTPUT_MASK_PTRS, STATUS, CR3_MATCH, then ADDRn_A and ADDRn_B, little-endian.
 * What there is no register for is saved as 0 and not looked at when it is restored.
 */
#define VPT_XSAVE_FIXED 40u
#define VPT_XSAVE_BYTES 128u

/*
 * CPUID.0DH.8: bytes of the component, VPT_XSAVE_BYTES, or 0 where the processor has none: without
 * PT, and before XSAVES existed. Its alignment in a compacted area is that of any component of 8
 * bytes.
 */
unsigned int vpt_xsave_bytes(const struct vpt_caps *caps);

/* Is the state that of after power-on, so that XSAVES need not save it (XSTATE_BV)? */
bool vpt_xsave_is_initial(const struct vpt_pt *pt);

/*
 * XSAVES at `ip`, with component 8 requested: fills in `state`, VPT_XSAVE_BYTES of it. CTL is saved
 * as it is; then TraceEn is cleared, as by a WRMSR there; the rest is saved as that leaves it.
 * Call it when the instruction can no longer fault. Where the state is initial it need not be
 * called, or what it gives not be stored.
 */
void vpt_pt_xsaves(struct vpt_pt *pt, void *state, uint64_t ip, uint64_t next_ip);

/*
 * XRSTORS: `state` NULL is the initial state. VPT_FAULT_GP, and nothing changed: TraceEn is set,
 * or a WRMSR of one of the values would fault. CTL comes last.
 */
enum vpt_fault vpt_pt_xrstors(struct vpt_pt *pt, const void *state, uint64_t ip,
			      uint64_t next_ip) VPT_MUST_CHECK;

/* The same check alone, so that other components need not be undone. */
enum vpt_fault vpt_pt_xrstors_check(const struct vpt_pt *pt, const void *state) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_XSAVE_H */
