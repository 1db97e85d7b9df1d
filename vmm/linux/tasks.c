// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the task that a vCPU of a Linux guest runs. */
#include "linux/tasks.h"

#include <string.h>

#include "host/btf.h"

#define KERNEL_HALF 0xff00000000000000ull
#define PID_MAX	    4194304u

int linux_tasks_layout(const void *btf, size_t len, struct linux_tasks_where *w)
{
	const struct {
		const char *of, *member;
		uint32_t *to;
	} rows[] = {
		{"task_struct", "pid", &w->pid},
		{"task_struct", "tgid", &w->tgid},
		{"task_struct", "comm", &w->comm},
		{"task_struct", "mm", &w->mm},
		{"mm_struct", "pgd", &w->pgd},
		{"task_struct", "self_exec_id", &w->self_exec_id},
	};
	uint32_t inside = 0;
	size_t i;
	int err = host_btf_percpu(btf, len, "current_task", &w->current);

	/* Linux 6.2 to 6.14 have the pointer in a structure of hot variables. */
	if (err) {
		err = host_btf_percpu(btf, len, "pcpu_hot", &w->current);
		if (!err)
			err = host_btf_offset(btf, len, "pcpu_hot", "current_task", &inside);
		w->current += inside;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = host_btf_offset(btf, len, rows[i].of, rows[i].member, rows[i].to);
	return err;
}

uint64_t linux_tasks_current(const struct linux_tasks_where *w, const struct linux_memory *m,
			     uint64_t gs_base)
{
	uint64_t task;

	if (gs_base < KERNEL_HALF ||
	    !linux_memory_read(m, gs_base + w->current, &task, sizeof(task)))
		return 0;
	return task >= KERNEL_HALF ? task : 0;
}

/* Find the address space of a task. An exiting process has none any more, as a kernel thread. */
static bool read_cr3(const struct linux_tasks_where *w, const struct linux_memory *m,
		     uint64_t address, uint64_t *cr3)
{
	uint64_t mm, pgd;

	*cr3 = 0;
	if (!linux_memory_read(m, address + w->mm, &mm, sizeof(mm)))
		return false;
	if (!mm)
		return true;
	return mm >= KERNEL_HALF && linux_memory_read(m, mm + w->pgd, &pgd, sizeof(pgd)) &&
	       pgd >= KERNEL_HALF && linux_memory_gpa(m, pgd, cr3);
}

bool linux_tasks_read(const struct linux_tasks_where *w, const struct linux_memory *m,
		      uint64_t address, struct linux_task *task)
{
	if (address < KERNEL_HALF ||
	    !linux_memory_read(m, address + w->pid, &task->tid, sizeof(task->tid)) ||
	    !linux_memory_read(m, address + w->tgid, &task->pid, sizeof(task->pid)) ||
	    !linux_memory_read(m, address + w->self_exec_id, &task->executed,
			       sizeof(task->executed)) ||
	    !linux_memory_read(m, address + w->comm, task->name, sizeof(task->name)) ||
	    !read_cr3(w, m, address, &task->cr3))
		return false;
	return task->tid <= PID_MAX && task->pid <= PID_MAX && task->name[0] &&
	       memchr(task->name, 0, sizeof(task->name));
}
