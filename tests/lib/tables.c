// SPDX-License-Identifier: GPL-2.0-or-later
/* A test suite made of the rows of a document's tables. */
#include "lib/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct vpt_scenario *all_rows;

/* "TABLE ROW" out of "TABLE\tROW\tWHAT". */
static void short_name(char *name, size_t size, const struct vpt_scenario *scenario)
{
	const int table = (int)strcspn(scenario->name, "\t");
	const char *row = scenario->name + table + 1;

	snprintf(name, size, "%.*s %.*s", table, scenario->name, (int)strcspn(row, "\t"), row);
}

START_TEST(row)
{
	const struct vpt_scenario *scenario = &all_rows[_i];
	char name[64];

	vpt_scenario_check(scenario);
	if (getenv("VPT_LIST_ROWS"))
		printf("%s\t%s\n", scenario->name, scenario->packets);
	short_name(name, sizeof(name), scenario);
	vpt_proved(scenario->tags, scenario->file, name, _i);
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
