// SPDX-License-Identifier: GPL-2.0-or-later
/* Limit the memory of the texts that threads are ahead of the consumer. */
#include "decode/shard_text.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/shard_work.h"

void decode_shard_pool_init(struct decode_shard_pool *pool, uint64_t shard, unsigned int jobs)
{
	pool->shard = shard ? shard : DECODE_SHARD_TEXT_MOST;
	pool->room = pool->shard / DECODE_SHARD_TEXT_CHUNKS + 1;
	pool->most = (uint64_t)DECODE_SHARD_TEXT_CHUNKS / 2 * jobs;
}

void decode_shard_pool_free(struct decode_shard_pool *pool)
{
	struct decode_shard_chunk *chunk = pool->spare, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	pool->spare = NULL;
}

/*
 * The consumer needs the shard w->at, and the next one, which proves its end. With these the threads
 * do not wait, so that the consumer always proceeds.
 */
static bool must_wait(const struct decode_shard_work *w, size_t shard)
{
	return shard > w->at + 1 && !w->pool.spare && w->pool.n >= w->pool.most;
}

int decode_shard_work_chunk(struct decode_shard_work *w, size_t shard,
			    struct decode_shard_chunk **chunk)
{
	struct decode_shard_pool *pool = &w->pool;
	bool ends;

	pthread_mutex_lock(&w->lock);
	while (!(ends = w->stop || w->failed || w->err) && must_wait(w, shard))
		pthread_cond_wait(&w->changed, &w->lock);
	*chunk = pool->spare;
	if (*chunk)
		pool->spare = (*chunk)->next;
	else if (!ends)
		pool->n++;
	if (pool->n > pool->peak)
		pool->peak = pool->n;
	pthread_mutex_unlock(&w->lock);
	if (!*chunk && !ends)
		*chunk = malloc(sizeof(**chunk) + pool->room);
	if (!*chunk)
		return ends ? -ECANCELED : -ENOMEM;
	(*chunk)->next = NULL;
	(*chunk)->n = 0;
	return 0;
}

void decode_shard_work_release(struct decode_shard_work *w, struct decode_shard_chunk *chunk)
{
	struct decode_shard_pool *pool = &w->pool;
	struct decode_shard_chunk *next;

	if (!chunk)
		return;
	pthread_mutex_lock(&w->lock);
	for (; chunk; chunk = next) {
		next = chunk->next;
		/* The threads that did not wait have more than the pool. */
		if (pool->n > pool->most) {
			pool->n--;
			free(chunk);
			continue;
		}
		chunk->next = pool->spare;
		pool->spare = chunk;
	}
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}
