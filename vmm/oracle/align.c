// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares sequences of steps, and finds where they match again after a difference. */
#include "oracle/align.h"

#include <errno.h>
#include <stdlib.h>

bool oracle_same_step(const struct oracle_step *a, const struct oracle_step *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ORACLE_STEP_INSN:
	case ORACLE_STEP_ENABLED:
	case ORACLE_STEP_ASYNC_OFF:
		return a->ip == b->ip;
	case ORACLE_STEP_ASYNC:
		return a->ip == b->ip && a->to == b->to;
	default:
		return true;
	}
}

/* Knuth, Morris, Pratt: loops cause many partial matches. */
int oracle_align(const struct oracle_expect *expect, const struct oracle_step *step, size_t end,
		 const struct oracle_step *pattern, size_t n, bool last, uint64_t *before)
{
	size_t *back = calloc(n + 1, sizeof(*back));
	struct oracle_expect e = *expect;
	struct oracle_step s = *step;
	uint64_t seen = 0;
	bool found = false;
	size_t i, k = 0;

	if (!back)
		return -ENOMEM;
	/* back[i]: the longest proper prefix of the first i steps that is also their suffix. */
	for (i = 1; i < n; i++) {
		while (k && !oracle_same_step(&pattern[k], &pattern[i]))
			k = back[k];
		k += oracle_same_step(&pattern[k], &pattern[i]);
		back[i + 1] = k;
	}
	for (k = 0; (last || !found) && s.kind != ORACLE_STEP_END && s.kind != ORACLE_STEP_WRONG &&
		    s.session < end;) {
		if (s.told) {
			/* The event behind this step may be lost, and then it is the last step. */
			if (k + 1 == n && oracle_same_step(&pattern[k], &s)) {
				found = true;
				*before = seen - k;
			}
			oracle_expect_next(&e, &s);
			continue;
		}
		while (k && (k == n || !oracle_same_step(&pattern[k], &s)))
			k = back[k];
		k += oracle_same_step(&pattern[k], &s);
		oracle_expect_next(&e, &s);
		seen++;
		if (k == n) {
			found = true;
			*before = seen - n;
		}
	}
	free(back);
	return found ? 0 : -ENOENT;
}
