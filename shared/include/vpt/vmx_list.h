/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The MSR areas of VM entry and exit: limits, processing, and the result of a refused element.
 * Elements that name an IA32_RTIT_* MSR follow the rules of WRMSR (33.2.8.1). The processor checks
 * the others.
 */
#ifndef VPT_VMX_LIST_H
#define VPT_VMX_LIST_H

#include "vmx.h"

VPT_BEGIN_DECLS

/* An element in memory: 16 bytes, little-endian. */
struct vpt_msr_entry {
	uint32_t index;
	uint32_t reserved; /* not 0: refused */
	uint64_t value;
};

VPT_STATIC_ASSERT(sizeof(struct vpt_msr_entry) == 16, "as the processor reads it");

enum vpt_msr_area {
	VPT_AREA_ENTRY_LOAD,
	VPT_AREA_EXIT_STORE,
	VPT_AREA_EXIT_LOAD,
};

/* Returns the recommended maximum of elements from IA32_VMX_MISC[27:25]: 512 * (N + 1). */
uint32_t vpt_msr_area_max(uint64_t vmx_misc);

/*
 * Check address and count at VM entry (an early check). The area is 16-byte aligned, and its first
 * and last byte are within the physical address width. An empty area passes.
 */
bool vpt_msr_area_ok(const struct vpt_caps *caps, uint64_t address, uint32_t count);

/* Returns true if an area of that kind may have the MSR at all. */
bool vpt_msr_listable(enum vpt_msr_area area, uint32_t msr);

struct vpt_msr_ops {
	/* Fetch element `i` of the area. Returns false if memory refuses. Each is read once. */
	bool (*fetch)(void *opaque, uint32_t i, struct vpt_msr_entry *entry);
	/* EXIT_STORE: store bits 127:64 of element `i`. */
	bool (*store)(void *opaque, uint32_t i, uint64_t value);
	/* RDMSR and WRMSR at CPL 0. */
	enum vpt_fault (*rdmsr)(void *opaque, uint32_t msr, uint64_t *value);
	enum vpt_fault (*wrmsr)(void *opaque, uint32_t msr, uint64_t value);
};

/*
 * Process an area in order. Returns 0, or the 1-based number of the first element that failed.
 * Elements before it stay processed, later ones are not processed. At VM entry a failure is a VM
 * exit with reason 34 and this number as qualification. At VM exit it is a VMX abort
 * (vpt_msr_area_abort()).
 */
uint32_t vpt_msr_area_run(enum vpt_msr_area area, uint32_t count, const struct vpt_msr_ops *ops,
			  void *opaque) VPT_MUST_CHECK;

/* Returns the VMX-abort indicator of a failure in an exit area, or 0 for ENTRY_LOAD. */
uint32_t vpt_msr_area_abort(enum vpt_msr_area area);

VPT_END_DECLS

#endif /* VPT_VMX_LIST_H */
