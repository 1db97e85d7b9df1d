// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VM-entry checks of PT and the MSR areas. Every set of the six controls is tried with EPT and
 * TraceEn on and off, and with good and bad values for IA32_RTIT_CTL. Then come lists that are
 * refused at each of their elements.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "vmx/bed.h"
#include "vmx/tracing.h"

PAYLOAD("checks of VM entry and MSR areas");

#define GPA_NEEDS (VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL)
#define LIST	  6u

/* The end of an entry: an exit reason, or VM-instruction error | FAILED. */
#define FAILED (1ull << 32)

static struct tracing t;
static unsigned int tried, wrong;

/* Field 2814H, and whether an entry that loads it must fail. */
static const struct {
	uint64_t ctl;
	bool bad;
} ctls[] = {
	{0, false},
	{VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN), false},
	{VPT_BIT64(18), true},
	{VPT_BIT64(63), true},
	{(uint64_t)3 << VPT_CTL_ADDR0_CFG_SHIFT, true},
};

static uint64_t enter(void)
{
	vmwrite(VMCS_GUEST_RIP, (uintptr_t)vm_call_ip);
	switch (vmx_enter(&t.vm)) {
	case VMX_EXIT:
		return vmread(VMCS_EXIT_REASON);
	case VMX_FAIL:
		return vmread(VMCS_INSTRUCTION_ERROR) | FAILED;
	default:
		return ~0ull;
	}
}

static uint64_t expect(uint32_t controls, bool ept, bool tracing, bool bad)
{
	if (controls & ~t.vm.allowed_pt)
		return VMX_ERROR_CONTROLS | FAILED;
	if ((controls & VPT_VMX_EXEC_USE_GPA) && (!ept || ~controls & GPA_NEEDS))
		return VMX_ERROR_CONTROLS | FAILED;
	if (!(controls & VPT_VMX_ENTRY_LOAD_CTL))
		return EXIT_VMCALL;
	if (tracing)
		return VMX_ERROR_CONTROLS | FAILED;
	return bad ? EXIT_GUEST_STATE | EXIT_ENTRY_FAILED : EXIT_VMCALL;
}

static void one_set(uint32_t controls, bool ept, bool tracing, unsigned int i)
{
	uint64_t want = expect(controls, ept, tracing, ctls[i].bad), got;

	vmx_clear(&t.vm);
	vmx_set_pt(&t.vm, controls, ept);
	vmwrite_safe(VMCS_GUEST_RTIT_CTL, ctls[i].ctl);
	bed_command(VPT_BED_LOG_ON);
	wrmsr(VPT_MSR_CTL, 0);
	wrmsr(VPT_MSR_STATUS, 0);
	if (tracing)
		wrmsr(VPT_MSR_CTL, t.ctl | VPT_CTL_MASK(TRACE_EN));
	got = enter();
	wrmsr(VPT_MSR_CTL, 0);
	bed_command(VPT_BED_LOG_OFF);
	tried++;
	if (got != want && wrong++ < 8)
		printk("  controls %#x ept %u TraceEn %u 2814H %#lx: %#lx, not %#lx\n", controls,
		       ept, tracing, ctls[i].ctl, got, want);
}

static void all_sets(void)
{
	uint32_t controls;
	unsigned int i, rest;

	for (controls = 0; controls <= VPT_VMX_CONTROLS; controls++) {
		for (rest = 0; rest < 4; rest++) {
			for (i = 0; i < ARRAY_SIZE(ctls); i++)
				one_set(controls, rest & 1, rest & 2, i);
		}
	}
	report(!wrong, "%u entries with all sets of controls", tried);
	vmx_set_pt(&t.vm, 0, false);
	vmwrite_safe(VMCS_GUEST_RTIT_CTL, 0);
}

/* An element that an entry's area must refuse. */
static const struct {
	const char *text;
	struct vpt_msr_entry entry;
} bad_loads[] = {
	{"reserved dword", {VPT_MSR_STATUS, 1, 0}},
	{"IA32_FS_BASE", {MSR_FS_BASE, 0, 0}},
	{"IA32_GS_BASE", {MSR_GS_BASE, 0, 0}},
	{"an x2APIC register", {0x808, 0, 0}},
	{"IA32_SMM_MONITOR_CTL", {0x9b, 0, 0}},
	{"reserved bit of IA32_RTIT_CTL", {VPT_MSR_CTL, 0, VPT_BIT64(18)}},
	{"reserved bit of IA32_RTIT_OUTPUT_BASE", {VPT_MSR_OUTPUT_BASE, 0, 1}},
	{"reserved bit of IA32_RTIT_STATUS", {VPT_MSR_STATUS, 0, VPT_BIT64(3)}},
};

static void fill(struct vpt_msr_entry *list)
{
	unsigned int i;

	for (i = 0; i < LIST; i++) {
		list[i].index = VPT_MSR_OUTPUT_MASK_PTRS;
		list[i].reserved = 0;
		list[i].value =
			(uint64_t)(i + 1) << VPT_MASK_PTRS_OFFSET_SHIFT | (TRACING_BUFFER - 1);
	}
}

static void refused_at_each_place(unsigned int row)
{
	unsigned int place, bad = 0;
	uint64_t reason, qualification, last;

	for (place = 0; place < LIST; place++) {
		fill(t.vm.entry_load);
		t.vm.entry_load[place] = bad_loads[row].entry;
		wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, TRACING_BUFFER - 1);
		vmwrite(VMCS_ENTRY_LOAD_COUNT, LIST);
		reason = enter();
		qualification = vmread(VMCS_EXIT_QUALIFICATION);
		last = rdmsr(VPT_MSR_OUTPUT_MASK_PTRS) >> VPT_MASK_PTRS_OFFSET_SHIFT;
		if (reason == (EXIT_MSR_LOADING | EXIT_ENTRY_FAILED) &&
		    qualification == place + 1 && last == place)
			continue;
		if (!bad++)
			printk("  element %u: reason %#lx, qualification %lu, last %lu\n",
			       place + 1, reason, qualification, last);
	}
	report(!bad, "entry area refuses %s at each place", bad_loads[row].text);
}

/* If an area sets TraceEn, the registers are locked for the rest of the area. */
static void locked(void)
{
	fill(t.vm.entry_load);
	t.vm.entry_load[2].index = VPT_MSR_CTL;
	t.vm.entry_load[2].value = t.ctl | VPT_CTL_MASK(TRACE_EN);
	vmwrite(VMCS_ENTRY_LOAD_COUNT, LIST);
	report(enter() == (EXIT_MSR_LOADING | EXIT_ENTRY_FAILED) &&
		       vmread(VMCS_EXIT_QUALIFICATION) == 4,
	       "entry area: TraceEn locks the elements after it");
	wrmsr(VPT_MSR_CTL, 0);
}

static void addresses(void)
{
	const uint64_t area = (uintptr_t)t.vm.entry_load;
	const uint64_t end = 1ull << t.drv.caps.max_phy_addr;

	fill(t.vm.entry_load);
	vmwrite(VMCS_ENTRY_LOAD_COUNT, 1);
	vmwrite(VMCS_ENTRY_LOAD_ADDR, area + 8);
	report_equal(enter(), VMX_ERROR_CONTROLS | FAILED, "an area that is not aligned");
	vmwrite(VMCS_ENTRY_LOAD_ADDR, end);
	report_equal(enter(), VMX_ERROR_CONTROLS | FAILED, "an area past all memory");
	vmwrite(VMCS_ENTRY_LOAD_ADDR, end - 16);
	vmwrite(VMCS_ENTRY_LOAD_COUNT, 2);
	report_equal(enter(), VMX_ERROR_CONTROLS | FAILED, "an area that ends past all memory");
	vmwrite(VMCS_ENTRY_LOAD_COUNT, 0);
	report_equal(enter(), EXIT_VMCALL, "the address of an empty area is not looked at");
	vmwrite(VMCS_ENTRY_LOAD_ADDR, area);
}

static void store(void)
{
	uint64_t mask = 0x1200000000 | (TRACING_BUFFER - 1);
	unsigned int i;

	wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, mask);
	for (i = 0; i < 2; i++) {
		t.vm.exit_store[i].index = i ? VPT_MSR_OUTPUT_BASE : VPT_MSR_OUTPUT_MASK_PTRS;
		t.vm.exit_store[i].reserved = 0;
		t.vm.exit_store[i].value = 0;
	}
	vmwrite(VMCS_EXIT_STORE_COUNT, 2);
	report_equal(enter(), EXIT_VMCALL, "an exit with a store area");
	report_equal(t.vm.exit_store[0].value, mask, "it has IA32_RTIT_OUTPUT_MASK_PTRS");
	report_equal(t.vm.exit_store[1].value, t.drv.output_base, "and IA32_RTIT_OUTPUT_BASE");
	vmwrite(VMCS_EXIT_STORE_COUNT, 0);
}

void payload(void)
{
	unsigned int i;

	if (!tracing_init(&t))
		return;
	wrmsr(VPT_MSR_OUTPUT_BASE, t.drv.output_base);
	wrmsr(VPT_MSR_OUTPUT_MASK_PTRS, t.drv.output_mask_ptrs);
	all_sets();
	for (i = 0; i < ARRAY_SIZE(bad_loads); i++)
		refused_at_each_place(i);
	locked();
	addresses();
	store();
}
