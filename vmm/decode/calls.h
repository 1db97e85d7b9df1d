/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of calls: which function called which, how often, and how many instructions ran. The nodes
 * are chains of callers.
 *
 * A RET returns to the CALL that it matches by address, and can skip any number of CALLs. A jump
 * into another function replaces the function that jumped. So does a RET to the begin of a
 * function, and a CALL of the next instruction. Interrupts and exceptions are calls of their
 * handlers.
 */
#ifndef VMM_DECODE_CALLS_H
#define VMM_DECODE_CALLS_H

#include <stdio.h>

#include "decode/durations.h"
#include "decode/pace.h"
#include "debug/symbol.h"

struct decode_calls;

/* The functions of struct debug_symbols, which may be NULL, for decode_flow_merge(). */
uint64_t decode_calls_function(void *symbols, uint64_t ip);

/* Returns NULL if there is no memory. The symbols must outlive the tree. */
struct decode_calls *decode_calls_new(const struct debug_symbols *symbols);
void decode_calls_free(struct decode_calls *calls);

/*
 * Measure the time too. Call this function before the first item. Each item must be passed to
 * `pace` first.
 */
void decode_calls_keep_time(struct decode_calls *calls, const struct decode_pace *pace);

/*
 * Print only the trees that begin at calls of the function @only. The name must outlive the tree.
 * NULL means all calls.
 */
void decode_calls_select(struct decode_calls *calls, const char *only);

/*
 * Print only calls that last at least @min, with their numbers alone. A caller of such a call lasts
 * as long. Call this function before the first item. Ticks need decode_calls_keep_time().
 */
void decode_calls_select_long(struct decode_calls *calls, enum decode_duration_unit unit,
			      uint64_t min);

/* Returns true if decode_calls_print() has a line to print. */
bool decode_calls_has_selected(const struct decode_calls *calls);

/* Add an item of a flow of blocks, merged or not, in order. Returns false if there is no memory. */
bool decode_calls_item(struct decode_calls *calls, const struct decode_item *item);

/* Add one part, as decode_calls_item() does for each part of a PARTS item. */
bool decode_calls_part(struct decode_calls *calls, const struct decode_part *part);

/*
 * End all active calls, after the last item of a vCPU. The items that follow belong to another one.
 * Returns false if there is no memory.
 */
bool decode_calls_forget(struct decode_calls *calls);

/*
 * Follow the flow without counts from here on, or count again. A call is counted if it begins while
 * counts are on. Instructions and time count while they are on. decode_calls_print() marks the calls
 * that this divides. One more block shows which calls have ended where counting ends.
 */
enum decode_calls_counts { DECODE_CALLS_COUNT, DECODE_CALLS_NO_COUNT };
void decode_calls_count(struct decode_calls *calls, enum decode_calls_counts counts);

/* A span is the time between the beginning and the end of a call. */
enum decode_span_edge {
	DECODE_SPAN_WHOLE, /* the trace has the beginning, or the end */
	DECODE_SPAN_CUT,   /* the call began before the trace of it, or was active when it ended */
	/* Of a beginning: an earlier span of the same call ended with DECODE_SPAN_CUT. */
	DECODE_SPAN_RESUMED,
};

/* Callbacks for spans. They return false if there is no memory. */
struct decode_calls_watch {
	bool (*begin)(void *context, uint64_t func, enum decode_span_edge edge);
	/* The end of the span that began last and has not ended. */
	bool (*end)(void *context, enum decode_span_edge edge);
};

/*
 * Report spans from here on; calls that are active begin with DECODE_SPAN_RESUMED. NULL ends this.
 * Each call of decode_calls_item() and decode_calls_part() reports the spans that begin and end
 * before its first instruction. Where the flow is interrupted all spans end, and those that are
 * still active begin again when it resumes. Calls deeper than 512 have no spans.
 */
void decode_calls_watch(struct decode_calls *calls, const struct decode_calls_watch *watch,
			void *context);
/* End all spans with DECODE_SPAN_CUT, as at the end of the trace. */
bool decode_calls_cut(struct decode_calls *calls);

/*
 * An open tree is of a part of a vCPU's trace whose callers are not known. Time, selection, spans
 * and divided counts are not for open trees, nor decode_calls_forget(), _node() and _print().
 */
struct decode_calls *decode_calls_new_open(const struct debug_symbols *symbols);

/*
 * End an open tree, to which no item can be added afterwards. Its pieces are valid as long as the
 * tree. Returns NULL if there is no memory.
 */
struct decode_calls_pieces;
const struct decode_calls_pieces *decode_calls_close_open(struct decode_calls *calls);

/*
 * Add the pieces of the part of the trace that follows. The tree then equals that of all items, down
 * to the order of its nodes. It may be open, too. Returns false if there is no memory.
 */
bool decode_calls_join(struct decode_calls *calls, const struct decode_calls_pieces *pieces);

/* Returns true if pieces that were read from a file can be joined: all indices are valid. */
bool decode_calls_pieces_check(const struct decode_calls_pieces *pieces);

/* A node of the tree. */
struct decode_calls_node {
	uint32_t parent; /* the index of the parent, ~0 if there is none */
	uint32_t depth;	 /* 1 for a function that has no known caller */
	uint64_t func;	 /* the first address of the function */
	uint64_t count;	 /* the number of calls */
	uint64_t own;	 /* the number of instructions without those of callees */
};

/*
 * Get node @i of the tree. A node is behind its parent. Returns false behind the last node. Not
 * valid after decode_calls_print().
 */
bool decode_calls_node(const struct decode_calls *calls, uint32_t i,
		       struct decode_calls_node *node);

/* Return the total number of instructions. */
uint64_t decode_calls_insns(const struct decode_calls *calls);

/*
 * Write the tree, with at most `limit` lines. Returns the number of lines. If `space` is not NULL,
 * each JSON line has it.
 */
uint64_t decode_calls_print(struct decode_calls *calls, FILE *out, bool json, const char *space,
			    uint64_t limit);

#endif /* VMM_DECODE_CALLS_H */
