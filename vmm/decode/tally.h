/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of times that each block of code ran. */
#ifndef VMM_DECODE_TALLY_H
#define VMM_DECODE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decode_block_count {
	uint64_t ip;
	uint64_t last;	/* the IP of the last instruction */
	uint64_t count; /* 0 in an empty slot */
	uint64_t insns; /* the total number of instructions */
};

/* Initialise with zeros. */
struct decode_tally {
	struct decode_block_count *slots;
	size_t nslots, used;
};

/*
 * Count a block that ran @count times, with @insns instructions in all. Returns false if there is
 * no memory.
 */
bool decode_tally_add_count(struct decode_tally *t, uint64_t ip, uint64_t last, uint64_t count,
			    uint64_t insns);
static inline bool decode_tally_add(struct decode_tally *t, uint64_t ip, uint64_t last,
				    uint64_t insns)
{
	return decode_tally_add_count(t, ip, last, 1, insns);
}

/* Add all counts of @from, which is not sorted. Returns 0 or -ENOMEM. */
int decode_tally_join(struct decode_tally *t, const struct decode_tally *from);

/* Pack the counts at the beginning of `slots`, sorted by IP. No count can be added afterwards. */
void decode_tally_sort(struct decode_tally *t);

void decode_tally_free(struct decode_tally *t);

#endif /* VMM_DECODE_TALLY_H */
