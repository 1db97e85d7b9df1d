// SPDX-License-Identifier: GPL-2.0-or-later
/* The software CPU: features that only some models have. */
#include "lib/beside.h"
#include "lib/suite.h"

#include <string.h>

/* A write to TSC_ADJUST moves the TSC, and a write to the TSC moves TSC_ADJUST by as much. */
START_TEST(tsc_adjust)
{
	uint64_t tsc, moved, adjust;

	beside_engine->get_msr(beside_vcpu, 0x3b, &adjust);
	ck_assert_uint_eq(adjust, 0);
	beside_engine->get_msr(beside_vcpu, 0x10, &tsc);
	ck_assert_int_eq(beside_engine->set_msr(beside_vcpu, 0x3b, 0 - 1000ull), 0);
	beside_engine->get_msr(beside_vcpu, 0x10, &moved);
	ck_assert_uint_eq(moved, tsc - 1000);
	ck_assert_int_eq(beside_engine->set_msr(beside_vcpu, 0x10, moved + 5000), 0);
	beside_engine->get_msr(beside_vcpu, 0x3b, &adjust);
	ck_assert_uint_eq(adjust, 4000);
	beside_engine->get_msr(beside_vcpu, 0x10a, &adjust);
	ck_assert_uint_eq(adjust, 1);
}
END_TEST

/* RDRAND and RDSEED: the operand's size, the flags, and the numbers of a seed in order. */
static const struct {
	const char *text, *code;
	uint64_t kept; /* the bits of the register that stay */
} random_rows[] = {
	{"rdrand ax", "\x66\x0f\xc7\xf0", ~0xffffull},
	{"rdrand eax", "\x0f\xc7\xf0", 0},
	{"rdrand rax", "\x48\x0f\xc7\xf0", 0},
	{"rdseed ax", "\x66\x0f\xc7\xf8", ~0xffffull},
	{"rdseed eax", "\x0f\xc7\xf8", 0},
	{"rdseed rax", "\x48\x0f\xc7\xf8", 0},
};

#define FLAGS (X86_FL_FIXED | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF)

static uint64_t next(const char *code, uint64_t rax)
{
	struct engine_exit exit;

	*beside_vcpu->regs = (struct x86_regs){.rax = rax, .rflags = FLAGS};
	exit = beside_step(code, strlen(code));
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
	ck_assert_uint_eq(beside_vcpu->regs->rflags, X86_FL_FIXED | X86_FL_CF);
	return beside_vcpu->regs->rax;
}

START_TEST(random_numbers)
{
	const uint64_t kept = random_rows[_i].kept, before = 0x1122334455667788;
	const char *code = random_rows[_i].code;
	uint64_t a, b;

	beside_vcpu->random = (struct engine_random){.seed = 7};
	a = next(code, before);
	b = next(code, before);
	ck_assert_msg(a != b, "%s", random_rows[_i].text);
	ck_assert_uint_eq(a & kept, before & kept);
	if (*code != 'H' && !kept)
		ck_assert_uint_eq(a >> 32, 0);
	ck_assert_uint_eq(beside_vcpu->random.count, 2);
	/* The same number again after a restore, and another one with another seed. */
	beside_vcpu->random.count = 1;
	ck_assert_uint_eq(next(code, before), b);
	beside_vcpu->random = (struct engine_random){.seed = 8};
	ck_assert_uint_ne(next(code, before), a);
}
END_TEST

/* The first numbers of SplitMix64 whose state is the mixed seed. */
START_TEST(random_is_splitmix)
{
	struct engine_random r = {.seed = 0};

	ck_assert_uint_eq(engine_random_next(&r), 0xe220a8397b1dcdaf);
	ck_assert_uint_eq(engine_random_next(&r), 0x6e789e6aa1b965f4);
	ck_assert_uint_eq(engine_random_next(&r), 0x06c45d188009454f);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_model");
	TCase *tc = tcase_create("soft_model");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_test(tc, tsc_adjust);
	tcase_add_loop_test(tc, random_numbers, 0, 6);
	tcase_add_test(tc, random_is_splitmix);
	suite_add_tcase(suite, tc);
	return suite;
}
