/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results in the style of kvm-unit-tests: a line for each check, a summary, and an exit status. The
 * output of a payload is the same on every run.
 */
#ifndef GUEST_LIB_REPORT_H
#define GUEST_LIB_REPORT_H

#include "vpt/base.h"

/* The exit status of a payload. */
enum report_status {
	REPORT_PASS = 0,
	REPORT_FAIL = 1, /* at least one check failed */
	REPORT_SKIP = 2, /* no check failed, but some were skipped */
};

/* Returns `pass`, so that a caller can stop if it cannot continue. */
bool report(bool pass, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Report whether two numbers are equal; a failure shows both. */
bool report_equal(uint64_t got, uint64_t want, const char *what);

/* Report a feature that this machine lacks; the text names it. */
void report_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Report an optional feature that this processor lacks. It has no effect on the result. */
void report_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the closing line and return the exit status. */
uint32_t report_summary(void);

#endif /* GUEST_LIB_REPORT_H */
