/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that there were while a host was recorded: CR3, name, and what code they map. */
#ifndef VMM_HOST_PROCS_H
#define VMM_HOST_PROCS_H

#include "host/maps.h"
#include "host/perf.h"
#include "host/tasks.h"

struct host_proc {
	struct host_task task;
	struct host_maps maps;
	bool seen; /* by the last update: it is still there */
};

/* All zero is empty. */
struct host_procs {
	struct host_proc *at;
	size_t n, room;
};

/*
 * Go through the kernel's list; maps are read of processes that are new, or of `all`.
 * `proc` is /proc but in tests. 0 or -errno.
 */
int host_procs_update(struct host_procs *procs, const struct host_tasks_where *where,
		      const struct host_memory *memory, const char *proc, bool all);

/* Take a record of kind MAP. 0 or -ENOMEM. */
int host_procs_map(struct host_procs *procs, const struct host_perf_record *record);

/* Returns the process of a CR3, whose low 12 bits are ignored, or NULL. */
const struct host_proc *host_procs_find(const struct host_procs *procs, uint64_t cr3);

void host_procs_free(struct host_procs *procs);

#endif /* VMM_HOST_PROCS_H */
