/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of strides. A stride begins at a block at which a TIP has arrived. By the bytes of the
 * next packets it leads to the block at which their last TIP arrives. One look-up replaces several
 * TNT and TIP packets.
 */
#ifndef VMM_LIBDECODE_STRIDE_H
#define VMM_LIBDECODE_STRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/base.h"

struct dec_flow;

/* A TIP with a 16-bit address, and the up to two short TNTs before it, which may be 0. */
#define DEC_STRIDE_UNITS 4u

/* The packets of a stride. Unused units are 0. */
struct dec_stride_key {
	uint64_t units[DEC_STRIDE_UNITS / 2];
	unsigned int n;	   /* units */
	unsigned int size; /* bytes of their packets */
};

/*
 * Make a cache. @max_bytes bounds each of its arrays. @counts must be true if dec_strides_expand()
 * is used. Returns NULL if there is no memory.
 */
struct dec_strides *dec_strides_new(size_t max_bytes, bool counts);
void dec_strides_free(struct dec_strides *s);

/*
 * Run the packets of @key by a cached stride, or by a new one if they were seen before. The flow
 * must be as dec_strides_fits() has it. Returns false if nothing was done.
 */
bool dec_strides_run(struct dec_strides *s, struct dec_flow *f, const struct dec_stride_key *key);

/* Can a stride begin here? @last_ip is that of the packets. */
bool dec_strides_fits(struct dec_strides *s, const struct dec_flow *f, uint64_t last_ip);

/* Move the counts of all strides to the hits of blocks, or to the edges of @f if it has any. */
void dec_strides_expand(struct dec_strides *s, const struct dec_flow *f);

#endif /* VMM_LIBDECODE_STRIDE_H */
