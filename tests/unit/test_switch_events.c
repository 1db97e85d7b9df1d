// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes between KVM and the software CPU at the places that are difficult for a vCPU. Without KVM
 * the suite is empty.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdio.h>

#include "core/devices.h"
#include "core/switch.h"
#include "lib/twoengines.h"

#define INS_BYTES  3000u
#define INS_TO	   0x190000u
#define INS_ROUNDS 20
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

/* Read bytes from a device, and count in RBX after that. */
extern const char ins_start[], ins_after[], ins_end[];

__asm__(".pushsection .rodata\n"
	"ins_start:\n"
	"	rep insb\n"
	"ins_after:\n"
	"1:	inc	%rbx\n"
	"	jmp	1b\n"
	"ins_end:\n"
	".popsection\n");

/* A device whose bytes are numbered. After some bytes it requests the end of run(). */
static unsigned int given, give;

static void device(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	uint8_t *to = data;
	uint32_t i;

	(void)opaque;
	(void)port;
	ck_assert(in && size == 1);
	for (i = 0; i < count; i++)
		to[i] = (uint8_t)++given;
	if (give && given >= give)
		two.v->ev->state |= ENGINE_ATTENTION;
}

/* Run on the engine that has the guest for some iterations. Returns the refusals inside of exits. */
static unsigned int iterate(void)
{
	struct core_vcpu *v = two.v;
	struct engine_exit exit = {0};
	unsigned int refused = 0;

	give = given + 1 + two_random(&two) % 100;
	v->ev->budget = 1;
	v->engine->run(v->ev, false, &exit);
	while (exit.kind == ENGINE_EXIT_IO) {
		refused += core_switch(&two.vm) == -EAGAIN;
		device(NULL, exit.io.port, exit.io.size, exit.io.in, exit.io.count, exit.io.data);
		v->engine->complete(v->ev, &exit);
	}
	ck_assert(exit.kind == ENGINE_EXIT_KICK || exit.kind == ENGINE_EXIT_NONE);
	core_vcpu_load(v);
	return refused;
}

static void begin_ins(int n)
{
	two_restart(&two, n, 2);
	two.v->ev->bus.io = device;
	two.v->regs->rcx = INS_BYTES;
	two.v->regs->rdi = INS_TO + two_random(&two) % X86_PAGE_SIZE;
	two.v->ev->state |= ENGINE_REGS_DIRTY;
	given = 0;
}

/* REP INSB moves between two iterations, and not while KVM waits for the device's bytes. */
START_TEST(an_ins_continues)
{
	unsigned int by_soft = 0, by_kvm = 0, refused = 0;
	uint64_t to, i;
	int n;

	two_create(&two);
	two.seed = 5;
	two_code(&two, TWO_CODE, ins_start, ins_end);
	for (n = 0; n < INS_ROUNDS; n++) {
		begin_ins(n);
		to = two.v->regs->rdi;
		while (two.v->regs->rip == TWO_CODE) {
			refused += iterate();
			ck_assert_uint_eq(two.v->regs->rcx, INS_BYTES - given);
			if (given && two.v->regs->rcx)
				*(two_by_kvm(&two) ? &by_kvm : &by_soft) += 1;
			two_switch(&two);
		}
		ck_assert_uint_eq(given, INS_BYTES);
		for (i = 0; i < INS_BYTES; i++)
			ck_assert_uint_eq(two_get(&two, to + i) & 0xff, (i + 1) & 0xff);
	}
	ck_assert(by_soft > 10 && by_kvm > 10 && refused > 10);
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
	TEST_ADD(tcase, the_tsc_does_not_fall, an_ins_continues);
	TEST_LOOP(tcase, 2, nmis_stay_blocked);
}
