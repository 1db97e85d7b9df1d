// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory in slabs, for the payloads of a file. */
#include "trace/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define ALIGN	   16u
#define SLAB_FIRST (64u << 10)
#define SLAB_MAX   (4u << 20)

struct trace_arena_slab {
	struct trace_arena_slab *next;
	size_t room, used;
	_Alignas(ALIGN) uint8_t bytes[];
};

static size_t aligned(size_t len)
{
	return (len + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Add a slab; slabs grow with the used memory. Returns NULL if there is no memory. */
static struct trace_arena_slab *add_slab(struct trace_arena *a, size_t need)
{
	const size_t head = sizeof(struct trace_arena_slab);
	size_t size = a->slab ? 2 * (a->slab->room + head) : SLAB_FIRST;
	struct trace_arena_slab *slab;

	if (need > SIZE_MAX / 2)
		return NULL;
	if (size > SLAB_MAX)
		size = SLAB_MAX;
	if (size < need + head)
		size = need + head;
	slab = malloc(size);
	if (!slab)
		return NULL;
	*slab = (struct trace_arena_slab){.next = a->slab, .room = size - head};
	a->slab = slab;
	return slab;
}

void *trace_arena_alloc(struct trace_arena *a, size_t len)
{
	struct trace_arena_slab *slab = a->slab;
	size_t need = aligned(len);

	if (need < len)
		return NULL;
	if (!slab || need > slab->room - slab->used) {
		slab = add_slab(a, need);
		if (!slab)
			return NULL;
	}
	slab->used += need;
	return slab->bytes + slab->used - need;
}

void trace_arena_undo(struct trace_arena *a, void *p, size_t len)
{
	struct trace_arena_slab *slab = a->slab;

	if ((uint8_t *)p + aligned(len) != slab->bytes + slab->used)
		return;
	slab->used -= aligned(len);
	/* A large allocation had its own slab. */
	if (!slab->used && slab->room > SLAB_MAX) {
		a->slab = slab->next;
		free(slab);
	}
}

void trace_arena_free(struct trace_arena *a)
{
	while (a->slab) {
		struct trace_arena_slab *next = a->slab->next;

		free(a->slab);
		a->slab = next;
	}
}
