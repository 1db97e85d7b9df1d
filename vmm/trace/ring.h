/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring in memory, which holds the end of a trace and the code that this end needs. Its writer
 * (writer.h) puts blocks into it.
 *
 * The ring is a sequence of generations. Each generation can be decoded without the earlier ones. In
 * each, the trace of an open session begins with a PSB, and the ring has the state there. All code that
 * runs in a generation is in that generation. Only whole generations are dropped, the oldest first.
 * They share the contents of code pages.
 *
 * A ring uses memory for its size, for a quarter of that, and for the distinct pages of code. Their
 * limit is TRACE_RING_CODE bytes. The heap adds a few MiB.
 */
#ifndef VMM_TRACE_RING_H
#define VMM_TRACE_RING_H

#include "trace/writer.h"

#define TRACE_RING_GENERATIONS 8u /* that have the size of the ring together */
#define TRACE_RING_MIN	       (4ull << 10)
/* The most bytes of distinct code pages. A guest that makes more code has a shorter ring. */
#define TRACE_RING_CODE (64ull << 20)

struct trace_ring;

struct trace_ring_config {
	const struct trace_file_info *info; /* of the saved file */
	uint64_t bytes;			    /* the size of the ring, at least TRACE_RING_MIN */
	/* Called once when the present generation is full. trace_ring_turn() must follow soon. */
	void (*full)(void *opaque);
	void *opaque;
};

/* Create an empty ring with its first generation. Returns 0 or -errno. */
int trace_ring_create(const struct trace_ring_config *config, struct trace_ring **ring);
void trace_ring_destroy(struct trace_ring *ring);

/*
 * Return the writer of the ring, which stays the ring's. Its blocks of the types INPUT, ORACLE,
 * STRETCH and RUN are dropped.
 */
struct trace_writer *trace_ring_writer(struct trace_ring *ring);

/*
 * Begin another generation, and drop old ones. The trace of each vCPU up to here has been given to the
 * writer. The state at the beginning and then a PSB must follow. Returns 0 or -ENOMEM.
 */
int trace_ring_turn(struct trace_ring *ring);
/* Set where a vCPU is at the beginning of the generation: the counter, after trace_ring_turn(). */
void trace_ring_place(struct trace_ring *ring, unsigned int vcpu, uint64_t insns);
/*
 * With @on, blocks that are not trace are the state at the beginning of the generation. They are saved
 * only if this generation is the oldest one.
 */
void trace_ring_state(struct trace_ring *ring, bool on);
/* All vCPUs have begun the generation. */
void trace_ring_begun(struct trace_ring *ring);

/* The result of trace_ring_save(). */
struct trace_ring_saved {
	uint64_t kept;	  /* bytes of trace in the file */
	uint64_t dropped; /* bytes of trace before them */
};

/*
 * Write the contents to the file of @to, behind what precedes the trace there. Streams whose beginning
 * was dropped begin with a CUT block. Afterwards the ring is empty, and drops all blocks. Returns 0 or
 * -errno.
 */
int trace_ring_save(struct trace_ring *ring, struct trace_writer *to,
		    struct trace_ring_saved *saved);

#endif /* VMM_TRACE_RING_H */
