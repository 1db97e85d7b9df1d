// SPDX-License-Identifier: GPL-2.0-or-later
/* Find processes by CR3. */
#include "host/procs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define PAGE 4096ull

struct update {
	struct host_procs *procs;
	const char *proc;
	bool all;
};

static struct host_proc *with_cr3(const struct host_procs *procs, uint64_t cr3)
{
	size_t i;

	for (i = 0; i < procs->n; i++) {
		if (procs->at[i].task.cr3 == cr3)
			return &procs->at[i];
	}
	return NULL;
}

static int read_maps(struct host_proc *p, const char *proc)
{
	struct host_maps maps = {0};
	char path[256];
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "%s/%u/maps", proc, p->task.pid);
	file = fopen(path, "re");
	/* The process has exited: keep its known data. */
	if (!file)
		return 0;
	err = host_maps_read(file, &maps);
	fclose(file);
	/* An exiting process has no maps any more. */
	if (err || !maps.n) {
		host_maps_free(&maps);
		return err;
	}
	host_maps_free(&p->maps);
	p->maps = maps;
	return 0;
}

static int take(void *to, const struct host_task *task)
{
	struct update *u = to;
	struct host_proc *p = with_cr3(u->procs, task->cr3);
	bool fresh = !p || p->task.pid != task->pid;

	if (!p) {
		if (!trace_vec_room(u->procs))
			return -ENOMEM;
		p = &u->procs->at[u->procs->n++];
		memset(p, 0, sizeof(*p));
	} else if (fresh) {
		/* Another process uses the page now. */
		host_maps_free(&p->maps);
	}
	p->task = *task;
	p->seen = true;
	return fresh || u->all ? read_maps(p, u->proc) : 0;
}

int host_procs_update(struct host_procs *procs, const struct host_tasks_where *where,
		      const struct host_memory *memory, const char *proc, bool all)
{
	struct update u = {procs, proc, all};
	size_t i;

	for (i = 0; i < procs->n; i++)
		procs->at[i].seen = false;
	return host_tasks_walk(where, memory, take, &u);
}

int host_procs_map(struct host_procs *procs, const struct host_perf_record *r)
{
	struct host_map map = {
		.range = {r->start & ~(PAGE - 1), (r->start + r->bytes + PAGE - 1) & ~(PAGE - 1)},
		.offset = r->offset,
	};
	size_t i;
	int err = 0;

	if (map.range.end <= map.range.start)
		return 0;
	snprintf(map.path, sizeof(map.path), "%s", r->path);
	for (i = 0; i < procs->n && !err; i++) {
		if (procs->at[i].task.pid == r->pid)
			err = host_maps_add(&procs->at[i].maps, &map);
	}
	return err;
}

const struct host_proc *host_procs_find(const struct host_procs *procs, uint64_t cr3)
{
	const struct host_proc *p = with_cr3(procs, cr3 & ~(PAGE - 1));

	/* Page-table isolation uses a pair of pages, the second one for user space. */
	return p ? p : with_cr3(procs, cr3 & ~(2 * PAGE - 1));
}

void host_procs_free(struct host_procs *procs)
{
	size_t i;

	for (i = 0; i < procs->n; i++)
		host_maps_free(&procs->at[i].maps);
	free(procs->at);
	memset(procs, 0, sizeof(*procs));
}
