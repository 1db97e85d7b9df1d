/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results, in the manner of kvm-unit-tests: a line a check, a summary, and an
 * exit status. The output of a payload is the same on every run.
 */
#ifndef GUEST_LIB_REPORT_H
#define GUEST_LIB_REPORT_H

#include "vpt/base.h"

/* The exit status of a payload. */
enum report_status {
	REPORT_PASS = 0,
	REPORT_FAIL = 1, /* at least one check failed */
	REPORT_SKIP = 2, /* none failed, but something could not be checked */
};

/* Returns `pass`, so that a caller can stop where going on makes no sense. */
bool report(bool pass, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Two numbers that have to be equal; a failure shows both. */
bool report_equal(uint64_t got, uint64_t want, const char *what);

/* Something that this machine does not offer; the text says what. */
void report_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something that processors may or may not have, and that this one has not. Counts
 * as nothing: the rest was checked. */
void report_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints the closing line and returns the exit status. */
uint32_t report_summary(void);

#endif /* GUEST_LIB_REPORT_H */
