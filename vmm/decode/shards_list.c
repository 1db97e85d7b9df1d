// SPDX-License-Identifier: GPL-2.0-or-later
/* Print the listings of shards in their order. */
#include "decode/shards.h"

#include "decode/shards_flow.h"

/* List the items of a flow without threads. */
static int list_items(struct decode_flow *flow, unsigned int vcpu, struct decode_shards_listing *to)
{
	struct decode_item item;
	int err;

	while (to->left) {
		err = decode_flow_next(flow, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		decode_summary_item(&to->sum, vcpu, &item);
		to->left -= decode_listing_item(to->listing, &item);
	}
	return 0;
}

/* Print the part of a chunk that is from @from on, up to before @end. The chunk begins at @at. */
static void print_chunk(const struct decode_shard_chunk *chunk, uint64_t at, uint64_t from,
			uint64_t end, FILE *out)
{
	from = from > at ? from - at : 0;
	end = end > at ? end - at : 0;
	end = end < chunk->n ? end : chunk->n;
	if (from < end)
		fwrite_unlocked(chunk->text + from, end - from, 1, out);
}

/* Print a text, and its first source line if it differs from the last one. */
static void print_text(struct decode_listing *l, const struct decode_shard_text *text)
{
	const struct decode_shard_chunk *chunk = text->first;
	const uint64_t line_at = text->line ? text->line_at : UINT64_MAX;
	uint64_t at = 0;

	for (; chunk && at + chunk->n <= line_at; chunk = chunk->next) {
		print_chunk(chunk, at, 0, UINT64_MAX, l->out);
		at += chunk->n;
	}
	if (chunk) {
		print_chunk(chunk, at, 0, line_at, l->out);
		decode_listing_line(l, text->line);
	}
	for (; chunk; chunk = chunk->next) {
		print_chunk(chunk, at, line_at, UINT64_MAX, l->out);
		at += chunk->n;
	}
	if (text->knows_last)
		l->last = text->last_line;
}

/* Print the shard that is next. */
static int list_shard(struct decode_shards_flow *s, struct decode_shards_listing *to)
{
	const struct decode_shard_run *run = &s->work.runs[s->work.at];
	struct decode_flow *flow;
	int err;

	if (run->text.dropped || run->text.shown > to->left) {
		err = decode_shards_flow_alone(s, &flow);
		return err ? err : list_items(flow, s->vcpu, to);
	}
	print_text(to->listing, &run->text);
	decode_summary_add(&to->sum, &run->calls.sum);
	to->left -= run->text.shown;
	return 0;
}

static int list_shards(struct decode_shards_flow *s, struct decode_shards_listing *to)
{
	struct decode_shard_work *w = &s->work;
	int some, err;

	w->wanted = DECODE_SHARD_TEXT;
	w->listing = to->listing;
	while (w->at < w->plan.n && to->left) {
		some = decode_shards_flow_wait(s);
		if (some <= 0)
			return some;
		err = list_shard(s, to);
		if (err)
			return err;
		trace_reader_progress(s->reader, s->vcpu, w->plan.at[w->at].to.psb);
		decode_shard_work_next(w);
	}
	return 0;
}

int decode_shards_list(struct decode_flow *flow, unsigned int vcpu,
		       struct decode_shards_listing *to)
{
	int err = 0;

	if (decode_shards_flow_is(flow))
		err = list_shards(decode_shards_flow_of(flow), to);
	return err ? err : list_items(flow, vcpu, to);
}
