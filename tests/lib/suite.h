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
