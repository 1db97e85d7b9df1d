// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests "Intel PT uses guest physical addresses" (33.5): output and ToPA tables through EPT. Output
 * causes EPT violations, which are asynchronous to the executed instructions.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "vmx/bed.h"
#include "vmx/tracing.h"

PAYLOAD("guest-physical output, and memory that is not there yet");

#define CONTROLS \
	(VPT_VMX_EXEC_USE_GPA | VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL | VPT_VMX_CONCEAL)
/* Guest-physical pages for this test alone. */
#define TABLE  0x3e000000ull
#define OUTPUT 0x3e100000ull
#define PAGES  8u
#define JUMPS  3000u
/* Exit qualification of an EPT violation. */
#define VIOLATION_WRITE VPT_BIT64(1)
#define VIOLATION_ASYNC VPT_BIT64(16)

static struct tracing t;
static uint8_t *output; /* host-physical pages behind OUTPUT */
static uint64_t *table; /* host-physical pages behind TABLE */
static unsigned int violations, strange;

static void map_all(unsigned int flags)
{
	unsigned int i;

	vmx_ept_set(&t.vm, TABLE, (uintptr_t)table, flags);
	for (i = 0; i < PAGES; i++)
		vmx_ept_set(&t.vm, OUTPUT + i * PAGE_SIZE, (uintptr_t)output + i * PAGE_SIZE,
			    flags);
	__asm__ volatile("invept %0, %1" : : "m"(*(uint64_t[2]){0, 0}), "r"(2ull) : "cc", "memory");
}

/* Map the page at which the guest's trace faulted. */
static bool map_one(void)
{
	uint64_t gpa = vmread(VMCS_GUEST_PHYSICAL) & ~(PAGE_SIZE - 1);
	uint64_t qualification = vmread(VMCS_EXIT_QUALIFICATION);

	violations++;
	if (!(qualification & VIOLATION_ASYNC))
		strange++;
	if (gpa == TABLE) {
		vmx_ept_set(&t.vm, gpa, (uintptr_t)table, EPT_RWX);
		return true;
	}
	if (gpa - OUTPUT >= PAGES * PAGE_SIZE)
		return false;
	if (!(qualification & VIOLATION_WRITE))
		strange++;
	vmx_ept_set(&t.vm, gpa, (uintptr_t)output + (gpa - OUTPUT), EPT_RWX);
	return true;
}

static bool run(bool topa)
{
	unsigned int turns;

	memset(output, 0, PAGES * PAGE_SIZE);
	violations = strange = 0;
	vmx_clear(&t.vm);
	vmx_set_pt(&t.vm, CONTROLS, true);
	vmwrite(VMCS_GUEST_RTIT_CTL,
		t.ctl | VPT_CTL_MASK(TRACE_EN) | (topa ? VPT_CTL_MASK(TOPA) : 0));
	vmwrite(VMCS_GUEST_RIP, (uintptr_t)vm_entry_ip);
	memset(&t.vm.regs, 0, sizeof(t.vm.regs));
	t.vm.regs.r12 = JUMPS;
	wrmsr(VPT_MSR_STATUS, 0);
	wrmsr(VPT_MSR_OUTPUT_BASE, topa ? TABLE : OUTPUT);
	wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, topa ? VPT_MASK_PTRS_LOW : PAGES * PAGE_SIZE - 1);
	bed_command(VPT_BED_LOG_ON);
	for (turns = 0; turns < 100; turns++) {
		uint64_t reason;

		if (vmx_enter(&t.vm) != VMX_EXIT)
			return report(false, "no entry: error %lu", vmread(VMCS_INSTRUCTION_ERROR));
		reason = vmread(VMCS_EXIT_REASON);
		if (reason == EXIT_VMCALL) {
			bed_command(VPT_BED_LOG_OFF);
			return true;
		}
		if (reason == EXIT_CPUID)
			vmx_skip();
		else if (reason != EXIT_EPT_VIOLATION || !map_one())
			return report(false, "exit %#lx at %#lx", reason, vmread(VMCS_GUEST_RIP));
	}
	return report(false, "no end");
}

static uint64_t bytes_of(bool topa)
{
	uint64_t mask = rdmsr(VPT_MSR_OUTPUT_MASK_PTRS);
	uint64_t offset = mask >> VPT_MASK_PTRS_OFFSET_SHIFT;

	return topa ? ((uint32_t)mask >> VPT_MASK_PTRS_TABLE_SHIFT) * PAGE_SIZE + offset : offset;
}

static void check(bool topa, const char *what)
{
	uint64_t len = bytes_of(topa);
	const struct seen off[2] = {{VPT_PKT_FUP, false, (uintptr_t)vm_call_ip},
				    {VPT_PKT_TIP_PGD, false, SEEN_NO_IP}};

	seen_read(&t.seen, output, len);
	if (!report(t.seen.whole && t.seen.count > JUMPS, "%s: %lu bytes of whole packets", what,
		    len))
		seen_print(&t.seen);
	report(seen_count(&t.seen, off, 2) == 1, "%s: to the last instruction", what);
	report_equal(rdmsr(VPT_MSR_STATUS) & VPT_STATUS_MASK(ERROR), 0, "no error");
	report_equal(strange, 0, "violations are asynchronous, and those of output are writes");
}

static void both(bool topa)
{
	map_all(EPT_RWX);
	if (run(topa))
		check(topa, topa ? "ToPA, mapped" : "single range, mapped");
	report_equal(violations, 0, "no EPT violation");
	map_all(0);
	if (run(topa))
		check(topa, topa ? "ToPA, mapped on the way" : "single range, mapped on the way");
	report(violations > 1, "%u EPT violations by output", violations);
}

void payload(void)
{
	unsigned int i;

	if (!tracing_init(&t))
		return;
	if (~t.vm.allowed_pt & CONTROLS || !t.vm.has_ept) {
		report_skip("no guest-physical output");
		return;
	}
	output = page_alloc(PAGES * PAGE_SIZE);
	table = page_alloc(PAGE_SIZE);
	for (i = 0; i < PAGES; i++)
		table[i] = OUTPUT + i * PAGE_SIZE;
	table[PAGES] = TABLE | GUEST_TOPA_END;
	both(false);
	both(true);
}
