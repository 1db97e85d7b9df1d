// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode shards on threads, and prove that each begins with the state of the shard before. */
#include "decode/shard_work.h"

#include <errno.h>

#define NONE SIZE_MAX

static int keep_items(struct decode_shard_worker *worker, struct decode_shard_run *run)
{
	struct decode_flow *flow = &worker->flow->base;
	struct decode_item item;
	int err;

	for (;;) {
		err = decode_pt_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		if (!decode_shard_items_add(&run->items, &item))
			return -ENOMEM;
	}
}

static int keep_calls(struct decode_shard_worker *worker, struct decode_shard_run *run)
{
	const struct decode_shard_work *w = worker->work;
	struct decode_shard_calls *to = &run->calls;
	struct decode_item item;
	int err;

	to->tree = decode_calls_new_open(w->symbols);
	if (!to->tree)
		return -ENOMEM;
	for (;;) {
		err = decode_pt_flow_next(&worker->flow->base, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		decode_summary_item(&to->sum, w->vcpu, &item);
		if (!decode_calls_item(to->tree, &item))
			return -ENOMEM;
	}
}

/* Make the bytes of a shard readable. */
static int read_window(struct decode_shard_work *w, const struct decode_shard *shard)
{
	uint64_t loaded;

	return trace_reader_window(w->reader, w->vcpu, shard->from.psb, shard->to.end, &loaded);
}

static int keep(struct decode_shard_worker *worker, size_t i)
{
	switch (worker->work->wanted) {
	case DECODE_SHARD_CALLS:
		return keep_calls(worker, &worker->work->runs[i]);
	case DECODE_SHARD_TEXT:
		return decode_shard_list(worker, i);
	default:
		return keep_items(worker, &worker->work->runs[i]);
	}
}

static int decode_shard(struct decode_shard_worker *worker, size_t i, struct decode_pt_carry carry)
{
	const struct decode_shard *shard = &worker->work->plan.at[i];
	struct decode_shard_run *run = &worker->work->runs[i];
	struct decode_pt_flow *f = worker->flow;
	int err;

	if (shard->counter == DECODE_SHARD_KNOWN)
		carry.insns = shard->insns;
	err = read_window(worker->work, shard);
	if (err)
		return err;
	err = decode_pt_shard_start(f, shard, &carry, &run->begin);
	if (err)
		return err;
	run->begun = f->ahead.flow.insns;
	run->last_change = decode_code_last_change(f->ahead.store);
	run->next_change = decode_code_next_change(f->ahead.store);
	err = keep(worker, i);
	run->ended = f->ahead.flow.insns;
	decode_pt_shard_state(f, &run->end);
	return err;
}

/*
 * Returns true if the shard began with the state and the code of the decoder there. Sets *insns to
 * the counter after the shard.
 */
static bool is_right(const struct decode_shard_work *w, size_t i, uint64_t *insns)
{
	const struct decode_shard *shard = &w->plan.at[i];
	const struct decode_shard_run *run = &w->runs[i];
	const bool is_free = shard->counter == DECODE_SHARD_FREE;
	const uint64_t begun = is_free ? w->carry.insns : run->begun;

	*insns = begun + (run->ended - run->begun);
	if (i && !decode_pt_state_same(&w->runs[i - 1].end, &run->begin))
		return false;
	if (shard->counter == DECODE_SHARD_UNUSED)
		return true;
	return run->last_change <= begun && (!is_free || run->next_change >= *insns);
}

/* Prove as many shards as possible. */
static void prove(struct decode_shard_work *w)
{
	struct decode_shard_run *run;
	uint64_t insns;

	while (!w->failed && w->proved < w->plan.n) {
		run = &w->runs[w->proved];
		if (run->progress != DECODE_SHARD_DONE)
			return;
		w->failed = !is_right(w, w->proved, &insns);
		if (w->failed)
			return;
		w->carry = (struct decode_pt_carry){
			.insns = insns,
			.next_cr3 = run->end.next_cr3,
			.next_resumed = run->end.next_resumed,
			.mode = run->end.mode,
		};
		run->carry = w->carry;
		w->proved++;
	}
}

/* Find a shard for the worker. Sets *left if shards are left for it, now or later. */
static size_t find_shard(const struct decode_shard_worker *worker, bool *left)
{
	const struct decode_shard_work *w = worker->work;
	size_t i;

	*left = false;
	for (i = worker->next; i < w->plan.n; i++) {
		if (w->runs[i].progress != DECODE_SHARD_WAITING)
			continue;
		*left = true;
		if (i >= w->at + w->window)
			return NONE;
		if (w->plan.at[i].counter != DECODE_SHARD_AFTER || w->proved == i)
			return i;
	}
	return NONE;
}

static void do_shard(struct decode_shard_worker *worker, size_t i)
{
	struct decode_shard_work *w = worker->work;
	const struct decode_pt_carry carry = w->carry;
	int err;

	w->runs[i].progress = DECODE_SHARD_RUNNING;
	worker->next = i + 1;
	pthread_mutex_unlock(&w->lock);
	err = decode_shard(worker, i, carry);
	pthread_mutex_lock(&w->lock);
	/* At a wrong place anything can follow a PSB. A canceled shard has no end. */
	if (err == -EPROTO || err == -ECANCELED)
		w->runs[i].begin.unfit = true;
	else if (err)
		w->err = err;
	w->runs[i].progress = DECODE_SHARD_DONE;
	prove(w);
	pthread_cond_broadcast(&w->changed);
}

/* Counts of a whole thread are summed here, because the other threads do the same meanwhile. */
static void sum_counts(struct decode_shard_worker *worker)
{
	struct decode_shard_work *w = worker->work;
	const bool wanted = w->wanted == DECODE_SHARD_COUNTS && !w->failed && !w->err;
	int err;

	if (!wanted)
		return;
	pthread_mutex_unlock(&w->lock);
	err = decode_pt_flow_counts(&worker->flow->base, &worker->tally, &worker->sum);
	pthread_mutex_lock(&w->lock);
	if (err)
		w->err = err;
}

static void *work(void *argument)
{
	struct decode_shard_worker *worker = argument;
	struct decode_shard_work *w = worker->work;
	bool left = true;
	size_t i;

	pthread_mutex_lock(&w->lock);
	while (!w->stop && !w->failed && !w->err) {
		i = find_shard(worker, &left);
		if (!left)
			break;
		if (i == NONE)
			pthread_cond_wait(&w->changed, &w->lock);
		else
			do_shard(worker, i);
	}
	sum_counts(worker);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int decode_shard_work_start(struct decode_shard_work *w)
{
	unsigned int i, started = 0;
	int err = 0;

	for (i = 0; i < w->nworkers && !err; i++) {
		struct decode_shard_worker *worker = &w->workers[i];

		worker->work = w;
		err = pthread_create(&worker->thread, NULL, work, worker);
		worker->started = !err;
		started += worker->started;
	}
	return started ? 0 : -err;
}

void decode_shard_work_end(struct decode_shard_work *w)
{
	unsigned int i;

	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	for (i = 0; i < w->nworkers; i++) {
		if (w->workers[i].started)
			pthread_join(w->workers[i].thread, NULL);
		w->workers[i].started = false;
	}
}

/* The last items of a shard are right if the next shard begins after them. */
static bool is_wanted_proved(const struct decode_shard_work *w)
{
	return w->proved > w->at + 1 || w->proved == w->plan.n;
}

int decode_shard_work_wait(struct decode_shard_work *w)
{
	int some;

	pthread_mutex_lock(&w->lock);
	while (!is_wanted_proved(w) && !w->failed && !w->err)
		pthread_cond_wait(&w->changed, &w->lock);
	some = is_wanted_proved(w) ? 1 : w->err;
	pthread_mutex_unlock(&w->lock);
	return some;
}

void decode_shard_run_free(struct decode_shard_work *w, struct decode_shard_run *run)
{
	decode_shard_work_release(w, run->text.first);
	run->text.first = run->text.last = NULL;
	decode_shard_items_free(&run->items);
	decode_calls_free(run->calls.tree);
	run->calls.tree = NULL;
}

void decode_shard_work_next(struct decode_shard_work *w)
{
	decode_shard_run_free(w, &w->runs[w->at]);
	/* No thread reads what is before the next shard. */
	if (w->at + 1 < w->plan.n)
		trace_reader_drop(w->reader, w->vcpu, w->plan.at[w->at + 1].from.psb);
	pthread_mutex_lock(&w->lock);
	w->at++;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}
