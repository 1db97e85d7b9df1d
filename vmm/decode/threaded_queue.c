// SPDX-License-Identifier: GPL-2.0-or-later
/* Pass batches of entries from a thread that decodes to its consumer. */
#include "decode/threaded_queue.h"

#include <stdlib.h>

bool decode_threaded_queue_init(struct decode_threaded_queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	q->batches = calloc(DECODE_THREADED_BATCHES, sizeof(*q->batches));
	return q->batches != NULL;
}

static void clear(struct decode_threaded_batch *b)
{
	b->n = b->nlens = 0;
	decode_shard_items_free(&b->items);
	trace_arena_free(&b->walks);
}

void decode_threaded_queue_fini(struct decode_threaded_queue *q)
{
	unsigned int i;

	for (i = 0; q->batches && i < DECODE_THREADED_BATCHES; i++)
		clear(&q->batches[i]);
	free(q->batches);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->changed);
}

struct decode_threaded_batch *decode_threaded_queue_empty(struct decode_threaded_queue *q)
{
	struct decode_threaded_batch *b;

	pthread_mutex_lock(&q->lock);
	while (!q->stop && q->filled - q->emptied == DECODE_THREADED_BATCHES)
		pthread_cond_wait(&q->changed, &q->lock);
	b = q->stop ? NULL : &q->batches[q->filled % DECODE_THREADED_BATCHES];
	pthread_mutex_unlock(&q->lock);
	return b;
}

void decode_threaded_queue_fill(struct decode_threaded_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->filled++;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

struct decode_threaded_batch *decode_threaded_queue_next(struct decode_threaded_queue *q,
							 struct decode_threaded_batch *before)
{
	struct decode_threaded_batch *b;

	if (before)
		clear(before);
	pthread_mutex_lock(&q->lock);
	if (before) {
		q->emptied++;
		pthread_cond_signal(&q->changed);
	}
	while (q->filled == q->emptied)
		pthread_cond_wait(&q->changed, &q->lock);
	b = &q->batches[q->emptied % DECODE_THREADED_BATCHES];
	pthread_mutex_unlock(&q->lock);
	return b;
}

void decode_threaded_queue_stop(struct decode_threaded_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
