/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The timeline of a machine: checkpoints, which are processes. A checkpoint is a fork of the process
 * that runs the machine, and waits. To go back, the running process lets a checkpoint go on, and
 * ends. The checkpoint leaves a copy of itself behind first. So each piece of the machine goes back,
 * memory and devices too, and costs only the pages that change (docs/adr/0029).
 *
 * One process at a time runs the machine. The memory of struct gdb_timeline_shared is common to all.
 */
#ifndef VMM_GDB_TIMELINE_H
#define VMM_GDB_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most checkpoints. */
#define GDB_CHECKPOINTS 64u

struct gdb_checkpoint {
	volatile uint32_t state; /* enum gdb_checkpoint_state */
	uint32_t epoch;		 /* of the memory and registers that the debugger has changed */
	uint64_t position;	 /* instructions that the machine has retired */
};

struct gdb_timeline_shared {
	struct gdb_checkpoint at[GDB_CHECKPOINTS];
	uint32_t epoch;	       /* the number of changes by the debugger */
	volatile pid_t runner; /* the process that runs the machine */
};

struct gdb_timeline {
	struct gdb_timeline_shared *shared;
	int wake[GDB_CHECKPOINTS]; /* an eventfd for each checkpoint */
	int alive[2];		   /* a pipe whose write end only the first process keeps */
};

/*
 * Create a timeline, with @bytes of memory after the shared struct that all processes have in
 * common. Call this before the sandbox. Returns 0 or -errno.
 */
int gdb_timeline_create(struct gdb_timeline *t, size_t bytes);
void gdb_timeline_destroy(struct gdb_timeline *t);
void *gdb_timeline_common(const struct gdb_timeline *t);

/*
 * Fork the process that runs the machine. It gets 0. The first process waits until the debugging
 * ends, and then gets 1 and the exit status in *status, which is -1 after a crash. Returns -errno if
 * there can be no process.
 */
int gdb_timeline_begin(struct gdb_timeline *t, int *status);
/* The process that runs the machine will not go back any more. */
void gdb_timeline_end(void);

/*
 * Make a checkpoint here, at @position. Returns false at once, in the process that goes on. Returns
 * true in the process of the checkpoint, when that is to run the machine. Without memory or processes
 * there is no checkpoint.
 */
bool gdb_timeline_mark(struct gdb_timeline *t, uint64_t position);

/* Returns the last checkpoint at or before @position, or -1. */
int gdb_timeline_find(const struct gdb_timeline *t, uint64_t position);
/* Returns true if the first process has ended, or wants the session to end. */
bool gdb_timeline_is_over(const struct gdb_timeline *t);

/* Let this checkpoint run the machine, and end this process. Does not return. */
_Noreturn void gdb_timeline_go(struct gdb_timeline *t, int checkpoint);
/* The debugger has changed the machine: the checkpoints after this position will not be reached. */
void gdb_timeline_changed(struct gdb_timeline *t, uint64_t position);

#endif /* VMM_GDB_TIMELINE_H */
