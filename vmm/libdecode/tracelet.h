/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A cache of walks: from a block and some outcomes to where they lead, how many instructions run
 * on the way and what becomes of the return stack. One look-up stands for up to DEC_TRACELET
 * branches. Nothing else is touched: how often each block ran is worked out from the number of
 * times that each walk was used, when somebody asks.
 */
#ifndef VMM_LIBDECODE_TRACELET_H
#define VMM_LIBDECODE_TRACELET_H

#include "libdecode/flow.h"

#define DEC_TRACELET 56u /* outcomes at most */

/*
 * NULL: no memory. @max_bytes bounds each of three arrays: walks, return addresses and, with
 * @counts, paths. @counts: dec_tracelets_expand() will be used.
 */
struct dec_tracelets *dec_tracelets_new(size_t max_bytes, bool counts);
void dec_tracelets_free(struct dec_tracelets *t);

/*
 * Use outcomes of the flow, which is at the first instruction of its block, by a cached walk or
 * by one that is cached now. False: nothing was done, and the next block needs to be run alone.
 */
bool dec_tracelets_run(struct dec_tracelets *t, struct dec_flow *f);

/* Add the counts of all cached walks to the blocks' hits, those of RETs to the flow's edges. */
void dec_tracelets_expand(struct dec_tracelets *t, const struct dec_flow *f);

#endif /* VMM_LIBDECODE_TRACELET_H */
