/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decode a shard with a flow of Intel PT, and compare the states at its ends. */
#ifndef VMM_DECODE_PT_SHARD_H
#define VMM_DECODE_PT_SHARD_H

#include "decode/pt_flow.h"
#include "decode/shard_plan.h"

/*
 * The state after a PSB+ or between two segments, apart from the instruction counter. Equal states,
 * equal code and equal bytes give equal items.
 */
struct decode_pt_state {
	bool between; /* between two segments: only `mode`, `next_*` and `learned` are valid */
	bool unfit;   /* packets, outcomes or items are pending: no shard can begin here */
	bool enabled, blind, nr, pip;
	uint8_t mode, mode_exec, block_type;
	uint32_t waits;
	uint64_t last_ip, pip_cr3, vmcs, cr3;
	uint64_t ip;	   /* the position */
	uint64_t last;	   /* the last instruction of the block at the position */
	uint64_t function; /* the function to which a merging flow counts that block */
	size_t session, next_switch;
	struct dec_time time; /* without the clocks of earlier CYCs */
	/* Of a flow with times: how the next run is timed, see struct dec_timing. */
	struct {
		bool first, behind, eligible, from_now;
		uint64_t from;
	} run;
	size_t next_cr3, next_resumed;
	size_t learned; /* the number of spaces that the file does not describe */
};

/* The values that pass from shard to shard besides the state at a PSB. */
struct decode_pt_carry {
	uint64_t insns;
	size_t next_cr3, next_resumed;
	uint8_t mode; /* the mode before the first MODE.Exec of a segment */
};

/*
 * Let the flow decode @shard, whose earlier shards give @carry. Of a FREE shard the counter in
 * @carry is not used. The next items are those of the shard, and then END. Sets *state to the state
 * at its begin. Returns 0 or -errno.
 */
int decode_pt_shard_start(struct decode_pt_flow *f, const struct decode_shard *shard,
			  const struct decode_pt_carry *carry, struct decode_pt_state *state);

/* Get the state of the flow after END. */
void decode_pt_shard_state(const struct decode_pt_flow *f, struct decode_pt_state *state);

/* All that decode_pt_state_same() compares, but for `unfit`, for a file. */
#define DECODE_STATE_WORDS 54
void decode_pt_state_words(const struct decode_pt_state *state, uint64_t *words);
bool decode_pt_state_same(const struct decode_pt_state *a, const struct decode_pt_state *b);

#endif /* VMM_DECODE_PT_SHARD_H */
