/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that existed during the recording of a host: CR3, name, and mapped code. */
#ifndef VMM_HOST_PROCS_H
#define VMM_HOST_PROCS_H

#include "host/maps.h"
#include "host/perf.h"
#include "host/tasks.h"

struct host_proc {
	struct host_task task;
	struct host_maps maps;
	bool seen; /* the process still existed at the last update */
};

/* All zero is empty. */
struct host_procs {
	struct host_proc *at;
	size_t n, room;
};

/*
 * Walk the kernel's list. Read the maps of new processes, or of all if `all`. Tests replace `proc`,
 * which is /proc. Returns 0 or -errno.
 */
int host_procs_update(struct host_procs *procs, const struct host_tasks_where *where,
		      const struct host_memory *memory, const char *proc, bool all);

/* Add the mapping of a MAP record. Returns 0 or -ENOMEM. */
int host_procs_map(struct host_procs *procs, const struct host_perf_record *record);

/* Returns the process of a CR3, whose low 12 bits are ignored, or NULL. */
const struct host_proc *host_procs_find(const struct host_procs *procs, uint64_t cr3);

void host_procs_free(struct host_procs *procs);

#endif /* VMM_HOST_PROCS_H */
