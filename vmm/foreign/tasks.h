/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of processes, with the times and CPUs at which each ran, from the events of a
 * trace.
 *
 * A process has a new address space after each exec. A forked process has its parent's mappings
 * until either of them changes.
 */
#ifndef VMM_FOREIGN_TASKS_H
#define VMM_FOREIGN_TASKS_H

#include "foreign/foreign.h"
#include "trace/pairs.h"

struct foreign_map {
	uint64_t time;
	uint64_t addr, len, offset;
	uint32_t file;
};

struct foreign_maps {
	struct foreign_map *at; /* in the order of time */
	size_t n, room;
	size_t users;
};

struct foreign_mm {
	uint32_t pid;
	char comm[FOREIGN_COMM];
	size_t maps; /* index into struct foreign_tasks; FOREIGN_NONE: it has none */
};

/* From @time on, the CPU or the thread has the address space @mm. */
struct foreign_owner {
	uint64_t time, order;
	uint32_t cpu, tid;
	size_t mm;
};

/* At @time, a mapping of @mm replaced another one. */
struct foreign_remap {
	uint64_t time;
	size_t mm;
};

struct foreign_tasks {
	struct {
		struct foreign_mm *at;
		size_t n, room;
	} mms;
	struct {
		struct foreign_maps *at;
		size_t n, room;
	} maps;
	struct {
		struct foreign_owner *at; /* sorted by CPU, then by time */
		size_t n, room;
	} owners;
	struct {
		struct foreign_remap *at; /* sorted by time */
		size_t n, room;
	} remaps;
	struct foreign_maps kernel;
	struct trace_pairs by_pid; /* maps to the current address space */
	struct trace_pairs by_cpu; /* maps to the running thread */
	size_t entries;		   /* number of entries in all maps */
};

/* Follow the events of @t, which are sorted. Returns 0 or -ENOMEM. */
int foreign_tasks_follow(struct foreign_tasks *tasks, struct foreign_trace *t);
void foreign_tasks_free(struct foreign_tasks *tasks);

/* Return the *n mappings of an address space. */
const struct foreign_map *foreign_tasks_maps(const struct foreign_tasks *tasks, size_t mm,
					     size_t *n);
/* Return the last address space of a process, or FOREIGN_NONE if it is not known. */
size_t foreign_tasks_last(const struct foreign_tasks *tasks, uint32_t pid);

#endif /* VMM_FOREIGN_TASKS_H */
