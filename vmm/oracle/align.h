/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search for a piece of a trace in the executed instructions. */
#ifndef VMM_ORACLE_ALIGN_H
#define VMM_ORACLE_ALIGN_H

#include "oracle/expect.h"

bool oracle_same_step(const struct oracle_step *a, const struct oracle_step *b);

/*
 * Find the @n decoded steps of @pattern among the expected ones before session @end. Both sides are
 * without the steps that the step behind them implies. @step is the next expected step, and @expect
 * has the steps after it. Find the first match, or the last one if @last is set, for decoded steps
 * at the end of the trace. Returns 0, -ENOENT or -ENOMEM. *before is the number of expected steps
 * before the match, without implied steps.
 */
int oracle_align(const struct oracle_expect *expect, const struct oracle_step *step, size_t end,
		 const struct oracle_step *pattern, size_t n, bool last, uint64_t *before);

#endif /* VMM_ORACLE_ALIGN_H */
