// SPDX-License-Identifier: GPL-2.0-or-later
/* Walk the kernel's list of tasks. */
#include "host/tasks.h"

#include <errno.h>

#include "host/btf.h"

#define TASKS_MAX   4194304u /* the maximum PID */
#define KERNEL_HALF 0xff00000000000000ull
#define CR3_MASK    0x000ffffffffff000ull

int host_tasks_layout(const void *btf, size_t len, struct host_tasks_where *w, const char **why)
{
	const struct {
		const char *of, *member;
		uint32_t *to;
	} rows[] = {
		{"task_struct", "tasks", &w->tasks}, {"task_struct", "mm", &w->mm},
		{"task_struct", "tgid", &w->tgid},   {"task_struct", "comm", &w->comm},
		{"mm_struct", "pgd", &w->pgd},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++) {
		*why = rows[i].member;
		err = host_btf_offset(btf, len, rows[i].of, rows[i].member, rows[i].to);
	}
	return err;
}

static int take_task(const struct host_tasks_where *w, const struct host_memory *m,
		     uint64_t address, int (*take)(void *to, const struct host_task *task),
		     void *to)
{
	struct host_task task = {0};
	uint64_t mm, pgd;
	int err = m->read(m->from, address + w->mm, &mm, sizeof(mm));

	/* A kernel thread, or an exiting process. */
	if (err || mm < KERNEL_HALF)
		return err;
	err = m->read(m->from, mm + w->pgd, &pgd, sizeof(pgd));
	if (!err)
		err = m->read(m->from, address + w->tgid, &task.pid, sizeof(task.pid));
	if (!err)
		err = m->read(m->from, address + w->comm, task.comm, sizeof(task.comm));
	if (err || pgd < w->page_offset)
		return err;
	task.comm[sizeof(task.comm) - 1] = 0;
	task.cr3 = (pgd - w->page_offset) & CR3_MASK;
	return take(to, &task);
}

int host_tasks_walk(const struct host_tasks_where *w, const struct host_memory *m,
		    int (*take)(void *to, const struct host_task *task), void *to)
{
	const uint64_t head = w->init_task + w->tasks;
	uint64_t link = head;
	unsigned int i;

	for (i = 0; i < TASKS_MAX; i++) {
		int err = m->read(m->from, link, &link, sizeof(link));

		if (!err && link == head)
			return 0;
		if (err || link < KERNEL_HALF)
			return -EFAULT;
		err = take_task(w, m, link - w->tasks, take, to);
		if (err)
			return err;
	}
	return -EFAULT;
}
