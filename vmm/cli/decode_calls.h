/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees of calls for `vpt decode`: one tree in total, or one for each address space. */
#ifndef VMM_CLI_DECODE_CALLS_H
#define VMM_CLI_DECODE_CALLS_H

#include "decode/calls.h"

struct cli_decode_calls {
	const struct debug_symbols *symbols;
	bool apart;
	const char *only;		/* print only calls of this function; NULL for all */
	const struct decode_pace *pace; /* NULL if there is no time */
	enum decode_calls_counts counts;
	uint64_t min; /* print only calls that last as long; 0 for all */
	enum decode_duration_unit unit;
	struct {
		struct cli_decode_tree {
			/* A copy, because the flow frees its spaces. */
			struct trace_space space;
			bool known; /* false if the space is unknown, or if the tree is of all
			             * spaces */
			struct decode_calls *calls;
			uint64_t insns;
		} * at;
		size_t n, room;
	} trees;
	size_t now;
};

/* Return the tree of items without a space, or NULL if there is no memory. */
struct decode_calls *cli_decode_calls_tree(struct cli_decode_calls *c);
/*
 * Join what ran on a vCPU to the tree of a space, or of unknown ones if @space is NULL. Returns false if
 * there is no memory.
 */
bool cli_decode_calls_join(struct cli_decode_calls *c, const struct trace_space *space,
			   const struct decode_calls_pieces *pieces);
/* Add an item of a flow of blocks. Returns false if there is no memory. */
bool cli_decode_calls_item(struct cli_decode_calls *c, const struct decode_item *item);
/* Count from here on, or only follow the flow (decode_calls_count()). */
void cli_decode_calls_count(struct cli_decode_calls *c, enum decode_calls_counts counts);
/* End the active calls of a vCPU. Returns false if there is no memory. */
bool cli_decode_calls_forget(struct cli_decode_calls *c);
/*
 * Print at most @limit lines, with the most instructions first. Returns the number of lines.
 */
uint64_t cli_decode_calls_print(struct cli_decode_calls *c, bool json, uint64_t limit);
void cli_decode_calls_free(struct cli_decode_calls *c);

#endif /* VMM_CLI_DECODE_CALLS_H */
