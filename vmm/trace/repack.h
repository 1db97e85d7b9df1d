/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rewrites a .vpt file with compressed or uncompressed blocks. */
#ifndef VMM_TRACE_REPACK_H
#define VMM_TRACE_REPACK_H

#include "trace/reader.h"

struct trace_repack_report {
	uint64_t from, to; /* sizes of both files */
	uint64_t dropped;  /* number of blocks of an old file that the new version cannot have */
};

/* A version of a page that is added, and its TRACE_CODE_BYTES bytes. */
struct trace_repack_code {
	struct trace_code_page page;
	const uint8_t *bytes;
};

/* Blocks of a vCPU that are added. Entries of @code with the same bytes follow each other. */
struct trace_repack_more {
	struct trace_refined refined;
	const struct trace_repack_code *code;
	size_t ncode;
};

/*
 * Copy all blocks of the trace at @path into a file of the current version at @fd. @reader has read
 * the trace and found no damage. @level is that of zstd, 0: not compressed. The PSBs of an old file
 * are listed again. @more has an entry for each vCPU, or is NULL. Returns 0, or -errno: -EINVAL if the
 * file changed meanwhile.
 */
int trace_repack(const struct trace_reader *reader, const char *path, int fd, int level,
		 const struct trace_repack_more *more, struct trace_repack_report *report);

#endif /* VMM_TRACE_REPACK_H */
