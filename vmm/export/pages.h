/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code as perf has it, against code as the trace has it.
 *
 * perf knows one kernel and processes that share it; the trace knows pages by address
 * space. Every address space becomes a process. Two whose CR3s differ in bit 12 only become one if the even
 * one has no user code: that is how Linux splits a process with page-table isolation.
 */
#ifndef VMM_EXPORT_PAGES_H
#define VMM_EXPORT_PAGES_H

#include "trace/reader.h"

#define VPT_EXPORT_KERNEL (1ull << 63) /* perf takes addresses from here on for a kernel's */

struct vpt_export_page;

/* A file of code holds 32-bit or other code, as perf tells them apart by file. */
enum vpt_export_width { VPT_EXPORT_CODE64, VPT_EXPORT_CODE32, VPT_EXPORT_WIDTHS };

/* A page that takes the place of another, with its neighbours for what crosses them. */
struct vpt_export_patch {
	const struct vpt_export_page *page;
	const uint8_t *before, *bytes, *after; /* before, after: may be NULL */
};

struct vpt_export_process {
	uint64_t cr3;
	uint32_t pid;
	char name[16];
	bool used;		       /* it runs in what is exported */
	bool user;		       /* it has user code */
	struct vpt_export_process *of; /* NULL, or the process that this is the kernel's side of */
	struct {
		struct vpt_export_patch *at;
		size_t n, room;
	} patches[VPT_EXPORT_WIDTHS];
};

struct vpt_export_page {
	struct vpt_export_process *process; /* of user code */
	uint64_t vaddr;
	const uint8_t *base; /* as perf has it when it begins; NULL: never used */
	const uint8_t *have; /* as perf has it now */
	uint8_t base_width, width;
};

struct vpt_export_pages {
	struct vpt_export_process *processes; /* sorted by CR3 */
	size_t nprocesses;
	struct vpt_export_page *pages; /* the kernel's, then by process; by address */
	size_t npages;
};

/* List what all vCPUs of a trace have. Returns 0 or -ENOMEM. */
int vpt_export_pages_open(struct vpt_export_pages *pages, const struct vpt_reader *reader);
void vpt_export_pages_close(struct vpt_export_pages *pages);

/* NULL: no code of such a space. */
struct vpt_export_process *vpt_export_process(const struct vpt_export_pages *pages, uint64_t cr3);

/* The pages of a process, or of the kernel if @process is NULL; *count may be 0. */
const struct vpt_export_page *vpt_export_pages_of(const struct vpt_export_pages *pages,
						  const struct vpt_export_process *process,
						  size_t *count);

/* The page at @vaddr as @process has it, or the kernel where that is the kernel's. NULL: none. */
struct vpt_export_page *vpt_export_page(const struct vpt_export_pages *pages,
					const struct vpt_export_process *process, uint64_t vaddr);

#endif /* VMM_EXPORT_PAGES_H */
