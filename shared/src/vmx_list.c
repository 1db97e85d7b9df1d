/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The MSR areas of VM entry and exit. */
#include "vpt/vmx_list.h"

#define VPTI_AREA_ALIGN sizeof(struct vpt_msr_entry)

/* MSRs that are none of PT's and that an area refuses by number (27.4, 28.4, 28.6). */
#define VPT_MSR_BIOS_UPDT_TRIG	0x79u
#define X86_MSR_BIOS_SIGN_ID	0x8bu
#define VPT_MSR_SMM_MONITOR_CTL 0x9bu
#define VPT_MSR_SMBASE		0x9eu
#define VPT_MSR_X2APIC		0x800u
#define VPT_MSR_X2APIC_MASK	0xffffff00u
#define X86_MSR_FS_BASE		0xc0000100u
#define X86_MSR_GS_BASE		0xc0000101u

/* Values of the VMX-abort indicator (28.7). */
#define VPTI_ABORT_STORE 1
#define VPTI_ABORT_LOAD	 4

uint32_t vpt_msr_area_max(uint64_t vmx_misc)
{
	/* [VMX-AREA-MAX] */
	return 512 * ((uint32_t)(vmx_misc >> 25 & 7) + 1);
}

bool vpt_msr_area_ok(const struct vpt_caps *caps, uint64_t address, uint32_t count)
{
	uint64_t last = address + count * (uint64_t)VPTI_AREA_ALIGN - 1;

	/* [VMX-AREA-EMPTY] */
	if (!count)
		return true;
	/* [VMX-AREA-ALIGN] */
	if (address & (VPTI_AREA_ALIGN - 1))
		return false;
	/* [VMX-AREA-WIDTH] an area that wraps ends beyond any width */
	if (last < address)
		return false;
	return caps->max_phy_addr >= 64 || !(last >> caps->max_phy_addr);
}

bool vpt_msr_listable(enum vpt_msr_area area, uint32_t msr)
{
	const bool load = area != VPT_AREA_EXIT_STORE;

	/* [VMX-AREA-X2APIC] */
	if ((msr & VPT_MSR_X2APIC_MASK) == VPT_MSR_X2APIC)
		return false;

	switch (msr) {
	case X86_MSR_FS_BASE:
	case X86_MSR_GS_BASE:
		/* [VMX-AREA-BASES] */
		return !load;
	case VPT_MSR_SMM_MONITOR_CTL:
		/* [VMX-AREA-SMM-LOAD] */
		return !load;
	case VPT_MSR_SMBASE:
		/* [VMX-AREA-SMM-STORE] */
		return load;
	case VPT_MSR_BIOS_UPDT_TRIG:
	case X86_MSR_BIOS_SIGN_ID:
		/* [VMX-AREA-MICROCODE] */
		return !load;
	default:
		return true;
	}
}

static bool vpti_area_store(uint32_t i, uint32_t msr, const struct vpt_msr_ops *ops, void *opaque)
{
	uint64_t value;

	return ops->rdmsr(opaque, msr, &value) == VPT_FAULT_NONE && ops->store(opaque, i, value);
}

static bool vpti_area_element(enum vpt_msr_area area, uint32_t i, const struct vpt_msr_ops *ops,
			      void *opaque)
{
	struct vpt_msr_entry entry;

	if (!ops->fetch(opaque, i, &entry))
		return false;
	/* [VMX-AREA-RESERVED] */
	if (entry.reserved || !vpt_msr_listable(area, entry.index))
		return false;
	/* [VMX-AREA-FAULT] */
	if (area == VPT_AREA_EXIT_STORE)
		return vpti_area_store(i, entry.index, ops, opaque);
	return ops->wrmsr(opaque, entry.index, entry.value) == VPT_FAULT_NONE;
}

uint32_t vpt_msr_area_run(enum vpt_msr_area area, uint32_t count, const struct vpt_msr_ops *ops,
			  void *opaque)
{
	uint32_t i;

	/* [VMX-AREA-ORDER] */
	for (i = 0; i < count; i++) {
		if (!vpti_area_element(area, i, ops, opaque))
			return i + 1;
	}
	return 0;
}

uint32_t vpt_msr_area_abort(enum vpt_msr_area area)
{
	/* [VMX-AREA-ABORT] */
	switch (area) {
	case VPT_AREA_EXIT_STORE:
		return VPTI_ABORT_STORE;
	case VPT_AREA_EXIT_LOAD:
		return VPTI_ABORT_LOAD;
	case VPT_AREA_ENTRY_LOAD:
		break;
	}
	return 0;
}
