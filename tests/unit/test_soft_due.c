// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A budget that due times limit ends where it would end without them. A device requests attention during the
 * last instruction of a block, with instructions left up to the due time, or with none.
 */
#include "lib/plain_traced.h"
#include "lib/suite.h"

#include "soft/soft.h"

enum { PTE = 0x4000 + 8 * (PLAIN_DATA / X86_PAGE_SIZE), DEVICE = 0xe0000063u, BEGUN = 5000 };

static struct plain_traced traced;
static bool at_zero;
static uint64_t asked; /* after so many instructions; 0: not yet */

/* The device reads as the address of the code. */
static void mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	const uint64_t to = PLAIN_CODE;
	struct soft *c = opaque;

	(void)gpa;
	ck_assert(!write && len == sizeof(to));
	memcpy(data, &to, len);
	if (asked || c->base.retired < BEGUN || !(c->call & SOFT_DUE) || at_zero == (c->left != 0))
		return;
	asked = c->base.retired;
	c->base.state |= ENGINE_ATTENTION;
}

START_TEST(attention)
{
	/* nop; mov ecx, 50; 1: dec ecx; jnz 1b; jmp [rbx] */
	static const uint8_t code[] = {0x90, 0xb9, 50, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xff, 0x23};
	const uint64_t device = DEVICE;
	struct engine_exit exit;
	struct engine_vcpu *v;

	at_zero = _i;
	asked = 0;
	plain_traced_create(&traced);
	traced.bits = 64;
	plain_traced_time(&traced, true);
	plain_set_mode(&traced.machine, 64);
	ck_assert(x86_mem_write(&traced.machine.mem, PLAIN_CODE, code, sizeof(code)));
	ck_assert(x86_mem_write(&traced.machine.mem, PTE, &device, sizeof(device)));
	v = traced.machine.vcpu;
	v->bus.mmio = mmio;
	v->bus.opaque = v;
	/* The number stands for MTCs of frequency 3, and no other option. */
	plain_traced_start(&traced, 0x10104);
	*v->regs = (struct x86_regs){.rip = PLAIN_CODE, .rbx = PLAIN_DATA, .rflags = X86_FL_FIXED};
	v->state |= ENGINE_REGS_DIRTY;
	exit = plain_traced_run(&traced, 1000000);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_gt(asked, 0);
	ck_assert_uint_eq(v->retired, asked + 1);
	plain_traced_destroy(&traced);
}
END_TEST

TEST_SUITE("soft_due", NULL, NULL)
{
	tcase_add_loop_test(tcase, attention, 0, 2);
}
