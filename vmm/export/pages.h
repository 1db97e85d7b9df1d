/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that perf has, compared with code of the trace.
 *
 * perf knows one kernel and processes that share it. The trace knows pages by address space. Every
 * address space becomes a process. Two whose CR3s differ in bit 12 only become one if the even one
 * has no user code. Linux splits a process in that way with page-table isolation.
 */
#ifndef VMM_EXPORT_PAGES_H
#define VMM_EXPORT_PAGES_H

#include "trace/reader.h"

#define EXPORT_KERNEL (1ull << 63) /* perf takes addresses from here on for a kernel's */

struct export_page;

/* A file of code holds 32-bit or other code, as perf tells them apart by file. */
enum export_width { EXPORT_CODE64, EXPORT_CODE32, EXPORT_WIDTHS };

/* A page that takes the place of another, with its neighbours for what crosses them. */
struct export_patch {
	const struct export_page *page;
	const uint8_t *before, *bytes, *after; /* before, after: may be NULL */
};

struct export_process {
	uint64_t cr3;
	uint32_t pid;
	char name[16];
	bool used;		   /* it runs in what is exported */
	bool user;		   /* it has user code */
	struct export_process *of; /* NULL, or the process that this is the kernel's side of */
	struct {
		struct export_patch *at;
		size_t n, room;
	} patches[EXPORT_WIDTHS];
};

struct export_page {
	struct export_process *process; /* of user code */
	uint64_t vaddr;
	const uint8_t *base; /* as perf has it when it begins; NULL: never used */
	const uint8_t *have; /* as perf has it now */
	uint8_t base_width, width;
};

struct export_pages {
	struct export_process *processes; /* sorted by CR3 */
	size_t nprocesses;
	struct export_page *pages; /* the kernel's, then by process; by address */
	size_t npages;
};

/* List what all vCPUs of a trace have. Returns 0 or -ENOMEM. */
int export_pages_open(struct export_pages *pages, const struct trace_reader *reader);
void export_pages_close(struct export_pages *pages);

/* NULL: no code of such a space. */
struct export_process *export_process(const struct export_pages *pages, uint64_t cr3);

/* The pages of a process, or of the kernel if @process is NULL; *count may be 0. */
const struct export_page *export_pages_of(const struct export_pages *pages,
					  const struct export_process *process, size_t *count);

/* The page at @vaddr as @process has it, or the kernel where that is the kernel's. NULL: none. */
struct export_page *export_page(const struct export_pages *pages,
				const struct export_process *process, uint64_t vaddr);

#endif /* VMM_EXPORT_PAGES_H */
