/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every tests/unit/test_*.c provides to tests/lib/main.c. */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>

/*
 * The suite of this test program. A table of rules or boundaries is a loop test
 * (tcase_add_loop_test), so that each row counts and is named in a failure.
 */
Suite *test_suite(void);

/*
 * Define test_suite() with one test case. The body adds the tests, and either fixture may be NULL:
 * TEST_SUITE("mem", setup, teardown) { TEST_ADD(tcase, first); }
 */
#define TEST_SUITE(name, setup, teardown)                           \
	static void add_tests(TCase *tcase);                        \
	Suite *test_suite(void)                                     \
	{                                                           \
		Suite *suite_ = suite_create(name);                 \
		TCase *tcase_ = tcase_create(name);                 \
                                                                    \
		tcase_add_checked_fixture(tcase_, setup, teardown); \
		add_tests(tcase_);                                  \
		suite_add_tcase(suite_, tcase_);                    \
		return suite_;                                      \
	}                                                           \
	static void add_tests(TCase *tcase)

/* Add a loop test with one iteration for each row of an array. */
#define TEST_ROWS(tcase, test, rows) \
	tcase_add_loop_test(tcase, test, 0, (int)(sizeof(rows) / sizeof((rows)[0])))

/* Add loop tests with @count iterations each: TEST_LOOP(tcase, 16, first, second). */
#define TEST_LOOP(tcase, count, ...)                                        \
	do {                                                                \
		const TTest *const tests_[] = {__VA_ARGS__};                \
		unsigned int i_;                                            \
                                                                            \
		for (i_ = 0; i_ < sizeof(tests_) / sizeof(tests_[0]); i_++) \
			tcase_add_loop_test(tcase, tests_[i_], 0, count);   \
	} while (0)

/* Add tests that are no loop tests. */
#define TEST_ADD(tcase, ...) TEST_LOOP(tcase, 1, __VA_ARGS__)

/*
 * Record that the running test has proved facts of shared/spec: TEST_PROVES("CTL-OS CTL-USER").
 * It is the last statement of a test, so that a test that fails an assertion records nothing.
 * A loop test records its row's facts: TEST_PROVES(rows[_i].tags).
 */
#define TEST_PROVES(tags) test_proved(tags, __FILE__, __func__, _i)

/* The facts that a row of a table proves. The test of the row passes them to TEST_PROVES(). */
#define TEST_ROW_PROVES(tags) (tags)

/*
 * Append one line for each of @tags to the file $TEST_PROOFS, if that is set: tag, @file, program,
 * @test, @row, separated by tabs. @tags may be NULL or empty. Fails the test if the file cannot
 * be written.
 */
void test_proved(const char *tags, const char *file, const char *test, int row);

#endif /* TESTS_LIB_SUITE_H */
