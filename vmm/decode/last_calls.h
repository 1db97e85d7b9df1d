/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last calls of a trace, in a ring: what a guest did before it stopped. */
#ifndef VMM_DECODE_LAST_CALLS_H
#define VMM_DECODE_LAST_CALLS_H

#include "decode/item.h"

#define DECODE_LAST_CALLS 16

struct decode_last_call {
	uint64_t from; /* the CALL, or where an event came */
	uint64_t to;   /* the first instruction of what was called */
	bool event;    /* an interrupt or exception */
};

/* All zero is empty. */
struct decode_last_calls {
	struct decode_last_call at[DECODE_LAST_CALLS];
	uint64_t n; /* calls so far */
	uint64_t from;
	bool pending; /* the next block is what was called from @from */
};

/* Take the next item of a flow of blocks. */
void decode_last_calls_item(struct decode_last_calls *calls, const struct decode_item *item);

/* The @i-th of the calls that are kept, 0 the oldest. NULL: there are no more. */
const struct decode_last_call *decode_last_calls_get(const struct decode_last_calls *calls,
						     unsigned int i);

#endif /* VMM_DECODE_LAST_CALLS_H */
