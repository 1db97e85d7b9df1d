/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that there were while a host was recorded: CR3, name, and what code they map. */
#ifndef VMM_HOST_PROCS_H
#define VMM_HOST_PROCS_H

#include "maps.h"
#include "perf.h"
#include "tasks.h"

struct vpt_proc {
	struct vpt_task task;
	struct vpt_maps maps;
	bool seen; /* by the last update: it is still there */
};

/* All zero is empty. */
struct vpt_procs {
	struct vpt_proc *at;
	size_t n, room;
};

/*
 * Go through the kernel's list; maps are read of processes that are new, or of `all`.
 * `proc` is /proc but in tests. 0 or -errno.
 */
int vpt_procs_update(struct vpt_procs *procs, const struct vpt_tasks_where *where,
		     const struct vpt_host_memory *memory, const char *proc, bool all);

/* Take a record of kind MAP. 0 or -ENOMEM. */
int vpt_procs_map(struct vpt_procs *procs, const struct vpt_perf_record *record);

/* Returns the process of a CR3, whose low 12 bits are ignored, or NULL. */
const struct vpt_proc *vpt_procs_find(const struct vpt_procs *procs, uint64_t cr3);

void vpt_procs_free(struct vpt_procs *procs);

#endif /* VMM_HOST_PROCS_H */
