/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace in a few lines: how much of what there is, and where the time went. */
#ifndef VMM_DECODE_SUMMARY_H
#define VMM_DECODE_SUMMARY_H

#include <stdio.h>

#include "item.h"
#include "debug/symbol.h"
#include "tally.h"

struct vpt_summary {
	uint64_t insns, blocks;
	uint64_t events[VPT_FLOW_COUNT]; /* those that repeat nothing */
	uint64_t errors;
	uint64_t skipped;      /* bytes before a PSB */
	char first_error[256]; /* with its place, for people */
};

/* Count an item of vCPU `vcpu`. */
void vpt_summary_item(struct vpt_summary *s, unsigned int vcpu, const struct vpt_item *item);

struct vpt_hot {
	uint64_t start; /* of the function, or of the code without one */
	uint64_t insns;
};

/*
 * The functions with the most instructions, most first: up to `max` of them in
 * `hot`. Returns how many; `tally` is sorted.
 */
size_t vpt_summary_hot(const struct vpt_symbols *symbols, const struct vpt_tally *tally,
		       struct vpt_hot *hot, size_t max);

#endif /* VMM_DECODE_SUMMARY_H */
