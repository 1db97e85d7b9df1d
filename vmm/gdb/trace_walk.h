/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of one vCPU of a trace by number, forwards and backwards. Number 0 is the first
 * one that was decoded. The last million are kept. An older one is decoded again from the beginning.
 */
#ifndef VMM_GDB_TRACE_WALK_H
#define VMM_GDB_TRACE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

struct gdb_walk;

struct gdb_walk_insn {
	uint64_t ip;
	uint64_t cr3; /* the address space, as in struct decode_item */
	uint8_t size; /* in bytes */
};

/* Open a walk. The reader must outlive it. Returns 0 or -errno. */
int gdb_walk_open(struct trace_reader *reader, unsigned int vcpu, struct gdb_walk **walk);
void gdb_walk_close(struct gdb_walk *walk);

/* Get instruction @n. Returns 1, 0 if the trace has fewer instructions, or -errno. */
int gdb_walk_get(struct gdb_walk *walk, uint64_t n, struct gdb_walk_insn *insn);

/* Return how many instructions before @n are at hand, without decoding. */
uint64_t gdb_walk_kept(const struct gdb_walk *walk, uint64_t n);

/*
 * Copy code of the address space of instruction @n, as it was when the walk decoded last. Returns the
 * number of bytes up to the first page that the trace does not have.
 */
size_t gdb_walk_code(struct gdb_walk *walk, uint64_t n, uint64_t ip, void *to, size_t len);

/* Addresses to search for, and a function that ends a search when it returns true. */
struct gdb_walk_goal {
	const uint64_t *ip;
	size_t count;
	bool (*interrupted)(void *context);
	void *context;
};

enum gdb_walk_found {
	GDB_WALK_FOUND, /* *n has the instruction */
	GDB_WALK_EDGE,	/* *n is the last instruction of the trace, or the first one */
	GDB_WALK_STOPPED,
};

/*
 * Find the next instruction behind *n, or the last one before it, with one of the addresses. Returns
 * enum gdb_walk_found or -errno.
 */
int gdb_walk_forward(struct gdb_walk *walk, const struct gdb_walk_goal *goal, uint64_t *n);
int gdb_walk_back(struct gdb_walk *walk, const struct gdb_walk_goal *goal, uint64_t *n);

#endif /* VMM_GDB_TRACE_WALK_H */
