/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is released all at once. Zero-initialise; vpt_arena_free() in the end. */
#ifndef VMM_TRACE_ARENA_H
#define VMM_TRACE_ARENA_H

#include <stddef.h>

struct vpt_arena {
	struct vpt_arena_slab *slab; /* the newest first */
};

/* @len bytes, aligned to 16, which stay where they are. NULL: no memory. */
void *vpt_arena_alloc(struct vpt_arena *a, size_t len);
/* Take back @p, an allocation of @len bytes, if it is the newest one. */
void vpt_arena_undo(struct vpt_arena *a, void *p, size_t len);
void vpt_arena_free(struct vpt_arena *a);

#endif /* VMM_TRACE_ARENA_H */
