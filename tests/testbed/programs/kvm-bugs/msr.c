// SPDX-License-Identifier: GPL-2.0-or-later
/* The values that a guest may write to PT's MSRs, and those that it reads. */
#include <string.h>

#include "tests.h"
#include "vm.h"

#define GP 13

#define CPUID_PTWRITE (1u << 4) /* 14H:0 EBX */
#define CPUID_PSB_PMI (1u << 6)
#define CPUID_EVENT   (1u << 7)
#define CPUID_DIS_TNT (1u << 8)
#define CPUID_FABRIC  (1u << 3) /* 14H:0 ECX */

/*
 * Check that an operation caused the fault @fault, or none if @fault is 0. Returns NULL, or a
 * description of the difference.
 */
static const char *expect(struct vm *vm, const struct op *op, uint64_t fault)
{
	if (op->fault == fault)
		return NULL;
	return wrong("operation %td, MSR %#x, value %#llx: %s", op - vm->ops, op->msr,
		     (unsigned long long)op->value, fault ? "no #GP" : "#GP");
}

static const char *run(struct vm *vm)
{
	int why = vm_run_all(vm);

	return why == VM_END ? NULL : vm_exit_text(vm, why);
}

/* A4: a write that clears TraceEn may change all other bits (33.2.8.3). */
const char *test_stop(void)
{
	struct op *same, *change, *stop, *ctl;
	const char *what;
	struct vm vm;

	vm_open(&vm, VM_PT);
	vm_trace(&vm, CTL_TRACE);
	same = vm_wrmsr(&vm, VPT_MSR_CTL, CTL_TRACE);
	change = vm_wrmsr(&vm, VPT_MSR_CTL, CTL_TRACE ^ VPT_CTL_MASK(USER));
	stop = vm_wrmsr(&vm, VPT_MSR_CTL, 0);
	ctl = vm_rdmsr(&vm, VPT_MSR_CTL);
	what = run(&vm);
	if (what || (what = expect(&vm, same, 0)) || (what = expect(&vm, change, GP)) ||
	    (what = expect(&vm, stop, 0)))
		return what;
	if (ctl->result)
		return wrong("CTL is %#llx, not 0", (unsigned long long)ctl->result);
	return NULL;
}

/* A3: the guest's CPUID reports more address ranges than the processor has. */
const char *test_ranges(void)
{
	struct vm_cpuid cpuid;
	struct op *beyond;
	const char *what;
	uint64_t value;
	struct vm vm;

	vm_supported_cpuid(&cpuid);
	vm_cpuid_entry(&cpuid, 0x14, 1)->eax |= 7;
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	beyond = vm_wrmsr(&vm, VPT_MSR_ADDR3_A, 0x1000);
	vm_trace(&vm, CTL_TRACE);
	vm_op(&vm, OP_EXITS, 3);
	vm_stop(&vm);
	if ((what = run(&vm)) || (what = expect(&vm, beyond, GP)))
		return what;
	if (vm_get_msr(&vm, 0x588, &value))
		return wrong("there is an MSR 588H");
	return NULL;
}

/* L6: the guest's CPUID reports a feature that the host lacks. */
const char *test_features(void)
{
	struct vm_cpuid host, cpuid;
	const char *what;
	struct op *ptw;
	struct vm vm;

	vm_supported_cpuid(&host);
	if (vm_cpuid_entry(&host, 0x14, 0)->ebx & CPUID_PTWRITE)
		return wrong("the host has PTWRITE: choose another model");
	cpuid = host;
	vm_cpuid_entry(&cpuid, 0x14, 0)->ebx |= CPUID_PTWRITE;
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	ptw = vm_wrmsr(&vm, VPT_MSR_CTL, VPT_CTL_MASK(PTW_EN));
	vm_op(&vm, OP_EXITS, 3);
	if ((what = run(&vm)) || (what = expect(&vm, ptw, GP)))
		return what;
	return NULL;
}

/* R10: KVM_GET_SUPPORTED_CPUID has only what KVM supports. */
const char *test_supported(void)
{
	struct kvm_cpuid_entry2 *main_leaf, *sub_leaf;
	struct vm_cpuid cpuid;

	vm_supported_cpuid(&cpuid);
	main_leaf = vm_cpuid_entry(&cpuid, 0x14, 0);
	sub_leaf = vm_cpuid_entry(&cpuid, 0x14, 1);
	if (!(main_leaf->ecx & 1))
		return wrong("no PT at all");
	if (main_leaf->ebx & CPUID_PSB_PMI)
		return wrong("PSB and PMI preservation are reported");
	if (main_leaf->ecx & CPUID_FABRIC)
		return wrong("the trace transport is reported");
	if (main_leaf->eax > 1 || (main_leaf->ebx & ~0x1ffu) || main_leaf->edx ||
	    (sub_leaf->eax & 7) > 4)
		return wrong("unknown bits are reported");
	return NULL;
}

/* R10: a guest can enable Event Trace and TNT disable if its CPUID reports them. */
const char *test_event(void)
{
	struct vm_cpuid cpuid;
	struct op *both, *inject;
	const char *what;
	struct vm vm;

	vm_supported_cpuid(&cpuid);
	if (!(vm_cpuid_entry(&cpuid, 0x14, 0)->ebx & CPUID_EVENT) ||
	    !(vm_cpuid_entry(&cpuid, 0x14, 0)->ebx & CPUID_DIS_TNT))
		return wrong("Event Trace or TNT disable isn't reported");
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	inject = vm_wrmsr(&vm, VPT_MSR_CTL, VPT_CTL_MASK(INJECT_PSB_PMI));
	vm_trace(&vm, CTL_TRACE | VPT_CTL_MASK(EVENT_EN) | VPT_CTL_MASK(DIS_TNT));
	both = &vm.ops[vm.op_count - 1];
	vm_op(&vm, OP_EXITS, 3);
	vm_wrmsr(&vm, VPT_MSR_CTL, 0);
	if ((what = run(&vm)) || (what = expect(&vm, inject, GP)) || (what = expect(&vm, both, 0)))
		return what;
	return test_supported();
}

/* Check that each access to PT's MSRs raises #GP. */
static const char *all_fault(struct vm *vm)
{
	static const uint32_t msrs[] = {VPT_MSR_OUTPUT_BASE, VPT_MSR_OUTPUT_MASK_PTRS,
					VPT_MSR_STATUS,	     VPT_MSR_CR3_MATCH,
					VPT_MSR_ADDR0_A,     VPT_MSR_CTL};
	const char *what;
	unsigned int i;

	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++) {
		vm_rdmsr(vm, msrs[i]);
		vm_wrmsr(vm, msrs[i], 0);
	}
	vm_wrmsr(vm, VPT_MSR_CTL, ~0ull);
	vm_op(vm, OP_EXITS, 3);
	what = run(vm);
	for (i = 0; !what && i < vm->op_count - 1; i++)
		what = expect(vm, &vm->ops[i], GP);
	return what;
}

/* L5: a guest without PT. */
const char *test_no_pt(void)
{
	struct vm vm;

	vm_open(&vm, 0);
	if (vm_set_msr(&vm, VPT_MSR_CTL, ~0ull))
		return wrong("KVM_SET_MSRS takes CTL = ~0");
	return all_fault(&vm);
}

/*
 * L5: a guest with PT but without subleaf 1 has none of its features, and reserved bits stay
 * reserved.
 */
const char *test_no_leaf(void)
{
	struct vm_cpuid cpuid;
	struct op *all, *mtc;
	const char *what;
	struct vm vm;

	vm_supported_cpuid(&cpuid);
	/* Turn the entry into a leaf that KVM does not read. */
	vm_cpuid_entry(&cpuid, 0x14, 1)->function = 0x4fffffff;
	vm_cpuid_entry(&cpuid, 0x14, 0)->ebx = 0;
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	all = vm_wrmsr(&vm, VPT_MSR_CTL, ~CTL_TRACE);
	mtc = vm_wrmsr(&vm, VPT_MSR_CTL, VPT_CTL_MASK(MTC_EN));
	vm_op(&vm, OP_EXITS, 3);
	if ((what = run(&vm)) || (what = expect(&vm, all, GP)) || (what = expect(&vm, mtc, GP)))
		return what;
	return NULL;
}

/* L5: a second KVM_SET_CPUID2 removes PT, and clears the MSRs that were set before. */
const char *test_pt_dropped(void)
{
	struct vm_cpuid cpuid;
	uint64_t ctl;
	struct vm vm;

	vm_supported_cpuid(&cpuid);
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	if (!vm_set_msr(&vm, VPT_MSR_OUTPUT_BASE, VM_OUTPUT) ||
	    !vm_set_msr(&vm, VPT_MSR_CTL, CTL_TRACE))
		return wrong("KVM_SET_MSRS fails");
	vm_cpuid_entry(&cpuid, 7, 0)->ebx &= ~CPUID_PT;
	if (vm_set_cpuid(&vm, &cpuid))
		return wrong("KVM_SET_CPUID2 fails");
	if (!vm_get_msr(&vm, VPT_MSR_CTL, &ctl) || ctl)
		return wrong("CTL is still %#llx", (unsigned long long)ctl);
	return all_fault(&vm);
}

/* R11: bits that cannot be written. */
const char *test_mask(void)
{
	struct op *mask, *status;
	const char *what;
	struct vm vm;

	vm_open(&vm, VM_PT);
	vm_wrmsr(&vm, VPT_MSR_OUTPUT_MASK_PTRS, 0);
	mask = vm_rdmsr(&vm, VPT_MSR_OUTPUT_MASK_PTRS);
	vm_wrmsr(&vm, VPT_MSR_STATUS, 7);
	status = vm_rdmsr(&vm, VPT_MSR_STATUS);
	what = run(&vm);
	if (what)
		return what;
	if (mask->result != 0x7f)
		return wrong("OUTPUT_MASK_PTRS reads as %#llx after 0 was written",
			     (unsigned long long)mask->result);
	if (status->result)
		return wrong("STATUS reads as %#llx after its read-only bits were written",
			     (unsigned long long)status->result);
	return NULL;
}

/* R12: an address below the guest's MAXPHYADDR and above the host's. */
const char *test_maxphyaddr(void)
{
	struct vm_cpuid cpuid;
	struct op *base;
	const char *what;
	struct vm vm;

	vm_supported_cpuid(&cpuid);
	vm_cpuid_entry(&cpuid, 0x80000008, 0)->eax |= 0xff;
	vm_cpuid_entry(&cpuid, 0x80000008, 0)->eax ^= 0xff ^ 52;
	vm_open_cpuid(&vm, VM_PT, &cpuid);
	base = vm_wrmsr(&vm, VPT_MSR_OUTPUT_BASE, 1ull << 51);
	vm_wrmsr(&vm, VPT_MSR_OUTPUT_MASK_PTRS, 0x7f);
	vm_wrmsr(&vm, VPT_MSR_CTL, CTL_TRACE);
	vm_op(&vm, OP_EXITS, 3);
	vm_stop(&vm);
	if ((what = run(&vm)) || (what = expect(&vm, base, GP)))
		return what;
	return NULL;
}
