/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for generated code: mapped twice, to be written at one address and executed at
 * another, so that no address is ever both. */
#ifndef VMM_SOFT_REGION_H
#define VMM_SOFT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_region {
	uint8_t *writable, *executable;
	size_t bytes, used;
	bool reused; /* there has been other code, which the processor may still have */
};

/* 0 or -errno. */
int soft_region_create(struct soft_region *r, size_t bytes);
void soft_region_destroy(struct soft_region *r);

void soft_region_serialize(void);

/* Where the next code is to be written; *run: where it will be executed. */
static inline uint8_t *soft_region_at(const struct soft_region *r, void **run)
{
	*run = r->executable + r->used;
	return r->writable + r->used;
}

/* Begin anew at this offset; nothing in here is executed any more. */
static inline void soft_region_reset(struct soft_region *r, size_t used)
{
	r->reused = r->used > used;
	r->used = used;
}

/*
 * It has been written up to `end`. Code that takes the place of other code, written
 * through another address, is for use after a serializing instruction (SDM vol. 3, 9.1.3).
 */
static inline void soft_region_take(struct soft_region *r, const uint8_t *end)
{
	r->used = ((size_t)(end - r->writable) + 15) & ~(size_t)15;
	if (r->reused)
		soft_region_serialize();
}

#endif /* VMM_SOFT_REGION_H */
