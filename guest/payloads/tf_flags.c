// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracing by an engine must not be visible in the guest's flags. The payload stores RFLAGS in
 * memory or a register in every way, and executes every instruction that delays a trap.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("no TF in pushed flags, frames and R11; MOV SS, STI, CLI, POPF, IRET");

#define ROUNDS	 40
#define VEC_SOFT 0x42

static uint64_t seen;	   /* OR of all seen flags */
static unsigned int count; /* number of places where they were seen */
static bool arithmetic_ok = true, if_ok = true;

static noinline void note(uint64_t flags)
{
	seen |= flags;
	count++;
}

static void on_trap(struct trap_frame *f)
{
	note(f->rflags);
	note(read_rflags());
	if (f->vector == VEC_UD)
		f->rip += 2;
}

/* SYSCALL in ring 0: R11 receives the flags, and this function returns with them. */
void syscall_back(void);
__asm__(".pushsection .text\n"
	"syscall_back:\n"
	"	mov %r11, %rax\n"
	"	push %r11\n"
	"	popfq\n"
	"	jmp *%rcx\n"
	".popsection\n");

static noinline uint64_t flags_by_syscall(void)
{
	uint64_t flags;

	__asm__ volatile("syscall" : "=a"(flags) : : "rcx", "r11", "memory", "cc");
	return flags;
}

static noinline void push_and_pop(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n"
			 "pushfq\n"
			 "popq %0\n"
			 "popfq\n" /* restores the flags that were pushed under tracing */
			 : "=r"(flags)
			 :
			 : "memory", "cc");
	note(flags);
	note(read_rflags());
}

/* POPF sets the arithmetic flags, and ADC and JC use them. */
static noinline void popf_arithmetic(uint64_t carry)
{
	uint64_t sum = 0;

	__asm__ volatile("pushq %1\n"
			 "popfq\n"
			 "adc $0, %0\n"
			 : "+r"(sum)
			 : "r"(carry | 2)
			 : "memory", "cc");
	arithmetic_ok &= sum == (carry & 1);
}

static noinline void interrupt_flag(void)
{
	sti();
	if_ok &= !!(read_rflags() & RFLAGS_IF);
	__asm__ volatile("sti; pushfq; popq %%rax; cli" : : : "rax", "memory", "cc");
	if_ok &= !(read_rflags() & RFLAGS_IF);
	__asm__ volatile("pushfq; orq $0x200, (%%rsp); popfq" : : : "memory", "cc");
	if_ok &= !!(read_rflags() & RFLAGS_IF);
	cli();
	if_ok &= !(read_rflags() & RFLAGS_IF);
}

/* There is no trap right after a load of SS. */
static noinline void shadow(void)
{
	uint64_t flags;

	__asm__ volatile("mov %%ss, %%eax\n"
			 "mov %%eax, %%ss\n"
			 "pushfq\n"
			 "popq %0\n"
			 : "=r"(flags)
			 :
			 : "rax", "memory");
	note(flags);
	__asm__ volatile("mov %%ss, %%eax\n"
			 "mov %%eax, %%ss\n"
			 "jmp 1f\n"
			 "ud2\n"
			 "1: mov %%eax, %%ss\n"
			 "mov %%eax, %%ss\n"
			 "nop\n"
			 "pushfq\n"
			 "popq %0\n"
			 : "=r"(flags)
			 :
			 : "rax", "memory");
	note(flags);
}

/* IRETQ to the next instruction, with chosen flags. */
static noinline uint64_t by_iret(uint64_t flags)
{
	uint64_t after;

	__asm__ volatile("mov %%rsp, %%rdx\n"
			 "mov %%ss, %%eax\n"
			 "push %%rax\n"
			 "push %%rdx\n"
			 "push %1\n"
			 "mov %%cs, %%eax\n"
			 "push %%rax\n"
			 "lea 1f(%%rip), %%rax\n"
			 "push %%rax\n"
			 "iretq\n"
			 "1: pushfq\n"
			 "pop %0\n"
			 : "=r"(after)
			 : "r"(flags)
			 : "rax", "rdx", "memory", "cc");
	return after;
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		push_and_pop();
		popf_arithmetic(i & 1);
		interrupt_flag();
		shadow();
		note(by_iret(2));
		arithmetic_ok &= by_iret(2 | 1) & 1;
		note(flags_by_syscall());
		__asm__ volatile("int $0x42");
		__asm__ volatile("int3");
		__asm__ volatile("ud2");
	}
}

void payload(void)
{
	struct trace t;

	idt_hook(VEC_SOFT, on_trap);
	idt_hook(VEC_BP, on_trap);
	idt_hook(VEC_UD, on_trap);
	wrmsr(MSR_STAR, 0x18ull << 48 | 0x08ull << 32);
	wrmsr(MSR_LSTAR, (uintptr_t)syscall_back);
	wrmsr(MSR_FMASK, 0);
	trace_simple(&t, work);
	report_equal(count, 12 * ROUNDS, "places that flags were seen at");
	report(!(seen & RFLAGS_TF), "none of them had TF");
	report(arithmetic_ok, "POPF and IRET set the flags they were given");
	report(if_ok, "STI, CLI and POPF set IF");
}
