/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run verbs of vpt on a test's own file and capture their output. */
#ifndef TESTS_LIB_VERB_H
#define TESTS_LIB_VERB_H

#include <stddef.h>
#include <stdint.h>

/* Fixtures that give each test its own folder. */
void verb_setup(void);
void verb_teardown(void);

/* Return the path of the test's file. The file need not exist. */
const char *verb_file(void);
void verb_put_file(const void *bytes, size_t len);

/* Run `verb` as `vpt NAME OPTIONS FILE` and store its output in `text`. Returns its exit status. */
int verb_run(int (*verb)(int argc, char **argv), const char *name, const char *options, char *text,
	     size_t size);

/*
 * Check that `vpt dump` accounts for every byte of files of random bytes with PSBs in between. With
 * `options` it must print one JSON object of sums.
 */
void verb_accounts(int (*dump)(int argc, char **argv), const char *options, const uint8_t *psb,
		   size_t psb_bytes, uint64_t seed);

#endif /* TESTS_LIB_VERB_H */
