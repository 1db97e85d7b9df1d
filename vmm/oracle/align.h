/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Search for a piece of a trace in the executed instructions. */
#ifndef VMM_ORACLE_ALIGN_H
#define VMM_ORACLE_ALIGN_H

#include "oracle/expect.h"

bool oracle_same_step(const struct oracle_step *a, const struct oracle_step *b);

/*
 * Find @n decoded steps among the expected ones before session @end. Ignore steps that the step
 * behind them implies, on both sides. @step is the next expected step and @expect has those after
 * it. Return the first match, or with @last the last one, for decoded steps at the end of the
 * trace. Returns 0 and the number of expected steps before the match, -ENOENT or -ENOMEM.
 */
int oracle_align(const struct oracle_expect *expect, const struct oracle_step *step, size_t end,
		 const struct oracle_step *pattern, size_t n, bool last, uint64_t *before);

#endif /* VMM_ORACLE_ALIGN_H */
