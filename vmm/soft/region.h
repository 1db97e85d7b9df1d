/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for generated code, mapped twice. It is written at one address and executed at another, so
 * no mapping is both writable and executable.
 */
#ifndef VMM_SOFT_REGION_H
#define VMM_SOFT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_region {
	uint8_t *writable, *executable;
	size_t bytes, used;
	bool reused; /* true after a reset: the processor may still have older code of the region */
};

/* Returns 0 or -errno. */
int soft_region_create(struct soft_region *r, size_t bytes);
void soft_region_destroy(struct soft_region *r);

/*
 * Replace the memory by new memory at the same addresses, because a fork() has let another process
 * share it. The content is lost. Returns 0 or -errno.
 */
int soft_region_own(struct soft_region *r);

void soft_region_serialize(void);

/* Return the address to write the next code to. *run is the address where it executes. */
static inline uint8_t *soft_region_at(const struct soft_region *r, void **run)
{
	*run = r->executable + r->used;
	return r->writable + r->used;
}

/* Restart at this offset. No code of the region may be executed any more. */
static inline void soft_region_reset(struct soft_region *r, size_t used)
{
	r->reused = r->used > used;
	r->used = used;
}

/*
 * Record that code is written up to `end`. Code that replaces older code through another address
 * requires a serializing instruction before use (SDM vol. 3, 9.1.3).
 */
static inline void soft_region_take(struct soft_region *r, const uint8_t *end)
{
	r->used = ((size_t)(end - r->writable) + 15) & ~(size_t)15;
	if (r->reused)
		soft_region_serialize();
}

#endif /* VMM_SOFT_REGION_H */
