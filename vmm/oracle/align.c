// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare sequences of steps, and find where they meet again after a difference. */
#include "align.h"

#include <errno.h>
#include <stdlib.h>

bool vpt_same_step(const struct vpt_step *a, const struct vpt_step *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VPT_STEP_INSN:
	case VPT_STEP_ENABLED:
	case VPT_STEP_ASYNC_OFF:
		return a->ip == b->ip;
	case VPT_STEP_ASYNC:
		return a->ip == b->ip && a->to == b->to;
	default:
		return true;
	}
}

/* Knuth, Morris, Pratt: loops make for many near misses. */
int vpt_align(const struct vpt_expect *expect, const struct vpt_step *step, size_t end,
	      const struct vpt_step *pattern, size_t n, bool last, uint64_t *before)
{
	size_t *back = calloc(n + 1, sizeof(*back));
	struct vpt_expect e = *expect;
	struct vpt_step s = *step;
	uint64_t seen = 0;
	bool found = false;
	size_t i, k = 0;

	if (!back)
		return -ENOMEM;
	/* back[i]: the longest proper beginning of the first i steps that ends them. */
	for (i = 1; i < n; i++) {
		while (k && !vpt_same_step(&pattern[k], &pattern[i]))
			k = back[k];
		k += vpt_same_step(&pattern[k], &pattern[i]);
		back[i + 1] = k;
	}
	for (k = 0; (last || !found) && s.kind != VPT_STEP_END && s.kind != VPT_STEP_WRONG &&
		    s.session < end;) {
		if (s.told) {
			/* The event that tells it may be lost, and then it is the last step. */
			if (k + 1 == n && vpt_same_step(&pattern[k], &s)) {
				found = true;
				*before = seen - k;
			}
			vpt_expect_next(&e, &s);
			continue;
		}
		while (k && (k == n || !vpt_same_step(&pattern[k], &s)))
			k = back[k];
		k += vpt_same_step(&pattern[k], &s);
		vpt_expect_next(&e, &s);
		seen++;
		if (k == n) {
			found = true;
			*before = seen - n;
		}
	}
	free(back);
	return found ? 0 : -ENOENT;
}
