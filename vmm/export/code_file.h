/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's user code as a file that perf reads in place of the program's: pages in a
 * row as they are in memory, and what takes their place later. It is an ELF file, by
 * which perf tells 32-bit code, and for the names.
 */
#ifndef VMM_EXPORT_CODE_FILE_H
#define VMM_EXPORT_CODE_FILE_H

#include <stdio.h>

#include "debug/symbol.h"
#include "pages.h"

struct vpt_export_code {
	const struct vpt_export_page **pages; /* that are there from the beginning */
	size_t n;
	const struct vpt_export_process *process;
	enum vpt_export_width width;
};

/* 0 or -ENOMEM. Zero but process and width before. */
int vpt_export_code_list(struct vpt_export_code *code, const struct vpt_export_pages *pages);
void vpt_export_code_free(struct vpt_export_code *code);

/* Is there anything to be written? */
bool vpt_export_code_any(const struct vpt_export_code *code);

/* Pages in a row from `first` on: how many. */
size_t vpt_export_code_run(const struct vpt_export_code *code, size_t first);

/* Where pages are in the file. */
uint64_t vpt_export_code_page(size_t index);

struct vpt_export_code_patch {
	uint64_t vaddr, bytes, offset;
};

void vpt_export_code_patch(const struct vpt_export_code *code, size_t index,
			   struct vpt_export_code_patch *patch);

/* 0 or -errno. `symbols` may be NULL. */
int vpt_export_code_write(const struct vpt_export_code *code, const struct vpt_symbols *symbols,
			  FILE *out);

#endif /* VMM_EXPORT_CODE_FILE_H */
