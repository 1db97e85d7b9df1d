/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last calls of a trace, in a ring. They show the guest's last actions before it stopped. */
#ifndef VMM_DECODE_LAST_CALLS_H
#define VMM_DECODE_LAST_CALLS_H

#include "decode/item.h"

#define DECODE_LAST_CALLS 16

struct decode_last_call {
	uint64_t from; /* the IP of the CALL, or of the event */
	uint64_t to;   /* the IP of the first instruction of the callee */
	bool event;    /* an interrupt or exception */
};

/* Initialise with zeros. */
struct decode_last_calls {
	struct decode_last_call at[DECODE_LAST_CALLS];
	uint64_t n; /* the total number of calls */
	uint64_t from;
	bool pending; /* the next block is the callee of the call at @from */
};

/* Add the next item of a flow of blocks. */
void decode_last_calls_item(struct decode_last_calls *calls, const struct decode_item *item);

/* Return the @i-th of the kept calls. 0 is the oldest. Returns NULL if there is no such call. */
const struct decode_last_call *decode_last_calls_get(const struct decode_last_calls *calls,
						     unsigned int i);

#endif /* VMM_DECODE_LAST_CALLS_H */
