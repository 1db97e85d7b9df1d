/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison of all vCPUs, each on one thread or two. */
#ifndef VMM_ORACLE_COMPARE_ALL_H
#define VMM_ORACLE_COMPARE_ALL_H

#include "oracle/compare.h"

/*
 * Compare all vCPUs, up to @jobs at a time. If there are more jobs than vCPUs, a second thread
 * decodes ahead for the first vCPUs. The result is that of oracle_compare() for one vCPU after the
 * other. The mismatches in @c change meanwhile, and can be read by __atomic_load_n(). The watch of
 * the reader is called by all threads. libipt, and a reader with a source of code, have one thread.
 * Returns 0 or -errno.
 */
int oracle_compare_all(struct trace_reader *reader, unsigned int jobs, struct oracle_comparison *c);

/* Add the result of a later vCPU to @c. @from is emptied. Returns 0 or -ENOMEM. */
int oracle_comparison_add(struct oracle_comparison *c, struct oracle_comparison *from);

#endif /* VMM_ORACLE_COMPARE_ALL_H */
