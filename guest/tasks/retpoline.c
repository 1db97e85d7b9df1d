// SPDX-License-Identifier: GPL-2.0-or-later
/* Uses of RET other than returns. Each must be sent in full (33.4.2.2). */
#include "work.h"

#include "lib/guest.h"

typedef uint64_t unary_fn(uint64_t v);

uint64_t retpoline_call(unary_fn *fn, uint64_t arg);
void stuff_returns(void);
uint64_t chain(uint64_t n);
uint64_t replaced_entry(uint64_t n);

static noinline uint64_t twice(uint64_t v)
{
	return 2 * v;
}

static noinline uint64_t inverse(uint64_t v)
{
	return ~v;
}

static noinline uint64_t folded(uint64_t v)
{
	return v ^ v >> 9;
}

/* Use a retpoline inside another. */
static noinline uint64_t nested(uint64_t v)
{
	uint64_t r = v & 7 ? retpoline_call(nested, v - 1) : retpoline_call(twice, v);

	barrier();
	return r + 1;
}

static unary_fn *const functions[] = {twice, inverse, folded, nested};

static bool dispatch(struct rng *rng)
{
	uint64_t v = rng_next(rng), want = v;
	unsigned int i, which, turns = 8 + rng_below(rng, 24);

	for (i = 0; i < turns; i++) {
		which = rng_below(rng, ARRAY_SIZE(functions));
		v = retpoline_call(functions[which], v);
		switch (which) {
		case 0:
			want *= 2;
			break;
		case 1:
			want = ~want;
			break;
		case 2:
			want ^= want >> 9;
			break;
		default:
			want = 2 * (want & ~7ull) + (want & 7) + 1;
			break;
		}
	}
	return v == want;
}

bool work_retpoline(struct rng *rng)
{
	uint64_t n = 1 + rng_below(rng, 150);

	switch (rng_below(rng, 4)) {
	case 0:
		return chain(n) == n;
	case 1:
		return replaced_entry(n) == n;
	case 2:
		stuff_returns();
		return dispatch(rng);
	default:
		return dispatch(rng);
	}
}
