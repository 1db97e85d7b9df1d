/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table of pointers with two numbers as key, without removal. Zero is empty. */
#ifndef VMM_IMAGE_TABLE_H
#define VMM_IMAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct image_table {
	struct image_slot {
		uint64_t key, key2;
		const void *value; /* NULL if free */
	} * slots;
	size_t mask, used;
};

static inline struct image_slot *image_table_slot(const struct image_table *t, uint64_t key,
						  uint64_t key2)
{
	uint64_t hash = (key ^ (key2 >> 12) * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
	size_t i = (size_t)(hash >> 32) & t->mask;

	while (t->slots[i].value && (t->slots[i].key != key || t->slots[i].key2 != key2))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

/* Returns NULL if the key is not in the table. */
static inline const void *image_table_find(const struct image_table *t, uint64_t key, uint64_t key2)
{
	return t->slots ? image_table_slot(t, key, key2)->value : NULL;
}

/* Add a new key. Returns false if there is no memory. */
static inline bool image_table_add(struct image_table *t, uint64_t key, uint64_t key2,
				   const void *value)
{
	if (!t->slots || 2 * t->used >= t->mask) {
		struct image_table more = {.mask = t->slots ? 2 * t->mask + 1 : 255};
		size_t i;

		more.slots = calloc(more.mask + 1, sizeof(*more.slots));
		if (!more.slots)
			return false;
		for (i = 0; t->slots && i <= t->mask; i++) {
			if (t->slots[i].value)
				*image_table_slot(&more, t->slots[i].key, t->slots[i].key2) =
					t->slots[i];
		}
		more.used = t->used;
		free(t->slots);
		*t = more;
	}
	*image_table_slot(t, key, key2) = (struct image_slot){key, key2, value};
	t->used++;
	return true;
}

#endif /* VMM_IMAGE_TABLE_H */
