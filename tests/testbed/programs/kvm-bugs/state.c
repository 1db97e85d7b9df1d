// SPDX-License-Identifier: GPL-2.0-or-later
/* Save and restore of PT's state, and the events that can stop PT: VMXON, INIT and SMI. */
#include <string.h>
#include <sys/ioctl.h>

#include "kernel.h"
#include "tests.h"
#include "vm.h"

#define GP 13

#define MSR_FEATURE_CONTROL 0x3a
#define MSR_VMX_BASIC	    0x480
#define CR4_VMXE	    (1ull << 13)

/* Return the size of the trace at VM_OUTPUT. */
static uint64_t output_size(struct vm *vm)
{
	uint64_t mask;

	return vm_get_msr(vm, VPT_MSR_OUTPUT_MASK_PTRS, &mask) ? mask >> 32 : 0;
}

/* R17: KVM accepts PT's MSRs in the order in which QEMU restores them. */
const char *test_restore(void)
{
	static const struct {
		uint32_t msr;
		uint64_t value;
	} state[] = {
		{VPT_MSR_CTL, CTL_TRACE},	  {VPT_MSR_STATUS, 0},
		{VPT_MSR_OUTPUT_BASE, VM_OUTPUT}, {VPT_MSR_OUTPUT_MASK_PTRS, VM_OUTPUT_SIZE - 1},
		{VPT_MSR_CR3_MATCH, 0},		  {VPT_MSR_ADDR0_A, 0x1000},
		{VPT_MSR_ADDR0_B, 0x2000},	  {VPT_MSR_CTL, CTL_TRACE & ~VPT_CTL_MASK(USER)},
	};
	const char *what = NULL;
	struct vm vm;
	size_t i;
	int why;

	vm_open(&vm, VM_PT);
	for (i = 0; i < sizeof(state) / sizeof(state[0]); i++)
		if (!vm_set_msr(&vm, state[i].msr, state[i].value))
			return wrong("KVM_SET_MSRS of MSR %#x fails", state[i].msr);
	vm_op(&vm, OP_WORK, 100);
	vm_stop(&vm);
	why = vm_run_all(&vm);
	if (why != VM_END)
		what = vm_exit_text(&vm, why);
	else if (bad_packets(vm.memory + VM_OUTPUT, output_size(&vm)))
		what = wrong("there's no good trace, %llu bytes",
			     (unsigned long long)output_size(&vm));
	return what;
}

static bool is_listed(struct vm *vm, uint32_t msr)
{
	struct {
		struct kvm_msr_list head;
		uint32_t indices[1000];
	} list = {.head.nmsrs = 1000};
	uint32_t i;

	if (ioctl(vm->kvm, KVM_GET_MSR_INDEX_LIST, &list) < 0)
		return false;
	for (i = 0; i < list.head.nmsrs; i++)
		if (list.indices[i] == msr)
			return true;
	return false;
}

/* L5: a VMM may save and restore each MSR that KVM lists, even for a guest without PT. */
const char *test_save(void)
{
	uint64_t value;
	uint32_t msr;
	struct vm vm;

	vm_open(&vm, 0);
	for (msr = VPT_MSR_FIRST; msr <= VPT_MSR_LAST; msr++) {
		if (!is_listed(&vm, msr))
			continue;
		if (!vm_get_msr(&vm, msr, &value))
			return wrong("KVM_GET_MSRS of MSR %#x fails", msr);
		if (!vm_set_msr(&vm, msr, value))
			return wrong("KVM_SET_MSRS of MSR %#x to %#llx fails", msr,
				     (unsigned long long)value);
	}
	return is_listed(&vm, VPT_MSR_CTL) ? NULL : wrong("CTL isn't listed");
}

static bool allow_vmxon(struct vm *vm)
{
	struct kvm_sregs sregs;
	uint64_t basic;
	uint32_t revision;

	if (!vm_get_msr(vm, MSR_VMX_BASIC, &basic) || !vm_set_msr(vm, MSR_FEATURE_CONTROL, 5))
		return false;
	revision = (uint32_t)basic & 0x7fffffff;
	memcpy(vm->memory + VM_VMXON, &revision, sizeof(revision));
	if (ioctl(vm->vcpu, KVM_GET_SREGS, &sregs) < 0)
		return false;
	sregs.cr4 |= CR4_VMXE;
	return ioctl(vm->vcpu, KVM_SET_SREGS, &sregs) == 0;
}

/* R8: VMXON ends the trace, so that none is written to the address in the host's output base. */
const char *test_vmxon(void)
{
	struct op *vmxon, *again;
	uint64_t ctl, size;
	struct vm vm;
	size_t i;
	int why;

	vm_open(&vm, VM_PT);
	if (!allow_vmxon(&vm))
		return wrong("the guest can't have VMX");
	memset(vm.memory, 0xee, VM_CODE);
	vm_trace(&vm, CTL_TRACE);
	vmxon = vm_op(&vm, OP_VMXON, VM_VMXON);
	vm_op(&vm, OP_MARK, 1);
	vm_op(&vm, OP_WORK, 2000);
	again = vm_wrmsr(&vm, VPT_MSR_CTL, CTL_TRACE);
	vm_start(&vm);
	why = vm_run(&vm);
	if (why != VM_MARK || vmxon->fault || vmxon->result & 0x41)
		return wrong("VMXON fails, %s", vm_exit_text(&vm, why));
	if (!vm_get_msr(&vm, VPT_MSR_CTL, &ctl) || ctl & VPT_CTL_MASK(TRACE_EN))
		return wrong("CTL is %#llx in VMX operation", (unsigned long long)ctl);
	size = output_size(&vm);
	why = vm_run(&vm);
	if (why != VM_END)
		return wrong("%s", vm_exit_text(&vm, why));
	if (again->fault != GP)
		return wrong("the guest can set TraceEn in VMX operation");
	for (i = 0; i < VM_CODE; i++)
		if (vm.memory[i] != 0xee)
			return wrong("a trace is written to guest physical address %#zx", i);
	if (output_size(&vm) != size)
		return wrong("the trace goes on");
	/* A VMM may clear CTL, to reset the vCPU, and may not set TraceEn. */
	if (!vm_set_msr(&vm, VPT_MSR_CTL, 0) || vm_set_msr(&vm, VPT_MSR_CTL, CTL_TRACE))
		return wrong("KVM_SET_MSRS of CTL in VMX operation");
	return NULL;
}

/* R13 is not a bug: INIT does not end a trace (table 33-55, rows 22 and 23). */
const char *test_init(void)
{
	struct kvm_msi init = {.address_lo = 0xfee00000, .data = 5 << 8 | 1 << 14};
	uint64_t ctl, base;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT | VM_IRQCHIP);
	vm_x2apic(&vm);
	vm_trace(&vm, CTL_TRACE);
	vm_op(&vm, OP_MARK, 1);
	vm_start(&vm);
	why = vm_run(&vm);
	if (why != VM_MARK)
		return wrong("%s", vm_exit_text(&vm, why));
	if (ioctl(vm.fd, KVM_SIGNAL_MSI, &init) <= 0)
		return wrong("KVM_SIGNAL_MSI");
	/* The vCPU takes INIT, and then finds no code at the reset vector. */
	why = vm_run(&vm);
	if (why == VM_MARK || why == VM_END)
		return wrong("INIT isn't taken");
	if (!vm_get_msr(&vm, VPT_MSR_CTL, &ctl) || !vm_get_msr(&vm, VPT_MSR_OUTPUT_BASE, &base))
		return wrong("KVM_GET_MSRS");
	if (ctl != CTL_TRACE || base != VM_OUTPUT)
		return wrong("INIT changes CTL to %#llx", (unsigned long long)ctl);
	return NULL;
}

static bool trace_en(struct vm *vm)
{
	uint64_t ctl;

	return vm_get_msr(vm, VPT_MSR_CTL, &ctl) && ctl & VPT_CTL_MASK(TRACE_EN);
}

/* R14: an SMI clears TraceEn and RSM restores it (33.2.9.3). */
const char *test_smm(void)
{
	struct kvm_userspace_memory_region smram = {.slot = 1 << 16, .memory_size = VM_MEMORY};
	const char *what = NULL;
	uint64_t before;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT);
	smram.userspace_addr = (uintptr_t)vm.memory;
	if (ioctl(vm.fd, KVM_SET_USER_MEMORY_REGION, &smram) < 0)
		return wrong("KVM_SET_USER_MEMORY_REGION of SMRAM");
	memcpy(vm.memory + VM_SMBASE + 0x8000, guest_smm, (size_t)(guest_smm_end - guest_smm));
	vm_trace(&vm, CTL_TRACE);
	vm_op(&vm, OP_MARK, 1);
	vm_op(&vm, OP_WORK, 100);
	vm_op(&vm, OP_MARK, 2);
	vm_stop(&vm);
	vm_start(&vm);
	why = vm_run(&vm);
	if (why != VM_MARK || ioctl(vm.vcpu, KVM_SMI) < 0)
		return wrong("no SMI, %s", vm_exit_text(&vm, why));
	before = output_size(&vm);
	why = vm_run(&vm);
	if (why != VM_SMM)
		return wrong("not in SMM, %s", vm_exit_text(&vm, why));
	if (trace_en(&vm))
		what = wrong("TraceEn is set in SMM");
	else if (output_size(&vm) != before)
		what = wrong("SMM is traced");
	why = vm_run(&vm);
	if (!what && why != VM_MARK)
		what = wrong("after RSM, %s", vm_exit_text(&vm, why));
	if (!what && !trace_en(&vm))
		what = wrong("RSM doesn't restore TraceEn");
	if (!what && output_size(&vm) == before)
		what = wrong("there's no trace after RSM");
	return what;
}
