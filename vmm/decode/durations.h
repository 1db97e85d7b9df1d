/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Select the calls of a tree that last long: in instructions or ticks, including callees. */
#ifndef VMM_DECODE_DURATIONS_H
#define VMM_DECODE_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decode_duration_unit { DECODE_DURATION_INSNS, DECODE_DURATION_TICKS };

/* The long calls of a node. */
struct decode_long_calls {
	uint64_t count, insns, ticks;
	uint64_t insns_at, ticks_at; /* the totals when the active call began */
};

struct decode_durations {
	uint64_t min; /* 0: all calls are selected, and nothing is kept */
	enum decode_duration_unit unit;
	struct {
		struct decode_long_calls *at; /* by node */
		size_t n, room;
	} nodes;
};

/*
 * A call of a node begins, or ends if @node has been begun. @insns and @ticks are the totals of the
 * tree. decode_durations_begin() returns false if there is no memory.
 */
bool decode_durations_begin(struct decode_durations *d, uint32_t node, uint64_t insns,
			    uint64_t ticks);
void decode_durations_end(struct decode_durations *d, uint32_t node, uint64_t insns,
			  uint64_t ticks);

#endif /* VMM_DECODE_DURATIONS_H */
