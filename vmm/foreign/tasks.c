// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows processes and their address spaces, by COMM, FORK, MMAP and switches in the order of
 * time.
 */
#include "foreign/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

/*
 * Limits for executable mappings of one process and of all processes. A trace with more is treated
 * as damaged.
 */
#define MAPS_MAX    8192u
#define ENTRIES_MAX (1u << 22)

static int new_mm(struct foreign_tasks *k, uint32_t pid, size_t *number)
{
	struct trace_pair *entry = trace_pairs_add(&k->by_pid, pid, 0);

	if (!entry || !trace_vec_room(&k->mms))
		return -ENOMEM;
	entry->value = *number = k->mms.n;
	k->mms.at[k->mms.n++] = (struct foreign_mm){.pid = pid, .maps = FOREIGN_NONE};
	return 0;
}

static int mm_of(struct foreign_tasks *k, uint32_t pid, size_t *number)
{
	const struct trace_pair *entry = trace_pairs_find(&k->by_pid, pid, 0);

	if (!entry)
		return new_mm(k, pid, number);
	*number = entry->value;
	return 0;
}

/* Return mappings of @mm that may be changed. Other processes that share them keep the old ones. */
static struct foreign_maps *own_maps(struct foreign_tasks *k, size_t mm)
{
	size_t old = k->mms.at[mm].maps, i;
	struct foreign_maps *maps;

	if (old != FOREIGN_NONE && k->maps.at[old].users == 1)
		return &k->maps.at[old];
	if (!trace_vec_room(&k->maps))
		return NULL;
	maps = &k->maps.at[k->maps.n];
	memset(maps, 0, sizeof(*maps));
	maps->users = 1;
	for (i = 0; old != FOREIGN_NONE && i < k->maps.at[old].n; i++) {
		if (!trace_vec_room(maps)) {
			free(maps->at);
			return NULL;
		}
		maps->at[maps->n++] = k->maps.at[old].at[i];
	}
	if (old != FOREIGN_NONE)
		k->maps.at[old].users--;
	k->entries += maps->n;
	k->mms.at[mm].maps = k->maps.n++;
	return maps;
}

static bool overlaps(const struct foreign_map *a, const struct foreign_map *b)
{
	return a->addr - b->addr < b->len || b->addr - a->addr < a->len;
}

/* Returns true if the content at the address of @map changes. */
static bool replaces(const struct foreign_maps *maps, const struct foreign_map *map)
{
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const struct foreign_map *m = &maps->at[i];

		if (overlaps(m, map) &&
		    (m->file != map->file || m->offset - m->addr != map->offset - map->addr))
			return true;
	}
	return false;
}

static int add_map(struct foreign_maps *maps, const struct foreign_map *map)
{
	if (!trace_vec_room(maps))
		return -ENOMEM;
	maps->at[maps->n++] = *map;
	return 0;
}

static int take_map(struct foreign_tasks *k, struct foreign_trace *t, const struct foreign_event *e)
{
	const struct foreign_map map = {e->time, e->map.addr, e->map.len, e->map.offset,
					e->map.file};
	struct foreign_maps *maps = &k->kernel;
	bool remap;
	size_t mm = FOREIGN_NONE;

	if (e->pid != FOREIGN_KERNEL) {
		if (mm_of(k, e->pid, &mm))
			return -ENOMEM;
		maps = k->entries < ENTRIES_MAX ? own_maps(k, mm) : NULL;
		if (!maps && k->entries < ENTRIES_MAX)
			return -ENOMEM;
	}
	if (!maps || maps->n >= MAPS_MAX) {
		t->report.left_out++;
		return 0;
	}
	remap = mm != FOREIGN_NONE && e->time && replaces(maps, &map);
	k->entries++;
	if (add_map(maps, &map))
		return -ENOMEM;
	if (!remap)
		return 0;
	if (!trace_vec_room(&k->remaps))
		return -ENOMEM;
	k->remaps.at[k->remaps.n++] = (struct foreign_remap){e->time, mm};
	return 0;
}

static int add_owner(struct foreign_tasks *k, const struct foreign_event *e, size_t mm)
{
	if (!trace_vec_room(&k->owners))
		return -ENOMEM;
	k->owners.at[k->owners.n++] = (struct foreign_owner){e->time, e->order, e->cpu, e->tid, mm};
	return 0;
}

static int take_run(struct foreign_tasks *k, const struct foreign_event *e)
{
	struct trace_pair *on = trace_pairs_add(&k->by_cpu, e->cpu, 0);
	size_t mm;

	if (!on || mm_of(k, e->pid, &mm))
		return -ENOMEM;
	on->value = e->tid;
	return add_owner(k, e, mm);
}

static int take_exec(struct foreign_tasks *k, const struct foreign_event *e)
{
	size_t mm;

	if (new_mm(k, e->pid, &mm))
		return -ENOMEM;
	memcpy(k->mms.at[mm].comm, e->comm, sizeof(e->comm));
	/* The thread that calls exec is running. */
	return add_owner(k, e, mm);
}

static int take_fork(struct foreign_tasks *k, const struct foreign_event *e)
{
	size_t parent, child;

	if (e->pid == e->parent)
		return 0;
	if (mm_of(k, e->parent, &parent) || new_mm(k, e->pid, &child))
		return -ENOMEM;
	k->mms.at[child].maps = k->mms.at[parent].maps;
	memcpy(k->mms.at[child].comm, k->mms.at[parent].comm, sizeof(k->mms.at[child].comm));
	if (k->mms.at[child].maps != FOREIGN_NONE)
		k->maps.at[k->mms.at[child].maps].users++;
	return 0;
}

static int take_comm(struct foreign_tasks *k, const struct foreign_event *e)
{
	size_t mm;

	if (e->pid != e->tid)
		return 0;
	if (mm_of(k, e->pid, &mm))
		return -ENOMEM;
	memcpy(k->mms.at[mm].comm, e->comm, sizeof(e->comm));
	return 0;
}

static int take(struct foreign_tasks *k, struct foreign_trace *t, const struct foreign_event *e)
{
	switch ((enum foreign_kind)e->kind) {
	case FOREIGN_MAP:
		return take_map(k, t, e);
	case FOREIGN_COMM_SET:
		return take_comm(k, e);
	case FOREIGN_EXEC:
		return take_exec(k, e);
	case FOREIGN_FORK:
		return take_fork(k, e);
	case FOREIGN_RUN:
		return take_run(k, e);
	case FOREIGN_POKE:
		break;
	}
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct foreign_owner *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int foreign_tasks_follow(struct foreign_tasks *k, struct foreign_trace *t)
{
	size_t i;
	int err = 0;

	for (i = 0; i < t->events.n && !err; i++)
		err = take(k, t, &t->events.at[i]);
	if (!err && k->owners.n)
		qsort(k->owners.at, k->owners.n, sizeof(*k->owners.at), by_cpu);
	return err;
}

void foreign_tasks_free(struct foreign_tasks *k)
{
	size_t i;

	for (i = 0; i < k->maps.n; i++)
		free(k->maps.at[i].at);
	free(k->maps.at);
	free(k->kernel.at);
	free(k->mms.at);
	free(k->owners.at);
	free(k->remaps.at);
	trace_pairs_free(&k->by_pid);
	trace_pairs_free(&k->by_cpu);
	memset(k, 0, sizeof(*k));
}

const struct foreign_map *foreign_tasks_maps(const struct foreign_tasks *k, size_t mm, size_t *n)
{
	size_t maps = k->mms.at[mm].maps;

	*n = maps == FOREIGN_NONE ? 0 : k->maps.at[maps].n;
	return *n ? k->maps.at[maps].at : NULL;
}

size_t foreign_tasks_last(const struct foreign_tasks *k, uint32_t pid)
{
	const struct trace_pair *entry = trace_pairs_find(&k->by_pid, pid, 0);

	return entry ? entry->value : FOREIGN_NONE;
}
