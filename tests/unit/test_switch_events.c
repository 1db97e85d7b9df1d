// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes between KVM and the software CPU at the places that are difficult for a vCPU. Without KVM
 * the suite is empty.
 */
#include "lib/suite.h"

#include <stdio.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/switch.h"
#include "lib/twoengines.h"

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

TEST_SUITE("switch_events", NULL, NULL)
{
	if (two_problem()) {
		fprintf(stderr, "nothing to test: %s\n", two_problem());
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_ADD(tcase, the_tsc_does_not_fall);
}
