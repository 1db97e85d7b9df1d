// SPDX-License-Identifier: GPL-2.0-or-later
/* The software CPU: features that only some models have. */
#include "lib/beside.h"
#include "lib/suite.h"

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

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_model");
	TCase *tc = tcase_create("soft_model");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_test(tc, tsc_adjust);
	suite_add_tcase(suite, tc);
	return suite;
}
