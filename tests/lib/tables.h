/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests from the rows of a document's tables, each of which is a scenario (test_tables.c and
 * others).
 */
#ifndef TESTS_LIB_TABLES_H
#define TESTS_LIB_TABLES_H

#include "lib/scenario.h"
#include "lib/suite.h"

#include <stddef.h>

#define TEST_ROW(table_, row_, what_, model_, tags_, script_, packets_) \
	{.name = table_ "\t" row_ "\t" what_,                           \
	 .file = __FILE__,                                              \
	 .tags = tags_,                                                 \
	 .model = model_,                                               \
	 .script = script_,                                             \
	 .packets = packets_},

/*
 * Make a suite of the rows. If TEST_LIST_ROWS is set, each row that passes is printed as table,
 * row, description and packets, separated by tabs.
 */
Suite *test_tables_suite(const char *name, const struct test_scenario *rows, size_t count);

#endif /* TESTS_LIB_TABLES_H */
