/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The MSR areas of VM entry and exit: limits, processing, and what happens when an
 * element is refused. Of the areas' elements those that name an IA32_RTIT_* MSR follow
 * the rules of WRMSR (33.2.8.1); the others are the processor's to judge.
 */
#ifndef VPT_VMX_LIST_H
#define VPT_VMX_LIST_H

#include "vmx.h"

VPT_BEGIN_DECLS

/* An element as memory holds it: 16 bytes, little-endian. */
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

/* Elements that IA32_VMX_MISC[27:25] recommends as the most: 512 * (N + 1). */
uint32_t vpt_msr_area_max(uint64_t vmx_misc);

/*
 * Check of address and count at VM entry, early: 16-byte aligned, and first and last
 * byte within the physical address width. An empty area is not looked at.
 */
bool vpt_msr_area_ok(const struct vpt_caps *caps, uint64_t address, uint32_t count);

/* May this MSR be in a list of that kind at all, whatever its value? */
bool vpt_msr_listable(enum vpt_msr_area area, uint32_t msr);

struct vpt_msr_ops {
	/* Element `i` of the area; false if memory refuses. Each is read once. */
	bool (*fetch)(void *opaque, uint32_t i, struct vpt_msr_entry *entry);
	/* EXIT_STORE: bits 127:64 of element `i`. */
	bool (*store)(void *opaque, uint32_t i, uint64_t value);
	/* As RDMSR and WRMSR at CPL 0 would. */
	enum vpt_fault (*rdmsr)(void *opaque, uint32_t msr, uint64_t *value);
	enum vpt_fault (*wrmsr)(void *opaque, uint32_t msr, uint64_t value);
};

/*
 * Process an area in order. 0, or the 1-based number of the element that failed, after
 * which none is processed: at VM entry that is a VM exit with reason 34 and this number
 * as qualification, at VM exit a VMX abort (vpt_msr_area_abort()). Elements before it
 * stay as they were processed.
 */
uint32_t vpt_msr_area_run(enum vpt_msr_area area, uint32_t count, const struct vpt_msr_ops *ops,
			  void *opaque) VPT_MUST_CHECK;

/* The VMX-abort indicator of a failure in an exit area; 0 for ENTRY_LOAD. */
uint32_t vpt_msr_area_abort(enum vpt_msr_area area);

VPT_END_DECLS

#endif /* VPT_VMX_LIST_H */
