// SPDX-License-Identifier: GPL-2.0-or-later
/* Set up a usage of PT, and read its trace. */
#include "tracing.h"

#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/report.h"
#include "vmx/bed.h"

bool tracing_init(struct tracing *t)
{
	if (!vmx_init()) {
		report_skip("no VMX");
		return false;
	}
	if (!guest_drv_probe(&t->drv) || !(vmx_misc() & VPT_VMX_MISC_PT)) {
		report_skip("no PT in VMX operation");
		return false;
	}
	t->buffer = page_alloc(TRACING_BUFFER);
	guest_drv_output_single(&t->drv, t->buffer, TRACING_BUFFER);
	t->ctl = VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN);
	vmx_create(&t->vm, (void (*)(void))(uintptr_t)vm_entry_ip);
	return true;
}

static void put(struct vpt_msr_entry *list, uint32_t index, uint64_t value)
{
	list->index = index;
	list->reserved = 0;
	list->value = value;
}

/* Load the values of all registers except CTL before the first entry. */
static void load_registers(struct tracing *t)
{
	wrmsr(VPT_MSR_CTL, 0);
	wrmsr(VPT_MSR_STATUS, 0);
	wrmsr(VPT_MSR_OUTPUT_BASE, t->drv.output_base);
	wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, t->drv.output_mask_ptrs);
}

static void set_usage(struct tracing *t, enum vpt_usage usage, uint32_t controls, bool lists)
{
	uint64_t on = t->ctl | VPT_CTL_MASK(TRACE_EN);
	bool guest = usage == VPT_USAGE_GUEST || usage == VPT_USAGE_OWNED;

	/*
	 * Host-only tracing cannot use the controls, because TraceEn is set when the entry begins.
	 */
	lists = lists || usage == VPT_USAGE_HOST;
	vmwrite(VMCS_ENTRY_LOAD_COUNT, lists);
	vmwrite(VMCS_EXIT_LOAD_COUNT, lists);
	put(&t->vm.entry_load[0], VPT_MSR_CTL, guest ? on : 0);
	put(&t->vm.exit_load[0], VPT_MSR_CTL, guest ? 0 : on);
	vmx_set_pt(&t->vm, controls, controls & VPT_VMX_EXEC_USE_GPA);
	vmwrite_safe(VMCS_GUEST_RTIT_CTL, guest && !lists ? on : 0);
}

static void run_to_call(struct tracing *t)
{
	do {
		t->result = vmx_enter(&t->vm);
		t->reason =
			vmread(t->result == VMX_EXIT ? VMCS_EXIT_REASON : VMCS_INSTRUCTION_ERROR);
		if (t->result == VMX_EXIT && t->reason == EXIT_CPUID)
			vmx_skip();
	} while (t->result == VMX_EXIT && t->reason == EXIT_CPUID);
}

void tracing_turn(struct tracing *t, enum vpt_usage usage, uint32_t controls, bool lists,
		  uint64_t jumps)
{
	bool root = usage == VPT_USAGE_SYSTEM || usage == VPT_USAGE_HOST;

	memset(t->buffer, 0, TRACING_BUFFER);
	vmx_clear(&t->vm);
	set_usage(t, usage, controls, lists);
	vmwrite(VMCS_GUEST_RIP, (uintptr_t)vm_entry_ip);
	memset(&t->vm.regs, 0, sizeof(t->vm.regs));
	t->vm.regs.r12 = jumps;
	bed_command(VPT_BED_LOG_ON);
	load_registers(t);
	if (root)
		wrmsr(VPT_MSR_CTL, t->ctl | VPT_CTL_MASK(TRACE_EN));
	if (usage == VPT_USAGE_SYSTEM)
		vmx_select(&t->vm);
	run_to_call(t);
	t->end_ctl = rdmsr(VPT_MSR_CTL);
	wrmsr(VPT_MSR_CTL, 0);
	bed_command(VPT_BED_LOG_OFF);
	if (!vmread_safe(VMCS_GUEST_RTIT_CTL, &t->saved))
		t->saved = 0;
	t->drv.end_mask_ptrs = rdmsr(VPT_MSR_OUTPUT_MASK_PTRS);
	t->bytes = guest_drv_bytes(&t->drv);
	seen_read(&t->seen, t->buffer, t->bytes);
}
