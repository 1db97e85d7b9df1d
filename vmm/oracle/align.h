/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a piece of a trace in what ran. */
#ifndef VMM_ORACLE_ALIGN_H
#define VMM_ORACLE_ALIGN_H

#include "oracle/expect.h"

bool oracle_same_step(const struct oracle_step *a, const struct oracle_step *b);

/*
 * Find @n decoded steps among the expected ones before session @end, those that are told by the
 * step behind them left out in both. @step is the next expected
 * step and @expect has those after it. The first place counts, or with @last the last one, for
 * decoded steps with which the trace ends. Returns 0 and the number of expected steps, again without
 * those, before that place, -ENOENT or -ENOMEM.
 */
int oracle_align(const struct oracle_expect *expect, const struct oracle_step *step, size_t end,
		 const struct oracle_step *pattern, size_t n, bool last, uint64_t *before);

#endif /* VMM_ORACLE_ALIGN_H */
