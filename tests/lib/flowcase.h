/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases for the flow decoder: tests/cli/libdecode/README.md describes their files. */
#ifndef TESTS_LIB_FLOWCASE_H
#define TESTS_LIB_FLOWCASE_H

#include <stddef.h>

#include "libdecode/pt_time.h"

#define FLOW_CODE_MAX 32

struct flow_case {
	char name[160];
	struct dec_pt_config config;
	bool timed;
	struct dec_time_config time;
	unsigned int ncode;
	struct flow_code {
		uint64_t space, address, key;
		uint64_t at; /* the instruction counter at which the code appears */
		uint8_t bytes[256];
		size_t len;
	} code[FLOW_CODE_MAX];
	uint8_t packets[65536];
	size_t len;
	char *flow; /* expected, words separated by one blank */
};

/* Read all *.flow files of a folder. Fails the test run if one cannot be read. */
unsigned int flow_cases_read(const char *folder, struct flow_case *cases, unsigned int max);

/*
 * Decode a case, @piece bytes at a time. Returns the decoded flow as text, which the caller frees.
 */
char *flow_case_run(const struct flow_case *c, size_t piece);

/*
 * Decode a case without reports, @piece bytes at a time. Returns the number of instructions. With
 * @again, decode once more with the blocks and tracelets of the first pass. Returns UINT64_MAX if
 * both numbers differ.
 */
uint64_t flow_case_count(const struct flow_case *c, bool tracelets, size_t piece, bool again);

/* The number of instructions that the case expects. */
uint64_t flow_case_insns(const struct flow_case *c);

/* Does code change in the middle of the case? Such a case cannot be decoded again. */
bool flow_case_changes(const struct flow_case *c);

#endif /* TESTS_LIB_FLOWCASE_H */
