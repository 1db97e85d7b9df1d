/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to pt_edges*.c: the state of the decoder of short traces. */
#ifndef VMM_DECODE_PT_EDGES_INSIDE_H
#define VMM_DECODE_PT_EDGES_INSIDE_H

#include "decode/pt_edges.h"
#include "libdecode/edges.h"
#include "libdecode/pt.h"

/* A change of code that takes effect at an instruction of the trace. */
struct decode_edges_change {
	uint64_t insns, cr3, vaddr, gpa;
	uint8_t bytes[DEC_PAGE];
};

/* A block in a map. */
struct decode_edges_seen {
	uint64_t trace;		   /* the last trace in which the block ran */
	uint16_t index[DEC_LINKS]; /* the bytes of its edges, if the end is a direct branch */
};

struct decode_edges {
	struct decode_edges_config config;
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	struct dec_edges targets; /* of indirect branches and RETs */
	struct {
		uint8_t *at;
		size_t n, room;
	} bytes;
	struct {
		struct decode_edges_change *at;
		size_t n, room;
	} changes;
	size_t next; /* the next change to apply */
	struct {
		struct decode_edges_seen *at; /* by id */
		size_t n, room;
	} seen;
	struct {
		uint32_t *at; /* the ids of blocks that ran in this trace */
		size_t n, room;
	} ran;
	uint64_t trace;
	uint64_t pages; /* contents of pages so far */
	struct decode_edges_sum sum;
	bool no_memory;
};

/* Returns the byte of an edge in a map. */
static inline uint16_t decode_edges_index(uint64_t from, uint64_t to)
{
	return (uint16_t)(dec_edge_hash(from, to) >> 48);
}

/* pt_edges_report.c: the callbacks of the decoder, with a struct decode_edges as their context. */
extern const struct dec_flow_ops decode_edges_flow_ops;
extern const struct dec_pt_ops decode_edges_pt_ops;
/* Apply the changes of code up to the instruction counter. */
void decode_edges_follow(struct decode_edges *d);

#endif /* VMM_DECODE_PT_EDGES_INSIDE_H */
