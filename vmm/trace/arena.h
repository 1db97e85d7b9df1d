/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that vpt_arena_free() releases all at once. Zero-initialise the struct. */
#ifndef VMM_TRACE_ARENA_H
#define VMM_TRACE_ARENA_H

#include <stddef.h>

struct vpt_arena {
	struct vpt_arena_slab *slab; /* the newest first */
};

/* Allocate @len bytes, aligned to 16, at a fixed address. Returns NULL if there is no memory. */
void *vpt_arena_alloc(struct vpt_arena *a, size_t len);
/* Release @p, an allocation of @len bytes, if it is the newest one. */
void vpt_arena_undo(struct vpt_arena *a, void *p, size_t len);
void vpt_arena_free(struct vpt_arena *a);

#endif /* VMM_TRACE_ARENA_H */
