// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets up the IDT, hooks, and the default handler of exceptions. */
#include "idt.h"

#include "cpu.h"
#include "fixup.h"
#include "guest.h"
#include "printk.h"
#include "report.h"

#define GATE_PRESENT   0x80
#define GATE_DPL3      0x60
#define GATE_INTERRUPT 0x0e
#define KERNEL_CS      0x08

struct gate {
	uint16_t offset_low;
	uint16_t selector;
	uint8_t ist;
	uint8_t type;
	uint16_t offset_mid;
	uint32_t offset_high;
	uint32_t reserved;
};

struct idt_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

VPT_STATIC_ASSERT(sizeof(struct gate) == 16, "layout of a 64-bit gate");

/* Entry stubs in traps.S, 16 bytes each. */
extern const uint8_t trap_stubs[VEC_COUNT][16];

void trap_dispatch(struct trap_frame *frame);

static struct gate idt[VEC_COUNT] __attribute__((aligned(16)));
static idt_hook_fn *hooks[VEC_COUNT];

static void set_gate(uint8_t vector)
{
	uint64_t stub = (uintptr_t)trap_stubs[vector];
	struct gate *gate = &idt[vector];

	gate->offset_low = (uint16_t)stub;
	gate->selector = KERNEL_CS;
	gate->type |= GATE_PRESENT | GATE_INTERRUPT;
	gate->offset_mid = (uint16_t)(stub >> 16);
	gate->offset_high = (uint32_t)(stub >> 32);
}

void idt_load(void)
{
	const struct idt_pointer pointer = {sizeof(idt) - 1, (uintptr_t)idt};

	__asm__ volatile("lidt %0" : : "m"(pointer));
}

void idt_init(void)
{
	unsigned int vector;

	for (vector = 0; vector < VEC_EXCEPTIONS; vector++)
		set_gate((uint8_t)vector);
	idt_load();
}

idt_hook_fn *idt_hook(uint8_t vector, idt_hook_fn *hook)
{
	idt_hook_fn *before = hooks[vector];

	hooks[vector] = hook;
	set_gate(vector);
	return before;
}

void idt_set_present(uint8_t vector, bool present)
{
	idt[vector].type &= (uint8_t)~GATE_PRESENT;
	if (present)
		idt[vector].type |= GATE_PRESENT;
}

void idt_set_ist(uint8_t vector, unsigned int n)
{
	idt[vector].ist = (uint8_t)n;
}

void idt_allow_user(uint8_t vector)
{
	idt[vector].type |= GATE_DPL3;
}

static void unexpected(const struct trap_frame *f)
{
	printk("FAIL: vector %lu error 0x%lx at %#lx:%#lx rflags %#lx cr2 %#lx\n", f->vector,
	       f->error, f->cs, f->rip, f->rflags, read_cr2());
	printk("rsp %#lx rax %#lx rcx %#lx rdx %#lx rbx %#lx rsi %#lx rdi %#lx\n", f->rsp, f->rax,
	       f->rcx, f->rdx, f->rbx, f->rsi, f->rdi);
	guest_exit(REPORT_FAIL);
}

void trap_dispatch(struct trap_frame *frame)
{
	idt_hook_fn *hook = hooks[frame->vector];
	uint64_t to;

	if (hook) {
		hook(frame);
		return;
	}
	to = frame->vector < VEC_EXCEPTIONS ? fixup_find(frame->rip) : 0;
	if (!to)
		unexpected(frame);
	frame->rip = to;
}
