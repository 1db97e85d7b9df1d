/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The next work of the machine, and the reason for its stop. The processes of a session share this. */
#ifndef VMM_GDB_PLAN_H
#define VMM_GDB_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum gdb_reason {
	GDB_STEPPED,	 /* also the first stop */
	GDB_INTERRUPTED, /* by the client */
	GDB_BREAKPOINT,
	GDB_WATCHPOINT, /* `address` and `access` are valid */
	GDB_BEGIN,	/* the beginning of the recording, going backwards */
	GDB_END,	/* the guest has ended */
	GDB_WENT,	/* a command to go to a position is done: it is answered, and is no stop */
};

struct gdb_stop {
	enum gdb_reason reason;
	uint64_t address;
	uint32_t access; /* enum engine_data_access */
	unsigned int cpu;
};

/* A place: the position, or the breakpoint at @ip that execution reaches at this position. */
struct gdb_place {
	uint64_t position;
	bool at_breakpoint;
	uint64_t ip;
	struct gdb_stop stop;
};

enum gdb_goal {
	GDB_FORWARD, /* up to a breakpoint, a watchpoint, or the end of the step */
	GDB_ARRIVE,  /* to `to`, and stop there for `to.stop` */
	GDB_SCAN,    /* to the position `bound`: find the last breakpoint or watchpoint before it */
	GDB_BACK,    /* find the last position where a vCPU had retired less than `count` */
};

/* A step of one vCPU. */
struct gdb_step {
	bool on;
	unsigned int cpu;
	uint64_t count;	      /* the vCPU's retired instructions at the beginning */
	uint64_t first, last; /* the step goes on in [first, last); equal: it is one instruction */
};

struct gdb_plan {
	enum gdb_goal goal;
	struct gdb_place to; /* ARRIVE; SCAN and BACK: the last one found */
	bool found;
	uint64_t bound;	 /* SCAN: the position that ends this part; BACK: the one that begins it */
	uint64_t origin; /* BACK: where the search began, and this part ends */
	uint64_t begun;	 /* SCAN: the position of the checkpoint that this part began at */
	uint64_t window; /* BACK: the search began so many positions before the origin */
	struct gdb_step step;
	/* The breakpoint at which the machine stood, which does not stop it at once again. */
	uint64_t from, from_ip;
};

#endif /* VMM_GDB_PLAN_H */
