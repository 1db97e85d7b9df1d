/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check of fuzzers: a condition that does not hold ends the process with abort(). */
#ifndef TESTS_LIB_REQUIRE_H
#define TESTS_LIB_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(cond) ((cond) ? (void)0 : require_failed(#cond, __FILE__, __LINE__))

static inline _Noreturn void require_failed(const char *cond, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, cond);
	abort();
}

#endif /* TESTS_LIB_REQUIRE_H */
