// SPDX-License-Identifier: GPL-2.0-or-later
/* Join the results of consecutive shards, and prove that they are consecutive. */
#include "decode/partial.h"

#include <errno.h>
#include <string.h>

static bool same_end(const struct decode_partial_end *a, const struct decode_partial_end *b)
{
	return !a->unfit && !b->unfit && !memcmp(a->words, b->words, sizeof(a->words));
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Get the bounds of the counter at the begin of @a, so that those of @b hold, too. Returns false if
 * no counter is within them.
 */
static bool bound(const struct decode_partial_counter *a, const struct decode_partial_counter *b,
		  uint64_t *least, uint64_t *most)
{
	uint64_t low, high;

	*least = a->least;
	*most = a->most;
	if (b->begins)
		return true;
	if (a->known)
		return a->end >= b->least && a->end <= b->most;
	if (b->most < a->end)
		return false;
	low = minus(b->least, a->end);
	high = b->most == UINT64_MAX ? UINT64_MAX : b->most - a->end;
	if (low > *least)
		*least = low;
	if (high < *most)
		*most = high;
	return *least <= *most;
}

enum decode_partial_fit decode_partial_fits(const struct decode_partial *a,
					    const struct decode_partial *b)
{
	uint64_t least, most;

	if (a->plan != b->plan || a->kind != b->kind || a->vcpu != b->vcpu)
		return DECODE_PARTIAL_FOREIGN;
	if (a->end != b->first)
		return DECODE_PARTIAL_GAP;
	if (!same_end(&a->ends[1], &b->ends[0]))
		return DECODE_PARTIAL_STATE;
	return bound(&a->counter, &b->counter, &least, &most) ? DECODE_PARTIAL_FITS
							      : DECODE_PARTIAL_CODE;
}

static void join_counter(struct decode_partial_counter *a, const struct decode_partial_counter *b)
{
	bound(a, b, &a->least, &a->most);
	a->end = b->known ? b->end : a->end + b->end;
	a->known |= b->known;
}

struct decode_partial_counter decode_partial_counter_after(const struct decode_partial *all,
							   const struct decode_partial *last)
{
	struct decode_partial_counter counter = all->counter;

	if (!all->end)
		return last->counter;
	join_counter(&counter, &last->counter);
	return counter;
}

static int join_calls(struct decode_partial *a, struct decode_partial *b)
{
	const struct decode_calls_pieces *pieces;

	if (!a->calls) {
		a->calls = b->calls;
		b->calls = NULL;
		return 0;
	}
	if (!b->calls)
		return 0;
	pieces = decode_calls_close_open(b->calls);
	return pieces && decode_calls_join(a->calls, pieces) ? 0 : -ENOMEM;
}

int decode_partial_join(struct decode_partial *a, struct decode_partial *b)
{
	int err = decode_tally_join(&a->tally, &b->tally);

	if (!err)
		err = join_calls(a, b);
	if (!err && !decode_space_parts_join(&a->parts, &b->parts))
		err = -ENOMEM;
	if (!err && !decode_shares_join(&a->shares, &b->shares))
		err = -ENOMEM;
	if (!err && !decode_text_join(&a->text, &b->text))
		err = -ENOMEM;
	if (err)
		return err;
	join_counter(&a->counter, &b->counter);
	decode_summary_add(&a->sum, &b->sum);
	a->ends[1] = b->ends[1];
	a->end = b->end;
	decode_partial_free(b);
	return 0;
}

void decode_partial_free(struct decode_partial *p)
{
	decode_tally_free(&p->tally);
	decode_calls_free(p->calls);
	decode_space_parts_free(&p->parts);
	decode_shares_free(&p->shares);
	decode_text_free(&p->text);
	memset(&p->tally, 0, sizeof(p->tally));
	p->calls = NULL;
}
