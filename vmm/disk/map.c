// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table from the numbers of pieces to values. */
#include "disk/inside.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64u

/* Returns the entry of a key, or the free entry where the key belongs. The map is not full. */
static struct disk_map_entry *place(const struct disk_map *m, uint64_t key)
{
	size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 20) & (m->room - 1);

	while (m->at[at].key && m->at[at].key != key)
		at = (at + 1) & (m->room - 1);
	return &m->at[at];
}

struct disk_map_entry *disk_map_find(const struct disk_map *m, uint64_t number)
{
	struct disk_map_entry *entry;

	if (!m->room)
		return NULL;
	entry = place(m, number + 1);
	return entry->key ? entry : NULL;
}

/* Double the room. Returns false without memory. */
static bool grow(struct disk_map *m)
{
	struct disk_map new = {.n = m->n, .room = m->room ? 2 * m->room : FIRST_ROOM};
	size_t i;

	new.at = calloc(new.room, sizeof(*new.at));
	if (!new.at)
		return false;
	for (i = 0; i < m->room; i++)
		if (m->at[i].key)
			*place(&new, m->at[i].key) = m->at[i];
	free(m->at);
	*m = new;
	return true;
}

struct disk_map_entry *disk_map_add(struct disk_map *m, uint64_t number)
{
	struct disk_map_entry *entry;

	if (2 * m->n >= m->room && !grow(m))
		return NULL;
	entry = place(m, number + 1);
	entry->key = number + 1;
	m->n++;
	return entry;
}

static int by_key(const void *a, const void *b)
{
	const struct disk_map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

struct disk_map_entry *disk_map_sort(const struct disk_map *m)
{
	struct disk_map_entry *sorted = calloc(m->n + 1, sizeof(*sorted));
	size_t i, n = 0;

	for (i = 0; sorted && i < m->room; i++)
		if (m->at[i].key)
			sorted[n++] = m->at[i];
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), by_key);
	return sorted;
}

void disk_map_free(struct disk_map *m)
{
	free(m->at);
	memset(m, 0, sizeof(*m));
}
