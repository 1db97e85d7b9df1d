// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The tracelet cache.
 *
 * A walk's key is its first block and its outcomes. A RET that returns from a function that was
 * entered before the walk takes an address off the flow's stack: the walk is good only where the
 * same address is on top then, which is checked at each use. A walk of another view is made
 * again in its place. Walks that differ in the addresses alone have slots of their own.
 */
#include "libdecode/tracelet.h"

#include <stdlib.h>
#include <string.h>

#include "libdecode/edges.h"
#include "libdecode/stride.h"

#define STACK_MAX 12u  /* addresses that a walk takes and leaves, together */
#define STEPS	  256u /* blocks of one walk at most */

/* Two of them fill a line of the processor's caches. */
struct walk {
	const struct dec_block *from; /* NULL: the slot is free */
	uint32_t outcomes;	      /* behind a stop bit */
	uint32_t to;		      /* id of the block that it leads to */
	uint32_t view;
	uint32_t hits;
	uint32_t stack;	     /* index of the addresses in `addresses` */
	uint32_t insns : 18; /* at most STEPS * 512 */
	uint32_t used : 5;   /* outcomes */
	uint32_t pops : 4, pushes : 4;
	uint32_t of_all : 1; /* @view is that of all spaces: index of views[] */
};

struct dec_tracelets {
	struct walk *walk;
	size_t mask, used;
	size_t max; /* slots */
	uint32_t max_addresses, max_path;
	/* For each walk what it takes, what it leaves and, with paths, its path and its mark or uses. */
	uint64_t *addresses;
	uint32_t naddresses, room;
	bool keeps_paths;
	/* For each walk a header; then for each block its id, shifted left by one, and the link. */
	uint32_t *path;
	uint32_t npath, path_room;
	struct dec_strides *strides;
};

/* In front of a path. The path of a walk that was replaced stays. */
enum {
	PATH_STEPS,
	PATH_TO,    /* the block that the walk leads to */
	PATH_PLACE, /* the walk's place in `addresses` */
	PATH_HEADER
};

#define FIRST_SLOTS 4096u
#define FIRST_ROOM  65536u     /* entries of the other arrays */
#define MAX_ENTRIES (1u << 30) /* of any array: indexes have 32 bits */

/* Returns how many entries of @size bytes an array may have: a power of two. */
static uint32_t entries(size_t max_bytes, size_t size, uint32_t least)
{
	uint32_t n = least;

	while (n < MAX_ENTRIES && n <= max_bytes / size / 2)
		n *= 2;
	return n;
}

struct dec_tracelets *dec_tracelets_new(size_t max_bytes, bool counts)
{
	struct dec_tracelets *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->keeps_paths = counts;
	t->mask = FIRST_SLOTS - 1;
	t->max = entries(max_bytes, sizeof(*t->walk), FIRST_SLOTS);
	t->max_addresses = entries(max_bytes, sizeof(*t->addresses), FIRST_ROOM);
	t->max_path = entries(max_bytes, sizeof(*t->path), FIRST_ROOM);
	t->walk = calloc(t->mask + 1, sizeof(*t->walk));
	t->strides = dec_strides_new(max_bytes / 8, counts);
	if (!t->walk || !t->strides) {
		dec_tracelets_free(t);
		return NULL;
	}
	return t;
}

void dec_tracelets_free(struct dec_tracelets *t)
{
	if (!t)
		return;
	dec_strides_free(t->strides);
	free(t->walk);
	free(t->addresses);
	free(t->path);
	free(t);
}

struct dec_strides *dec_tracelets_strides(const struct dec_tracelets *t)
{
	return t ? t->strides : NULL;
}

static inline size_t slot_of(const struct dec_tracelets *t, const struct dec_block *from,
			     uint32_t outcomes)
{
	/* A product's bit depends on all lower bits of its factors. */
	uint64_t hash = (uintptr_t)from >> 3 ^ outcomes * 0xd6e8feb86659fd93ull;

	return hash * 0x9e3779b97f4a7c15ull >> 32 & t->mask;
}

/* The most walks from a block by the same outcomes, which take different addresses. */
#define TWINS_MAX 8u

/* Returns the walk of these outcomes, or the slot for it. *found says which. */
static inline struct walk *find(const struct dec_tracelets *t, const struct dec_flow *f,
				uint32_t outcomes, bool *found)
{
	size_t i = slot_of(t, f->cur, outcomes);
	unsigned int twins = 0;

	for (; t->walk[i].from; i = (i + 1) & t->mask) {
		struct walk *w = &t->walk[i];

		if (w->from != f->cur || w->outcomes != outcomes)
			continue;
		*found = w->view == f->views[w->of_all] &&
			 dec_flow_has_on_top(f, t->addresses + w->stack, w->pops);
		if (vpt_likely(*found) || dec_flow_is_past(f, w->view, w->of_all) ||
		    ++twins == TWINS_MAX)
			return w;
	}
	*found = false;
	return &t->walk[i];
}

static struct walk *free_slot(const struct dec_tracelets *t, const struct walk *w)
{
	size_t i = slot_of(t, w->from, w->outcomes);

	while (t->walk[i].from)
		i = (i + 1) & t->mask;
	return &t->walk[i];
}

/* What a walk does while it is made. */
struct make {
	struct dec_block *at;
	uint32_t outcomes; /* the key, of @n outcomes */
	unsigned int n;
	uint64_t bits;
	unsigned int left; /* outcomes */
	uint32_t insns;
	uint64_t pop[STACK_MAX], push[STACK_MAX];
	unsigned int pops, pushes, steps;
	bool of_all;
	uint32_t path[STEPS];
};

/* The walk returns to an address: one that it has pushed, or one of the flow's stack. */
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
	} else if (m->pops < f->depth && m->pops < STACK_MAX / 2) {
		to = f->stack[(f->top - 1 - m->pops) % DEC_STACK];
		m->pop[m->pops++] = to;
	} else {
		return NULL;
	}
	return dec_code_block(f->code, to, m->at->mode);
}

/* One block of a walk. False: the walk ends in front of it. */
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
		if (m->pushes == (f->last_call ? STACK_MAX - 1 : STACK_MAX / 2))
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
	/* What cannot be linked may be a block that lives until the next one is made. */
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

/* The place of a walk when it used its last outcome. */
struct used {
	struct dec_block *at;
	uint32_t insns;
	unsigned int pushes, steps;
};

/*
 * Walk until the outcomes are used or an instruction needs a target. Behind its last outcome a walk
 * must not follow a circle of direct branches: dec_flow_settle() reports those.
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
		if (m->steps == STEPS || dec_flow_circles(f, m->at, &circle)) {
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

static bool grow(void **array, uint32_t *room, uint32_t used, uint32_t more, size_t size)
{
	uint32_t want = *room ? 2 * *room : FIRST_ROOM;
	void *grown;

	if (*room - used >= more)
		return true;
	grown = realloc(*array, want * size);
	if (!grown)
		return false;
	*array = grown;
	*room = want;
	return true;
}

static bool has_room(struct dec_tracelets *t)
{
	void *addresses = t->addresses, *path = t->path;
	bool ok = grow(&addresses, &t->room, t->naddresses, STACK_MAX + 2, sizeof(*t->addresses)) &&
		  (!t->keeps_paths ||
		   grow(&path, &t->path_room, t->npath, STEPS + PATH_HEADER, sizeof(*t->path)));

	t->addresses = addresses;
	t->path = path;
	return ok;
}

/* Are walks marked instead of counted? */
static inline bool marks(const struct dec_flow *f)
{
	return f->ops && f->ops->walk;
}

/* Where the walk's path is, behind which is its mark. */
static inline uint64_t *place_of(const struct dec_tracelets *t, const struct walk *w)
{
	return &t->addresses[w->stack + w->pops + w->pushes];
}

/* Move the uses of a walk to its mark. No path is read. */
static void keep_hits(const struct dec_tracelets *t, struct walk *w)
{
	place_of(t, w)[1] += w->hits;
	w->hits = 0;
}

/*
 * The hits of all walks, by block. They have a fraction of the memory of the blocks, which are not
 * read in the order of the walks.
 */
struct sum {
	uint64_t *hits;		  /* by id of the block and link, as in a path */
	struct dec_edges returns; /* the target is an id */
};

/* In place of the hits of a block's first link: the block ends with a RET, whose edges count. */
#define IS_RET UINT64_MAX

static bool begin_sum(struct sum *sum, const struct dec_flow *f)
{
	uint32_t n = dec_code_count(f->code), id;

	*sum = (struct sum){.hits = calloc((size_t)n + 1, DEC_LINKS * sizeof(*sum->hits))};
	if (!sum->hits)
		return false;
	for (id = 0; f->edges && id < n; id++) {
		if (dec_code_at(f->code, id)->end == DEC_END_RET)
			sum->hits[(size_t)DEC_LINKS * id + DEC_FALL] = IS_RET;
	}
	return true;
}

static void add_path(struct sum *sum, const uint32_t *header, uint64_t count)
{
	const uint32_t *path = header + PATH_HEADER;
	uint32_t steps = header[PATH_STEPS], i;

	for (i = 0; i < steps; i++) {
		if (vpt_unlikely(sum->hits[path[i] ^ DEC_TAKEN] == IS_RET))
			dec_edges_add(&sum->returns, path[i] >> 1,
				      i + 1 < steps ? path[i + 1] >> 1 : header[PATH_TO], count);
		else
			sum->hits[path[i]] += count;
	}
}

static void end_sum(struct sum *sum, const struct dec_flow *f)
{
	const struct dec_edges *returns = &sum->returns;
	uint32_t n = dec_code_count(f->code), id;
	size_t i;

	for (id = 0; id < n; id++) {
		const uint64_t *hits = &sum->hits[(size_t)DEC_LINKS * id];

		if (hits[DEC_FALL] == IS_RET || !(hits[DEC_FALL] | hits[DEC_TAKEN]))
			continue;
		dec_code_at(f->code, id)->hits[DEC_FALL] += hits[DEC_FALL];
		dec_code_at(f->code, id)->hits[DEC_TAKEN] += hits[DEC_TAKEN];
	}
	for (i = 0; returns->slots && i <= returns->mask; i++) {
		const struct dec_edge *e = &returns->slots[i];

		if (e->count)
			dec_edges_add(f->edges, e->from, dec_code_at(f->code, (uint32_t)e->to)->ip,
				      e->count);
	}
	if (returns->lost)
		f->edges->lost = true;
	dec_edges_free(&sum->returns);
	free(sum->hits);
}

/* Uses are gathered first, so that paths and their counts are read in the order of memory. */
bool dec_tracelets_expand(struct dec_tracelets *t, const struct dec_flow *f)
{
	struct sum sum;
	uint32_t at;
	size_t i;

	dec_strides_expand(t->strides, f);
	if (!t->keeps_paths || marks(f) || !t->npath)
		return true;
	if (!begin_sum(&sum, f))
		return false;
	for (i = 0; i <= t->mask; i++) {
		if (t->walk[i].hits)
			keep_hits(t, &t->walk[i]);
	}
	for (at = 0; at < t->npath; at += PATH_HEADER + t->path[at + PATH_STEPS]) {
		uint64_t *count = &t->addresses[t->path[at + PATH_PLACE] + 1];

		if (*count)
			add_path(&sum, &t->path[at], *count);
		*count = 0;
	}
	end_sum(&sum, f);
	return true;
}

/* Returns false if there is no memory: the walks stay. */
static bool forget_all(struct dec_tracelets *t, const struct dec_flow *f)
{
	if (!dec_tracelets_expand(t, f))
		return false;
	memset(t->walk, 0, (t->mask + 1) * sizeof(*t->walk));
	t->used = 0;
	t->naddresses = 0;
	t->npath = 0;
	return true;
}

/* Returns true if an array has no room for another walk: a replaced walk keeps its entries. */
static bool is_full(const struct dec_tracelets *t)
{
	return t->max_addresses - t->naddresses < STACK_MAX + 2 ||
	       t->max_path - t->npath < STEPS + PATH_HEADER;
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

/* Keep a walk that was made. */
static void keep(struct dec_tracelets *t, const struct dec_flow *f, const struct make *m,
		 struct walk *w)
{
	unsigned int i;

	*w = (struct walk){
		.from = f->cur,
		.outcomes = m->outcomes,
		.to = m->at->id,
		.view = f->views[m->of_all],
		.of_all = m->of_all,
		.insns = m->insns & 0x3ffff,
		.stack = t->naddresses,
		.used = (m->n - m->left) & 0x1f,
		.pops = m->pops & 15,
		.pushes = m->pushes & 15,
	};
	for (i = 0; i < m->pops; i++)
		t->addresses[t->naddresses++] = m->pop[i];
	for (i = 0; i < m->pushes; i++)
		t->addresses[t->naddresses++] = m->push[i];
	if (t->keeps_paths) {
		uint32_t *path = t->path + t->npath;

		path[PATH_STEPS] = m->steps;
		path[PATH_TO] = w->to;
		path[PATH_PLACE] = t->naddresses;
		memcpy(path + PATH_HEADER, m->path, m->steps * sizeof(*m->path));
		t->addresses[t->naddresses++] = t->npath;
		t->addresses[t->naddresses++] = 0;
		t->npath += PATH_HEADER + m->steps;
	}
}

/* Make the walk of these outcomes. Returns NULL if it ends in its first block. */
static struct walk *make_walk(struct dec_tracelets *t, struct dec_flow *f, struct walk *w,
			      uint32_t outcomes, unsigned int n)
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
	if (!has_room(t))
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

static inline void take(struct dec_tracelets *t, struct dec_flow *f, struct walk *w)
{
	const uint64_t *push = t->addresses + w->stack + w->pops;
	unsigned int i;

	f->top -= w->pops;
	f->depth -= w->pops;
	for (i = 0; i < w->pushes; i++)
		dec_flow_push(f, push[i]);
	f->bits <<= w->used;
	f->nbits -= w->used;
	f->insns += w->insns;
	f->cur = dec_code_at(f->code, w->to);
}

/* Count the walk, or ask who is told of walks. Returns false if it is not to run. */
static inline bool count(struct dec_tracelets *t, struct dec_flow *f, struct walk *w)
{
	struct dec_walk walk = {.insns = w->insns};

	if (vpt_likely(!marks(f))) {
		if (vpt_unlikely(++w->hits == UINT32_MAX) && t->keeps_paths)
			keep_hits(t, w);
		return true;
	}
	walk.path = t->path + *place_of(t, w);
	walk.steps = walk.path[PATH_STEPS];
	walk.path += PATH_HEADER;
	walk.mark = place_of(t, w) + 1;
	return f->ops->walk(f->context, &walk);
}

static inline bool run_one(struct dec_tracelets *t, struct dec_flow *f)
{
	unsigned int n = f->nbits < DEC_TRACELET ? f->nbits : DEC_TRACELET;
	uint32_t outcomes = (uint32_t)(f->bits >> (64 - n)) | 1u << n;
	struct walk *w;
	bool found;

	/* A CALL and its RET within a walk do not show that the oldest address is lost. */
	if (vpt_unlikely(f->depth > DEC_STACK - STACK_MAX && !f->last_call))
		return false;
	w = find(t, f, outcomes, &found);
	if (vpt_unlikely(!found)) {
		if (w->from && t->keeps_paths && !marks(f))
			keep_hits(t, w);
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
	/* The blocks in between are not touched. */
	f->ip = f->cur->ip;
	return f->nbits != before;
}
