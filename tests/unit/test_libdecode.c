// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cases for the flow decoder: code, packets and the executed instructions. tests/cli/libdecode/README.md
 * describes the files. Each case is decoded with its packets pushed as a whole and in pieces of each
 * size. Another test only counts instructions, like libvptdecode without callbacks.
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

/* Count instructions block by block or with tracelets, as a whole or byte by byte. */
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

TEST_SUITE("libdecode", NULL, NULL)
{
	ncases = flow_cases_read("tests/cli/libdecode", cases, CASES_MAX);
	TEST_LOOP(tcase, (int)ncases, as_a_whole, counts_alone, in_pieces);
}
