/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that perf has, compared with the code of the trace.
 *
 * perf knows one kernel and processes that share it. The trace knows pages by address space. Every
 * address space becomes a process. Two address spaces whose CR3s differ only in bit 12 become one
 * process if the even CR3 has no user code. Linux splits a process in that way with page-table
 * isolation.
 */
#ifndef VMM_EXPORT_PAGES_H
#define VMM_EXPORT_PAGES_H

#include "trace/reader.h"

#define EXPORT_KERNEL (1ull << 63) /* kernel addresses, for perf */

struct export_page;

/* The code size of a file. perf distinguishes 32-bit from other code by the file. */
enum export_width { EXPORT_CODE64, EXPORT_CODE32, EXPORT_WIDTHS };

/* A page that replaces another page, with its neighbours for instructions that cross a page. */
struct export_patch {
	const struct export_page *page;
	const uint8_t *before, *bytes, *after; /* before, after: may be NULL */
};

struct export_process {
	uint64_t cr3;
	uint32_t pid;
	char name[16];
	bool used;		   /* the process runs in the exported part */
	bool user;		   /* the process has user code */
	struct export_process *of; /* the process whose kernel half this is, or NULL */
	struct {
		struct export_patch *at;
		size_t n, room;
	} patches[EXPORT_WIDTHS];
};

struct export_page {
	struct export_process *process; /* the process of user code; NULL for the kernel */
	uint64_t vaddr;
	const uint8_t *base; /* the content that perf has when it begins; NULL if never used */
	const uint8_t *have; /* the content that perf has now */
	uint8_t base_width, width;
};

struct export_pages {
	struct export_process *processes; /* sorted by CR3 */
	size_t nprocesses;
	struct export_page *pages; /* sorted by process, the kernel first, and then by address */
	size_t npages;
};

/* List the code pages of all vCPUs of a trace. Returns 0 or -ENOMEM. */
int export_pages_open(struct export_pages *pages, const struct trace_reader *reader);
void export_pages_close(struct export_pages *pages);

/* Find the process of an address space. Returns NULL if the trace has no code of this space. */
struct export_process *export_process(const struct export_pages *pages, uint64_t cr3);

/* Return the pages of a process, or of the kernel if @process is NULL. *count may be 0. */
const struct export_page *export_pages_of(const struct export_pages *pages,
					  const struct export_process *process, size_t *count);

/*
 * Return the page at @vaddr of @process, or of the kernel if @vaddr is a kernel address. NULL if
 * there is none.
 */
struct export_page *export_page(const struct export_pages *pages,
				const struct export_process *process, uint64_t vaddr);

#endif /* VMM_EXPORT_PAGES_H */
