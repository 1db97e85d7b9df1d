/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of walks. A walk leads from a block, by some outcomes, to another block. It knows how
 * many instructions run on the way and how the return stack changes. One look-up replaces up to
 * DEC_TRACELET branches and touches no block. dec_tracelets_expand() derives how often each block
 * ran from how often each walk was used.
 */
#ifndef VMM_LIBDECODE_TRACELET_H
#define VMM_LIBDECODE_TRACELET_H

#include "libdecode/flow.h"

/*
 * The maximum number of outcomes in a walk. Longer walks need fewer look-ups, but most of them are
 * used once. Where branches depend on data, walks of 16 outcomes repeat and walks of 56 do not.
 */
#define DEC_TRACELET 16u

/*
 * Make a cache. @max_bytes bounds each of three arrays: walks, return addresses and, with @counts,
 * paths. The arrays of strides have an eighth of that. @counts must be true if
 * dec_tracelets_expand() is used. Returns NULL if there is no memory.
 */
struct dec_tracelets *dec_tracelets_new(size_t max_bytes, bool counts);
void dec_tracelets_free(struct dec_tracelets *t);

/* Returns the cache of strides that belongs to this one, or NULL. */
struct dec_strides *dec_tracelets_strides(const struct dec_tracelets *t);

/*
 * Consume outcomes of the flow, which is at the first instruction of a block, by a cached or new
 * walk. Returns false if nothing was done: the caller must run the next block alone.
 */
bool dec_tracelets_run(struct dec_tracelets *t, struct dec_flow *f);

/*
 * Move the counts of all walks and strides to the hits of blocks. Those of RETs and targets go to
 * the edges of @f if it has any. Returns false if there is no memory, and leaves the counts
 * unchanged.
 */
bool dec_tracelets_expand(struct dec_tracelets *t, const struct dec_flow *f);

#endif /* VMM_LIBDECODE_TRACELET_H */
