/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of the running kernel with their CR3, from its own list of them. */
#ifndef VMM_HOST_TASKS_H
#define VMM_HOST_TASKS_H

#include "host/memory.h"

struct host_tasks_where {
	uint64_t init_task;
	uint64_t page_offset; /* address of the direct map of physical memory */
	/* Offsets in struct task_struct; the last one is in struct mm_struct. */
	uint32_t tasks, mm, tgid, comm, pgd;
};

struct host_task {
	uint32_t pid;
	uint64_t cr3; /* with page-table isolation, the user CR3 is 4096 higher */
	char comm[16];
};

/* Returns 0 or -errno; after an error *why names the member. */
int host_tasks_layout(const void *btf, size_t len, struct host_tasks_where *where,
		      const char **why);

/*
 * Call take() for each process with its own memory. The list changes during the walk. If the walk
 * cannot find its end, it returns -EFAULT. A nonzero result of take() ends the walk and is
 * returned.
 */
int host_tasks_walk(const struct host_tasks_where *where, const struct host_memory *memory,
		    int (*take)(void *to, const struct host_task *task), void *to);

#endif /* VMM_HOST_TASKS_H */
