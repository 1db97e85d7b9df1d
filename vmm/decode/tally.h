/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each block of code ran. */
#ifndef VMM_DECODE_TALLY_H
#define VMM_DECODE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decode_block_count {
	uint64_t ip;
	uint64_t last;	/* IP of the last instruction */
	uint64_t count; /* 0: an empty slot */
	uint64_t insns; /* of all times together */
};

/* All-zero is empty. */
struct decode_tally {
	struct decode_block_count *slots;
	size_t nslots, used;
};

/* Count a block that ran @count times, with @insns instructions in all. False: no memory. */
bool decode_tally_add_count(struct decode_tally *t, uint64_t ip, uint64_t last, uint64_t count,
			    uint64_t insns);
static inline bool decode_tally_add(struct decode_tally *t, uint64_t ip, uint64_t last,
				    uint64_t insns)
{
	return decode_tally_add_count(t, ip, last, 1, insns);
}

/* Pack the counts at the beginning of `slots`, sorted by IP; adding ends here. */
void decode_tally_sort(struct decode_tally *t);

void decode_tally_free(struct decode_tally *t);

#endif /* VMM_DECODE_TALLY_H */
