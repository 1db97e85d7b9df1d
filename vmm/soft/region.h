/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for generated code: mapped twice, to be written at one address and executed at
 * another, so that no address is ever both. */
#ifndef VMM_SOFT_REGION_H
#define VMM_SOFT_REGION_H

#include <stddef.h>
#include <stdint.h>

struct vpt_region {
	uint8_t *writable, *executable;
	size_t bytes, used;
};

/* 0 or -errno. */
int vpt_region_create(struct vpt_region *r, size_t bytes);
void vpt_region_destroy(struct vpt_region *r);

/* Where the next code is to be written; *run: where it will be executed. */
static inline uint8_t *vpt_region_at(const struct vpt_region *r, void **run)
{
	*run = r->executable + r->used;
	return r->writable + r->used;
}

/* It has been written up to `end`. */
static inline void vpt_region_take(struct vpt_region *r, const uint8_t *end)
{
	r->used = ((size_t)(end - r->writable) + 15) & ~(size_t)15;
}

#endif /* VMM_SOFT_REGION_H */
