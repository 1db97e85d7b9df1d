/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that decode shards, and the proof that the shards fit together. */
#ifndef VMM_DECODE_SHARD_WORK_H
#define VMM_DECODE_SHARD_WORK_H

#include <pthread.h>

#include "decode/pt_shard.h"
#include "decode/shard_items.h"
#include "decode/shard_text.h"
#include "decode/shards.h"
#include "decode/tally.h"

/* The results that a consumer takes. */
enum decode_shard_wanted {
	DECODE_SHARD_ITEMS,
	DECODE_SHARD_CALLS,    /* the tree of calls of each shard, in place of items */
	DECODE_SHARD_TEXT,     /* the listing of each shard, in place of items */
	DECODE_SHARD_COUNTS,   /* items, and the counts of each thread */
	DECODE_SHARD_BRANCHES, /* items, and counts with branches, which the flows keep */
};

enum decode_shard_progress { DECODE_SHARD_WAITING, DECODE_SHARD_RUNNING, DECODE_SHARD_DONE };

struct decode_shard_run {
	enum decode_shard_progress progress;
	struct decode_pt_state begin, end; /* the states at its ends */
	uint64_t begun, ended;		   /* the counters at its ends, as the flow had them */
	/* The counters of the last change of code before it, and of the first that was not applied. */
	uint64_t last_change, next_change;
	struct decode_pt_carry carry; /* after the shard, if it was proved */
	struct decode_shard_items items;
	struct decode_shard_calls
		calls; /* in place of items, if they are wanted; `sum` for text, too */
	struct decode_shard_text text; /* in place of items, if it is wanted */
};

struct decode_shard_work;

struct decode_shard_worker {
	struct decode_shard_work *work;
	struct decode_pt_flow *flow;
	pthread_t thread;
	bool started;
	size_t next;			    /* its shards ascend, because its code only advances */
	struct decode_shard_lister *lister; /* NULL before its first text */
	/* The counts of all its shards, which the thread sums when it ends. */
	struct decode_tally tally;
	struct decode_flow_sum sum;
};

struct decode_shard_work {
	struct decode_shard_plan plan;
	struct decode_shard_run *runs;
	struct decode_shard_worker *workers;
	unsigned int nworkers;
	size_t window; /* the number of shards whose items are kept */
	enum decode_shard_wanted wanted;
	const struct debug_symbols *symbols;  /* of the tree */
	const struct decode_listing *listing; /* the form of texts */
	struct trace_reader *reader;
	unsigned int vcpu;

	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t changed;
	size_t proved; /* the number of shards, from the first on, whose begin is proved */
	struct decode_pt_carry carry;
	size_t at;   /* the shard whose items are wanted */
	bool failed; /* the shard `proved` does not begin with the state of the shard before */
	bool stop;
	int err;
	struct decode_shard_pool pool; /* the memory of texts */
};

/* Start the threads. Returns 0, or -errno if there is none. */
int decode_shard_work_start(struct decode_shard_work *w);
/* Wait until all threads have ended. They end early if shards are left. */
void decode_shard_work_end(struct decode_shard_work *w);
/*
 * Wait for the items of the shard w->at. Returns 1 if the shard and its end are proved, 0 if the
 * proof failed, or -errno.
 */
int decode_shard_work_wait(struct decode_shard_work *w);
/* Free the items, the calls or the text of a shard. */
void decode_shard_run_free(struct decode_shard_work *w, struct decode_shard_run *run);
/* Free those of the shard w->at, and continue with the next. */
void decode_shard_work_next(struct decode_shard_work *w);

/*
 * Take memory for the text of a shard. Waits until the consumer gives some back, unless the consumer
 * waits for this shard. Returns 0, -ECANCELED if the threads end, or -ENOMEM.
 */
int decode_shard_work_chunk(struct decode_shard_work *w, size_t shard,
			    struct decode_shard_chunk **chunk);
/* Give memory back, with all chunks that follow. */
void decode_shard_work_release(struct decode_shard_work *w, struct decode_shard_chunk *chunk);

/* shard_lister.c: list the shard that the flow of the worker has begun. Returns 0 or -errno. */
int decode_shard_list(struct decode_shard_worker *worker, size_t shard);
void decode_shard_lister_free(struct decode_shard_lister *lister);

#endif /* VMM_DECODE_SHARD_WORK_H */
