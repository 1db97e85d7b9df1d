/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the ring: shared by ring*.c only. */
#ifndef VMM_TRACE_RING_STATE_H
#define VMM_TRACE_RING_STATE_H

#include "trace/ring.h"

#define TRACE_RING_BUCKETS 16384u

/* The content of a code page, which all generations share. */
struct trace_ring_content {
	struct trace_ring_content *next; /* in its bucket */
	uint64_t uses;			 /* PAGE blocks with this content */
	uint64_t id;			 /* the id in the saved file, 0: not written yet */
	uint32_t crc;
	uint8_t bytes[TRACE_CODE_BYTES];
};

struct trace_ring_block {
	struct trace_ring_block *next;
	struct trace_ring_content *content; /* of a PAGE block, else NULL */
	uint32_t len;
	uint16_t type, vcpu; /* as in struct trace_block */
	_Alignas(8) uint8_t bytes[];
};

struct trace_ring_list {
	struct trace_ring_block *first, *last;
};

struct trace_ring_generation {
	struct trace_ring_generation *newer;
	struct trace_ring_list state;  /* at the beginning */
	struct trace_ring_list blocks; /* in the order of the writer */
	uint64_t bytes; /* memory of the blocks, without contents and without its beginning */
	uint64_t trace; /* bytes of trace */
	uint64_t code;	/* bytes of contents that were new here */
	struct trace_cut cut[]; /* by vCPU; zeros in the first generation of all */
};

struct trace_ring {
	struct trace_ring_config config;
	struct trace_writer *writer;
	unsigned int vcpus;
	struct trace_ring_generation *oldest, *newest; /* NULL after trace_ring_save() */
	uint64_t bytes, code;			       /* the sums of all generations */
	uint64_t dropped;			       /* bytes of trace */
	bool asked;				       /* full() was called */
	bool begins; /* from trace_ring_turn() to trace_ring_begun() */
	bool state;  /* trace_ring_state() */
	struct trace_ring_content *bucket[TRACE_RING_BUCKETS];
};

/*
 * ring_save.c: write where the streams of the oldest generation begin, and the state there; then the
 * blocks of a generation. Return 0 or -errno.
 */
int trace_ring_write_start(struct trace_ring *ring, struct trace_writer *to);
int trace_ring_write(const struct trace_ring_generation *g, struct trace_writer *to);

#endif /* VMM_TRACE_RING_STATE_H */
