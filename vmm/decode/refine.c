// SPDX-License-Identifier: GPL-2.0-or-later
/* Search all pieces of a stream for the places of changes, and list the new versions of code. */
#include "decode/refine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/refine_search.h"
#include "decode/shard_input.h"
#include "trace/vec.h"

struct found {
	struct decode_flow *flow;
	struct decode_refine_search search;
	struct decode_shard_plan plan;
	struct {
		struct trace_repack_code *at;
		size_t n, room;
	} code;
};

static int make_plan(struct found *p, struct decode_pt_flow *f)
{
	struct decode_shard_input in = decode_shard_input_of(f);

	if (!f->nsegments)
		return 0;
	in.bytes = 1;
	return decode_shard_plan(&in, &p->plan);
}

static int open_search(struct found *p, struct trace_reader *reader, unsigned int vcpu)
{
	struct decode_refine_search *s = &p->search;
	struct decode_pt_flow *f;
	int err = decode_flow_open(reader, vcpu, DECODE_FLOW_BLOCKS, &p->flow);

	if (err)
		return err;
	f = (struct decode_pt_flow *)p->flow;
	if (!decode_code_by_offset(f->ahead.store) || decode_pt_is_atom(f))
		return -ENOTSUP;
	/* The code at returned items is not used. */
	if (f->store != f->ahead.store)
		decode_code_close(f->store);
	f->store = f->ahead.store;
	f->ahead.refined = true;
	s->trial.f = f;
	s->trial.sites = &s->sites;
	err = decode_refine_sites_open(&s->sites, f->ahead.store);
	if (!err)
		err = decode_refine_pages_open(&s->pages, reader, vcpu);
	return err ? err : make_plan(p, f);
}

static int search_pieces(struct found *p, struct trace_reader *reader, unsigned int vcpu,
			 struct decode_refined *out)
{
	struct decode_refine_search *s = &p->search;
	size_t i;

	for (i = 0; i < p->plan.n && !s->trial.err; i++) {
		const struct decode_shard *piece = &p->plan.at[i];
		const struct decode_refine_result r =
			decode_refine_trial(&s->trial, piece, UINT64_MAX, false);

		trace_reader_progress(reader, vcpu, piece->from.psb);
		out->pieces++;
		if (!r.error || s->trial.err)
			continue;
		out->more.refined.failed++;
		(void)decode_refine_piece(s, piece, &r);
	}
	out->trials = s->trial.trials;
	return s->trial.err;
}

/* Count the errors of the whole stream and the pieces that have one, with the new versions. */
static int count_left(struct found *p, struct decode_refined *out)
{
	struct decode_pt_flow *f = p->search.trial.f;
	const struct decode_pt_carry carry = {0};
	struct decode_pt_state state;
	struct decode_shard all;
	struct decode_item item;
	size_t last = SIZE_MAX;
	int err;

	if (!p->plan.n)
		return 0;
	all = p->plan.at[0];
	all.to = p->plan.at[p->plan.n - 1].to;
	decode_refine_rewind(&p->search.trial, &all);
	err = decode_pt_shard_start(f, &all, &carry, &state);
	if (err)
		return err;
	do {
		err = decode_pt_flow_next(&f->base, &item);
		if (err || item.kind != DECODE_ITEM_ERROR)
			continue;
		out->errors++;

		const size_t at =
			trace_vec_before(p->plan.at, p->plan.n, e, e->from.end <= item.offset);

		out->more.refined.left += at != last;
		last = at;
	} while (!err && item.kind != DECODE_ITEM_END);
	return err;
}

static bool add(struct found *p, uint64_t cr3, uint64_t vaddr, uint64_t from, const uint8_t *bytes)
{
	if (!trace_vec_room(&p->code))
		return false;
	p->code.at[p->code.n++] = (struct trace_repack_code){
		.page = {.cr3 = cr3, .vaddr = vaddr, .insns = from},
		.bytes = bytes,
	};
	return true;
}

/* List the changes of a group. Of several at one place only the last is visible. */
static bool list_group(struct found *p, const struct decode_refine_group *g, uint64_t base)
{
	const struct decode_refine_sites *s = &p->search.sites;
	size_t i, k;

	for (k = 0; k < g->flips.n; k++) {
		const struct decode_refine_flip *flip = &g->flips.at[k];

		if (k + 1 < g->flips.n && flip[1].at == flip->at)
			continue;
		for (i = 0; i < g->count + g->more.n; i++) {
			if (!add(p, decode_refine_sites_space(s, g, i), g->vaddr, base + flip->at,
				 flip->bytes))
				return false;
		}
	}
	/* The file has the recorded changes, except for those of copied pages. */
	for (i = 0; i < g->more.n; i++) {
		if (!add(p, g->more.at[i], g->vaddr, base + g->from, g->new))
			return false;
	}
	return true;
}

/* List the first versions of added pages. The store must be at its begin. */
static bool list_added(struct found *p)
{
	const struct decode_refine_search *s = &p->search;
	const struct decode_code_store *store = s->trial.f->ahead.store;
	size_t i;

	for (i = 0; i < s->added.n; i++) {
		const struct decode_refine_edit *e = &s->added.at[i];

		if (!add(p, e->cr3, e->vaddr, 0, decode_code_page(store, e->cr3, e->vaddr)))
			return false;
	}
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	const struct trace_repack_code *x = a, *y = b;

	return ((uintptr_t)x->bytes > (uintptr_t)y->bytes) -
	       ((uintptr_t)x->bytes < (uintptr_t)y->bytes);
}

/* List the new versions, with their places in the whole stream. */
static int list_code(struct found *p, const struct trace_cut *cut, struct decode_refined *out)
{
	struct decode_refine_search *s = &p->search;
	size_t i;

	decode_code_advance(s->trial.f->ahead.store, 0);
	if (!list_added(p))
		return -ENOMEM;
	for (i = 0; i < s->sites.ngroups; i++) {
		if (!list_group(p, &s->sites.groups[i], cut ? cut->offset : 0))
			return -ENOMEM;
	}
	if (p->code.n)
		qsort(p->code.at, p->code.n, sizeof(*p->code.at), by_bytes);
	out->more.code = p->code.at;
	out->more.ncode = p->code.n;
	out->more.refined.changes = s->placed;
	out->more.refined.pages = s->added.n;
	out->limited = s->limited;
	return 0;
}

int decode_refine(struct trace_reader *reader, unsigned int vcpu, struct decode_refined *out)
{
	struct found *p = calloc(1, sizeof(*p));
	int err;

	*out = (struct decode_refined){.private = p};
	if (!p)
		return -ENOMEM;
	err = open_search(p, reader, vcpu);
	if (!err)
		err = search_pieces(p, reader, vcpu, out);
	if (!err)
		err = count_left(p, out);
	if (!err)
		err = list_code(p, trace_reader_cut(reader, vcpu), out);
	if (err)
		decode_refined_free(out);
	return err;
}

void decode_refined_free(struct decode_refined *out)
{
	struct found *p = out->private;

	if (!p)
		return;
	out->private = NULL;
	if (p->flow)
		decode_flow_close(p->flow);
	decode_refine_sites_close(&p->search.sites);
	decode_refine_pages_close(&p->search.pages);
	free(p->search.trial.visits.at);
	free(p->search.added.at);
	free(p->plan.at);
	free(p->code.at);
	free(p);
}
