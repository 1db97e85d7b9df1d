// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes between KVM and the software CPU around an interrupt, in HLT, and in the shadows of STI and
 * MOV SS. Without KVM the suite is empty.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <string.h>

#include "core/irq.h"
#include "core/switch.h"
#include "lib/twoengines.h"

#define VECTOR_UD     6
#define VECTOR_TIMER  0x71
#define ENTRY_PLACES  200u
#define KEPT	      0x0123456789abcdefull
#define HALTS	      20u
#define PARTS_MOST    1000u
#define SHADOW_TIMERS 8u
#define QUIET_INSNS   200000u

/* The guests' data. The frame of IRETQ is at FRAME. */
enum data { COUNT = TWO_DATA, TICKS = TWO_DATA + 8, FRAME = TWO_DATA + 0x100 };

static struct two two;

/*
 * Set the timer of abi/boot.h to 100 instructions, and enter a loop by the frame. The handler checks
 * its frame. The loop ends some instructions after the interrupt.
 */
extern const char entry_start[], entry_loop[], entry_tick[], entry_done[], entry_end[];

__asm__(".pushsection .rodata\n"
	"entry_start:\n"
	"	mov	$0x71000064, %eax\n"
	"	out	%eax, $0xf8\n"
	"	pushq	0x180120\n"
	"	pushq	0x180118\n"
	"	pushq	0x180110\n"
	"	pushq	0x180108\n"
	"	pushq	0x180100\n"
	"	iretq\n"
	"entry_loop:\n"
	"1:	inc	%rbx\n"
	"	incq	0x180000\n"
	"	mov	$1, %r14d\n"
	"	cmp	%rbx, 0x180000\n"
	"	jne	2f\n"
	"	cmpl	$0, 0x180008\n"
	"	je	1b\n"
	"	mov	$20, %r14d\n"
	"3:	dec	%r14d\n"
	"	jnz	3b\n"
	"2:	ud2\n"
	"entry_tick:\n"
	"	push	%rax\n"
	"	push	%rcx\n"
	"	.irp	i,1,3,4\n"
	"	mov	16 + \\i * 8(%rsp), %rcx\n"
	"	cmp	%rcx, 0x180100 + \\i * 8\n"
	"	mov	$2 + \\i, %eax\n"
	"	jne	4f\n"
	"	.endr\n"
	"	testl	$0x200, 32(%rsp)\n"
	"	mov	$7, %eax\n"
	"	jz	4f\n"
	"	mov	$20, %ecx\n"
	"5:	loop	5b\n"
	"	incl	0x180008\n"
	"	pop	%rcx\n"
	"	pop	%rax\n"
	"	iretq\n"
	"entry_done:\n"
	"	mov	%r14d, %eax\n"
	"4:	out	%eax, $0xf4\n"
	"entry_end:\n"
	".popsection\n");

static uint64_t place(const char *start, const char *at)
{
	return TWO_CODE + (uint64_t)(at - start);
}

/* Begin in ring 0 or 3, with general registers that the guest does not use. */
static void enter(unsigned int k, uint8_t cpl)
{
	two_restart(&two, (int)k, 2);
	two_put(&two, FRAME, place(entry_start, entry_loop));
	two_put(&two, FRAME + 8, cpl ? TWO_CODE3 : TWO_CODE0);
	two_put(&two, FRAME + 16, 0x202);
	two_put(&two, FRAME + 24, TWO_STACK3);
	two_put(&two, FRAME + 32, cpl ? TWO_DATA3 : TWO_DATA0);
	two.v->regs->r8 = two.v->regs->r13 = two.v->regs->rsi = two.v->regs->rdi = KEPT + k;
	two.v->ev->state |= ENGINE_REGS_DIRTY;
}

/* The result is the one of a run without changes. */
static void check_result(unsigned int k)
{
	const struct x86_regs *r = two.v->regs;

	two_finish(&two);
	ck_assert_uint_eq(two_get(&two, TICKS), 1);
	ck_assert_uint_eq(r->rbx, two_get(&two, COUNT));
	ck_assert(r->r8 == KEPT + k && r->r13 == r->r8 && r->rsi == r->r8 && r->rdi == r->r8);
}

/* Let KVM run a part of the guest. Returns true if it executed instructions. */
static bool part_by_kvm(void)
{
	const struct x86_regs before = *two.v->regs;

	bool same = true;
	unsigned int n;

	two_switch(&two);
	for (n = 0; n < 5 && same; n++) {
		core_loop_free(two.v);
		same = !memcmp(&before, two.v->regs, sizeof(before));
	}
	return !same;
}

/*
 * Rows 0 and 1: k instructions on the software CPU, a part on KVM, and the rest on the software CPU.
 * The loop is in ring 0 or 3. Row 2: k steps on KVM in ring 0, and the rest on the software CPU.
 */
START_TEST(an_entry_continues)
{
	unsigned int in_handler = 0, by_kvm = 0, ended = 0, k;

	two_create(&two);
	two_code(&two, TWO_CODE, entry_start, entry_end);
	two_gate(&two, VECTOR_UD, place(entry_start, entry_done));
	two_gate(&two, VECTOR_TIMER, place(entry_start, entry_tick));
	for (k = 0; k < ENTRY_PLACES; k++) {
		unsigned int n;

		enter(k, _i == 1 ? 3 : 0);
		if (_i == 2) {
			two_to_kvm(&two);
			for (n = 0; n < k && !two.vm.stop.kind; n++)
				core_vcpu_step(two.v);
		} else {
			two_count(&two, k);
		}
		in_handler += two.v->regs->rip >= place(entry_start, entry_tick) &&
			      two.v->regs->rip < place(entry_start, entry_done);
		if (_i < 2)
			by_kvm += part_by_kvm();
		ended += !!two.vm.stop.kind;
		two_to_soft(&two);
		check_result(k);
	}
	ck_assert_uint_gt(in_handler, 30);
	/* KVM ran a part, and seldom the rest. */
	if (_i < 2)
		ck_assert_uint_gt(by_kvm, ENTRY_PLACES / 2);
	ck_assert_uint_lt(ended, ENTRY_PLACES / 2);
	two_destroy(&two);
}
END_TEST

/*
 * Count halts. The local APIC's timer ends each of them after 25 ms, which is longer than one nap of
 * the core. The handler returns behind the HLT, with interrupts off.
 */
extern const char halt_start[], halt_after[], halt_tick[], halt_end[];

__asm__(".pushsection .rodata\n"
	"halt_start:\n"
	"	mov	$0xfee00000, %eax\n"
	"	movl	$0x1ff, 0xf0(%rax)\n"
	"	movl	$0x71, 0x320(%rax)\n"
	"	movl	$0xb, 0x3e0(%rax)\n"
	"	movl	$600000, 0x380(%rax)\n"
	"1:	incq	0x180000\n"
	"	sti\n"
	"	hlt\n"
	"halt_after:\n"
	"	mov	0x180000, %rcx\n"
	"	cmp	%rcx, 0x180008\n"
	"	je	1b\n"
	"2:	mov	$1, %eax\n"
	"	out	%eax, $0xf4\n"
	"halt_tick:\n"
	"	cmpq	$0x100000 + halt_after - halt_start, (%rsp)\n"
	"	jne	2b\n"
	"	andl	$~0x200, 16(%rsp)\n"
	"	incq	0x180008\n"
	"	movl	$0, 0xb0(%rax)\n"
	"	movl	$600000, 0x380(%rax)\n"
	"	iretq\n"
	"halt_end:\n"
	".popsection\n");

/* Run in small parts until the vCPU halts in round @n, or until the timer has ended that halt. */
static void halt(unsigned int n, bool end)
{
	unsigned int parts;

	for (parts = 0; parts < PARTS_MOST; parts++) {
		if (end ? two_get(&two, TICKS) == n : two.v->pending & CORE_VCPU_HALTED)
			break;
		if (two_by_kvm(&two))
			core_loop_free(two.v);
		else
			two_count(&two, 1);
	}
	ck_assert_int_eq(two.vm.stop.kind, 0);
	ck_assert_uint_eq(two_get(&two, COUNT), n);
	ck_assert_uint_eq(two_get(&two, TICKS), end ? n : n - 1);
	ck_assert(end || two.v->pending & CORE_VCPU_HALTED);
}

/* A vCPU in HLT moves, in both directions, and the timer wakes it once. */
START_TEST(a_halt_continues)
{
	unsigned int n;

	two_create(&two);
	two_code(&two, TWO_CODE, halt_start, halt_end);
	two_gate(&two, VECTOR_TIMER, place(halt_start, halt_tick));
	for (n = 1; n <= HALTS; n++) {
		halt(n, false);
		two_switch(&two);
		halt(n, true);
	}
	two_destroy(&two);
}
END_TEST

/*
 * An interrupt becomes pending before or in the shadow of STI or MOV SS, and may not come before the
 * next instruction. The timer's value is at FRAME.
 */
extern const char sti_start[], sti_shadow[], sti_tick[], sti_end[];
extern const char ss_start[], ss_shadow[], ss_tick[], ss_end[];

#define SHADOW_GUEST(name, insn)                                                  \
	".pushsection .rodata\n" #name "_start:\n"                                \
	"	mov	%ss, %ecx\n"                                                        \
	"	mov	0x180100, %eax\n"                                                   \
	"	out	%eax, $0xf8\n"                                                      \
	"	nop\n"                                                                  \
	"	nop\n"                                                                  \
	"	nop\n"                                                                  \
	"	" insn "\n" #name "_shadow:\n"                                    \
	"	inc	%rbx\n"                                                             \
	"1:	cmpl	$0, 0x180008\n"                                                  \
	"	je	1b\n"                                                                \
	"	xor	%eax, %eax\n"                                                       \
	"	out	%eax, $0xf4\n" #name "_tick:\n"                           \
	"	cmpq	$0x100000 + " #name "_shadow - " #name "_start, (%rsp)\n" \
	"	mov	$1, %eax\n"                                                         \
	"	je	2f\n"                                                                \
	"	incq	0x180008\n"                                                        \
	"	iretq\n"                                                                \
	"2:	out	%eax, $0xf4\n" #name "_end:\n"                            \
	".popsection\n"

__asm__(SHADOW_GUEST(sti, "sti"));
__asm__(SHADOW_GUEST(ss, "mov %ecx, %ss"));

static const struct {
	const char *start, *shadow, *tick, *end;
	uint64_t rflags;
} shadows[] = {
	{sti_start, sti_shadow, sti_tick, sti_end, 2},
	{ss_start, ss_shadow, ss_tick, ss_end, 0x202},
};

/* Run to the instruction in the shadow, by steps. Returns false if an interrupt came earlier. */
static bool reach_shadow(const char *start, const char *shadow)
{
	unsigned int n;

	for (n = 0; n < PARTS_MOST && two.v->regs->rip != place(start, shadow); n++)
		if (two_by_kvm(&two))
			core_vcpu_step(two.v);
		else
			two_count(&two, 1);
	ck_assert_uint_eq(two.v->regs->rip, place(start, shadow));
	return !two_get(&two, TICKS);
}

/* The vCPU moves in the shadow. Rows 0 and 1 begin on the software CPU, and rows 2 and 3 on KVM. */
START_TEST(a_shadow_continues)
{
	const unsigned int which = _i & 1;
	unsigned int pending = 0, n;

	two_create(&two);
	two_code(&two, TWO_CODE, shadows[which].start, shadows[which].end);
	two_gate(&two, VECTOR_TIMER, place(shadows[which].start, shadows[which].tick));
	for (n = 1; n <= SHADOW_TIMERS; n++) {
		two_restart(&two, (int)n, shadows[which].rflags);
		two_put(&two, FRAME, VECTOR_TIMER << 24 | n);
		if (_i & 2)
			two_to_kvm(&two);
		if (reach_shadow(shadows[which].start, shadows[which].shadow)) {
			core_irq_advance(two.v);
			pending += core_irq_pending(two.v);
			ck_assert(two.v->shadowed & CORE_VCPU_SHADOW);
			two_switch(&two);
		}
		two_finish(&two);
		ck_assert_uint_eq(two_get(&two, TICKS), 1);
	}
	ck_assert_uint_gt(pending, 0);
	two_destroy(&two);
}
END_TEST

/* core_switch_poll() waits for the end of a shadow. */
START_TEST(a_change_to_kvm_waits_for_a_shadow)
{
	two_create(&two);
	two_code(&two, TWO_CODE, shadows[_i].start, shadows[_i].end);
	two_restart(&two, 0, shadows[_i].rflags);
	(void)reach_shadow(shadows[_i].start, shadows[_i].shadow);
	two.vm.change.traced_at = two.v->ev->retired - QUIET_INSNS;
	core_switch_poll(two.v);
	ck_assert(!two_by_kvm(&two));
	two_count(&two, 1);
	core_switch_poll(two.v);
	ck_assert(two_by_kvm(&two));
	two_destroy(&two);
}
END_TEST

TEST_SUITE("switch_entry", NULL, NULL)
{
	if (two_problem()) {
		fprintf(stderr, "nothing to test: %s\n", two_problem());
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_LOOP(tcase, 3, an_entry_continues);
	TEST_ADD(tcase, a_halt_continues);
	TEST_LOOP(tcase, 4, a_shadow_continues);
	TEST_LOOP(tcase, 2, a_change_to_kvm_waits_for_a_shadow);
}
