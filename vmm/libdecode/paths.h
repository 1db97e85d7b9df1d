/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The arrays that belong to the slots of tracelets and strides. They contain the path of each walk,
 * and the addresses that the walk pops from the return stack and pushes.
 */
#ifndef VMM_LIBDECODE_PATHS_H
#define VMM_LIBDECODE_PATHS_H

#include "libdecode/flow.h"

struct dec_paths {
	/*
	 * For each walk: the addresses that it pops, those that it pushes, and one or two more
	 * entries.
	 */
	uint64_t *addresses;
	uint32_t naddresses, room;
	bool kept; /* paths are kept, because blocks are counted */
	/*
	 * For each walk: a header and one entry per block, which is its id, shifted left by one,
	 * and the link.
	 */
	uint32_t *path;
	uint32_t npath, path_room;
};

/*
 * Make room for @addresses and for @entries of a path. The arrays have @first entries at first.
 * Returns false if there is no memory.
 */
bool dec_paths_make_room(struct dec_paths *p, uint32_t addresses, uint32_t entries, uint32_t first);
void dec_paths_free(struct dec_paths *p);

/* Forget all walks. */
static inline void dec_paths_clear(struct dec_paths *p)
{
	p->naddresses = 0;
	p->npath = 0;
}

/* Append the addresses of a walk. */
static inline void dec_paths_keep_stack(struct dec_paths *p, const uint64_t *pop, unsigned int pops,
					const uint64_t *push, unsigned int pushes)
{
	unsigned int i;

	for (i = 0; i < pops; i++)
		p->addresses[p->naddresses++] = pop[i];
	for (i = 0; i < pushes; i++)
		p->addresses[p->naddresses++] = push[i];
}

/* Change the return stack of @f like the walk whose addresses begin at @stack. */
static inline void dec_paths_restack(const struct dec_paths *p, struct dec_flow *f, uint32_t stack,
				     unsigned int pops, unsigned int pushes)
{
	const uint64_t *push = p->addresses + stack + pops;
	unsigned int i;

	f->top -= pops;
	f->depth -= pops;
	for (i = 0; i < pushes; i++)
		dec_flow_push(f, push[i]);
}

#endif /* VMM_LIBDECODE_PATHS_H */
