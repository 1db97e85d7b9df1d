/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of strides. A stride begins at a block that is the target of a TIP. The bytes of the next
 * packets lead it to the target of their last TIP. One look-up replaces several TNT and TIP
 * packets.
 */
#ifndef VMM_LIBDECODE_STRIDE_H
#define VMM_LIBDECODE_STRIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/base.h"

struct dec_flow;

/*
 * The maximum number of units. A unit is a TIP with a 16-bit address, and the up to two short TNTs
 * before it, which may be 0.
 */
#define DEC_STRIDE_UNITS 4u

/* The packets of a stride. Unused units are 0. */
struct dec_stride_key {
	uint64_t units[DEC_STRIDE_UNITS / 2];
	unsigned int n;	   /* the number of units */
	unsigned int size; /* the number of bytes of their packets */
};

/*
 * Make a cache. @max_bytes bounds each of its arrays. @counts must be true if dec_strides_expand()
 * is used. Returns NULL if there is no memory.
 */
struct dec_strides *dec_strides_new(size_t max_bytes, bool counts);
void dec_strides_free(struct dec_strides *s);

/*
 * Run the packets of @key by a cached stride, or by a new one if they occurred before. Call this
 * function only if dec_strides_fits() returns true. Returns false and does nothing if there is no
 * stride.
 */
bool dec_strides_run(struct dec_strides *s, struct dec_flow *f, const struct dec_stride_key *key);

/* Returns true if a stride can begin here. @last_ip is that of the packets. */
bool dec_strides_fits(struct dec_strides *s, const struct dec_flow *f, uint64_t last_ip);

/* Move the counts of all strides to the hits of blocks, or to the edges of @f if it has any. */
void dec_strides_expand(struct dec_strides *s, const struct dec_flow *f);

#endif /* VMM_LIBDECODE_STRIDE_H */
