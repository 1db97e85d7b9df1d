/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The IA32_RTIT_* register file (33.2.8) for a given capability set: the results of reads and
 * writes, and the accesses that raise #GP.
 *
 * This is pure state. Nothing here generates packets or touches memory. A write that changes
 * TraceEn is stored like any other. vpt_pt (pt.h) acts on the change.
 */
#ifndef VPT_RTIT_H
#define VPT_RTIT_H

#include "caps.h"
#include "msr.h"

VPT_BEGIN_DECLS

struct vpt_rtit {
	uint64_t ctl;
	uint64_t status;
	uint64_t output_base;
	uint64_t output_mask_ptrs;
	uint64_t cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES]; /* ADDR0_A, ADDR0_B, ADDR1_A, ... */
};

/*
 * The origin of an access. GUEST is RDMSR, WRMSR and every operation that the manual gives the same
 * rules (33.2.8.1). HOST is a VMM that saves or restores state. It may write in any order while
 * TraceEn is set, and may set the read-only STATUS bits. A reserved bit or encoding is refused in
 * both cases.
 */
enum vpt_access { VPT_ACCESS_GUEST, VPT_ACCESS_HOST };

/* Set the power-on state (33.2.8.1): all zero but the fixed low bits of MASK_PTRS. */
void vpt_rtit_reset(struct vpt_rtit *rtit);

/*
 * Warm reset (33.3.4) clears everything. If IP filtering is enumerated, it clears only TraceEn and
 * the STATUS bits that follow from it.
 */
void vpt_rtit_warm_reset(struct vpt_rtit *rtit, const struct vpt_caps *caps);

/* Returns true if the MSR exists under this capability set. */
bool vpt_rtit_exists(const struct vpt_caps *caps, uint32_t msr);

/* Returns the bits of CTL or STATUS that are not reserved under this capability set. */
uint64_t vpt_rtit_ctl_mask(const struct vpt_caps *caps);
uint64_t vpt_rtit_status_mask(const struct vpt_caps *caps);

/*
 * Returns true if CTL may have this value: no reserved bit or encoding, and the output that it
 * selects exists.
 */
bool vpt_rtit_ctl_ok(const struct vpt_caps *caps, uint64_t ctl);

/* Read an MSR. Returns VPT_FAULT_NONE and *value, or VPT_FAULT_GP with *value untouched. */
enum vpt_fault vpt_rtit_read(const struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr,
			     uint64_t *value) VPT_MUST_CHECK;

/*
 * Write an MSR. Returns VPT_FAULT_NONE with the value stored, or VPT_FAULT_GP with nothing changed.
 */
enum vpt_fault vpt_rtit_write(struct vpt_rtit *rtit, const struct vpt_caps *caps, uint32_t msr,
			      uint64_t value, enum vpt_access who) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_RTIT_H */
