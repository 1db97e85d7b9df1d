/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data as perf record writes it: a file, a pipe's content, or a directory. */
#ifndef VMM_FOREIGN_PERF_H
#define VMM_FOREIGN_PERF_H

#include "foreign/foreign.h"

/*
 * Read @path, "-" for standard input, into @t, which is all zero except `root` and `kcore`. Returns
 * 0, or -errno with one line in @why: -EINVAL if the content is wrong. If the file is damaged at
 * *@where, *@damage is set to a static text, and @t has the records before the damage.
 */
int foreign_perf_read(const char *path, struct foreign_trace *t, const char **damage,
		      uint64_t *where, char *why, size_t size);

#endif /* VMM_FOREIGN_PERF_H */
