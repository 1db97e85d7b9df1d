/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verbs of vpt on one file of a test's own, and what they print. */
#ifndef TESTS_LIB_VERB_H
#define TESTS_LIB_VERB_H

#include <stddef.h>
#include <stdint.h>

/* Fixtures: a folder of its own for each test. */
void verb_setup(void);
void verb_teardown(void);

/* The file, which need not exist. */
const char *verb_file(void);
void verb_put_file(const void *bytes, size_t len);

/* Run `vpt NAME OPTIONS FILE`, that is `verb`; what it prints goes to `text`. Its status. */
int verb_run(int (*verb)(int argc, char **argv), const char *name, const char *options, char *text,
	     size_t size);

/*
 * Every byte of the file is in a packet or in none, whatever the bytes are: random ones with
 * PSBs in between. OPTIONS of `vpt dump` make it one JSON object of sums.
 */
void verb_accounts(int (*dump)(int argc, char **argv), const char *options, const uint8_t *psb,
		   size_t psb_bytes, uint64_t seed);

#endif /* TESTS_LIB_VERB_H */
