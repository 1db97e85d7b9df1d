/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every tests/unit/test_*.c provides to tests/lib/main.c. */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>

/*
 * The suite of this test program. A table of rules or boundaries is a loop test
 * (tcase_add_loop_test), so that each row counts and is named in a failure.
 */
Suite *vpt_suite(void);

/*
 * The facts of shared/spec/ that a test proves: VPT_PROVES("CTL-OS CTL-USER").
 * Checked in CI: every tag of every .def file stands in at least one of these.
 */
#define VPT_PROVES(tags) ((void)sizeof(tags))

/* The same as a value in a row of a table. */
#define VPT_ROW_PROVES(tags) (tags)

#endif /* TESTS_LIB_SUITE_H */
