// SPDX-License-Identifier: GPL-2.0-or-later
/* Jumps out of deep calls, whose returns never occur. */
#include "work.h"

#include "lib/guest.h"
#include "lib/setjmp.h"

typedef void descend_fn(jmp_buf out, uint32_t depth, int value);
static descend_fn descend;
static descend_fn *volatile const again = descend;

static void descend(jmp_buf out, uint32_t depth, int value)
{
	if (!depth)
		longjmp(out, value);
	again(out, depth - 1, value);
	barrier();
}

static uint64_t inner_total;

/* Catch jumps from inside, and pass half of them on to the caller. */
static noinline uint32_t middle(jmp_buf out, uint32_t depth)
{
	jmp_buf mine;
	int value = setjmp(mine);

	if (!value)
		again(mine, depth, (int)depth + 1);
	inner_total += (uint64_t)value;
	if (value & 1)
		longjmp(out, value);
	return (uint32_t)value;
}

static noinline uint32_t outer(uint32_t depth)
{
	jmp_buf out;
	int value = setjmp(out);

	return value ? (uint32_t)value + 1000 : middle(out, depth);
}

bool work_unwind(struct rng *rng)
{
	uint32_t depth = rng_below(rng, 120);
	uint32_t want = depth + 1 + ((depth + 1) & 1 ? 1000 : 0);
	uint64_t before = inner_total;

	return outer(depth) == want && inner_total - before == depth + 1;
}
