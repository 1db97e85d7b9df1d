// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flow decoder, by cases: code, packets and what a processor ran. tests/libdecode/README.md
 * describes the files. Each case is decoded with its packets pushed as a whole and in pieces of
 * each size. Once more only the instructions are counted, as libvptdecode does without callbacks.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flowcase.h"

#define CASES_MAX 400

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

/* Counts alone: block by block and with tracelets, new and cached, as a whole and byte by byte. */
START_TEST(counts_alone)
{
	const struct flow_case *c = &cases[_i];
	uint64_t want = flow_case_insns(c);
	unsigned int way;

	for (way = 0; way < 4; way++) {
		bool tracelets = way & 1;
		size_t piece = way & 2 ? 1 : SIZE_MAX;
		uint64_t n = flow_case_count(c, tracelets, piece, !flow_case_changes(c));

		ck_assert_msg(n == want, "%s: %lld instructions, not %llu, %s%s", c->name,
			      (long long)n, (unsigned long long)want,
			      tracelets ? "with tracelets" : "block by block",
			      piece == 1 ? ", byte by byte" : "");
	}
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

Suite *test_suite(void)
{
	Suite *s = suite_create("libdecode");
	TCase *t = tcase_create("cases");

	ncases = flow_cases_read("tests/libdecode", cases, CASES_MAX);
	tcase_add_loop_test(t, as_a_whole, 0, (int)ncases);
	tcase_add_loop_test(t, counts_alone, 0, (int)ncases);
	tcase_add_loop_test(t, in_pieces, 0, (int)ncases);
	suite_add_tcase(s, t);
	return s;
}
