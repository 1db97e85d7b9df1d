// SPDX-License-Identifier: GPL-2.0-or-later
/* List the items of a shard on its thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/listing.h"
#include "decode/shard_work.h"

/* The formatted texts of instructions last from shard to shard. */
struct decode_shard_lister {
	struct decode_listing listing;
	struct decode_disasm *disasm;
	struct decode_shard_work *work;
	/* The current shard. */
	size_t shard;
	struct decode_shard_text *to;
	int err;
};

static int add_chunk(struct decode_shard_lister *l)
{
	struct decode_shard_text *to = l->to;
	struct decode_shard_chunk *chunk;
	int err;

	if (to->bytes >= l->work->pool.shard) {
		decode_shard_work_release(l->work, to->first);
		to->first = to->last = NULL;
		to->dropped = true;
		return 0;
	}
	err = decode_shard_work_chunk(l->work, l->shard, &chunk);
	if (err)
		return err;
	if (to->last)
		to->last->next = chunk;
	else
		to->first = chunk;
	to->last = chunk;
	return 0;
}

/* Take what stdio writes, for fopencookie(). */
static ssize_t take_text(void *context, const char *text, size_t len)
{
	struct decode_shard_lister *l = context;
	struct decode_shard_text *to = l->to;
	size_t done = 0, some;

	while (done < len && !l->err && !to->dropped) {
		if (!to->last || to->last->n == l->work->pool.room) {
			l->err = add_chunk(l);
			continue;
		}
		some = l->work->pool.room - to->last->n;
		if (some > len - done)
			some = len - done;
		memcpy(to->last->text + to->last->n, text + done, some);
		to->last->n += some;
		to->bytes += some;
		done += some;
	}
	return l->err ? -1 : (ssize_t)len;
}

static struct decode_shard_lister *make(struct decode_shard_work *w)
{
	struct decode_shard_lister *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->work = w;
	l->listing = (struct decode_listing){
		.json = w->listing->json,
		.lines = w->listing->lines,
		.vcpu = w->vcpu,
		.symbols = w->listing->symbols,
	};
	l->disasm = decode_disasm_new(l->listing.symbols);
	l->listing.disasm = l->disasm;
	l->listing.out = fopencookie(l, "w", (cookie_io_functions_t){.write = take_text});
	if (!l->disasm || !l->listing.out) {
		decode_shard_lister_free(l);
		return NULL;
	}
	setvbuf(l->listing.out, NULL, _IOFBF, 65536);
	return l;
}

void decode_shard_lister_free(struct decode_shard_lister *l)
{
	if (!l)
		return;
	if (l->listing.out)
		fclose(l->listing.out);
	decode_listing_fini(&l->listing);
	decode_disasm_free(l->disasm);
	free(l);
}

static void list_item(struct decode_shard_lister *l, const struct decode_item *item)
{
	const bool held = l->listing.hold;

	if (l->to->dropped)
		return;
	l->to->shown += decode_listing_item(&l->listing, item);
	if (!held || l->listing.hold || !l->listing.last)
		return;
	/* The listing wrote out all before this item. */
	l->to->line = l->listing.last;
	l->to->line_at = l->to->bytes;
}

static int list_items(struct decode_shard_lister *l, struct decode_shard_worker *worker,
		      struct decode_summary *sum)
{
	struct decode_item item;
	int err;

	for (;;) {
		err = decode_pt_flow_next(&worker->flow->base, &item);
		if (err || item.kind == DECODE_ITEM_END)
			return err;
		decode_summary_item(sum, worker->work->vcpu, &item);
		list_item(l, &item);
		if (l->err)
			return l->err;
	}
}

int decode_shard_list(struct decode_shard_worker *worker, size_t shard)
{
	struct decode_shard_run *run = &worker->work->runs[shard];
	struct decode_shard_lister *l = worker->lister;
	int err;

	if (!l)
		l = worker->lister = make(worker->work);
	if (!l)
		return -ENOMEM;
	l->shard = shard;
	l->to = &run->text;
	l->listing.hold = l->listing.lines;
	l->listing.last = NULL;
	err = list_items(l, worker, &run->calls.sum);
	fflush(l->listing.out);
	run->text.knows_last = !l->listing.hold;
	run->text.last_line = l->listing.last;
	return err ? err : l->err;
}
