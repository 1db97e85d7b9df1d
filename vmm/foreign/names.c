// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps strings to numbers with a hash table, so that the cost of a hostile list is linear. */
#include "foreign/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

static size_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (*name)
		h = (h ^ (uint8_t)*name++) * 0x100000001b3u;
	return (size_t)(h ^ h >> 29);
}

static size_t find(const struct foreign_names *names, const char *name)
{
	size_t b = hash(name) & names->mask;

	while (names->buckets[b] && strcmp(names->at[names->buckets[b] - 1], name) != 0)
		b = (b + 1) & names->mask;
	return b;
}

/* Half of the buckets stay free. */
static int grow(struct foreign_names *names)
{
	size_t count = names->buckets ? 2 * (names->mask + 1) : 64, i;
	uint32_t *buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	free(names->buckets);
	names->buckets = buckets;
	names->mask = count - 1;
	for (i = 0; i < names->n; i++)
		names->buckets[find(names, names->at[i])] = (uint32_t)i + 1;
	return 0;
}

int foreign_names_add(struct foreign_names *names, const char *name, size_t *number)
{
	size_t b;

	if ((!names->buckets || 2 * names->n >= names->mask) && grow(names))
		return -ENOMEM;
	b = find(names, name);
	if (!names->buckets[b]) {
		if (names->n >= UINT32_MAX - 1 || !trace_vec_room(names))
			return -ENOMEM;
		names->at[names->n] = strdup(name);
		if (!names->at[names->n])
			return -ENOMEM;
		names->buckets[b] = (uint32_t)++names->n;
	}
	*number = names->buckets[b] - 1;
	return 0;
}

void foreign_names_free(struct foreign_names *names)
{
	while (names->n)
		free(names->at[--names->n]);
	free(names->at);
	free(names->buckets);
	memset(names, 0, sizeof(*names));
}
