/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of code, with each content once in the .vpt file. They come from the files that a trace
 * names, below its root, or from the user's cache of files by build-id, like perf's.
 */
#ifndef VMM_FOREIGN_CODE_H
#define VMM_FOREIGN_CODE_H

#include "foreign/foreign.h"
#include "trace/pairs.h"
#include "trace/writer.h"

struct foreign_file {
	int fd; /* -1 if there is none */
	bool tried;
	uint64_t size;
};

struct foreign_code {
	struct foreign_trace *trace;
	struct trace_writer *writer;
	struct foreign_file *files;  /* as many entries as trace->files */
	struct trace_pairs contents; /* maps (file, page) to the content's id */
	uint64_t pages;
};

/* Returns 0 or -ENOMEM. @trace and @writer outlive the code. */
int foreign_code_init(struct foreign_code *code, struct foreign_trace *trace,
		      struct trace_writer *writer);
void foreign_code_free(struct foreign_code *code);

/* Open a file if it exists. Returns its size, or 0. */
uint64_t foreign_code_size(struct foreign_code *code, uint32_t file);
/*
 * Write the page at @offset of a file, padded with zeros, to the trace file. Returns 1 and the id
 * of its content, 0 if the file has no such page, or -errno of the trace file.
 */
int foreign_code_page(struct foreign_code *code, uint32_t file, uint64_t offset, uint64_t *content);

#endif /* VMM_FOREIGN_CODE_H */
