/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of calls: which function called which, how often, and how many instructions ran. The nodes
 * are chains of callers.
 *
 * A RET returns to the CALL that it matches by address, and can skip any number of CALLs. A jump
 * into another function replaces the function that jumped. Interrupts and exceptions are calls of
 * their handlers.
 */
#ifndef VMM_DECODE_CALLS_H
#define VMM_DECODE_CALLS_H

#include <stdio.h>

#include "decode/pace.h"
#include "debug/symbol.h"

struct decode_calls;

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

/* Returns true if decode_calls_print() has a line to print. */
bool decode_calls_has_selected(const struct decode_calls *calls);

/* Add an item of a flow of blocks, merged or not, in order. Returns false if there is no memory. */
bool decode_calls_item(struct decode_calls *calls, const struct decode_item *item);

/* Return the total number of instructions. */
uint64_t decode_calls_insns(const struct decode_calls *calls);

/*
 * Write the tree, with at most `limit` lines. Returns the number of lines. If `space` is not NULL,
 * each JSON line has it.
 */
uint64_t decode_calls_print(struct decode_calls *calls, FILE *out, bool json, const char *space,
			    uint64_t limit);

#endif /* VMM_DECODE_CALLS_H */
