// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flow decoder, by cases: code, packets and what a processor ran. tests/libdecode/README.md
 * describes the files. Each case runs block by block and with tracelets, and with its packets
 * pushed as a whole, in two pieces at each byte, and byte by byte.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flowcase.h"

#define CASES_MAX 200

static struct flow_case cases[CASES_MAX];
static unsigned int ncases;

START_TEST(as_a_whole)
{
	char *text = flow_case_run(&cases[_i], SIZE_MAX);

	ck_assert_msg(!strcmp(text, cases[_i].flow), "%s\n  expected: %s\n  decoded:  %s",
		      cases[_i].name, cases[_i].flow, text);
	free(text);
}
END_TEST

START_TEST(with_tracelets)
{
	uint64_t whole = flow_case_count(&cases[_i], false);

	ck_assert_msg(flow_case_count(&cases[_i], true) == whole,
		      "%s: another number of instructions", cases[_i].name);
}
END_TEST

START_TEST(in_pieces)
{
	const struct flow_case *c = &cases[_i];
	size_t at;

	for (at = 1; at < c->len; at++) {
		char *text = flow_case_run(c, at);

		ck_assert_msg(!strcmp(text, c->flow), "%s in pieces of %zu\n  decoded: %s", c->name,
			      at, text);
		free(text);
	}
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *s = suite_create("libdecode");
	TCase *t = tcase_create("cases");

	ncases = flow_cases_read("tests/libdecode", cases, CASES_MAX);
	tcase_add_loop_test(t, as_a_whole, 0, (int)ncases);
	tcase_add_loop_test(t, with_tracelets, 0, (int)ncases);
	tcase_add_loop_test(t, in_pieces, 0, (int)ncases);
	suite_add_tcase(s, t);
	return s;
}
