// SPDX-License-Identifier: GPL-2.0-or-later
/* A flow whose shards are decoded on threads. */
#include "decode/shards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/shard_input.h"
#include "decode/shards_flow.h"

/*
 * The size of shards. Larger shards contain more changes of code, and smaller shards decode more
 * PSB+ twice. The items of blocks need much more memory than events.
 */
#define BYTES_MIN    2048u
#define BYTES_COUNTS 65536u
#define BYTES_BLOCKS 16384u
/* A byte of a boot of Linux is 2.7 KB of a listing of instructions. */
#define BYTES_LISTING 2048u
/* The least number of shards for each thread, so that no thread waits long for another. */
#define SHARDS_EACH 8u
/* The number of shards for each thread whose items are kept. */
#define WINDOW_EACH 4u

static struct decode_pt_flow *first_flow(const struct decode_shards_flow *s)
{
	return s->work.workers[0].flow;
}

static const struct decode_flow_ops ops;

bool decode_shards_flow_is(const struct decode_flow *flow)
{
	return flow->ops == &ops;
}

static void end_window(struct decode_shards_flow *s)
{
	if (s->held)
		trace_reader_window_end(s->reader, s->vcpu);
	s->held = false;
}

static void close_flow(struct decode_flow *flow)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	struct decode_shard_work *w = &s->work;
	unsigned int i;
	size_t k;

	decode_shard_work_end(w);
	for (i = 0; i < w->nworkers; i++) {
		if (w->workers[i].flow)
			decode_pt_flow_close(&w->workers[i].flow->base);
		decode_tally_free(&w->workers[i].tally);
		decode_shard_lister_free(w->workers[i].lister);
	}
	for (k = 0; w->runs && k < w->plan.n; k++)
		decode_shard_run_free(w, &w->runs[k]);
	decode_shard_pool_free(&w->pool);
	decode_pt_clock_end(&s->clock, &s->base.sum);
	if (s->rest)
		decode_pt_flow_close(s->rest);
	if (s->alone)
		decode_pt_flow_close(s->alone);
	end_window(s);
	free(w->workers);
	free(w->runs);
	free(w->plan.at);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	free(s);
}

static int merge(struct decode_flow *flow, decode_flow_function *function, void *context)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	unsigned int i;
	int err = 0;

	s->function = function;
	s->context = context;
	for (i = 0; i < s->work.nworkers && !err; i++)
		err = decode_pt_merge(&s->work.workers[i].flow->base, function, context);
	return err;
}

/* Drop the items that were returned. Counts need the whole stream. */
static int drop_returned(struct decode_shards_flow *s)
{
	struct decode_item item;
	uint64_t i;
	int err = 0;

	for (i = 0; i < s->returned && !err; i++)
		err = decode_pt_flow_next(s->rest, &item);
	return err;
}

/* The counter and the spaces at the begin of a shard, if all shards before are proved. */
static struct decode_pt_carry carry_at(const struct decode_shards_flow *s, size_t at)
{
	return at ? s->work.runs[at - 1].carry : s->begin;
}

int decode_shards_flow_alone(struct decode_shards_flow *s, struct decode_flow **flow)
{
	const struct decode_shard_work *w = &s->work;
	struct decode_shard shard = w->plan.at[w->at];
	struct decode_pt_carry carry = carry_at(s, w->at);
	struct decode_pt_state state;
	uint64_t loaded;
	int err;

	s->alones++;
	*flow = s->alone;
	if (shard.counter == DECODE_SHARD_KNOWN)
		carry.insns = shard.insns;
	else if (shard.counter != DECODE_SHARD_UNUSED)
		shard.counter = DECODE_SHARD_EXACT;
	err = trace_reader_window(s->reader, s->vcpu, shard.from.psb, shard.to.end, &loaded);
	return err ? err
		   : decode_pt_shard_start((struct decode_pt_flow *)s->alone, &shard, &carry,
					   &state);
}

/* Let the rest begin at the shard of which no items were returned. */
static int begin_rest_at(struct decode_shards_flow *s, size_t at)
{
	struct decode_pt_flow *f = (struct decode_pt_flow *)s->rest;
	struct decode_shard shard = s->work.plan.at[at];
	struct decode_pt_state state;
	int err;

	shard.to = s->work.plan.at[s->work.plan.n - 1].to;
	if (shard.counter != DECODE_SHARD_UNUSED)
		shard.counter = DECODE_SHARD_KNOWN;
	err = decode_pt_shard_start(f, &shard, &s->work.runs[at - 1].carry, &state);
	f->quiet = false;
	return err;
}

/* Decode the rest without threads. */
static int begin_rest(struct decode_shards_flow *s)
{
	const bool counts = s->unit == DECODE_FLOW_COUNTS;
	int err;

	decode_shard_work_end(&s->work);
	end_window(s);
	err = decode_pt_flow_open(s->reader, s->vcpu, s->unit, &s->rest);
	if (!err && s->base.timed)
		decode_pt_time_by_reads((struct decode_pt_flow *)s->rest);
	if (!err && s->function)
		err = decode_pt_merge(s->rest, s->function, s->context);
	if (!err && s->work.wanted == DECODE_SHARD_BRANCHES)
		decode_pt_count_branches(s->rest);
	if (!err && s->items_from != UINT64_MAX)
		decode_pt_items_from(s->rest, s->items_from);
	if (!err && counts)
		err = drop_returned(s);
	else if (!err && s->work.at)
		err = begin_rest_at(s, s->work.at);
	return err;
}

static int end_item(const struct decode_shards_flow *s, struct decode_item *item)
{
	memset(item, 0, sizeof(*item));
	item->offset = first_flow(s)->len;
	return 0;
}

int decode_shards_flow_wait(struct decode_shards_flow *s)
{
	int some = 1;

	if (!s->begun) {
		some = decode_shards_clock_open(s);
		if (some)
			return some;
		some = decode_shard_work_start(&s->work) ? 0 : 1;
	}
	s->begun = true;
	if (some)
		some = decode_shard_work_wait(&s->work);
	if (!some)
		some = begin_rest(s);
	return s->rest && some > 0 ? 0 : some;
}

static int next(struct decode_flow *flow, struct decode_item *item)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	struct decode_shard_work *w = &s->work;
	int some = 0;

	while (!s->rest && w->at < w->plan.n) {
		some = decode_shards_flow_wait(s);
		if (some < 0)
			return some;
		if (!some)
			break;
		if (decode_shard_items_next(&w->runs[w->at].items, item)) {
			s->returned++;
			return decode_shards_clock_item(s, item);
		}
		trace_reader_progress(s->reader, s->vcpu, w->plan.at[w->at].to.psb);
		decode_shard_work_next(w);
	}
	if (s->rest)
		some = decode_pt_flow_next(s->rest, item);
	else
		some = end_item(s, item);
	return some ? some : decode_shards_clock_item(s, item);
}

static int counts(struct decode_flow *flow, struct decode_tally *tally, struct decode_flow_sum *sum)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	unsigned int i;
	int err;

	if (s->rest)
		return decode_pt_flow_counts(s->rest, tally, sum);
	decode_shard_work_end(&s->work);
	err = s->work.err;
	for (i = 0; i < s->work.nworkers && !err; i++) {
		const struct decode_shard_worker *worker = &s->work.workers[i];

		err = decode_tally_join(tally, &worker->tally);
		sum->insns += worker->sum.insns;
		sum->blocks += worker->sum.blocks;
	}
	return err;
}

static bool items_from(struct decode_flow *flow, uint64_t at)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	unsigned int i;

	for (i = 0; i < s->work.nworkers; i++)
		if (!decode_pt_items_from(&s->work.workers[i].flow->base, at))
			return false;
	s->items_from = at;
	return true;
}

static bool branches(struct decode_flow *flow)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	unsigned int i;

	for (i = 0; i < s->work.nworkers; i++)
		if (!decode_pt_count_branches(&s->work.workers[i].flow->base))
			return false;
	s->work.wanted = DECODE_SHARD_BRANCHES;
	return true;
}

static int visit(struct decode_flow *flow, const struct decode_flow_visitor *visitor)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	unsigned int i;
	int err;

	if (s->rest)
		return decode_pt_visit_counts(s->rest, visitor);
	decode_shard_work_end(&s->work);
	err = s->work.err;
	for (i = 0; i < s->work.nworkers && !err; i++)
		err = decode_pt_visit_counts(&s->work.workers[i].flow->base, visitor);
	return err;
}

static const struct decode_segment *segment(const struct decode_flow *flow)
{
	const struct decode_shards_flow *s = decode_shards_flow_of_const(flow);
	const struct decode_pt_flow *f = first_flow(s);

	if (s->rest)
		return decode_pt_flow_segment(s->rest);
	return &f->segments[s->work.at < s->work.plan.n ? s->work.plan.at[s->work.at].from.segment
							: f->nsegments - 1];
}

static const struct decode_code_store *code(const struct decode_flow *flow)
{
	return first_flow(decode_shards_flow_of_const(flow))->store;
}

static const struct decode_flow_ops ops = {
	.close = close_flow,
	.merge = merge,
	.counts = counts,
	.items_from = items_from,
	.branches = branches,
	.visit = visit,
	.next = next,
	.segment = segment,
	.code = code,
};

static uint64_t bytes_of_shard(const struct decode_pt_flow *f, const struct decode_shards_how *how)
{
	const uint64_t most = f->counts.wanted ? BYTES_COUNTS
			      : how->listing   ? BYTES_LISTING
					       : BYTES_BLOCKS;
	const uint64_t bytes = f->len / how->jobs / SHARDS_EACH;

	return bytes < BYTES_MIN ? BYTES_MIN : bytes > most ? most : bytes;
}

static int make_plan(const struct decode_pt_flow *f, const struct decode_shards_how *how,
		     struct decode_shard_plan *plan)
{
	struct decode_shard_input in = decode_shard_input_of(f);

	in.bytes = how->bytes ? how->bytes : bytes_of_shard(f, how);
	in.near = how->eager ? 0 : DECODE_SHARD_NEAR;
	in.random = how->random;
	in.exact = how->exact;
	return decode_shard_plan(&in, plan);
}

/* Open one more flow, which has no window of its own. */
static int open_more(struct decode_shards_flow *s, struct decode_flow **flow)
{
	int err = decode_pt_flow_open(s->reader, s->vcpu, s->unit, flow);

	if (!err)
		decode_pt_window_close((struct decode_pt_flow *)*flow);
	return err;
}

/* Open the flows of the other workers. The first one has @f. */
static int open_workers(struct decode_shards_flow *s, struct decode_pt_flow *f,
			const struct decode_shards_how *how)
{
	struct decode_shard_work *w = &s->work;
	unsigned int jobs = how->jobs < w->plan.n ? how->jobs : (unsigned int)w->plan.n, i;
	struct decode_flow *flow;
	int err = 0;

	w->workers = calloc(jobs, sizeof(*w->workers));
	w->runs = calloc(w->plan.n, sizeof(*w->runs));
	if (!w->workers || !w->runs)
		return -ENOMEM;
	w->nworkers = jobs;
	w->window = (size_t)WINDOW_EACH * jobs;
	w->workers[0].flow = f;
	decode_pt_window_close(f);
	w->carry.mode = f->ahead.flow.mode;
	s->begin = w->carry;
	for (i = 1; i < jobs && !err; i++) {
		err = open_more(s, &flow);
		if (!err)
			w->workers[i].flow = (struct decode_pt_flow *)flow;
	}
	if (!err && how->listing)
		err = open_more(s, &s->alone);
	/* All threads together have one window, from the first shard that is not done. */
	return err ? err : trace_reader_window_begin(s->reader, s->vcpu, &s->held);
}

/* Make a flow with threads of @f, which the new flow then owns. */
static int make(struct decode_pt_flow *f, enum decode_flow_unit unit, struct decode_shard_plan plan,
		const struct decode_shards_how *how, struct decode_flow **flow)
{
	struct decode_shards_flow *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		free(plan.at);
		decode_pt_flow_close(&f->base);
		return -ENOMEM;
	}
	s->base.ops = &ops;
	s->reader = f->reader;
	s->vcpu = f->vcpu;
	s->unit = unit;
	s->items_from = UINT64_MAX;
	s->work.wanted = unit == DECODE_FLOW_COUNTS ? DECODE_SHARD_COUNTS : DECODE_SHARD_ITEMS;
	s->work.plan = plan;
	s->work.reader = f->reader;
	s->work.vcpu = f->vcpu;
	pthread_mutex_init(&s->work.lock, NULL);
	pthread_cond_init(&s->work.changed, NULL);
	decode_shard_pool_init(&s->work.pool, how->text, how->jobs);
	err = open_workers(s, f, how);
	if (!err) {
		*flow = &s->base;
		return 0;
	}
	if (!s->work.nworkers)
		decode_pt_flow_close(&f->base);
	close_flow(&s->base);
	return err;
}

int decode_shards_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       const struct decode_shards_how *how, struct decode_flow **flow)
{
	struct decode_shard_plan plan = {NULL, 0};
	int err = decode_pt_flow_open(reader, vcpu, unit, flow);
	struct decode_pt_flow *f;

	if (err || how->jobs < 2)
		return err;
	f = (struct decode_pt_flow *)*flow;
	/* Kept instructions need more memory than all else. */
	if ((unit == DECODE_FLOW_INSNS && !how->listing) || !decode_shard_can_cut(f) ||
	    decode_shard_has_guests(f))
		return 0;
	err = make_plan(f, how, &plan);
	if (!err && plan.n > 1)
		return make(f, unit, plan, how, flow);
	free(plan.at);
	if (err)
		decode_pt_flow_close(*flow);
	return err;
}

bool decode_shards_done(const struct decode_flow *flow, struct decode_shards_done *done)
{
	const struct decode_shards_flow *s = decode_shards_flow_of_const(flow);

	*done = (struct decode_shards_done){.shards = 0};
	if (flow->ops != &ops)
		return false;
	*done = (struct decode_shards_done){
		.shards = s->work.plan.n,
		.proved = s->work.proved,
		.alone = s->alones,
		.text = s->work.pool.peak * s->work.pool.room,
	};
	return true;
}

/* Join the trees of all shards, up to the first that is not proved. */
static int join_calls(struct decode_shards_flow *s, struct decode_shard_calls *to)
{
	struct decode_shard_work *w = &s->work;
	const struct decode_calls_pieces *pieces;
	int some = 1;

	while (w->at < w->plan.n) {
		some = decode_shards_flow_wait(s);
		if (some <= 0)
			return some;
		pieces = decode_calls_close_open(w->runs[w->at].calls.tree);
		if (!pieces || !decode_calls_join(to->tree, pieces))
			return -ENOMEM;
		decode_summary_add(&to->sum, &w->runs[w->at].calls.sum);
		trace_reader_progress(s->reader, s->vcpu, w->plan.at[w->at].to.psb);
		decode_shard_work_next(w);
	}
	return 0;
}

/* Take the items of a flow without threads, or those that are left. */
static int take_calls(struct decode_flow *flow, unsigned int vcpu, struct decode_shard_calls *to)
{
	struct decode_item item;
	int err;

	for (;;) {
		err = flow->ops->next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		decode_summary_item(&to->sum, vcpu, &item);
		if (!decode_calls_item(to->tree, &item))
			return -ENOMEM;
	}
}

int decode_shards_calls(struct decode_flow *flow, const struct debug_symbols *symbols,
			unsigned int vcpu, struct decode_shard_calls *to)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	int err = 0;

	if (flow->ops == &ops) {
		s->work.wanted = DECODE_SHARD_CALLS;
		s->work.symbols = symbols;
		err = join_calls(s, to);
	}
	return err ? err : take_calls(flow, vcpu, to);
}

/* Take over the counters that were proved. From the first unknown counter on there is one shard. */
static void take_counters(const struct decode_shard_work *w, struct decode_shard_plan *plan)
{
	size_t i;

	for (i = 1; i < plan->n; i++) {
		if (i <= w->proved) {
			plan->at[i].next_cr3 = w->runs[i - 1].carry.next_cr3;
			plan->at[i].next_resumed = w->runs[i - 1].carry.next_resumed;
		}
		if (plan->at[i].counter != DECODE_SHARD_AFTER)
			continue;
		if (i > w->proved)
			break;
		plan->at[i].counter = DECODE_SHARD_EXACT;
		plan->at[i].insns = w->runs[i - 1].carry.insns;
	}
	if (i < plan->n) {
		plan->at[i - 1].to = plan->at[plan->n - 1].to;
		plan->n = i;
	}
}

static bool needs_counters(const struct decode_shard_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->n && plan->at[i].counter != DECODE_SHARD_AFTER; i++)
		;
	return i < plan->n;
}

/* Decode all shards of a plan, whose @flow counts, and set its counters. */
static int find_counters(struct decode_flow *flow, struct decode_shard_plan *plan)
{
	struct decode_shards_flow *s = decode_shards_flow_of(flow);
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	int err = 0;

	s->work.wanted = DECODE_SHARD_ITEMS;
	while (!err && !s->rest && item.kind != DECODE_ITEM_END)
		err = next(flow, &item);
	decode_shard_work_end(&s->work);
	if (!err)
		take_counters(&s->work, plan);
	return err;
}

int decode_shards_plan(struct trace_reader *reader, unsigned int vcpu,
		       const struct decode_shards_how *how, struct decode_shard_plan *plan)
{
	struct decode_shard_plan copy = {NULL, 0};
	struct decode_flow *flow;
	int err = decode_pt_flow_open(reader, vcpu, DECODE_FLOW_COUNTS, &flow);

	*plan = copy;
	if (err)
		return err;
	if (decode_shard_can_cut((struct decode_pt_flow *)flow))
		err = make_plan((struct decode_pt_flow *)flow, how, plan);
	if (err || !needs_counters(plan)) {
		decode_pt_flow_close(flow);
		return err;
	}
	/* All of it is decoded. Bytes that the file lacks are 0. */
	err = trace_reader_load(reader, vcpu, 0, trace_reader_stream_bytes(reader, vcpu));
	if (!err || err == -ENODATA)
		err = make_plan((struct decode_pt_flow *)flow, how, &copy);
	if (err) {
		decode_pt_flow_close(flow);
		return err;
	}
	err = make((struct decode_pt_flow *)flow, DECODE_FLOW_COUNTS, copy, how, &flow);
	if (err)
		return err;
	err = find_counters(flow, plan);
	close_flow(flow);
	return err ? err : trace_reader_unload(reader, vcpu, 0, UINT64_MAX);
}
