/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that decodes a flow for threaded.c. */
#ifndef VMM_DECODE_THREADED_WORK_H
#define VMM_DECODE_THREADED_WORK_H

#include "decode/pt_flow.h"
#include "decode/threaded_queue.h"

/* Only the thread uses it, except for `flow->segments`, which are constant. */
struct decode_threaded_work {
	struct decode_pt_flow *flow;
	struct decode_threaded_queue queue;
	struct decode_threaded_batch *batch; /* the batch that is filled, or NULL */
	uint64_t code;			     /* the position of the code of the last item */
	int err;
	bool walks; /* runs belong to a walk, and are collected below */
	struct {
		struct decode_flow_run *at;
		size_t n, room;
	} runs;
	struct {
		uint8_t *at;
		size_t n, room;
	} lens;
	/* Walks that may recur, by the marks of the decoder. */
	struct {
		struct decode_threaded_walk **at;
		size_t n, room;
	} walk;
	struct trace_arena arena;
	size_t bytes; /* in the arena */
	uint32_t generation;
};

/*
 * threaded_put.c: put entries into the queue. After an error they set @err, which is -ECANCELED if
 * the consumer needs no more.
 */

/* Append an entry, with room for @lens lengths of instructions. Returns NULL if @err is set. */
struct decode_threaded_entry *decode_threaded_put(struct decode_threaded_work *w,
						  enum decode_threaded_kind kind, size_t lens);
/* Append an item, after the change of code before it. */
void decode_threaded_put_item(struct decode_threaded_work *w, const struct decode_item *item);
/* Pass all entries to the consumer. */
void decode_threaded_flush(struct decode_threaded_work *w);
/* Append all runs that are offered. The context is a struct decode_threaded_work. */
extern const struct decode_flow_takers decode_threaded_takers;

/* Decode the flow up to its end, for pthread_create(). The argument is a struct decode_threaded_work. */
void *decode_threaded_thread(void *argument);
/* Call this function after the thread has ended. */
void decode_threaded_work_free(struct decode_threaded_work *w);

#endif /* VMM_DECODE_THREADED_WORK_H */
