/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of processes, and which of them ran where and when, by the events of a trace.
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
	size_t maps; /* which of struct foreign_tasks; FOREIGN_NONE: it has none */
};

/* From @time on, the address space @mm is the one of the CPU or the thread. */
struct foreign_owner {
	uint64_t time, order;
	uint32_t cpu, tid;
	size_t mm;
};

/* At @time, a mapping of @mm took the place of another one. */
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
		struct foreign_owner *at; /* by CPU, then by time */
		size_t n, room;
	} owners;
	struct {
		struct foreign_remap *at; /* by time */
		size_t n, room;
	} remaps;
	struct foreign_maps kernel;
	struct trace_pairs by_pid; /* to the address space that it has now */
	struct trace_pairs by_cpu; /* to the thread that runs */
	size_t entries;		   /* of all maps */
};

/* Follow the events of @t, which are sorted. Returns 0 or -ENOMEM. */
int foreign_tasks_follow(struct foreign_tasks *tasks, struct foreign_trace *t);
void foreign_tasks_free(struct foreign_tasks *tasks);

/* The mappings of an address space, *n of them. */
const struct foreign_map *foreign_tasks_maps(const struct foreign_tasks *tasks, size_t mm,
					     size_t *n);
/* The address space that a process had last, FOREIGN_NONE: it is not known. */
size_t foreign_tasks_last(const struct foreign_tasks *tasks, uint32_t pid);

#endif /* VMM_FOREIGN_TASKS_H */
