// SPDX-License-Identifier: GPL-2.0-or-later
/* Make a test suite from the rows of a document's tables. */
#include "lib/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct test_scenario *all_rows;

/* Make "TABLE ROW" from "TABLE\tROW\tWHAT". */
static void short_name(char *name, size_t size, const struct test_scenario *scenario)
{
	const int table = (int)strcspn(scenario->name, "\t");
	const char *row = scenario->name + table + 1;

	snprintf(name, size, "%.*s %.*s", table, scenario->name, (int)strcspn(row, "\t"), row);
}

START_TEST(row)
{
	const struct test_scenario *scenario = &all_rows[_i];
	char name[64];

	test_scenario_check(scenario);
	if (getenv("TEST_LIST_ROWS"))
		printf("%s\t%s\n", scenario->name, scenario->packets);
	short_name(name, sizeof(name), scenario);
	test_proved(scenario->tags, scenario->file, name, _i);
}
END_TEST

static size_t all_count;

/* A row is cited by its table and name. */
START_TEST(names_are_unique)
{
	char one[64], other[64];
	size_t i, j;

	for (i = 0; i < all_count; i++) {
		short_name(one, sizeof(one), &all_rows[i]);
		for (j = 0; j < i; j++) {
			short_name(other, sizeof(other), &all_rows[j]);
			ck_assert_msg(strcmp(one, other) != 0, "row %s is there twice", one);
		}
	}
}
END_TEST

Suite *test_tables_suite(const char *name, const struct test_scenario *rows, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create("rows");

	all_rows = rows;
	all_count = count;
	tcase_add_loop_test(tcase, row, 0, (int)count);
	tcase_add_test(tcase, names_are_unique);
	suite_add_tcase(suite, tcase);
	return suite;
}
