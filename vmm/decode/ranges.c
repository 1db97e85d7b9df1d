// SPDX-License-Identifier: GPL-2.0-or-later
/* Count the ranges of instructions between taken branches, in parts that can be joined. */
#include "decode/ranges.h"

static bool add(struct decode_ranges *r, enum decode_range_begin by, uint64_t first, uint64_t last,
		uint64_t count)
{
	struct trace_pair *pair = trace_pairs_add(&r->counts[by], first, last);

	if (pair)
		pair->value += count;
	return pair != NULL;
}

/* Code that lies behind a wrap of addresses is no range. */
static bool count(struct decode_ranges *r, const struct decode_range *range,
		  enum decode_range_begin by)
{
	return !range->runs || range->first > range->last ||
	       add(r, by, range->first, range->last, 1);
}

bool decode_ranges_cut(struct decode_ranges *r, enum decode_range_begin by)
{
	const bool ok = !r->cut || count(r, &r->now, r->by);

	r->cut = true;
	r->now.runs = false;
	r->by = by;
	return ok;
}

void decode_ranges_block(struct decode_ranges *r, uint64_t first, uint64_t last)
{
	struct decode_range *range = r->cut ? &r->now : &r->head;

	if (!range->runs)
		range->first = first;
	range->last = last;
	range->runs = true;
}

bool decode_ranges_join(struct decode_ranges *r, const struct decode_ranges *next)
{
	unsigned int by;
	size_t i;

	if (next->head.runs)
		decode_ranges_block(r, next->head.first, next->head.last);
	for (by = 0; by < DECODE_RANGE_BEGINS; by++) {
		const struct trace_pairs *from = &next->counts[by];

		for (i = 0; i < from->n; i++)
			if (!add(r, (enum decode_range_begin)by, from->at[i].a, from->at[i].b,
				 from->at[i].value))
				return false;
	}
	if (!next->cut)
		return true;
	if (!decode_ranges_cut(r, next->by))
		return false;
	r->now = next->now;
	return true;
}

bool decode_ranges_close(struct decode_ranges *r)
{
	const bool ok = count(r, &r->head, DECODE_RANGE_OTHER);

	r->head.runs = false;
	return decode_ranges_cut(r, DECODE_RANGE_OTHER) && ok;
}

void decode_ranges_free(struct decode_ranges *r)
{
	unsigned int by;

	for (by = 0; by < DECODE_RANGE_BEGINS; by++)
		trace_pairs_free(&r->counts[by]);
}
