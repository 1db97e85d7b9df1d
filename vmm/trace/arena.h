/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that trace_arena_free() releases all at once. Zero-initialise the struct. */
#ifndef VMM_TRACE_ARENA_H
#define VMM_TRACE_ARENA_H

#include <stddef.h>

struct trace_arena {
	struct trace_arena_slab *slab; /* newest slab first */
};

/* Allocate @len bytes, aligned to 16, at a fixed address. Returns NULL if there is no memory. */
void *trace_arena_alloc(struct trace_arena *a, size_t len);
/* Release @p, an allocation of @len bytes, if it is the newest one. */
void trace_arena_undo(struct trace_arena *a, void *p, size_t len);
void trace_arena_free(struct trace_arena *a);

#endif /* VMM_TRACE_ARENA_H */
