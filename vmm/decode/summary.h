/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace in a few lines: how much of what there is, and where the time went. */
#ifndef VMM_DECODE_SUMMARY_H
#define VMM_DECODE_SUMMARY_H

#include <stdio.h>

#include "decode/item.h"
#include "debug/symbol.h"
#include "decode/tally.h"

struct decode_summary {
	uint64_t insns, blocks;
	uint64_t events[DECODE_FLOW_COUNT]; /* those that repeat nothing */
	uint64_t errors;
	uint64_t skipped;      /* bytes before a PSB */
	char first_error[256]; /* with its place, for people */
};

/* Count an item of vCPU `vcpu`. */
void decode_summary_item(struct decode_summary *s, unsigned int vcpu,
			 const struct decode_item *item);

struct decode_hot {
	uint64_t start; /* of the function, or of the code without one */
	uint64_t insns;
};

/*
 * The functions with the most instructions, most first: up to `max` of them in
 * `hot`. Returns how many; `tally` is sorted.
 */
size_t decode_summary_hot(const struct debug_symbols *symbols, const struct decode_tally *tally,
			  struct decode_hot *hot, size_t max);

#endif /* VMM_DECODE_SUMMARY_H */
