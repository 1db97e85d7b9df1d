// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trace of compiled code. Random programs run on two machines, one that compiles early and one
 * that does not compile. Both trace into memory, and both traces and units must be the same after
 * each budget. Half of them have MTCs, which the second machine's unit works out at each branch. TEST_TRACED_PROGRAMS is the number of programs, and TEST_TRACED_SEED the seed.
 */
#include "lib/plain_traced.h"
#include "lib/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/compile.h"
#include "soft/compile/compiler.h"
#include "soft/soft.h"

enum { PROGRAMS = 1500, CHUNKS = 6, NEVER = 20 };

static struct plain_traced fast, slow;
static struct plain_program program;
static unsigned int code_bits;

static void begin(void)
{
	plain_traced_create(&fast);
	plain_traced_create(&slow);
	if (soft(slow.machine.vcpu)->compiler)
		soft_compile_after(soft(slow.machine.vcpu), NEVER);
}

static void end(void)
{
	plain_traced_destroy(&fast);
	plain_traced_destroy(&slow);
}

static const char *difference(void)
{
	if (memcmp(fast.machine.vcpu->regs, slow.machine.vcpu->regs, sizeof(struct x86_regs)) ||
	    fast.machine.vcpu->retired != slow.machine.vcpu->retired)
		return "registers";
	return plain_traced_difference(&fast, &slow);
}

static const char *compare_program(uint64_t *state, uint64_t *tips)
{
	uint64_t x = plain_next(state);
	unsigned int i;

	if (soft(fast.machine.vcpu)->compiler)
		soft_compile_after(soft(fast.machine.vcpu), x >> 16 & 3);
	plain_program(state, code_bits, &program);
	plain_load(&fast.machine, &program);
	plain_load(&slow.machine, &program);
	plain_set_registers(&fast.machine, &program, state, code_bits);
	plain_copy_registers(&slow.machine, &fast.machine);
	plain_traced_start(&fast, x);
	plain_traced_start(&slow, x);
	for (i = 0; i < CHUNKS; i++) {
		uint64_t y = plain_next(state), bytes = fast.pt.psb_bytes;
		uint64_t budget = y & 1 ? 1 + (y >> 8 & 31) : 100 + (y >> 8 & 2047);
		const struct engine_exit a = plain_traced_run(&fast, budget);
		const struct engine_exit b = plain_traced_run(&slow, budget);
		const char *what = a.kind != b.kind ? "exit" : difference();

		if (what)
			return what;
		*tips += fast.pt.psb_bytes != bytes;
		if (a.kind == ENGINE_EXIT_FAULT || a.kind == ENGINE_EXIT_CORE) {
			plain_set_registers(&fast.machine, &program, state, code_bits);
			plain_copy_registers(&slow.machine, &fast.machine);
		}
	}
	return NULL;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

START_TEST(same_traces)
{
	uint64_t seed = number_from("TEST_TRACED_SEED", 1) << 32, tips = 0, i;
	uint64_t programs = number_from("TEST_TRACED_PROGRAMS", PROGRAMS);

	code_bits = fast.bits = slow.bits = _i & 1 ? 32 : 64;
	if (_i >> 1) {
		plain_traced_time(&fast, true);
		plain_traced_time(&slow, false);
	}
	plain_set_mode(&fast.machine, code_bits);
	plain_set_mode(&slow.machine, code_bits);
	for (i = 0; i < programs; i++) {
		uint64_t state = seed + i;
		const char *what = compare_program(&state, &tips);

		ck_assert_msg(!what, "program %" PRIu64 ", %u bits: other %s", i, code_bits, what);
	}
	printf("%u bits: %" PRIu64 " instructions, %" PRIu64 " parts with packets, %" PRIu64
	       " and %" PRIu64 " reports\n",
	       code_bits, fast.machine.vcpu->retired, tips, fast.reports, slow.reports);
	ck_assert_uint_gt(tips, programs);
	ck_assert_uint_gt(slow.reports, 0);
	if (soft(fast.machine.vcpu)->compiler)
		ck_assert_uint_gt(soft(fast.machine.vcpu)->compiler->region.used, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_traced");
	TCase *t = tcase_create("traced");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, number_from("TEST_TRACED_PROGRAMS", 0) > PROGRAMS ? 7200 : 60);
	tcase_add_loop_test(t, same_traces, 0, 4);
	suite_add_tcase(s, t);
	return s;
}
