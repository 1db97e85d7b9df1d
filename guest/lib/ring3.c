// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs functions at CPL 3. */
#include "ring3.h"

#include "cpu.h"
#include "msr.h"
#include "page_alloc.h"
#include "paging.h"

#define STACK_SIZE   16384u
#define SELECTOR_TSS 0x38
#define IST_STACK    4096u

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t iomap;
} __attribute__((packed));

struct descriptor_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

VPT_STATIC_ASSERT(sizeof(struct tss) == 104, "layout of a 64-bit TSS");

/*
 * Order fixed by SYSRET (32-bit code, data, 64-bit code) and by SYSEXIT (kernel code,
 * kernel data, 32-bit code, data, 64-bit code, data).
 */
static uint64_t gdt[9] = {
	0,
	0x00af9b000000ffff, /* 08: code, CPL 0 */
	0x00cf93000000ffff, /* 10: data, CPL 0 */
	0x00cffb000000ffff, /* 18: 32-bit code, CPL 3 */
	0x00cff3000000ffff, /* 20: data, CPL 3 */
	0x00affb000000ffff, /* 28: code, CPL 3 */
	0x00cff3000000ffff, /* 30: data, CPL 3 */
};

static struct tss tss;

/* Symbols of ring3_entry.S. */
extern const uint8_t user_start[], user_end[];
extern uint64_t ring3_user_stack;
extern syscall_fn *ring3_syscall_handler;
static void load_descriptors(void)
{
	uint64_t base = (uintptr_t)&tss;
	struct descriptor_pointer pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

	tss.rsp[0] = (uintptr_t)page_alloc(STACK_SIZE) + STACK_SIZE;
	tss.ist[0] = (uintptr_t)page_alloc(IST_STACK) + IST_STACK;
	tss.iomap = sizeof(tss);
	gdt[SELECTOR_TSS / 8] = (sizeof(tss) - 1) | (base & 0xffffff) << 16 | 0x89ull << 40 |
				(base >> 24 & 0xff) << 56;
	gdt[SELECTOR_TSS / 8 + 1] = base >> 32;
	__asm__ volatile("lgdt %0" : : "m"(pointer));
	__asm__ volatile("ltr %w0" : : "r"(SELECTOR_TSS));
}

void ring3_init(syscall_fn *handler)
{
	uint8_t *stack = page_alloc(STACK_SIZE);
	uint64_t cr3 = paging_new_space();

	load_descriptors();
	write_cr3(cr3);
	paging_allow_user(cr3, user_start, user_end);
	paging_allow_user(cr3, stack, stack + STACK_SIZE);
	ring3_user_stack = (uintptr_t)stack + STACK_SIZE;
	ring3_syscall_handler = handler;
	ring3_set_syscall(ring3_syscall_entry);
}

void ring3_set_syscall(void (*entry)(void))
{
	wrmsr(MSR_STAR, 0x18ull << 48 | 0x08ull << 32);
	wrmsr(MSR_LSTAR, (uintptr_t)entry);
	wrmsr(MSR_FMASK, RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_AC);
}

uint64_t ring3_kernel_stack(void)
{
	return tss.rsp[0];
}
