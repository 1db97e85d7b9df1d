// SPDX-License-Identifier: GPL-2.0-or-later
/* Count how often each block ran. */
#include "decode/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u

static struct decode_block_count *find(const struct decode_tally *t, uint64_t ip, uint64_t last)
{
	size_t i = ((ip ^ last << 17) * 0x9e3779b97f4a7c15ull >> 32) & (t->nslots - 1);

	while (t->slots[i].count && (t->slots[i].ip != ip || t->slots[i].last != last))
		i = (i + 1) & (t->nslots - 1);
	return &t->slots[i];
}

static bool grow(struct decode_tally *t)
{
	struct decode_tally more = {.nslots = t->nslots ? 2 * t->nslots : FIRST_SLOTS};
	size_t i;

	more.slots = calloc(more.nslots, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (i = 0; i < t->nslots; i++) {
		if (t->slots[i].count)
			*find(&more, t->slots[i].ip, t->slots[i].last) = t->slots[i];
	}
	free(t->slots);
	t->slots = more.slots;
	t->nslots = more.nslots;
	return true;
}

bool decode_tally_add_count(struct decode_tally *t, uint64_t ip, uint64_t last, uint64_t count,
			    uint64_t insns)
{
	struct decode_block_count *slot;

	if (t->used * 2 >= t->nslots && !grow(t))
		return false;
	slot = find(t, ip, last);
	if (!slot->count) {
		slot->ip = ip;
		slot->last = last;
		t->used++;
	}
	slot->count += count;
	slot->insns += insns;
	return true;
}

int decode_tally_join(struct decode_tally *t, const struct decode_tally *from)
{
	size_t i;

	for (i = 0; i < from->nslots; i++) {
		const struct decode_block_count *c = &from->slots[i];

		if (c->count && !decode_tally_add_count(t, c->ip, c->last, c->count, c->insns))
			return -ENOMEM;
	}
	return 0;
}

static int by_ip(const void *a, const void *b)
{
	const struct decode_block_count *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

void decode_tally_sort(struct decode_tally *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->nslots; i++) {
		if (t->slots[i].count)
			t->slots[n++] = t->slots[i];
	}
	if (n)
		qsort(t->slots, n, sizeof(*t->slots), by_ip);
}

void decode_tally_free(struct decode_tally *t)
{
	free(t->slots);
	memset(t, 0, sizeof(*t));
}
