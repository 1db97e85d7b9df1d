/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * PT in VMX operation (33.5): the controls, which of them a processor has, and the checks of VM
 * entry. These are pure functions over the few VMCS fields that concern PT. vmx_pt.h has the effect
 * of an entry or exit on a running trace.
 *
 * The owner of the VMCS handles its layout, encodings and all checks without relation to PT. Order
 * and outcome of the checks are those of the manual's chapter on VM entries.
 */
#ifndef VPT_VMX_H
#define VPT_VMX_H

#include "caps.h"
#include "rtit.h"

VPT_BEGIN_DECLS

/* Each control is a bit of a set. */
enum vpt_vmx_control_index {
#define VPT_VMX_CONTROL(name, field, bit, tag, section, meaning) VPT_VMX_INDEX_##name,
#include "../../spec/vmx.def"
#undef VPT_VMX_CONTROL
	VPT_VMX_CONTROL_COUNT
};

enum vpt_vmx_control {
#define VPT_VMX_CONTROL(name, field, bit, tag, section, meaning) \
	VPT_VMX_##name = 1 << VPT_VMX_INDEX_##name,
#include "../../spec/vmx.def"
#undef VPT_VMX_CONTROL
	VPT_VMX_CONTROLS = (1 << VPT_VMX_CONTROL_COUNT) - 1,
	VPT_VMX_CONCEAL = VPT_VMX_EXEC_CONCEAL | VPT_VMX_EXIT_CONCEAL | VPT_VMX_ENTRY_CONCEAL,
};

/* The guest-state field that holds IA32_RTIT_CTL, and its high half. */
#define VPT_VMCS_GUEST_RTIT_CTL	     0x2814u
#define VPT_VMCS_GUEST_RTIT_CTL_HIGH 0x2815u

/* Bit of IA32_VMX_MISC: TraceEn may be set in VMX operation. */
#define VPT_VMX_MISC_PT VPT_BIT64(14)

/* The three control fields of a VMCS, or their allowed-1 halves. */
struct vpt_vmx_fields {
	uint32_t exec2; /* secondary processor-based VM-execution controls */
	uint32_t exit;	/* primary VM-exit controls */
	uint32_t entry; /* VM-entry controls */
};

/*
 * Convert the fields to a set of enum vpt_vmx_control, and back. vpt_vmx_to_fields() replaces the
 * bits of PT in *fields and leaves the others.
 */
uint32_t vpt_vmx_from_fields(const struct vpt_vmx_fields *fields);
void vpt_vmx_to_fields(uint32_t controls, struct vpt_vmx_fields *fields);

/* The part of one VMCS that concerns PT. */
struct vpt_vmx {
	uint32_t controls;  /* set of enum vpt_vmx_control */
	bool ept;	    /* "enable EPT" is 1 */
	uint64_t guest_ctl; /* field 2814H */
};

/*
 * Returns the controls that may be 1: those of `allowed` (from the allowed-1 bits of the capability
 * MSRs). Returns none if the processor does not trace in VMX operation.
 */
uint32_t vpt_vmx_allowed(const struct vpt_caps *caps, uint32_t allowed);

/*
 * The reason why a VM entry fails. Early: VMfailValid(7), and the next instruction runs. Late: a VM
 * exit with reason 33 ("invalid guest state") and bit 31.
 */
enum vpt_vmx_check {
	VPT_VMX_OK = 0,
	VPT_VMX_NOT_ALLOWED,	 /* early: a control that the processor does not have */
	VPT_VMX_GPA_NEEDS_EPT,	 /* early */
	VPT_VMX_GPA_NEEDS_LOAD,	 /* early: ... and "load IA32_RTIT_CTL" */
	VPT_VMX_GPA_NEEDS_CLEAR, /* early: ... and "clear IA32_RTIT_CTL" */
	VPT_VMX_TRACING,	 /* early: TraceEn is set and "load IA32_RTIT_CTL" too */
	VPT_VMX_GUEST_CTL,	 /* late: field 2814H sets a reserved bit, or an encoding
				  * that CPUID does not have */
	VPT_VMX_CHECK_COUNT
};

/* Returns static text, for example "guest-physical output needs EPT". */
const char *vpt_vmx_check_text(enum vpt_vmx_check check);

/* Check the controls, before guest state is checked. `ctl` is the current IA32_RTIT_CTL. */
enum vpt_vmx_check vpt_vmx_check_controls(const struct vpt_vmx *vmx, const struct vpt_caps *caps,
					  uint32_t allowed, uint64_t ctl) VPT_MUST_CHECK;

/* Check guest state. */
enum vpt_vmx_check vpt_vmx_check_guest(const struct vpt_vmx *vmx,
				       const struct vpt_caps *caps) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_VMX_H */
