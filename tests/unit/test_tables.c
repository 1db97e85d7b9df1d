// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of the manual's tables, and its examples, as scenarios: tests/unit/tables/, one file per subject.
 * `make check-tables` lists them.
 */
#include "lib/tables.h"

static const struct test_scenario rows[] = {
#include "unit/tables/all.tbl"
};

Suite *test_suite(void)
{
	return test_tables_suite("tables", rows, sizeof(rows) / sizeof(rows[0]));
}
