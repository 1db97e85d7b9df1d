/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The task that a vCPU of a Linux guest runs, by the kernel's own structures. */
#ifndef VMM_LINUX_TASKS_H
#define VMM_LINUX_TASKS_H

#include "linux/memory.h"

/* Where the kernel keeps what is read; offsets in bytes. */
struct linux_tasks_where {
	uint32_t current; /* the pointer to the task, from the GS base */
	/* In struct task_struct; @pgd in struct mm_struct. */
	uint32_t pid, tgid, comm, mm, self_exec_id, pgd;
};

#define LINUX_TASK_NAME 16

struct linux_task {
	uint64_t cr3;	   /* address of the top page table of the process; 0: a kernel thread */
	uint32_t pid;	   /* number of the process; 0: the idle task */
	uint32_t tid;	   /* number of the thread */
	uint32_t executed; /* changes when the task executes a program */
	char name[LINUX_TASK_NAME]; /* ends with NUL */
};

/*
 * Find the offsets in the kernel's BTF. Returns 0, -ENOENT if a structure or a member is missing,
 * -EINVAL if the bytes are not BTF, or -ENOMEM.
 */
int linux_tasks_layout(const void *btf, size_t len, struct linux_tasks_where *where);

/*
 * Return the address of the task that the vCPU with this GS base runs. Returns 0 if the GS base is
 * not the kernel's.
 */
uint64_t linux_tasks_current(const struct linux_tasks_where *where, const struct linux_memory *m,
			     uint64_t gs_base);

/* Read a task. Returns false if there is no task at this address. */
bool linux_tasks_read(const struct linux_tasks_where *where, const struct linux_memory *m,
		      uint64_t address, struct linux_task *task);

#endif /* VMM_LINUX_TASKS_H */
