// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 32-bit code in ring 3 of a 64-bit kernel: far jumps, calls and returns between the two, INT 0x80,
 * SYSENTER and SYSEXIT, SYSRET to 32 bits. Exceptions and the timer interrupt it, and it executes
 * instructions that 64-bit mode lacks. SYSCALL in 32-bit code raises #UD, as on Intel's processors.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("32-bit code in ring 3, and all ways there and back");

#define ROUNDS	  12 /* --arg: another number */
#define VEC_BR	  5
#define VEC_TIMER 0x63u
#define SERVICE	  0x80

/* Requests to INT 0x80, in EAX. */
enum service { SERVICE_ADD, SERVICE_TIMER_ON, SERVICE_TIMER_OFF };

/* The ring 3 part. compat_call(n) is 64-bit code and returns compat_work(n) plus constants. */
uint64_t compat_call(uint64_t n);
void compat_syscall_entry(void);
void compat_sysenter_entry(void);

__asm__(".pushsection .user.text, \"ax\"\n"
	".globl compat_call\n"
	"compat_call:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	/* 32-bit code needs data segments, and IRETQ has cleared ring 0's. */
	"	mov $0x23, %eax\n"
	"	mov %eax, %ds\n"
	"	mov %eax, %es\n"
	"	ljmp *1f(%rip)\n"
	"1:	.long compat_main\n"
	"	.word 0x1b\n"
	/* SYSRET returns to 32-bit code at the address that compat_syscall_entry loads. */
	"2:	mov $2, %eax\n"
	"	syscall\n"
	"	ud2\n"
	/* The exit. */
	"3:	mov %ebx, %eax\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	/* Called from 32-bit code. */
	"compat_far64:\n"
	"	movabs $0x1122334455667788, %r8\n"
	"	add %rbx, %r8\n"
	"	mov %r8d, %ebx\n"
	"	lretl\n"
	".code32\n"
	"compat_main:\n"
	"	push %edi\n"
	"	call compat_work\n"
	"	mov %eax, %ebx\n"
	/* The kernel adds to EAX. */
	"	xor %eax, %eax\n"
	"	int $0x80\n"
	"	lcall $0x2b, $compat_far64\n"
	/* A far call within 32-bit code. */
	"	lcall $0x1b, $5f\n"
	/* SYSENTER returns to EDX with ESP from ECX. */
	"	mov %esp, %ecx\n"
	"	mov $4f, %edx\n"
	"	sysenter\n"
	"4:	add %eax, %ebx\n"
	/* #UD, which the handler skips. */
	"	syscall\n"
	"	ljmp $0x2b, $2b\n"
	".globl compat_sysret_target\n"
	"compat_sysret_target:\n"
	"	add $5, %ebx\n"
	"	ljmp $0x2b, $3b\n"
	"5:	xor $0x5a5a, %ebx\n"
	/* Many prefixes without effect. */
	"	.byte 0x3e, 0x3e, 0x3e, 0x3e\n"
	"	lret\n"

	/* uint32_t compat_work(uint32_t n) pops its argument. */
	"compat_work:\n"
	"	enter $16, $0\n"
	"	push %ebx\n"
	"	push %esi\n"
	"	push %edi\n"
	"	mov 8(%ebp), %ecx\n"
	"	mov $1, %eax\n"
	"	int $0x80\n" /* timer on */
	"	xor %eax, %eax\n"
	"	mov $1, %ebx\n"
	"1:	inc %eax\n"
	"	add %ebx, %eax\n"
	"	push %eax\n"
	"	push $-3\n"
	"	pop %edx\n"
	"	pop %ebx\n"
	"	imul %edx, %ebx\n"
	"	rol $5, %ebx\n"
	"	xor %ecx, %ebx\n"
	"	pusha\n"
	"	mov 28(%esp), %esi\n"
	"	add %esi, 16(%esp)\n"
	"	popa\n"
	"	dec %ecx\n"
	"	jecxz 2f\n"
	"	jmp 1b\n"
	"2:	mov $2, %eax\n"
	"	int $0x80\n" /* timer off */
	/* Decimal arithmetic: adds 0x42, 0x27, 0x709, 79, 0x107, 0x108, 0xff. */
	"	xor %eax, %eax\n"
	"	mov $0x27, %al\n"
	"	add $0x15, %al\n"
	"	daa\n"
	"	add %eax, %ebx\n"
	"	sub $0x15, %al\n"
	"	das\n"
	"	add %eax, %ebx\n"
	"	mov $79, %eax\n"
	"	aam\n"
	"	add %eax, %ebx\n"
	"	aad\n"
	"	add %eax, %ebx\n"
	"	mov $9, %eax\n"
	"	add $8, %al\n"
	"	aaa\n"
	"	add %eax, %ebx\n"
	"	mov $0x203, %eax\n"
	"	sub $5, %al\n"
	"	aas\n"
	"	add %eax, %ebx\n"
	"	xor %eax, %eax\n"
	"	stc\n"
	"	.byte 0xd6\n" /* SALC */
	"	add %eax, %ebx\n"
	/* Strings and segments: four words of 0x01020304, read back through ES. */
	"	lea -16(%ebp), %edi\n"
	"	mov $4, %ecx\n"
	"	mov $0x01020304, %eax\n"
	"	rep stosl\n"
	"	push %es\n"
	"	push $0x23\n"
	"	lea -16(%ebp), %edx\n"
	"	push %edx\n"
	"	les (%esp), %edi\n"
	"	add %es:8(%edi), %ebx\n"
	"	add $8, %esp\n"
	"	pop %es\n"
	/* 16-bit operands and addresses: adds 0x1234 + 0x10 + 4. */
	"	mov $0xffff1234, %edx\n"
	"	push %ebx\n"
	"	mov %edx, %ebx\n"
	"	mov $0x10, %esi\n"
	"	addr16 lea 4(%bx,%si), %eax\n"
	"	pop %ebx\n"
	"	movzwl %ax, %eax\n"
	"	add %eax, %ebx\n"
	/*
	 * BOUND within bounds, then BOUND and INTO that raise exceptions. An INTO without overflow
	 * is omitted, because libipt takes every INTO for a transfer.
	 */
	"	push $20\n"
	"	push $10\n"
	"	mov $15, %eax\n"
	"	bound %eax, (%esp)\n"
	"	mov $21, %eax\n"
	"	bound %eax, (%esp)\n" /* 3 bytes, skipped by the handler */
	"	add $8, %esp\n"
	"	mov $0x7f, %al\n"
	"	inc %al\n"
	"	into\n"
	/* #DE by AAM 0, and #GP by CLI, skipped too. */
	"	.byte 0xd4, 0\n"
	"	cli\n"
	"	push %cs\n"
	"	pop %eax\n"
	"	add %eax, %ebx\n"
	"	mov %ebx, %eax\n"
	"	pop %edi\n"
	"	pop %esi\n"
	"	pop %ebx\n"
	"	leave\n"
	"	ret $4\n"
	".code64\n"
	".popsection\n"

	".pushsection .text\n"
	".globl compat_syscall_entry, compat_sysenter_entry\n"
	/* Like ring3_syscall_entry, with one more entry that returns to 32-bit code. */
	"compat_syscall_entry:\n"
	"	cmp $2, %eax\n"
	"	jne ring3_syscall_entry\n"
	"	lea compat_sysret_target(%rip), %rcx\n"
	"	sysretl\n"
	"compat_sysenter_entry:\n"
	"	lea 7(%rbx,%rbx,2), %eax\n"
	"	sysexitl\n"
	".popsection\n");

static uint32_t rol5(uint32_t v)
{
	return v << 5 | v >> 27;
}

static uint32_t expected_work(uint32_t n)
{
	uint32_t a = 0, b = 1;

	do {
		a += 1 + b;
		b = (rol5(a * (uint32_t)-3) ^ n) + a;
	} while (--n);
	return b + 0x42 + 0x27 + 0x709 + 79 + 0x107 + 0x108 + 0xff + 0x01020304 +
	       (0x1234 + 0x10 + 4) + USER_CS32;
}

#define ADDED 1000u

static uint32_t expected(uint32_t n)
{
	uint32_t b = expected_work(n) + ADDED;

	b += 0x55667788;
	b ^= 0x5a5a;
	b += 3 * b + 7;
	return b + 5;
}

static uint64_t seen[VEC_EXCEPTIONS], services, ticks, wrong_frame;

static void check(const struct trap_frame *f)
{
	wrong_frame += f->cs != USER_CS32 || f->ss != USER_DS || f->rip >> 32 || f->rsp >> 32;
}

/* Skip the instruction; INTO is a trap and needs no skip. */
static void on_fault(struct trap_frame *f)
{
	static const uint8_t length[VEC_EXCEPTIONS] = {
		[VEC_DE] = 2, [VEC_BR] = 3, [VEC_UD] = 2, [VEC_GP] = 1};

	check(f);
	seen[f->vector]++;
	wrong_frame += f->error != 0;
	f->rip += length[f->vector];
}

static void arm(void)
{
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | (uint32_t)(13 + ticks % 40));
}

static void on_timer(struct trap_frame *f)
{
	check(f);
	ticks++;
	arm();
}

static void on_service(struct trap_frame *f)
{
	check(f);
	services++;
	switch (f->rax) {
	case SERVICE_ADD:
		f->rbx += ADDED;
		break;
	case SERVICE_TIMER_ON:
		f->rflags |= RFLAGS_IF;
		arm();
		break;
	default:
		f->rflags &= ~(uint64_t)RFLAGS_IF;
		outl(VPT_PORT_TIMER, 0);
		break;
	}
}

static uint64_t rounds, wrong;

static void work(void)
{
	uint32_t i;

	for (i = 1; i <= rounds; i++)
		wrong += ring3_call(compat_call, 3 * i) != expected(3 * i);
}

void payload(void)
{
	static const uint8_t faults[] = {VEC_DE, VEC_OF, VEC_BR, VEC_UD, VEC_GP};
	struct trace t;
	unsigned int i;

	if (!(boot->flags & VPT_BOOT_RING3)) {
		report_skip("this engine cannot trace ring 3");
		return;
	}
	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	ring3_init(NULL);
	ring3_set_syscall(compat_syscall_entry);
	wrmsr(MSR_SYSENTER_CS, 0x08);
	wrmsr(MSR_SYSENTER_ESP, ring3_kernel_stack());
	wrmsr(MSR_SYSENTER_EIP, (uintptr_t)compat_sysenter_entry);
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		idt_hook(faults[i], on_fault);
	idt_allow_user(VEC_OF);
	idt_hook(SERVICE, on_service);
	idt_allow_user(SERVICE);
	idt_hook(VEC_TIMER, on_timer);
	trace_long(&t, work);
	report_equal(wrong, 0, "results of 32-bit code");
	report_equal(wrong_frame, 0, "frames: 32-bit CS, RIP and RSP");
	report_equal(services, 3 * rounds, "INT 0x80");
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		report(seen[faults[i]] == rounds, "exception %u in 32-bit code: %lu times",
		       faults[i], seen[faults[i]]);
	report(ticks > rounds, "timer interrupts in 32-bit code");
}
