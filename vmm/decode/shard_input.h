/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which flows can be cut into shards, and what a plan of the shards is made of. */
#ifndef VMM_DECODE_SHARD_INPUT_H
#define VMM_DECODE_SHARD_INPUT_H

#include "decode/flow.h"
#include "decode/pt_flow.h"
#include "decode/shard_plan.h"

/*
 * A CODE block lies in the file near the packets of its first execution. The recorder may write
 * either of them first.
 */
#define DECODE_SHARD_NEAR 16384u

/* Returns true if shards of the flow do not depend on each other but by what a plan knows. */
bool decode_shard_can_cut(const struct decode_pt_flow *f);

/* Returns true if the trace has the spaces of a host and its guests. */
bool decode_shard_has_guests(const struct decode_pt_flow *f);

/* Return the input of a plan, without sizes. It is valid as long as the flow. */
struct decode_shard_input decode_shard_input_of(const struct decode_pt_flow *f);

#endif /* VMM_DECODE_SHARD_INPUT_H */
