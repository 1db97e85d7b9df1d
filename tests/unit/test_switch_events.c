// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes between KVM and the software CPU at the places that are difficult for a vCPU. Without KVM
 * the suite is empty.
 */
#include "lib/suite.h"

#include <stdio.h>

#include "core/devices.h"
#include "lib/twoengines.h"

#define NMI_PLACES 60u
#define PARTS_MOST 50u

static struct two two;

/* R15 has the TSC. */
extern const char time_start[], time_end[];

__asm__(".pushsection .rodata\n"
	"time_start:\n"
	"1:	rdtsc\n"
	"	shl	$32, %rdx\n"
	"	lea	(%rax,%rdx), %r15\n"
	"	jmp	1b\n"
	"time_end:\n"
	".popsection\n");

/*
 * On the software CPU a HLT takes no time of the host. So the guest's TSC is then ahead, and must
 * not fall under KVM, even if KVM cannot set it.
 */
START_TEST(the_tsc_does_not_fall)
{
	const uint64_t ahead = core_clock_tsc_hz(vpt_caps_model("skl")) / 20;
	uint64_t soft, n;

	two_create(&two);
	two_code(&two, TWO_CODE, time_start, time_end);
	for (n = 0; n < 4; n++) {
		two_free(&two, 100000);
		two_switch(&two);
		two_count(&two, 100);
		core_devices_idle(two.v, ahead);
		two_count(&two, 100);
		soft = two.v->regs->r15;
		two_switch(&two);
		two.v->regs->r15 = 0;
		two.v->ev->state |= ENGINE_REGS_DIRTY;
		while (!two.v->regs->r15 && !two.vm.stop.kind)
			two_free(&two, 100000);
		ck_assert_uint_ge(two.v->regs->r15, soft);
		ck_assert_uint_lt(two.v->regs->r15, soft + 1000 * ahead);
	}
	two_destroy(&two);
}
END_TEST

/* Counts NMIs, with interrupts off. The first handler sends a second NMI, which stays blocked. */
enum nmi_data { NMIS = TWO_DATA };

extern const char nmi_start[], nmi_handler[], nmi_iret[], nmi_end[];

__asm__(".pushsection .rodata\n"
	"nmi_start:\n"
	"	mov	$0xfee00000, %eax\n"
	"	movl	$0x40400, 0x300(%rax)\n"
	"1:	inc	%rbx\n"
	"	cmpl	$2, 0x180000\n"
	"	jb	1b\n"
	"	xor	%eax, %eax\n"
	"	cmpl	$0, 0x180008\n"
	"	setne	%al\n"
	"	out	%eax, $0xf4\n"
	"nmi_handler:\n"
	"	push	%rax\n"
	"	push	%rcx\n"
	"	incl	0x180008\n"
	"	cmpl	$1, 0x180008\n"
	"	mov	$2, %eax\n"
	"	jne	3f\n"
	"	cmpl	$0, 0x180000\n"
	"	jne	1f\n"
	"	mov	$0xfee00000, %eax\n"
	"	movl	$0x40400, 0x300(%rax)\n"
	"1:	mov	$10, %ecx\n"
	"2:	loop	2b\n"
	"	incl	0x180000\n"
	"	decl	0x180008\n"
	"	pop	%rcx\n"
	"	pop	%rax\n"
	"nmi_iret:\n"
	"	iretq\n"
	"3:	out	%eax, $0xf4\n"
	"nmi_end:\n"
	".popsection\n");

static bool nmi_blocked(void)
{
	return two.v->shadowed & CORE_VCPU_NMI_BLOCKED;
}

/*
 * The vCPU changes its engine after each number of instructions, also in both handlers. From KVM,
 * these are steps after the first NMI.
 */
START_TEST(nmis_stay_blocked)
{
	unsigned int blocked = 0, both = 0, k, n;

	two_create(&two);
	two_code(&two, TWO_CODE, nmi_start, nmi_end);
	two_gate(&two, 2, TWO_CODE + (uint64_t)(nmi_handler - nmi_start));
	for (k = 0; k < NMI_PLACES; k++) {
		two_restart(&two, (int)k, 2);
		if (_i) {
			two_to_kvm(&two);
			for (n = 0; n < PARTS_MOST && !nmi_blocked(); n++)
				core_loop_free(two.v);
			ck_assert(nmi_blocked());
			for (n = 0; n < k && !two.vm.stop.kind; n++)
				core_loop_free(two.v);
		} else {
			two_count(&two, k);
		}
		blocked += nmi_blocked();
		both += nmi_blocked() && dev_platform_nmi(&two.vm.platform, 0);
		two_switch(&two);
		two_finish(&two);
		ck_assert_uint_eq(two_get(&two, NMIS), 2);
	}
	ck_assert_uint_gt(blocked, NMI_PLACES / 2);
	ck_assert_uint_gt(both, 10);
	two_destroy(&two);
}
END_TEST

TEST_SUITE("switch_events", NULL, NULL)
{
	if (two_problem()) {
		fprintf(stderr, "nothing to test: %s\n", two_problem());
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_ADD(tcase, the_tsc_does_not_fall);
	TEST_LOOP(tcase, 2, nmis_stay_blocked);
}
