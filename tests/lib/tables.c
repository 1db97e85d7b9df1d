// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/tables.h"

#include <stdio.h>
#include <stdlib.h>

static const struct vpt_scenario *all_rows;

START_TEST(row)
{
	vpt_scenario_check(&all_rows[_i]);
	if (getenv("VPT_LIST_ROWS"))
		printf("%s\t%s\n", all_rows[_i].name, all_rows[_i].packets);
}
END_TEST

Suite *vpt_tables_suite(const char *name, const struct vpt_scenario *rows, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create("rows");

	all_rows = rows;
	tcase_add_loop_test(tcase, row, 0, (int)count);
	suite_add_tcase(suite, tcase);
	return suite;
}
