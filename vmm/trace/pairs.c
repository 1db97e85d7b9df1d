// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table with open addressing; half of the buckets stay free. */
#include "trace/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

static size_t find(const struct trace_pairs *p, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(h ^ h >> 31) & p->mask;

	while (p->buckets[at] &&
	       (p->at[p->buckets[at] - 1].a != a || p->at[p->buckets[at] - 1].b != b))
		at = (at + 1) & p->mask;
	return at;
}

struct trace_pair *trace_pairs_find(const struct trace_pairs *p, uint64_t a, uint64_t b)
{
	uint32_t number = p->buckets ? p->buckets[find(p, a, b)] : 0;

	return number ? &p->at[number - 1] : NULL;
}

static int grow(struct trace_pairs *p)
{
	size_t count = p->buckets ? 2 * (p->mask + 1) : 64, i;
	uint32_t *buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return -1;
	free(p->buckets);
	p->buckets = buckets;
	p->mask = count - 1;
	for (i = 0; i < p->n; i++)
		p->buckets[find(p, p->at[i].a, p->at[i].b)] = (uint32_t)i + 1;
	return 0;
}

struct trace_pair *trace_pairs_add(struct trace_pairs *p, uint64_t a, uint64_t b)
{
	size_t at;

	if ((!p->buckets || 2 * p->n >= p->mask) && grow(p))
		return NULL;
	at = find(p, a, b);
	if (!p->buckets[at]) {
		if (p->n >= UINT32_MAX - 1 || !trace_vec_room(p))
			return NULL;
		p->at[p->n] = (struct trace_pair){a, b, 0};
		p->buckets[at] = (uint32_t)++p->n;
	}
	return &p->at[p->buckets[at] - 1];
}

int trace_pairs_count(struct trace_pairs *p, uint64_t a, uint64_t b, uint64_t count)
{
	struct trace_pair *pair = trace_pairs_add(p, a, b);

	if (!pair)
		return -ENOMEM;
	pair->value += count;
	return 0;
}

int trace_pair_compare(const void *a, const void *b)
{
	const struct trace_pair *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

void trace_pairs_sort(struct trace_pairs *p)
{
	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), trace_pair_compare);
}

void trace_pairs_free(struct trace_pairs *p)
{
	free(p->at);
	free(p->buckets);
	memset(p, 0, sizeof(*p));
}
