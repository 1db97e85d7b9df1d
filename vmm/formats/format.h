/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between the walk over a trace (walk.h) and the formats that other tools read. Each
 * format is one file and one row of formats.def.
 *
 * The walk passes one vCPU after the other, each in the order of its flow. The clock of a vCPU is
 * the number of its instructions that were decoded. Time is not known for every instruction, and
 * several instructions can have one time.
 */
#ifndef VMM_FORMATS_FORMAT_H
#define VMM_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "debug/symbol.h"
#include "decode/calls.h"
#include "decode/edge.h"
#include "decode/space_edges.h"
#include "trace/reader.h"

/* An address space on a vCPU. Viewers show it as a thread, or as the root of stacks. */
struct format_lane {
	struct format_run *run;
	uint32_t id; /* counts from 0, in the order of appearance */
	unsigned int vcpu;
	bool known; /* @space is valid */
	struct trace_space space;
	char name[160]; /* "vCPU 0: cr3 0x1000", safe to print */
	struct decode_calls *calls;
	void *own;		 /* of the format, which frees it in close() */
	struct decode_from from; /* the place from which the next block is reached */
};

/* The state of one export, which the walk and the format share. */
struct format_run {
	FILE *out;
	struct trace_reader *reader;
	const struct debug_symbols *symbols;
	const struct format_type *type;
	const struct format_walk *walk; /* for a format that walks a second time */
	void *own;			/* of the format; before begin(), that of @walk */
	struct {
		struct format_lane **at;
		size_t n, room;
	} lanes;
	const char *only;  /* for a format with `selects`: only calls of this function; or NULL */
	uint64_t base;	   /* for a format with `relative`: the address that is 0 in the file */
	unsigned int vcpu; /* the current vCPU */
	bool inside;	   /* the clock is inside the cut (walk.h) */
	uint64_t clock;	   /* the clock of the current vCPU */
	uint64_t insns;	   /* the number of exported instructions */
	uint64_t errors;   /* the number of places that cannot be decoded */
	char error[256];   /* the first error, with its place */
};

/* A block of instructions that ran. */
struct format_block {
	uint64_t ip, last; /* the first and the last instruction */
	uint32_t insns;
	uint8_t size; /* the size of the last instruction; 0 if not known */
	uint8_t mode; /* 16, 32 or 64 bits */
};

/* A change of flow. Of a conditional branch that was not taken, @to is the next instruction. */
struct format_edge {
	uint64_t from, to;
	enum decode_edge_kind kind;
	uint64_t count; /* how often it was executed */
};

/* Something that has no duration. */
struct format_instant {
	const char *name; /* not safe to print */
	bool has_tsc, has_from, has_to, has_value;
	uint64_t tsc, from, to, value;
};

enum format_exit { FORMAT_EXIT_LEFT, FORMAT_EXIT_HANDLED };

/* All functions return 0 or -errno, and may be NULL. Errors of @out need no check. */
struct format_type {
	const char *name;
	bool lines; /* the format needs the line tables of @symbols */
	/* The format obeys run->only. Its end() returns -ENOENT if there is no call of it. */
	bool selects;
	/* Addresses are of one binary: from its begin if it is AT_BEGIN (run->base). */
	enum format_relative { FORMAT_ALL, FORMAT_LINKED, FORMAT_AT_BEGIN } relative;
	/* Set run->own. */
	int (*begin)(struct format_run *run);
	/* A lane is new, and has its name. */
	int (*lane)(struct format_run *run, struct format_lane *lane);
	/*
	 * A block ran, or a change of flow was executed. The clock is before the block. A format
	 * with one of these functions gets no spans, and its lanes have no calls.
	 */
	int (*edge)(struct format_run *run, struct format_lane *lane,
		    const struct format_edge *edge);
	int (*block)(struct format_run *run, struct format_lane *lane,
		     const struct format_block *block);
	/* A call begins or ends, see decode_calls_watch(). The clock is that of the edge. */
	int (*span_begin)(struct format_run *run, struct format_lane *lane, uint64_t func,
			  enum decode_span_edge edge);
	int (*span_end)(struct format_run *run, struct format_lane *lane,
			enum decode_span_edge edge);
	/* The lane ran from the clock @begin to the current one, and others ran before and may run now. */
	int (*runs)(struct format_run *run, struct format_lane *lane, uint64_t begin);
	int (*instant)(struct format_run *run, struct format_lane *lane,
		       const struct format_instant *instant);
	/*
	 * The time at the clock is known. The times of a vCPU need not rise. Without this function,
	 * the walk only computes the times that its cut needs.
	 */
	int (*time)(struct format_run *run, const struct decode_when *when);
	/*
	 * A VM exit from @guest led to the instruction at @ip of @host. With FORMAT_EXIT_LEFT the
	 * host's spans are those before, and with FORMAT_EXIT_HANDLED those of the handler.
	 */
	int (*vm_exit)(struct format_run *run, struct format_lane *guest, struct format_lane *host,
		       uint64_t ip, enum format_exit exit);
	/*
	 * Without a walk (joined.h): take the blocks and changes of flow of a lane, or the map of a
	 * vCPU. Their ends are closed.
	 */
	int (*join)(struct format_run *run, struct format_lane *lane,
		    const struct decode_space_edges *edges);
	int (*join_map)(struct format_run *run, const struct decode_block_map *map);
	/* The walk is complete. run->lanes have their trees of calls. */
	int (*end)(struct format_run *run);
	/* Free run->own. It is called once if begin() was, also after an error. */
	void (*close)(struct format_run *run);
};

/* Returns true if a format has blocks and edges, and not calls. */
static inline bool format_has_blocks(const struct format_type *type)
{
	return type->block || type->edge;
}

/* Returns true if a call in a tree is of the function run->only. */
bool format_is_only(const struct format_run *run, uint64_t func);

/* Return the format of a name, or NULL. */
const struct format_type *format_find(const char *name);

/* The formats, by the rows of formats.def. */
#define FORMAT(name, text) extern const struct format_type format_type_##name;
#include "formats/formats.def"
#undef FORMAT

#endif /* VMM_FORMATS_FORMAT_H */
