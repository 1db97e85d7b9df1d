/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user code of a process, as a file that perf reads in place of the program. The file has pages
 * in the order of memory, and later versions of pages behind them. It is an ELF file, from which
 * perf takes the code size and the names.
 */
#ifndef VMM_EXPORT_CODE_FILE_H
#define VMM_EXPORT_CODE_FILE_H

#include <stdio.h>

#include "debug/symbol.h"
#include "export/pages.h"

struct export_code {
	const struct export_page **pages; /* that are there from the beginning */
	size_t n;
	const struct export_process *process;
	enum export_width width;
};

/* 0 or -ENOMEM. Zero but process and width before. */
int export_code_list(struct export_code *code, const struct export_pages *pages);
void export_code_free(struct export_code *code);

/* Is there anything to be written? */
bool export_code_any(const struct export_code *code);

/* Pages in a row from `first` on: how many. */
size_t export_code_run(const struct export_code *code, size_t first);

/* Where pages are in the file. */
uint64_t export_code_page(size_t index);

struct export_code_patch {
	uint64_t vaddr, bytes, offset;
};

void export_code_patch(const struct export_code *code, size_t index,
		       struct export_code_patch *patch);

/* 0 or -errno. `symbols` may be NULL. */
int export_code_write(const struct export_code *code, const struct debug_symbols *symbols,
		      FILE *out);

#endif /* VMM_EXPORT_CODE_FILE_H */
