/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a piece of a trace in what ran. */
#ifndef VMM_ORACLE_ALIGN_H
#define VMM_ORACLE_ALIGN_H

#include "expect.h"

bool vpt_same_step(const struct vpt_step *a, const struct vpt_step *b);

/*
 * Where do `n` decoded steps first occur among the expected ones, of which `step`
 * is the next and `expect` has the rest, before session `end`? 0 and the number of
 * steps before them, -ENOENT or -ENOMEM.
 */
int vpt_align(const struct vpt_expect *expect, const struct vpt_step *step, size_t end,
	      const struct vpt_step *pattern, size_t n, uint64_t *before);

#endif /* VMM_ORACLE_ALIGN_H */
