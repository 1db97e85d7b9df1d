/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user code of a process, as a file that perf reads in place of the program. The file has pages
 * in the order of memory, followed by later versions of pages. The file is in ELF format. perf
 * takes the code size and the names from it.
 */
#ifndef VMM_EXPORT_CODE_FILE_H
#define VMM_EXPORT_CODE_FILE_H

#include <stdio.h>

#include "debug/symbol.h"
#include "export/pages.h"

struct export_code {
	const struct export_page **pages; /* the pages that exist from the beginning */
	size_t n;
	const struct export_process *process;
	enum export_width width;
};

/*
 * List the pages of the process with this width. Set `process` and `width` and clear the rest
 * before. Returns 0 or -ENOMEM.
 */
int export_code_list(struct export_code *code, const struct export_pages *pages);
void export_code_free(struct export_code *code);

/* Returns true if there is any code to write. */
bool export_code_any(const struct export_code *code);

/* Return the number of contiguous pages from `first` on. */
size_t export_code_run(const struct export_code *code, size_t first);

/* Return the offset of a page in the file. */
uint64_t export_code_page(size_t index);

struct export_code_patch {
	uint64_t vaddr, bytes, offset;
};

void export_code_patch(const struct export_code *code, size_t index,
		       struct export_code_patch *patch);

/* Write the file. `symbols` may be NULL. Returns 0 or -errno. */
int export_code_write(const struct export_code *code, const struct debug_symbols *symbols,
		      FILE *out);

#endif /* VMM_EXPORT_CODE_FILE_H */
