/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Between the files of the tracelet cache: making and using walks (tracelet.c), and the memory and
 * the counts of walks (tracelet_counts.c).
 */
#ifndef VMM_LIBDECODE_TRACELET_INSIDE_H
#define VMM_LIBDECODE_TRACELET_INSIDE_H

#include "libdecode/paths.h"
#include "libdecode/tracelet.h"

#define DEC_TRACELET_STACK 12u	/* addresses that a walk takes and leaves, together */
#define DEC_TRACELET_STEPS 256u /* blocks of one walk at most */

#define DEC_TRACELET_ROOM 65536u /* entries of the other arrays */

/* Two of them fill a line of the processor's caches. */
struct dec_tracelet {
	const struct dec_block *from; /* NULL: the slot is free */
	uint32_t outcomes;	      /* behind a stop bit */
	uint32_t to;		      /* id of the block that it leads to */
	uint32_t view;
	uint32_t hits;
	uint32_t stack;	     /* index of the addresses in `addresses` */
	uint32_t insns : 18; /* at most DEC_TRACELET_STEPS * 512 */
	uint32_t used : 5;   /* outcomes */
	uint32_t pops : 4, pushes : 4;
	uint32_t of_all : 1; /* @view is that of all spaces: index of views[] */
};

struct dec_tracelets {
	struct dec_tracelet *walk;
	size_t mask, used;
	size_t max; /* slots */
	uint32_t max_addresses, max_path;
	/* Behind the addresses of a walk are, if paths are kept, its path and its mark or uses. */
	struct dec_paths paths;
	struct dec_strides *strides;
};

/* In front of a path. The path of a walk that was replaced stays. */
enum {
	DEC_PATH_STEPS,
	DEC_PATH_TO,	/* the block that the walk leads to */
	DEC_PATH_PLACE, /* the walk's place in `addresses` */
	DEC_PATH_HEADER
};

/* Are walks marked instead of counted? */
static inline bool dec_tracelet_marks(const struct dec_flow *f)
{
	return f->ops && f->ops->walk;
}

/* Where the walk's path is, behind which is its mark. */
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
