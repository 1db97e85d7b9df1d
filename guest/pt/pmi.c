// SPDX-License-Identifier: GPL-2.0-or-later
/* Handle ToPA PMIs. */
#include "pmi.h"

#include "lib/cpu.h"
#include "lib/msr.h"
#include "lib/paging.h"

#define APIC_AT	   0xfee00000ull
#define APIC_EOI   0x0b0u
#define APIC_SVR   0x0f0u
#define APIC_LVTPC 0x340u
#define SVR_ENABLE (1u << 8)
#define SPURIOUS   0xffu
#define LVT_NMI	   (4u << 8)
#define LVT_MASKED (1u << 16)

static uint32_t route;

static volatile uint32_t *apic(uint32_t reg)
{
	return (volatile uint32_t *)(APIC_AT + reg);
}

bool pmi_init(void)
{
	uint64_t cr3;

	if (!cpu_has(CPU_APIC) || (cpuid(0xa, 0).eax & 0xff) < 2)
		return false;
	cr3 = paging_new_space();
	paging_map(cr3, APIC_AT, (void *)APIC_AT, PTE_WRITE | PTE_UNCACHED | PTE_NX);
	write_cr3(cr3);
	*apic(APIC_SVR) = SVR_ENABLE | SPURIOUS;
	return true;
}

void pmi_route(uint8_t vector)
{
	route = vector == PMI_NMI ? LVT_NMI : vector;
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_STATUS_TOPA);
	*apic(APIC_LVTPC) = route;
}

bool pmi_is_topa(void)
{
	return rdmsr(MSR_PERF_GLOBAL_STATUS) & GLOBAL_STATUS_TOPA;
}

bool pmi_is_masked(void)
{
	return *apic(APIC_LVTPC) & LVT_MASKED;
}

void pmi_done(void)
{
	wrmsr(MSR_PERF_GLOBAL_RESET, rdmsr(MSR_PERF_GLOBAL_STATUS));
	*apic(APIC_LVTPC) = route;
	if (route != LVT_NMI)
		*apic(APIC_EOI) = 0;
}
