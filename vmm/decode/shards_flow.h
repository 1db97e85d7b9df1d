/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the flow whose shards are decoded on threads: shared by shards*.c only. */
#ifndef VMM_DECODE_SHARDS_FLOW_H
#define VMM_DECODE_SHARDS_FLOW_H

#include "decode/shard_work.h"

struct decode_shards_flow {
	struct decode_flow base;
	struct trace_reader *reader;
	unsigned int vcpu;
	enum decode_flow_unit unit;
	decode_flow_function *function; /* NULL if blocks are not merged */
	void *context;
	uint64_t items_from;	      /* see decode_flow_items_from(); UINT64_MAX: not called */
	struct decode_pt_clock clock; /* of a flow with times */
	size_t clock_segment;	      /* the segment that follows */
	struct decode_shard_work work;
	struct decode_pt_carry begin; /* at the begin of the stream */
	bool begun;
	bool held;		   /* by trace_reader_window_begin() */
	uint64_t returned;	   /* the number of returned items */
	struct decode_flow *rest;  /* decodes the rest alone, or NULL */
	struct decode_flow *alone; /* decodes single shards whose texts were not kept, or NULL */
	size_t alones;		   /* the number of these shards */
};

/* Returns true if the flow has threads. */
bool decode_shards_flow_is(const struct decode_flow *flow);

static inline struct decode_shards_flow *decode_shards_flow_of(struct decode_flow *flow)
{
	return (struct decode_shards_flow *)flow;
}

static inline const struct decode_shards_flow *decode_shards_flow_of_const(
	const struct decode_flow *flow)
{
	return (const struct decode_shards_flow *)flow;
}

/* shards_clock.c: begin with the times, and add that of the next item. Both return 0 or -errno. */
int decode_shards_clock_open(struct decode_shards_flow *s);
int decode_shards_clock_item(struct decode_shards_flow *s, struct decode_item *item);

/* Wait for the shard that is next. Returns 1, 0 if there is a rest instead, or -errno. */
int decode_shards_flow_wait(struct decode_shards_flow *s);
/*
 * Begin to decode this shard again, without threads. The items of *flow, which @s owns, are those of
 * the shard, and then END. Returns 0 or -errno.
 */
int decode_shards_flow_alone(struct decode_shards_flow *s, struct decode_flow **flow);

#endif /* VMM_DECODE_SHARDS_FLOW_H */
