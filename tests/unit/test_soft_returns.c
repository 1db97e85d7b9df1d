// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks that are one RET each, with as many targets as a unit can have. The stack is a random walk among
 * them. A unit of these has the most code out of line.
 */
#include "lib/plain_traced.h"
#include "lib/suite.h"

#include "soft/compile.h"
#include "soft/compile/compiler.h"
#include "soft/soft.h"

enum { BLOCKS = SOFT_UNIT_BLOCKS, DISTANCE = 16, WALK = 2048, ROUNDS = 200 };

static struct plain_traced fast, slow;

static void begin(struct plain_traced *t, unsigned int after)
{
	static uint8_t code[BLOCKS * DISTANCE];
	unsigned int i;

	memset(code, 0x90, sizeof(code));
	for (i = 0; i < BLOCKS; i++)
		code[i * DISTANCE] = 0xc3;
	plain_traced_create(t);
	t->bits = 64;
	plain_set_mode(&t->machine, 64);
	ck_assert(x86_mem_write(&t->machine.mem, PLAIN_CODE, code, sizeof(code)));
	plain_traced_start(t, 0x100);
	if (soft(t->machine.vcpu)->compiler)
		soft_compile_after(soft(t->machine.vcpu), after);
}

static void run(struct plain_traced *t, unsigned int first, const uint64_t stack[WALK])
{
	struct engine_vcpu *v = t->machine.vcpu;

	ck_assert(x86_mem_write(&t->machine.mem, PLAIN_DATA, stack, WALK * sizeof(*stack)));
	*v->regs = (struct x86_regs){
		.rip = PLAIN_CODE + first * DISTANCE, .rsp = PLAIN_DATA, .rflags = X86_FL_FIXED};
	v->state |= ENGINE_REGS_DIRTY;
	ck_assert_int_eq(plain_traced_run(t, WALK).kind, ENGINE_EXIT_KICK);
}

START_TEST(walks)
{
	unsigned int i, round, at = 0, first, most = 0;
	uint64_t stack[WALK], seed = 1;
	const char *what;

	begin(&fast, 8);
	begin(&slow, 20);
	for (round = 0; round < ROUNDS; round++) {
		first = at;
		for (i = 0; i < WALK; i++) {
			at = (SOFT_LINKS * at + (plain_next(&seed) >> 20) % SOFT_LINKS) % BLOCKS;
			stack[i] = PLAIN_CODE + at * DISTANCE;
		}
		run(&fast, first, stack);
		run(&slow, first, stack);
		what = plain_traced_difference(&fast, &slow);
		ck_assert_msg(!what, "round %u: %s", round, what);
		if (soft(fast.machine.vcpu)->compiler &&
		    soft(fast.machine.vcpu)->compiler->fulls > most)
			most = soft(fast.machine.vcpu)->compiler->fulls;
	}
	if (soft(fast.machine.vcpu)->compiler)
		ck_assert_uint_eq(most, (SOFT_LINKS + 1) * SOFT_UNIT_BLOCKS);
	plain_traced_destroy(&fast);
	plain_traced_destroy(&slow);
}
END_TEST

TEST_SUITE("soft_returns", NULL, NULL)
{
	tcase_add_test(tcase, walks);
}
