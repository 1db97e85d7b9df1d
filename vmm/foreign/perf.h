/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data as perf record leaves it: a file, a pipe's content, or a directory. */
#ifndef VMM_FOREIGN_PERF_H
#define VMM_FOREIGN_PERF_H

#include "foreign/foreign.h"

/*
 * Read @path, "-" for standard input, into @t, which is all zero but for `root` and `kcore`.
 * Returns 0, or -errno with one line in @why: -EINVAL if the content is wrong. *@damage is set to
 * a static text if the file is damaged at *@where; what comes before is in @t.
 */
int foreign_perf_read(const char *path, struct foreign_trace *t, const char **damage,
		      uint64_t *where, char *why, size_t size);

#endif /* VMM_FOREIGN_PERF_H */
