/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The VMX controls that PT has, and what VM entry checks of them. */
#include "vpt/vmx.h"

/* The field of struct vpt_vmx_fields that a row of spec/vmx.def names. */
#define VPTI_FIELD_EXEC2(fields) ((fields)->exec2)
#define VPTI_FIELD_EXIT(fields)	 ((fields)->exit)
#define VPTI_FIELD_ENTRY(fields) ((fields)->entry)

uint32_t vpt_vmx_from_fields(const struct vpt_vmx_fields *fields)
{
	uint32_t controls = 0;

#define VPT_VMX_CONTROL(name, field, bit, tag, section, meaning)   \
	if (VPTI_FIELD_##field(fields) & (uint32_t)VPT_BIT64(bit)) \
		controls |= VPT_VMX_##name;
#include "../spec/vmx.def"
#undef VPT_VMX_CONTROL
	return controls;
}

void vpt_vmx_to_fields(uint32_t controls, struct vpt_vmx_fields *fields)
{
#define VPT_VMX_CONTROL(name, field, bit, tag, section, meaning) \
	VPTI_FIELD_##field(fields) &= ~(uint32_t)VPT_BIT64(bit); \
	if (controls & VPT_VMX_##name)                           \
		VPTI_FIELD_##field(fields) |= (uint32_t)VPT_BIT64(bit);
#include "../spec/vmx.def"
#undef VPT_VMX_CONTROL
}

uint32_t vpt_vmx_allowed(const struct vpt_caps *caps, uint32_t allowed)
{
	/* [VMX-MISC-PT] */
	return caps->vmx_pt ? allowed & VPT_VMX_CONTROLS : 0;
}

const char *vpt_vmx_check_text(enum vpt_vmx_check check)
{
	switch (check) {
	case VPT_VMX_OK:
		return "no failure";
	case VPT_VMX_NOT_ALLOWED:
		return "a control that the processor does not have";
	case VPT_VMX_GPA_NEEDS_EPT:
		return "guest-physical output needs EPT";
	case VPT_VMX_GPA_NEEDS_LOAD:
		return "guest-physical output needs IA32_RTIT_CTL to be loaded at entry";
	case VPT_VMX_GPA_NEEDS_CLEAR:
		return "guest-physical output needs IA32_RTIT_CTL to be cleared at exit";
	case VPT_VMX_TRACING:
		return "TraceEn is set and IA32_RTIT_CTL to be loaded";
	case VPT_VMX_GUEST_CTL:
		return "the guest's IA32_RTIT_CTL is a value that WRMSR refuses";
	case VPT_VMX_CHECK_COUNT:
		break;
	}
	return "no such check";
}

enum vpt_vmx_check vpt_vmx_check_controls(const struct vpt_vmx *vmx, const struct vpt_caps *caps,
					  uint32_t allowed, uint64_t ctl)
{
	/* [VMX-CONTROL-ALLOWED] */
	if (vmx->controls & ~vpt_vmx_allowed(caps, allowed))
		return VPT_VMX_NOT_ALLOWED;
	if (vmx->controls & VPT_VMX_EXEC_USE_GPA) {
		/* [VMX-GPA-EPT] */
		if (!vmx->ept)
			return VPT_VMX_GPA_NEEDS_EPT;
		/* [VMX-GPA-LOAD] */
		if (!(vmx->controls & VPT_VMX_ENTRY_LOAD_CTL))
			return VPT_VMX_GPA_NEEDS_LOAD;
		/* [VMX-GPA-CLEAR] */
		if (!(vmx->controls & VPT_VMX_EXIT_CLEAR_CTL))
			return VPT_VMX_GPA_NEEDS_CLEAR;
	}
	/* [VMX-ENTRY-TRACEEN] */
	if ((vmx->controls & VPT_VMX_ENTRY_LOAD_CTL) && (ctl & VPT_CTL_MASK(TRACE_EN)))
		return VPT_VMX_TRACING;
	return VPT_VMX_OK;
}

enum vpt_vmx_check vpt_vmx_check_guest(const struct vpt_vmx *vmx, const struct vpt_caps *caps)
{
	/* [VMX-GUEST-CTL] */
	if ((vmx->controls & VPT_VMX_ENTRY_LOAD_CTL) && !vpt_rtit_ctl_ok(caps, vmx->guest_ctl))
		return VPT_VMX_GUEST_CTL;
	return VPT_VMX_OK;
}
