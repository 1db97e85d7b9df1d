/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interfaces between the files of the tracelet cache: making and using walks (tracelet.c), and the
 * memory and the counts of walks (tracelet_counts.c).
 */
#ifndef VMM_LIBDECODE_TRACELET_INSIDE_H
#define VMM_LIBDECODE_TRACELET_INSIDE_H

#include "libdecode/paths.h"
#include "libdecode/tracelet.h"

/* The maximum number of addresses that a walk pops and pushes, together. */
#define DEC_TRACELET_STACK 12u
#define DEC_TRACELET_STEPS 256u /* the maximum number of blocks in a walk */

#define DEC_TRACELET_ROOM 65536u /* the initial number of entries of the other arrays */

/* A slot of the cache. Two slots fill a cache line. */
struct dec_tracelet {
	const struct dec_block *from; /* NULL: the slot is free */
	uint32_t outcomes;	      /* the outcomes, after a stop bit */
	uint32_t to;		      /* the id of the block that the walk leads to */
	uint32_t view;
	uint32_t hits;
	uint32_t stack;	     /* the index of the addresses in `addresses` */
	uint32_t insns : 18; /* at most DEC_TRACELET_STEPS * 512 */
	uint32_t used : 5;   /* the number of outcomes */
	uint32_t pops : 4, pushes : 4;
	uint32_t of_all : 1; /* @view is that of all spaces: an index into views[] */
};

struct dec_tracelets {
	struct dec_tracelet *walk;
	size_t mask, used;
	size_t max; /* the maximum number of slots */
	uint32_t max_addresses, max_path;
	/*
	 * If paths are kept, the index of the path and the mark or uses follow the addresses of a
	 * walk.
	 */
	struct dec_paths paths;
	struct dec_strides *strides;
};

/* The header of a path. The path of a replaced walk stays. */
enum {
	DEC_PATH_STEPS,
	DEC_PATH_TO,	/* the block that the walk leads to */
	DEC_PATH_PLACE, /* the walk's place in `addresses` */
	DEC_PATH_HEADER
};

/* Returns true if walks are marked instead of counted. */
static inline bool dec_tracelet_marks(const struct dec_flow *f)
{
	return f->ops && f->ops->walk;
}

/* Returns the address of the index of the walk's path. The mark follows it. */
static inline uint64_t *dec_tracelet_place(const struct dec_tracelets *t,
					   const struct dec_tracelet *w)
{
	return &t->paths.addresses[w->stack + w->pops + w->pushes];
}

/* Move the uses of a walk to its mark. No path is read. */
static inline void dec_tracelet_keep_hits(const struct dec_tracelets *t, struct dec_tracelet *w)
{
	dec_tracelet_place(t, w)[1] += w->hits;
	w->hits = 0;
}

#endif /* VMM_LIBDECODE_TRACELET_INSIDE_H */
