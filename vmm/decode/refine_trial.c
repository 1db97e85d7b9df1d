// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a piece of a stream and list the sites of changes that it executes. */
#include "decode/refine_trial.h"

#include <errno.h>
#include <string.h>

#include "trace/vec.h"

#define INSN_MAX  15u
#define BLOCK_MAX 65536u

/* List the sites in the @bytes bytes at @ip, which can have changed at stream offset @at. */
static void visit(struct decode_refine_trial *t, uint64_t cr3, uint64_t ip, uint64_t bytes,
		  uint64_t psb, uint64_t at)
{
	const struct decode_refine_range range = {
		.cr3 = cr3,
		.begin = ip,
		.end = ip + bytes,
		.at = at,
		.psb = psb,
	};

	if (bytes && !t->err && !decode_refine_sites_find(t->sites, &range, &t->visits))
		t->err = -ENOMEM;
}

/* A block whose decoding went astray can begin at one place and end at another. */
static void visit_block(struct decode_refine_trial *t, const struct decode_item *item, uint64_t psb,
			uint64_t at)
{
	const uint64_t bytes = item->last - item->ip + item->size;

	if (bytes <= BLOCK_MAX) {
		visit(t, item->cr3, item->ip, bytes, psb, at);
		return;
	}
	visit(t, item->cr3, item->ip, INSN_MAX, psb, at);
	visit(t, item->cr3, item->last, item->size, psb, at);
}

void decode_refine_rewind(struct decode_refine_trial *t, const struct decode_shard *piece)
{
	t->f->ahead.code_at = piece->from.psb;
	t->f->ahead.failed = UINT64_MAX;
	decode_pt_follow_code(t->f);
}

void decode_refine_forget_code(struct decode_refine_trial *t)
{
	const int err = decode_pt_renew_code(t->f);

	decode_code_forget(t->f->ahead.store);
	if (err)
		t->err = err;
}

static void set_error(struct decode_refine_result *r, const struct decode_item *item)
{
	r->error = true;
	r->at = item->offset;
	r->left = item->left;
	r->ip = item->ip;
	r->cr3 = item->cr3;
}

/* A change is before the packets of the execution: at the offset of an earlier item. */
struct offsets {
	uint64_t before, last;
};

static void follow(struct decode_refine_trial *t, const struct decode_item *item, uint64_t psb,
		   struct offsets *at)
{
	if (item->kind == DECODE_ITEM_BLOCK) {
		if (item->offset != at->last) {
			at->before = at->last;
			at->last = item->offset;
		}
		visit_block(t, item, psb, at->before);
	} else if (item->kind == DECODE_ITEM_ERROR) {
		visit(t, item->cr3, item->ip, INSN_MAX, psb, at->before);
		visit(t, item->cr3, item->ip, INSN_MAX, psb, at->last);
	}
}

struct decode_refine_result decode_refine_trial(struct decode_refine_trial *t,
						const struct decode_shard *piece, uint64_t most,
						bool list)
{
	const struct decode_pt_carry carry = {0};
	const uint64_t psb = piece->from.psb;
	struct decode_refine_result r = {.at = UINT64_MAX};
	struct offsets at = {psb, psb};
	struct decode_pt_state state;
	struct decode_item item;

	t->trials++;
	t->visits.n = 0;
	decode_refine_rewind(t, piece);
	t->err = decode_pt_shard_start(t->f, piece, &carry, &state);
	if (t->err)
		return r;
	r.pip = state.pip_cr3;
	do {
		t->err = decode_pt_flow_next(&t->f->base, &item);
		if (t->err)
			break;
		if (item.kind == DECODE_ITEM_EVENT && item.event == DECODE_FLOW_PAGING)
			r.pip = item.value;
		if (list)
			follow(t, &item, psb, &at);
		if (item.kind == DECODE_ITEM_ERROR || ++r.items > most)
			set_error(&r, &item);
	} while (item.kind != DECODE_ITEM_END && !r.error && !t->err);
	r.stopped = r.items > most;
	t->items += r.items;
	return r;
}

bool decode_refine_is_better(const struct decode_refine_result *a,
			     const struct decode_refine_result *b)
{
	if (a->stopped)
		return false;
	return a->at > b->at || (a->at == b->at && a->left < b->left);
}
