// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts processors one after the other. */
#include "start_cpu.h"

#include "cpu.h"
#include "guest.h"
#include "idt.h"
#include "mem.h"
#include "msr.h"
#include "paging.h"

#define PAGE	    0x90000ull /* below 1 MiB, and free: the image is above */
#define PAGE_WORDS  0xf00u
#define STACK	    8192u
#define LEAF_CORES  0xbu
#define MSR_X2APIC  0x800u
#define APIC_AT	    0xfee00000ull
#define APIC_SVR    0x0f0u
#define APIC_EOI    0x0b0u
#define APIC_ICR    0x300u
#define APIC_DEST   0x310u
#define APIC_BUSY   (1u << 12)
#define APIC_X2	    (1ull << 10)
#define SVR_ENABLE  0x1ffu
#define ICR_ASSERT  (1u << 14)
#define KERNEL_CS   0x08u
#define CR4_AT_MOST 0x6b0u /* what needs no further register: PSE, PAE, PGE, OSFXSR, OSXMMEXCPT */
#define EFER_MODE   0xd01u

/* The pointer of LGDT. */
struct table {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

/* The words at the end of the page: see start_cpu_entry.S. */
struct start_words {
	struct table gdt;
	uint8_t pad[6];
	uint64_t cr3, cr4, efer;
	uint32_t far_ip;
	uint16_t far_cs;
} __attribute__((packed));

extern const uint8_t start_cpu_code[], start_cpu_end[];
void start_cpu_entry(void);
void start_cpu_main(void);

uint16_t start_cpu_ss;
uint64_t start_cpu_stack;
static uint8_t stacks[START_CPU_MAX][STACK] __attribute__((aligned(16)));
static unsigned int starting;
static void (*run)(unsigned int id);
static volatile bool arrived;

unsigned int start_cpu_count(void)
{
	unsigned int count = cpuid(0, 0).eax >= LEAF_CORES ? cpuid(LEAF_CORES, 1).ebx & 0xffff : 1;

	return count ? count : 1;
}

static volatile uint32_t *apic(uint32_t reg)
{
	return (volatile uint32_t *)(APIC_AT + reg);
}

static void set(uint32_t reg, uint32_t value)
{
	if (cpu_has(CPU_X2APIC))
		wrmsr(MSR_X2APIC + (reg >> 4), value);
	else
		*apic(reg) = value;
}

static void enable(void)
{
	if (cpu_has(CPU_X2APIC))
		wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | APIC_X2);
	set(APIC_SVR, SVR_ENABLE);
}

void start_cpu_apic(void)
{
	uint64_t cr3;

	if (!cpu_has(CPU_X2APIC)) {
		cr3 = paging_new_space();
		paging_map(cr3, APIC_AT, (void *)APIC_AT, PTE_WRITE | PTE_UNCACHED | PTE_NX);
		write_cr3(cr3);
	}
	enable();
}

void start_cpu_main(void)
{
	const unsigned int id = starting;

	idt_load();
	write_cr4(read_cr4());
	enable();
	arrived = true;
	run(id);
}

void start_cpu_send(unsigned int id, uint32_t icr)
{
	if (cpu_has(CPU_X2APIC)) {
		wrmsr(MSR_X2APIC + (APIC_ICR >> 4), (uint64_t)id << 32 | ICR_ASSERT | icr);
		return;
	}
	*apic(APIC_DEST) = id << 24;
	*apic(APIC_ICR) = ICR_ASSERT | icr;
	while (*apic(APIC_ICR) & APIC_BUSY)
		__asm__ volatile("pause" : : : "memory");
}

void start_cpu_eoi(void)
{
	set(APIC_EOI, 0);
}

void start_cpu(unsigned int id, void (*main)(unsigned int id))
{
	struct start_words *words = (struct start_words *)(PAGE + PAGE_WORDS);

	memcpy((void *)PAGE, start_cpu_code, (size_t)(start_cpu_end - start_cpu_code));
	__asm__ volatile("sgdt %0" : "=m"(words->gdt));
	__asm__ volatile("mov %%ss, %0" : "=r"(start_cpu_ss));
	words->cr3 = read_cr3();
	words->cr4 = read_cr4() & CR4_AT_MOST;
	words->efer = rdmsr(MSR_EFER) & EFER_MODE & ~(1ull << 10);
	words->far_ip = (uint32_t)(uintptr_t)start_cpu_entry;
	words->far_cs = KERNEL_CS;
	start_cpu_stack = (uintptr_t)stacks[id % START_CPU_MAX] + STACK;
	starting = id;
	run = main;
	arrived = false;
	start_cpu_send(id, START_CPU_INIT);
	start_cpu_send(id, START_CPU_STARTUP | PAGE >> 12);
	while (!arrived)
		__asm__ volatile("pause" : : : "memory");
}
