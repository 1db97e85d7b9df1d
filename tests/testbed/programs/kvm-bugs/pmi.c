// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's ToPA PMIs. */
#include <string.h>

#include "kernel.h"
#include "tests.h"
#include "vm.h"

#define GP 13

#define MSR_OVF_CTRL 0x390
#define TOPA_PMI     (1ull << 55)

#define REGIONS	 128
#define TOPA_END 1
#define TOPA_INT 4
#define PAGE	 4096

/* Make regions of one page each with INT=1, and a link back to the first one. */
static void make_topa(struct vm *vm)
{
	uint64_t *table = (uint64_t *)(void *)(vm->memory + VM_TOPA);
	unsigned int i;

	for (i = 0; i < REGIONS; i++)
		table[i] = (VM_REGIONS + i * PAGE) | TOPA_INT;
	table[i] = VM_TOPA | TOPA_END;
}

/*
 * Compare the number of PMIs with the number of filled regions. VM exits cause almost all
 * packets, so that most regions fill during exits.
 */
static const char *count_pmis(void)
{
	uint64_t nmis, filled;
	struct op *mask;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT | VM_IRQCHIP);
	make_topa(&vm);
	vm_take_pmis(&vm);
	vm_wrmsr(&vm, VPT_MSR_OUTPUT_BASE, VM_TOPA);
	vm_wrmsr(&vm, VPT_MSR_OUTPUT_MASK_PTRS, 0x7f);
	vm_wrmsr(&vm, VPT_MSR_CTL, CTL_TRACE | VPT_CTL_MASK(TOPA));
	vm_op(&vm, OP_EXITS, 20000);
	vm_wrmsr(&vm, VPT_MSR_CTL, (CTL_TRACE | VPT_CTL_MASK(TOPA)) & ~VPT_CTL_MASK(TRACE_EN));
	vm_op(&vm, OP_EXITS, 10);
	mask = vm_rdmsr(&vm, VPT_MSR_OUTPUT_MASK_PTRS);
	why = vm_run_all(&vm);
	if (why != VM_END)
		return vm_exit_text(&vm, why);
	filled = mask->result >> 7 & 0x1ffffff;
	nmis = vm_guest_word(&vm, guest_nmis);
	if (filled < 10 || filled >= REGIONS)
		return wrong("%llu regions were filled: the test is badly adjusted",
			     (unsigned long long)filled);
	if (nmis != filled)
		return wrong("%llu PMIs for %llu regions", (unsigned long long)nmis,
			     (unsigned long long)filled);
	if (!(vm_guest_word(&vm, guest_nmi_status) & TOPA_PMI >> 32))
		return wrong("GLOBAL_STATUS[55] isn't set");
	return NULL;
}

/* R15: each region that fills causes a PMI, whatever the CPU does at that time. */
const char *test_pmi(void)
{
	host_event_open();
	return count_pmis();
}

/* The same without a perf event on the host. */
const char *test_pmi_alone(void)
{
	return count_pmis();
}

/* R16: the bit exists only with PT. */
const char *test_pmi_msr(void)
{
	struct op *with, *without;
	struct vm vm;
	int why;

	vm_open(&vm, VM_PT);
	with = vm_wrmsr(&vm, MSR_OVF_CTRL, TOPA_PMI);
	why = vm_run_all(&vm);
	if (why != VM_END)
		return vm_exit_text(&vm, why);
	if (with->fault)
		return wrong("a guest with PT can't clear GLOBAL_STATUS[55]");
	vm_close(&vm);

	vm_open(&vm, 0);
	without = vm_wrmsr(&vm, MSR_OVF_CTRL, TOPA_PMI);
	why = vm_run_all(&vm);
	if (why != VM_END)
		return vm_exit_text(&vm, why);
	if (without->fault != GP)
		return wrong("a guest without PT can write bit 55 of GLOBAL_OVF_CTRL");
	return NULL;
}
