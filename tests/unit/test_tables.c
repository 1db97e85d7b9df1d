// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of the manual's tables, and its examples, as scenarios: tests/tables/, one file per subject.
 * `make check-tables` lists them.
 */
#include "lib/suite.h"
#include "lib/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define VPT_ROW(table_, row_, what_, model_, tags_, script_, packets_) \
	{.name = table_ "\t" row_ "\t" what_,                          \
	 .tags = tags_,                                                \
	 .model = model_,                                              \
	 .script = script_,                                            \
	 .packets = packets_},

static const struct vpt_scenario rows[] = {
#include "tables/all.tbl"
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

START_TEST(row)
{
	vpt_scenario_check(&rows[_i]);
	if (getenv("VPT_LIST_ROWS"))
		printf("%s\t%s\n", rows[_i].name, rows[_i].packets);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("tables");
	TCase *tcase = tcase_create("rows");

	tcase_add_loop_test(tcase, row, 0, ROWS);
	suite_add_tcase(suite, tcase);
	return suite;
}
