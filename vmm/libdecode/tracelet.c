// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The tracelet cache.
 *
 * A walk's key is its first block and its outcomes. A RET from a function that was entered before
 * the walk pops an address from the flow's stack. The walk is valid only where the same address is
 * on top, which is checked at each use. A walk of another view is made again in its place. Walks
 * that differ only in the addresses have separate slots.
 */
#include "libdecode/tracelet_inside.h"

#include <stdlib.h>
#include <string.h>

static inline size_t slot_of(const struct dec_tracelets *t, const struct dec_block *from,
			     uint32_t outcomes)
{
	/* A bit of a product depends on all lower bits of its factors. */
	uint64_t hash = (uintptr_t)from >> 3 ^ outcomes * 0xd6e8feb86659fd93ull;

	return hash * 0x9e3779b97f4a7c15ull >> 32 & t->mask;
}

/*
 * The maximum number of walks from a block by the same outcomes, which differ in their addresses.
 */
#define TWINS_MAX 8u

/* Returns the walk of these outcomes, or the slot for it. *found says which. */
static inline struct dec_tracelet *find(const struct dec_tracelets *t, const struct dec_flow *f,
					uint32_t outcomes, bool *found)
{
	size_t i = slot_of(t, f->cur, outcomes);
	unsigned int twins = 0;

	for (; t->walk[i].from; i = (i + 1) & t->mask) {
		struct dec_tracelet *w = &t->walk[i];

		if (w->from != f->cur || w->outcomes != outcomes)
			continue;
		*found = w->view == f->views[w->of_all] &&
			 dec_flow_has_on_top(f, t->paths.addresses + w->stack, w->pops);
		if (vpt_likely(*found) || dec_flow_is_past(f, w->view, w->of_all) ||
		    ++twins == TWINS_MAX)
			return w;
	}
	*found = false;
	return &t->walk[i];
}

static struct dec_tracelet *free_slot(const struct dec_tracelets *t, const struct dec_tracelet *w)
{
	size_t i = slot_of(t, w->from, w->outcomes);

	while (t->walk[i].from)
		i = (i + 1) & t->mask;
	return &t->walk[i];
}

/* The state of a walk under construction. */
struct make {
	struct dec_block *at;
	uint32_t outcomes; /* the key, of @n outcomes */
	unsigned int n;
	uint64_t bits;
	unsigned int left; /* the number of remaining outcomes */
	uint32_t insns;
	uint64_t pop[DEC_TRACELET_STACK], push[DEC_TRACELET_STACK];
	unsigned int pops, pushes, steps;
	bool of_all;
	uint32_t path[DEC_TRACELET_STEPS];
};

/* Return to an address that the walk has pushed, or to one of the flow's stack. */
static struct dec_block *walk_return(struct dec_flow *f, struct make *m)
{
	uint64_t to;

	if (m->pushes && f->last_call) {
		to = m->push[m->pushes - 1];
	} else if (f->last_call) {
		if (!f->depth)
			return NULL;
		to = f->stack[(f->top - 1) % DEC_STACK];
		m->pop[m->pops++] = to;
		m->push[m->pushes++] = to;
	} else if (m->pushes) {
		to = m->push[--m->pushes];
	} else if (m->pops < f->depth && m->pops < DEC_TRACELET_STACK / 2) {
		to = f->stack[(f->top - 1 - m->pops) % DEC_STACK];
		m->pop[m->pops++] = to;
	} else {
		return NULL;
	}
	return dec_code_block(f->code, to, m->at->mode);
}

/* Walk one block. Returns false if the walk ends before it. */
static bool walk_block(struct dec_flow *f, struct make *m)
{
	const unsigned int pops = m->pops, pushes = m->pushes;
	struct dec_block *block = m->at, *to;
	unsigned int which = DEC_FALL;

	switch ((enum dec_end)block->end) {
	case DEC_END_COND:
		which = (unsigned int)(m->bits >> 63);
		to = dec_flow_link(f, block, which);
		break;
	case DEC_END_CALL:
	case DEC_END_JUMP:
		which = DEC_TAKEN;
		if (!dec_flow_pushes(f, block)) {
			to = dec_flow_link(f, block, which);
			break;
		}
		if (m->pushes == (f->last_call ? DEC_TRACELET_STACK - 1 : DEC_TRACELET_STACK / 2))
			return false;
		to = dec_flow_link(f, block, which);
		if (to)
			m->push[m->pushes++] = block->next;
		break;
	case DEC_END_NEXT:
	case DEC_END_PTWRITE:
	case DEC_END_WRMSR:
	case DEC_END_VMPTRLD:
	case DEC_END_CR0:
	case DEC_END_INTO:
		to = dec_flow_link(f, block, which);
		break;
	case DEC_END_RET:
		if (!f->has_retc || !(m->bits >> 63))
			return false;
		which = DEC_TAKEN;
		to = walk_return(f, m);
		break;
	default:
		return false;
	}
	/* A block that cannot be linked may live only until the next one is made. */
	if (!to || !to->insns) {
		m->pops = pops;
		m->pushes = pushes;
		return false;
	}
	if (block->end == DEC_END_COND || block->end == DEC_END_RET) {
		m->bits <<= 1;
		m->left--;
	}
	m->path[m->steps++] = block->id << 1 | which;
	m->insns += block->insns;
	m->of_all &= to->of_all_spaces;
	m->at = to;
	return true;
}

/* The state of a walk when it used its last outcome. */
struct used {
	struct dec_block *at;
	uint32_t insns;
	unsigned int pushes, steps;
};

/*
 * Walk until the outcomes are used or an instruction needs a target. After its last outcome a walk
 * must not follow a circle of direct branches, which dec_flow_drain() reports.
 */
static void walk(struct dec_flow *f, struct make *m)
{
	struct used last = {.at = m->at};
	struct dec_circle circle = {0};
	unsigned int left = m->left;

	while (m->left) {
		if (m->left != left) {
			left = m->left;
			last = (struct used){m->at, m->insns, m->pushes, m->steps};
			circle = (struct dec_circle){0};
		}
		if (m->steps == DEC_TRACELET_STEPS || dec_flow_circles(f, m->at, &circle)) {
			m->at = last.at;
			m->insns = last.insns;
			m->pushes = last.pushes;
			m->steps = last.steps;
			return;
		}
		if (!walk_block(f, m))
			return;
	}
}

/* Forget all walks. Returns false, and keeps the walks, if there is no memory. */
static bool forget_all(struct dec_tracelets *t, const struct dec_flow *f)
{
	if (!dec_tracelets_expand(t, f))
		return false;
	memset(t->walk, 0, (t->mask + 1) * sizeof(*t->walk));
	t->used = 0;
	dec_paths_clear(&t->paths);
	return true;
}

/* Returns true if an array has no room for another walk. A replaced walk keeps its entries. */
static bool is_full(const struct dec_tracelets *t)
{
	return t->max_addresses - t->paths.naddresses < DEC_TRACELET_STACK + 2 ||
	       t->max_path - t->paths.npath < DEC_TRACELET_STEPS + DEC_PATH_HEADER;
}

/* Double the slots, or drop all walks at the limit. Returns false if there is no memory. */
static bool make_room(struct dec_tracelets *t, const struct dec_flow *f)
{
	struct dec_tracelets old = *t;
	size_t i;

	if (t->mask + 1 >= t->max)
		return forget_all(t, f);
	t->mask = 2 * t->mask + 1;
	t->walk = calloc(t->mask + 1, sizeof(*t->walk));
	if (!t->walk) {
		*t = old;
		return false;
	}
	for (i = 0; i <= old.mask; i++) {
		if (old.walk[i].from)
			*free_slot(t, &old.walk[i]) = old.walk[i];
	}
	free(old.walk);
	return true;
}

/* Keep a new walk. */
static void keep(struct dec_tracelets *t, const struct dec_flow *f, const struct make *m,
		 struct dec_tracelet *w)
{
	*w = (struct dec_tracelet){
		.from = f->cur,
		.outcomes = m->outcomes,
		.to = m->at->id,
		.view = f->views[m->of_all],
		.of_all = m->of_all,
		.insns = m->insns & 0x3ffff,
		.stack = t->paths.naddresses,
		.used = (m->n - m->left) & 0x1f,
		.pops = m->pops & 15,
		.pushes = m->pushes & 15,
	};
	dec_paths_keep_stack(&t->paths, m->pop, m->pops, m->push, m->pushes);
	if (t->paths.kept) {
		uint32_t *path = t->paths.path + t->paths.npath;

		path[DEC_PATH_STEPS] = m->steps;
		path[DEC_PATH_TO] = w->to;
		path[DEC_PATH_PLACE] = t->paths.naddresses;
		memcpy(path + DEC_PATH_HEADER, m->path, m->steps * sizeof(*m->path));
		t->paths.addresses[t->paths.naddresses++] = t->paths.npath;
		t->paths.addresses[t->paths.naddresses++] = 0;
		t->paths.npath += DEC_PATH_HEADER + m->steps;
	}
}

/* Make the walk of these outcomes. Returns NULL if it ends in its first block. */
static struct dec_tracelet *make_walk(struct dec_tracelets *t, struct dec_flow *f,
				      struct dec_tracelet *w, uint32_t outcomes, unsigned int n)
{
	struct make m;
	bool found;

	m.outcomes = outcomes;
	m.at = f->cur;
	m.bits = f->bits;
	m.n = m.left = n;
	m.of_all = f->cur->of_all_spaces;
	m.insns = m.pops = m.pushes = m.steps = 0;
	walk(f, &m);
	if (m.left == n)
		return NULL;
	if (is_full(t)) {
		if (!forget_all(t, f))
			return NULL;
		w = find(t, f, outcomes, &found);
	}
	if (!dec_paths_make_room(&t->paths, DEC_TRACELET_STACK + 2,
				 DEC_TRACELET_STEPS + DEC_PATH_HEADER, DEC_TRACELET_ROOM))
		return NULL;
	if (!w->from) {
		if (t->used * 4 > t->mask * 3) {
			if (!make_room(t, f))
				return NULL;
			w = find(t, f, outcomes, &found);
		}
		t->used++;
	}
	keep(t, f, &m, w);
	return w;
}

static inline void take(struct dec_tracelets *t, struct dec_flow *f, struct dec_tracelet *w)
{
	dec_paths_restack(&t->paths, f, w->stack, w->pops, w->pushes);
	f->bits <<= w->used;
	f->nbits -= w->used;
	f->insns += w->insns;
	f->cur = dec_code_at(f->code, w->to);
}

/* Count the walk, or call the walk() callback. Returns false if the walk is not to run. */
static inline bool count(struct dec_tracelets *t, struct dec_flow *f, struct dec_tracelet *w)
{
	struct dec_walk walk = {.insns = w->insns};

	if (vpt_likely(!dec_tracelet_marks(f))) {
		if (vpt_unlikely(++w->hits == UINT32_MAX) && t->paths.kept)
			dec_tracelet_keep_hits(t, w);
		return true;
	}
	walk.path = t->paths.path + *dec_tracelet_place(t, w);
	walk.steps = walk.path[DEC_PATH_STEPS];
	walk.path += DEC_PATH_HEADER;
	walk.mark = dec_tracelet_place(t, w) + 1;
	return f->ops->walk(f->context, &walk);
}

static inline bool run_one(struct dec_tracelets *t, struct dec_flow *f)
{
	unsigned int n = f->nbits < DEC_TRACELET ? f->nbits : DEC_TRACELET;
	uint32_t outcomes = (uint32_t)(f->bits >> (64 - n)) | 1u << n;
	struct dec_tracelet *w;
	bool found;

	/* A CALL and its RET within a walk would hide that the oldest address is lost. */
	if (vpt_unlikely(f->depth > DEC_STACK - DEC_TRACELET_STACK && !f->last_call))
		return false;
	w = find(t, f, outcomes, &found);
	if (vpt_unlikely(!found)) {
		if (w->from && t->paths.kept && !dec_tracelet_marks(f))
			dec_tracelet_keep_hits(t, w);
		w = make_walk(t, f, w, outcomes, n);
		if (!w)
			return false;
	}
	if (vpt_unlikely(f->limit - f->insns < w->insns) || !count(t, f, w))
		return false;
	take(t, f, w);
	return true;
}

bool dec_tracelets_run(struct dec_tracelets *t, struct dec_flow *f)
{
	const unsigned int before = f->nbits;

	while (f->nbits && f->limit > f->insns && run_one(t, f))
		;
	/* The blocks in between are not accessed. */
	f->ip = f->cur->ip;
	return f->nbits != before;
}
