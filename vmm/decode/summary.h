/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summarise a trace in a few lines: counts of instructions and events, and the hot functions. */
#ifndef VMM_DECODE_SUMMARY_H
#define VMM_DECODE_SUMMARY_H

#include <stdio.h>

#include "decode/item.h"
#include "debug/symbol.h"
#include "decode/tally.h"

struct decode_summary {
	uint64_t insns, blocks;
	uint64_t events[DECODE_FLOW_COUNT]; /* events, except for those that repeat the state */
	uint64_t errors;
	uint64_t skipped;      /* the number of bytes before a PSB */
	char first_error[256]; /* the text of the first error, with its place */
};

/* Count an item of vCPU `vcpu`. */
void decode_summary_item(struct decode_summary *s, unsigned int vcpu,
			 const struct decode_item *item);

/* Add the counts of a later part of the trace. */
void decode_summary_add(struct decode_summary *s, const struct decode_summary *later);

struct decode_hot {
	uint64_t start; /* the address of the function, or of code without a function */
	uint64_t insns;
};

/*
 * List up to `max` functions with the most instructions in `hot`, in descending order. Returns
 * their number. `tally` must be sorted.
 */
size_t decode_summary_hot(const struct debug_symbols *symbols, const struct decode_tally *tally,
			  struct decode_hot *hot, size_t max);

#endif /* VMM_DECODE_SUMMARY_H */
