// SPDX-License-Identifier: GPL-2.0-or-later
/* A flow whose items and runs come from a thread that decodes ahead. */
#include "decode/threaded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/threaded_work.h"

struct threaded {
	struct decode_flow base;
	struct decode_threaded_work work;
	pthread_t thread;
	bool started;
	struct decode_code_store *store; /* the code at the last item */
	size_t segments;		 /* the number of SEGMENT items */

	struct decode_threaded_batch *batch; /* NULL before the first one */
	size_t at;			     /* the next entry */
	struct decode_flow_run run;	     /* the instructions of a run that are left */
	/* The runs of a walk that are left, from @next on. NULL if there are none. */
	const struct decode_threaded_entry *walk;
	uint32_t next;
};

static struct threaded *of(struct decode_flow *flow)
{
	return (struct threaded *)flow;
}

static const struct threaded *of_const(const struct decode_flow *flow)
{
	return (const struct threaded *)flow;
}

static void close_flow(struct decode_flow *flow)
{
	struct threaded *t = of(flow);

	if (t->started) {
		decode_threaded_queue_stop(&t->work.queue);
		pthread_join(t->thread, NULL);
	}
	decode_threaded_work_free(&t->work);
	decode_code_close(t->store);
	free(t);
}

/* Return the next entry. END and ERROR are the last one. */
static const struct decode_threaded_entry *entry(struct threaded *t)
{
	if (!t->batch || t->at == t->batch->n) {
		t->batch = decode_threaded_queue_next(&t->work.queue, t->batch);
		t->at = 0;
	}
	return &t->batch->at[t->at];
}

static struct decode_flow_run run_of(const struct decode_threaded_entry *e, uint32_t i)
{
	struct decode_flow_run run = e->walk->run[i];

	run.cr3 = e->run.cr3;
	run.offset = e->run.offset;
	run.session = e->run.session;
	return run;
}

/* Get a run, unless one is left. Returns false if the next entry is no run. */
static bool find_run(struct threaded *t)
{
	const struct decode_threaded_entry *e;

	if (t->run.count)
		return true;
	if (!t->walk) {
		e = entry(t);
		if (e->kind == DECODE_THREADED_RUN) {
			t->run = e->run;
			t->at++;
			return true;
		}
		if (e->kind != DECODE_THREADED_WALK)
			return false;
		t->walk = e;
		t->next = 0;
	}
	t->run = run_of(t->walk, t->next++);
	if (t->next == t->walk->walk->runs) {
		t->walk = NULL;
		t->at++;
	}
	return true;
}

/* Remove the first @n instructions of the run. */
static void pass(struct decode_flow_run *run, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		run->ip += run->lens[i];
	run->lens += n;
	run->count -= n;
	if (n)
		run->block = DECODE_RUN_PART;
}

static void one_insn(struct threaded *t, struct decode_item *item)
{
	const struct decode_flow_run *run = &t->run;

	memset(item, 0, sizeof(*item));
	item->kind = DECODE_ITEM_INSN;
	item->class = DECODE_INSN_OTHER;
	item->mode = run->mode;
	item->size = run->lens[0];
	item->insns = 1;
	item->session = run->session;
	item->ip = item->last = run->ip;
	item->cr3 = run->cr3;
	item->offset = run->offset;
	(void)decode_code_read(t->store, run->cr3, run->ip, item->raw, item->size);
	pass(&t->run, 1);
}

static int next(struct decode_flow *flow, struct decode_item *item)
{
	struct threaded *t = of(flow);
	const struct decode_threaded_entry *e;

	while (!find_run(t)) {
		e = entry(t);
		if (e->kind == DECODE_THREADED_ERROR)
			return e->err;
		if (e->kind == DECODE_THREADED_CODE) {
			decode_code_advance(t->store, e->code);
			t->at++;
			continue;
		}
		(void)decode_shard_items_next(&t->batch->items, item);
		t->segments += item->kind == DECODE_ITEM_SEGMENT;
		/* All further items are the same END. */
		if (item->kind == DECODE_ITEM_END)
			t->batch->items.next.item--;
		else
			t->at++;
		return 0;
	}
	one_insn(t, item);
	return 0;
}

/* Offer a whole walk. Returns false if its runs must be offered one by one. */
static bool offer_walk(const struct decode_threaded_entry *e,
		       const struct decode_flow_takers *takers, void *context)
{
	struct decode_threaded_walk *walk = e->walk;
	struct decode_flow_run run;
	bool whole = true;
	uint32_t i;

	if (!takers->again)
		return false;
	if (walk->mark && takers->again(context, walk->mark, walk->insns, e->run.offset))
		return true;
	takers->begin(context);
	for (i = 0; i < walk->runs && whole; i++) {
		run = run_of(e, i);
		whole = takers->take(context, &run) == run.count;
	}
	walk->mark = takers->end(context, whole);
	return whole;
}

static int runs(struct decode_flow *flow, const struct decode_flow_takers *takers, void *context)
{
	struct threaded *t = of(flow);
	const struct decode_threaded_entry *e;

	for (;;) {
		if (!t->run.count && !t->walk) {
			e = entry(t);
			if (e->kind == DECODE_THREADED_WALK && offer_walk(e, takers, context)) {
				t->at++;
				continue;
			}
		}
		if (!find_run(t))
			return 0;
		pass(&t->run, takers->take(context, &t->run));
		if (t->run.count)
			return 0;
	}
}

static const struct decode_segment *segment(const struct decode_flow *flow)
{
	const struct threaded *t = of_const(flow);

	return &t->work.flow->segments[t->segments ? t->segments - 1 : 0];
}

static const struct decode_code_store *code(const struct decode_flow *flow)
{
	return of_const(flow)->store;
}

static const struct decode_flow_ops ops = {
	.close = close_flow,
	.next = next,
	.runs = runs,
	.segment = segment,
	.code = code,
};

int decode_threaded_open(struct trace_reader *reader, unsigned int vcpu, struct decode_flow **flow)
{
	struct threaded *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->base.ops = &ops;
	err = decode_pt_flow_open(reader, vcpu, DECODE_FLOW_INSNS, flow);
	if (!err) {
		t->work.flow = (struct decode_pt_flow *)*flow;
		err = decode_code_open(reader, vcpu, &t->store);
	}
	if (!decode_threaded_queue_init(&t->work.queue) && !err)
		err = -ENOMEM;
	if (!err) {
		t->started = !pthread_create(&t->thread, NULL, decode_threaded_thread, &t->work);
		*flow = t->started ? &t->base : &t->work.flow->base;
	}
	if (t->started)
		return 0;
	/* Without a thread, the caller gets the inner flow. */
	if (err)
		*flow = NULL;
	else
		t->work.flow = NULL;
	close_flow(&t->base);
	return err;
}
