// SPDX-License-Identifier: LGPL-2.1-or-later
/* VMX operation: capabilities, checks, and what entries and exits tell the trace unit. */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "oracle.hh"

#define EVENT_VALID 0x80000000u /* bit 31 of interruption-information fields */

uint32_t bx_vpt_c::vmx_misc() const
{
	return pt.caps->vmx_pt ? (uint32_t)VPT_VMX_MISC_PT : 0;
}

uint32_t bx_vpt_c::vmx_exec2() const
{
	struct vpt_vmx_fields fields = {0, 0, 0};

	vpt_vmx_to_fields(vmx_allowed, &fields);
	return fields.exec2;
}

uint32_t bx_vpt_c::vmx_exit() const
{
	struct vpt_vmx_fields fields = {0, 0, 0};

	vpt_vmx_to_fields(vmx_allowed, &fields);
	return fields.exit;
}

uint32_t bx_vpt_c::vmx_entry() const
{
	struct vpt_vmx_fields fields = {0, 0, 0};

	vpt_vmx_to_fields(vmx_allowed, &fields);
	return fields.entry;
}

void bx_vpt_c::vmxon()
{
	vpt_pt_vmxon(&pt, cpu->get_rip());
	settle();
}

void bx_vpt_c::vmxoff()
{
	vpt_pt_vmxoff(&pt);
}

void bx_vpt_c::vmptrld(uint64_t vmcs)
{
	vpt_pt_vmptrld(&pt, vmcs);
	settle();
}

void bx_vpt_c::vmcleared()
{
	vpt_pt_vmptrld(&pt, VPT_NO_VMCS);
}

/* The VMCS's side, as far as it was read. */
void bx_vpt_c::describe(struct vpt_vmx *vmx) const
{
	const VMCS_CACHE *vm = &cpu->vmcs;
	struct vpt_vmx_fields fields = {vm->vmexec_ctrls2.get(), vm->vmexit_ctrls1.get(),
					vm->vmentry_ctrls.get()};

	vmx->controls = vpt_vmx_from_fields(&fields);
	vmx->ept = vm->vmexec_ctrls2.EPT_ENABLE();
	vmx->guest_ctl = has_guest_ctl() ? cpu->VMread64(VMCS_64BIT_GUEST_IA32_RTIT_CTL) : 0;
}

bool bx_vpt_c::has_guest_ctl() const
{
	return vmx_allowed & (VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL);
}

void bx_vpt_c::vm_entry_begins()
{
	entering = true;
	entry_ip = cpu->prev_rip;
	entry_next = cpu->get_rip();
}

/* VMfail, of whatever instruction. */
void bx_vpt_c::vm_entry_fails_early()
{
	if (!entering)
		return;
	entering = false;
	counters.entries_failed++;
	oracle->retire();
	vpt_pt_vm_entry_failed(&pt, entry_next);
	settle();
}

bool bx_vpt_c::vm_controls_ok()
{
	struct vpt_vmx vmx;

	describe(&vmx);
	return vpt_vmx_check_controls(&vmx, pt.caps, vmx_allowed, pt.rtit.ctl) == VPT_VMX_OK;
}

bool bx_vpt_c::vm_guest_ok()
{
	struct vpt_vmx vmx;

	describe(&vmx);
	return vpt_vmx_check_guest(&vmx, pt.caps) == VPT_VMX_OK;
}

void bx_vpt_c::fill(struct vpt_vmx_transition *t, uint32_t flags) const
{
	struct vpt_vmx vmx;

	describe(&vmx);
	memset(t, 0, sizeof(*t));
	t->flags = flags;
	t->controls = vmx.controls;
	t->vmcs = cpu->vmcsptr;
	t->guest_ctl = vmx.guest_ctl;
}

/* The checks have passed; guest state may be loaded already, the MSR area is not. */
void bx_vpt_c::vm_entry(bool checked)
{
	struct vpt_vmx_transition t;

	fill(&t, 0);
	t.ip = entry_ip;
	t.next = entry_next;
	if (!checked) /* and so not loaded */
		t.controls &= ~(uint32_t)VPT_VMX_ENTRY_LOAD_CTL;
	loading = in_list = true;
	oracle->retire();
	vpt_pt_vm_entry(&pt, &t);
	settle();
}

/*
 * In the guest, with no event injected yet. If EPT refuses the output that begins here
 * the VM exit is one during the delivery of that event, if there is one to deliver, and
 * so the VMM gets it back.
 */
void bx_vpt_c::vm_entered()
{
	VMCS_CACHE *vm = &cpu->vmcs;
	struct vpt_rtit rtit = pt.rtit;

	loading = in_list = false;
	page_count = page_next = 0;
	tsc_offset = cpu->tsc_offset;
	counters.entries++;
	counters.entries_traced += trace_en();
	oracle->vmx(0, 0, tsc_offset);
	oracle->entered();
	if (vm->vmentry_interr_info & EVENT_VALID) {
		cpu->in_event = true;
		vm->idt_vector_info = vm->vmentry_interr_info & ~EVENT_VALID;
		vm->idt_vector_error_code = vm->vmentry_excep_err_code;
	}
	vpt_output_sync(&pt.out, &rtit);
	prepare_output(&rtit);
	cpu->in_event = false;
	entering = false;
	vpt_pt_vm_entered(&pt, cpu->get_rip());
	settle();
}

static bool is_interrupt(uint32_t reason)
{
	return reason == VMX_VMEXIT_EXCEPTION_NMI || reason == VMX_VMEXIT_EXTERNAL_INTERRUPT;
}

/*
 * RIP is what is going to be saved. An exit while `entering` is an entry that failed
 * late, or, with bit 31 clear, one that EPT stopped before its first instruction.
 */
void bx_vpt_c::vm_exit(uint32_t reason, uint64_t qualification)
{
	struct vpt_vmx_transition t;
	uint64_t ctl;
	bool failed = reason >> 31;

	exit_reason = reason;
	exit_qualification = qualification;
	if (entering && !loading)
		vm_entry(false); /* guest state was refused */
	fill(&t, entering ? (uint32_t)VPT_VMXF_ENTRY_FAIL : 0);
	t.ip = cpu->get_rip();
	t.reason = reason;
	t.qualification = qualification;
	if (is_interrupt(reason)) {
		t.flags |= VPT_VMXF_INTR;
		t.vector = (uint8_t)cpu->VMread32(VMCS_32BIT_VMEXIT_INTERRUPTION_INFO);
	}
	ept_async = false;
	counters.exits += !failed;
	counters.exits_traced += !failed && trace_en();
	counters.entries_failed += failed;
	if (!entering)
		oracle->drop();
	oracle->event(VPT_LOG_VM_EXIT, t.vector, t.ip);
	leaving = !entering;
	ctl = vpt_pt_vm_exit(&pt, &t);
	if (!failed && has_guest_ctl())
		cpu->VMwrite64(VMCS_64BIT_GUEST_IA32_RTIT_CTL, ctl);
	in_list = true;
	entering = loading = attention = false;
	settle();
}

void bx_vpt_c::vm_exit_host()
{
	vpt_pt_vm_exit_host(&pt);
	leaving = false;
	settle();
}

void bx_vpt_c::vm_exited()
{
	in_list = false;
	oracle->vmx(exit_reason, exit_qualification, tsc_offset);
	vpt_pt_vm_exited(&pt, cpu->get_rip());
	settle();
}

void bx_vpt_c::vmx_abort()
{
	in_list = leaving = false;
	vpt_pt_vmx_abort(&pt);
	settle();
}
