// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hypervisor and a guest that write random values to all state of PT: VMCS controls, field 2814H,
 * MSR areas, WRMSR. The host must continue, and no trace may be written outside the memory that was
 * named for it.
 */
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "vmx/bed.h"
#include "vmx/tracing.h"

PAYLOAD("random VMCS fields, MSR areas and RTIT writes");

#define ROUNDS	    1000u
#define LIST	    8u
#define TURNS	    6u
#define ARENA	    (64ull << 10)
#define CANARY_BYTE 0xc5
#define EXITS_GP    (1u << VEC_GP)

static struct vmx vm;
static struct rng rng;
static uint8_t *area; /* canary, arena, canary */
static unsigned int ran, late, early, refused;

static const uint32_t msrs[] = {
	VPT_MSR_CTL,
	VPT_MSR_STATUS,
	VPT_MSR_OUTPUT_BASE,
	VPT_MSR_OUTPUT_MASK_PTRS,
	VPT_MSR_CTL,
	VPT_MSR_CR3_MATCH,
	VPT_MSR_ADDR0_A,
	VPT_MSR_ADDR1_B,
	0x586,
	0x599,
	MSR_FS_BASE,
	0x80b,
	MSR_TSC_AUX,
	MSR_KERNEL_GS_BASE,
	0x12345678,
};

/* Return an output base: the arena, a hole, or an address beyond memory. */
static uint64_t random_base(void)
{
	switch (rng_below(&rng, 4)) {
	case 0:
		return 0xfee00000;
	case 1:
		return 0xfffffff000 | (rng_next(&rng) & 0xf80);
	default:
		return (uintptr_t)area + ARENA + (rng_next(&rng) & (ARENA - 1) & ~0x7full);
	}
}

/* Single-range output stays in the arena, so the mask is small if the base is in the arena. */
static uint64_t random_mask(void)
{
	return (rng_next(&rng) & 0xfff00000000) | 0x7f;
}

static uint64_t random_ctl(void)
{
	uint64_t ctl = rng_next(&rng);

	if (rng_chance(&rng, 70))
		ctl &= VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN) |
		       VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(DIS_RETC) | VPT_CTL_MASK(TRACE_EN);
	/* A table could name any memory, so do not use one where this guest's memory is at risk. */
	return ctl & ~VPT_CTL_MASK(TOPA);
}

static uint64_t random_value(uint32_t msr)
{
	switch (msr) {
	case VPT_MSR_CTL:
		return random_ctl();
	case VPT_MSR_OUTPUT_BASE:
		return random_base();
	case VPT_MSR_OUTPUT_MASK_PTRS:
		return random_mask();
	case VPT_MSR_STATUS:
		return rng_next(&rng) & rng_next(&rng) & rng_next(&rng);
	default:
		return rng_next(&rng);
	}
}

static uint32_t random_list(struct vpt_msr_entry *list)
{
	uint32_t i, count = rng_below(&rng, LIST + 1);

	for (i = 0; i < count; i++) {
		list[i].index = msrs[rng_below(&rng, ARRAY_SIZE(msrs))];
		list[i].reserved = rng_chance(&rng, 3) ? (uint32_t)rng_next(&rng) : 0;
		list[i].value = random_value(list[i].index);
	}
	return count;
}

static void host_registers(void)
{
	wrmsr_safe(VPT_MSR_CTL, 0);
	wrmsr_safe(VPT_MSR_STATUS, 0);
	wrmsr_safe(VPT_MSR_OUTPUT_BASE, (uintptr_t)area + ARENA);
	wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS, 0x7f);
}

static void random_guest(void)
{
	uint32_t msr = msrs[rng_below(&rng, ARRAY_SIZE(msrs))];
	uint64_t value = random_value(msr);

	vm.regs.rcx = msr;
	vm.regs.rax = (uint32_t)value;
	vm.regs.rdx = value >> 32;
	vmwrite(VMCS_GUEST_RIP, (uintptr_t)vm_wrmsr_ip);
}

static void enter(void)
{
	uint64_t reason;

	switch (vmx_enter(&vm)) {
	case VMX_EXIT:
		reason = vmread(VMCS_EXIT_REASON);
		if (reason == (EXIT_MSR_LOADING | EXIT_ENTRY_FAILED))
			refused++;
		else if (reason & EXIT_ENTRY_FAILED)
			late++;
		else
			ran++;
		break;
	default:
		early++;
		break;
	}
}

static void one_round(void)
{
	unsigned int turn;

	vmx_clear(&vm);
	vmx_set_pt(&vm,
		   (uint32_t)rng_next(&rng) & VPT_VMX_CONTROLS &
			   (rng_chance(&rng, 80) ? vm.allowed_pt : ~0u),
		   rng_chance(&rng, 70));
	vmwrite_safe(VMCS_GUEST_RTIT_CTL, random_ctl());
	vmwrite(VMCS_ENTRY_LOAD_COUNT, random_list(vm.entry_load));
	host_registers();
	if (rng_chance(&rng, 30))
		wrmsr_safe(VPT_MSR_CTL, random_ctl());
	for (turn = 0; turn < TURNS; turn++) {
		random_guest();
		enter();
	}
}

static bool intact(const uint8_t *bytes)
{
	uint64_t i;

	for (i = 0; i < ARENA; i++) {
		if (bytes[i] != CANARY_BYTE)
			return false;
	}
	return true;
}

void payload(void)
{
	unsigned int i;

	if (!vmx_init()) {
		report_skip("no VMX");
		return;
	}
	rng_seed(&rng, boot->seed);
	area = page_alloc(4 * ARENA);
	memset(area, CANARY_BYTE, 4 * ARENA);
	vmx_create(&vm, (void (*)(void))(uintptr_t)vm_wrmsr_ip);
	vmwrite(VMCS_EXCEPTIONS, EXITS_GP);
	/* Clear TraceEn after each exit where it can be set; a refusal would be an abort. */
	vm.exit_load[0].index = VPT_MSR_CTL;
	vmwrite(VMCS_EXIT_LOAD_COUNT, !!(vmx_misc() & VPT_VMX_MISC_PT));
	for (i = 0; i < ROUNDS; i++)
		one_round();
	host_registers();
	printk("  seed %lu: %u rounds of %u entries: %u ran, %u failed early, %u late, "
	       "%u by an area\n",
	       boot->seed, ROUNDS, TURNS, ran, early, late, refused);
	report_equal(ran + early + late + refused, ROUNDS * TURNS, "each entry ended");
	report(intact(area) && intact(area + 2 * ARENA) && intact(area + 3 * ARENA),
	       "no trace outside of its memory");
	report(ran > 0, "some of it ran");
}
