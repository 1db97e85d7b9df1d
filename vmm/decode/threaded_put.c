// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue the items and runs of a flow that is decoded on a thread. */
#include "decode/threaded_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

/*
 * When the walks need more memory than this, all are forgotten. They stay in memory until the
 * consumer has passed them, so each batch of the queue can have as much.
 */
#define WALKS_MAX ((size_t)32 << 20)

void decode_threaded_flush(struct decode_threaded_work *w)
{
	if (w->batch)
		decode_threaded_queue_fill(&w->queue);
	w->batch = NULL;
}

struct decode_threaded_entry *decode_threaded_put(struct decode_threaded_work *w,
						  enum decode_threaded_kind kind, size_t lens)
{
	struct decode_threaded_entry *e;

	if (w->batch && (w->batch->n == DECODE_THREADED_ENTRIES ||
			 DECODE_THREADED_LENS - w->batch->nlens < lens))
		decode_threaded_flush(w);
	if (!w->batch)
		w->batch = decode_threaded_queue_empty(&w->queue);
	if (!w->batch) {
		w->err = -ECANCELED;
		return NULL;
	}
	e = &w->batch->at[w->batch->n++];
	e->kind = kind;
	return e;
}

static bool put_run(struct decode_threaded_work *w, const struct decode_flow_run *run)
{
	struct decode_threaded_entry *e = decode_threaded_put(w, DECODE_THREADED_RUN, run->count);
	uint8_t *lens;

	if (!e)
		return false;
	lens = w->batch->lens + w->batch->nlens;
	memcpy(lens, run->lens, run->count);
	w->batch->nlens += run->count;
	e->run = *run;
	e->run.lens = lens;
	return true;
}

/* Collect a run of a walk. Its lengths have an index until the walk is complete. */
static bool collect(struct decode_threaded_work *w, const struct decode_flow_run *run)
{
	uint32_t i;

	if (!trace_vec_room(&w->runs)) {
		w->err = -ENOMEM;
		return false;
	}
	w->runs.at[w->runs.n++] = *run;
	for (i = 0; i < run->count; i++) {
		if (!trace_vec_room(&w->lens)) {
			w->err = -ENOMEM;
			return false;
		}
		w->lens.at[w->lens.n++] = run->lens[i];
	}
	return true;
}

static uint32_t take(void *context, const struct decode_flow_run *run)
{
	struct decode_threaded_work *w = context;

	if (w->err)
		return 0;
	return (w->walks ? collect(w, run) : put_run(w, run)) ? run->count : 0;
}

static void begin(void *context)
{
	struct decode_threaded_work *w = context;

	w->walks = true;
	w->runs.n = w->lens.n = 0;
}

/* Forget all walks. Their memory is released after this batch, the last one that refers to them. */
static void forget_walks(struct decode_threaded_work *w)
{
	w->batch->walks = w->arena;
	decode_threaded_flush(w);
	w->arena = (struct trace_arena){NULL};
	w->bytes = 0;
	w->walk.n = 0;
	w->generation++;
}

/* Make a walk of the collected runs. Returns NULL if there is no memory. */
static struct decode_threaded_walk *make_walk(struct decode_threaded_work *w)
{
	const size_t head = sizeof(struct decode_threaded_walk) + w->runs.n * sizeof(w->runs.at[0]);
	struct decode_threaded_walk *walk = trace_arena_alloc(&w->arena, head + w->lens.n);
	uint8_t *lens = (uint8_t *)walk + head;
	size_t i;

	if (!walk || !trace_vec_room(&w->walk)) {
		w->err = -ENOMEM;
		return NULL;
	}
	w->walk.at[w->walk.n++] = walk;
	w->bytes += head + w->lens.n;
	walk->mark = 0;
	walk->insns = (uint32_t)w->lens.n;
	walk->runs = (uint32_t)w->runs.n;
	memcpy(walk->run, w->runs.at, w->runs.n * sizeof(w->runs.at[0]));
	memcpy(lens, w->lens.at, w->lens.n);
	for (i = 0; i < w->runs.n; i++) {
		walk->run[i].lens = lens;
		lens += walk->run[i].count;
	}
	return walk;
}

static bool put_walk(struct decode_threaded_work *w, struct decode_threaded_walk *walk,
		     uint64_t offset)
{
	struct decode_threaded_entry *e = decode_threaded_put(w, DECODE_THREADED_WALK, 0);

	if (!e)
		return false;
	e->walk = walk;
	e->run.cr3 = w->flow->cr3;
	e->run.offset = offset;
	e->run.session = (uint32_t)w->flow->ahead.session;
	return true;
}

/* A mark has the generation of the walk in its upper half, and the number of the walk from 1 on. */
static uint64_t end(void *context, bool whole)
{
	struct decode_threaded_work *w = context;
	struct decode_threaded_walk *walk;

	w->walks = false;
	if (!whole || w->err || !w->runs.n)
		return 0;
	walk = make_walk(w);
	if (!walk || !put_walk(w, walk, w->runs.at[0].offset))
		return 0;
	if (w->bytes > WALKS_MAX) {
		forget_walks(w);
		return 0;
	}
	return (uint64_t)w->generation << 32 | w->walk.n;
}

static bool again(void *context, uint64_t mark, uint32_t insns, uint64_t offset)
{
	struct decode_threaded_work *w = context;

	(void)insns;
	if (w->err || mark >> 32 != w->generation)
		return false;
	return put_walk(w, w->walk.at[(uint32_t)mark - 1], offset);
}

void decode_threaded_put_item(struct decode_threaded_work *w, const struct decode_item *item)
{
	const uint64_t code = decode_code_last_change(w->flow->store);
	struct decode_threaded_entry *e;

	if (code != w->code) {
		e = decode_threaded_put(w, DECODE_THREADED_CODE, 0);
		if (!e)
			return;
		e->code = w->code = code;
	}
	e = decode_threaded_put(w, DECODE_THREADED_ITEM, 0);
	if (!e)
		return;
	if (!decode_shard_items_add(&w->batch->items, item)) {
		w->batch->n--;
		w->err = -ENOMEM;
	}
}

const struct decode_flow_takers decode_threaded_takers = {
	.take = take, .begin = begin, .end = end, .again = again};
