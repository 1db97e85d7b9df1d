// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of the tables of the RTIT reference, its examples and its errata, as scenarios:
 * tests/unit/tables/atom/, one file per subject. `make check-rtit` lists them.
 */
#include "lib/tables.h"

static const struct test_scenario rows[] = {
#include "unit/tables/atom/all.tbl"
};

Suite *test_suite(void)
{
	return test_tables_suite("atom_tables", rows, sizeof(rows) / sizeof(rows[0]));
}
