/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a .vpt file anew with its blocks compressed, or not compressed. */
#ifndef VMM_TRACE_REPACK_H
#define VMM_TRACE_REPACK_H

#include "trace/reader.h"

struct trace_repack_report {
	uint64_t from, to; /* bytes of both files */
	uint64_t dropped;  /* blocks of an old file whose type it cannot have */
};

/*
 * Copy all blocks of the trace at @path, which @reader has read and found to be whole, into a file
 * of the current version at @fd. @level is that of zstd, 0: not compressed. The PSBs of an old file
 * are listed anew. Returns 0, or -errno: -EINVAL if the file changed meanwhile.
 */
int trace_repack(const struct trace_reader *reader, const char *path, int fd, int level,
		 struct trace_repack_report *report);

#endif /* VMM_TRACE_REPACK_H */
