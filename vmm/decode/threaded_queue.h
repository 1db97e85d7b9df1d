/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue between the thread that decodes a flow and its consumer. Entries pass in batches. A
 * batch belongs to one side at a time.
 */
#ifndef VMM_DECODE_THREADED_QUEUE_H
#define VMM_DECODE_THREADED_QUEUE_H

#include <pthread.h>

#include "decode/flow.h"
#include "decode/shard_items.h"
#include "trace/arena.h"

/* Runs that recur. Only the consumer uses @mark. The rest is constant once the walk was queued. */
struct decode_threaded_walk {
	uint64_t mark; /* the mark of the consumer's takers, or 0 */
	uint32_t insns, runs;
	struct decode_flow_run run[]; /* without `cr3`, `offset` and `session` */
};

enum decode_threaded_kind {
	DECODE_THREADED_RUN,
	DECODE_THREADED_WALK,
	DECODE_THREADED_ITEM,
	DECODE_THREADED_CODE,
	DECODE_THREADED_ERROR,
};

struct decode_threaded_entry {
	enum decode_threaded_kind kind;
	int err;			   /* ERROR */
	uint64_t code;			   /* CODE: the position of the code from here on */
	struct decode_threaded_walk *walk; /* WALK: `run` has its `cr3`, `offset` and `session` */
	struct decode_flow_run run;	   /* RUN */
};

#define DECODE_THREADED_ENTRIES 4096u
#define DECODE_THREADED_LENS	65536u
#define DECODE_THREADED_BATCHES 8u

struct decode_threaded_batch {
	struct decode_threaded_entry at[DECODE_THREADED_ENTRIES];
	size_t n;
	uint8_t lens[DECODE_THREADED_LENS]; /* of the runs */
	size_t nlens;
	struct decode_shard_items items; /* those of the ITEM entries, in order */
	struct trace_arena walks;	 /* walks that no later batch refers to */
};

struct decode_threaded_queue {
	struct decode_threaded_batch *batches; /* DECODE_THREADED_BATCHES */
	pthread_mutex_t lock;		       /* protects the rest */
	pthread_cond_t changed;
	size_t filled, emptied; /* numbers of batches since the begin */
	bool stop;
};

/* Returns false if there is no memory. Call decode_threaded_queue_fini() in any case. */
bool decode_threaded_queue_init(struct decode_threaded_queue *q);
void decode_threaded_queue_fini(struct decode_threaded_queue *q);

/*
 * Called by the thread. Wait for an empty batch. Returns NULL after decode_threaded_queue_stop().
 */
struct decode_threaded_batch *decode_threaded_queue_empty(struct decode_threaded_queue *q);
/* Called by the thread. Pass the batch to the consumer. */
void decode_threaded_queue_fill(struct decode_threaded_queue *q);

/* Called by the consumer. Wait for the next batch, and give the one before it back. */
struct decode_threaded_batch *decode_threaded_queue_next(struct decode_threaded_queue *q,
							 struct decode_threaded_batch *before);
/* Called by the consumer, which needs no more batches. */
void decode_threaded_queue_stop(struct decode_threaded_queue *q);

#endif /* VMM_DECODE_THREADED_QUEUE_H */
