// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The stride cache.
 *
 * A stride begins and ends at the target of a TIP. No outcome is left over at either end, and the
 * last IP is the address of the block. A stride is valid while all of its blocks are valid, which
 * is while its view is current. The addresses that it pops from the return stack must be on top at
 * each use. New packets are only noted at first, because many never repeat.
 */
#include "libdecode/stride_inside.h"

#include <stdlib.h>
#include <string.h>

static void forget_all(struct dec_strides *s, const struct dec_flow *f)
{
	dec_strides_expand(s, f);
	memset(s->slot, 0, (s->mask + 1) * sizeof(*s->slot));
	s->used = 0;
	dec_paths_clear(&s->paths);
}

bool dec_strides_fits(struct dec_strides *s, const struct dec_flow *f, uint64_t last_ip)
{
	if (!f->cur || f->nbits || f->index || f->cur->ip != last_ip || f->last_call)
		return false;
	/* A flow with a walk() callback cannot use strides. */
	if (f->ops && f->ops->walk)
		return false;
	if (vpt_unlikely(s->has_retc != f->has_retc || s->pops != f->pops)) {
		forget_all(s, f);
		s->has_retc = f->has_retc;
		s->pops = f->pops;
	}
	return true;
}

static inline uint64_t hash_of(const struct dec_block *from, const struct dec_stride_key *key)
{
	uint64_t hash = key->units[0] * 0xd6e8feb86659fd93ull + key->n;

	hash = (hash ^ hash >> 32 ^ key->units[1]) * 0xa0761d6478bd642full;
	return (hash ^ hash >> 32 ^ (uintptr_t)from >> 3) * 0x9e3779b97f4a7c15ull;
}

static inline bool is_of(const struct dec_stride *w, const struct dec_block *from,
			 const struct dec_stride_key *key)
{
	return w->from == from && w->units[0] == key->units[0] && w->units[1] == key->units[1] &&
	       w->n == key->n;
}

/*
 * The maximum number of strides from a block by the same packets, which differ in their addresses.
 */
#define TWINS_MAX 8u

/* Returns the stride of these packets, or the slot for it. *found says which. */
static inline struct dec_stride *find(const struct dec_strides *s, const struct dec_flow *f,
				      const struct dec_stride_key *key, uint64_t hash, bool *found)
{
	size_t i = hash >> 32 & s->mask;
	unsigned int twins = 0;

	for (; s->slot[i].from; i = (i + 1) & s->mask) {
		struct dec_stride *w = &s->slot[i];

		if (!is_of(w, f->cur, key))
			continue;
		*found = w->view == f->views[w->of_all] &&
			 dec_flow_has_on_top(f, s->paths.addresses + w->stack, w->pops);
		if (vpt_likely(*found) || dec_flow_is_past(f, w->view, w->of_all) ||
		    ++twins == TWINS_MAX)
			return w;
	}
	*found = false;
	return &s->slot[i];
}

/* The state of a stride under construction. */
struct make {
	struct dec_block *at;
	uint64_t bits;	   /* outcomes, the oldest in bit 63 */
	unsigned int left; /* the number of outcomes in `bits` */
	uint64_t insns;
	uint64_t pop[DEC_STRIDE_STACK], push[DEC_STRIDE_STACK];
	unsigned int pops, pushes, steps;
	bool of_all;
	uint32_t path[DEC_STRIDE_STEPS];
};

/* Pop an address from the stack. Returns false if a stride cannot contain it. */
static bool pop(const struct dec_flow *f, struct make *m, uint64_t *to)
{
	if (m->pushes) {
		*to = m->push[--m->pushes];
		return true;
	}
	if (m->pops == f->depth || m->pops == DEC_STRIDE_STACK / 2)
		return false;
	*to = f->stack[(f->top - 1 - m->pops) % DEC_STACK];
	m->pop[m->pops++] = *to;
	return true;
}

static bool push(struct make *m)
{
	if (m->pushes == DEC_STRIDE_STACK / 2)
		return false;
	m->push[m->pushes++] = m->at->next;
	return true;
}

static unsigned int use_outcome(struct make *m)
{
	unsigned int taken = (unsigned int)(m->bits >> 63);

	m->bits <<= 1;
	m->left--;
	return taken;
}

/* Pass the current block, which leads to @to by link @which. */
static bool step(struct make *m, struct dec_block *to, unsigned int which)
{
	if (!to || !to->insns || m->steps == DEC_STRIDE_STEPS)
		return false;
	m->path[m->steps++] = m->at->id << 1 | which;
	m->insns += m->at->insns;
	m->of_all &= to->of_all_spaces;
	m->at = to;
	return true;
}

static bool compressed_return(struct dec_flow *f, struct make *m)
{
	uint64_t to;

	return f->has_retc && use_outcome(m) && pop(f, m, &to) &&
	       step(m, dec_code_block(f->code, to, m->at->mode), DEC_TAKEN);
}

/* Pass a block that needs no target. Returns false if no stride leads through it. */
static bool pass_block(struct dec_flow *f, struct make *m)
{
	struct dec_block *block = m->at;
	unsigned int which;

	switch ((enum dec_end)block->end) {
	case DEC_END_COND:
		if (!m->left)
			return false;
		which = use_outcome(m);
		return step(m, dec_flow_link(f, block, which), which);
	case DEC_END_CALL:
		return push(m) && step(m, dec_flow_link(f, block, DEC_TAKEN), DEC_TAKEN);
	case DEC_END_JUMP:
		return step(m, dec_flow_link(f, block, DEC_TAKEN), DEC_TAKEN);
	case DEC_END_NEXT:
	case DEC_END_PTWRITE:
	case DEC_END_WRMSR:
	case DEC_END_VMPTRLD:
	case DEC_END_CR0:
	case DEC_END_INTO:
		return step(m, dec_flow_link(f, block, DEC_FALL), DEC_FALL);
	case DEC_END_RET:
		return compressed_return(f, m);
	default:
		return false;
	}
}

/* Use the packet's target for the branch at the end of the current block. */
static bool enter(struct dec_flow *f, struct make *m, uint64_t ip)
{
	struct dec_block *block = m->at;
	uint64_t expected;

	if (block->end == DEC_END_CALL_IND && !push(m))
		return false;
	if (block->end == DEC_END_RET && f->pops && !pop(f, m, &expected))
		return false;
	return step(m, dec_code_block(f->code, ip, f->mode), DEC_TAKEN) && m->at->ip == ip;
}

static void add_outcomes(struct make *m, unsigned int tnt)
{
	unsigned int n;

	if (!tnt)
		return;
	/* The outcomes are between the stop bit and bit 0, which is 0. */
	n = 30u - (unsigned int)__builtin_clz(tnt);
	m->bits |= (uint64_t)(tnt >> 1 ^ 1u << n) << (64 - n - m->left);
	m->left += n;
}

/*
 * Pass a unit. Returns false if its outcomes are not exactly those up to its TIP, or in any doubt.
 */
static bool unit(struct dec_flow *f, struct make *m, uint32_t u)
{
	uint64_t base = m->at->ip & ~(uint64_t)0xffff;

	m->bits = 0;
	m->left = 0;
	add_outcomes(m, u >> 24);
	add_outcomes(m, u >> 16 & 0xff);
	while (m->left || !(DEC_NEEDS_TARGET >> m->at->end & 1)) {
		if (!pass_block(f, m))
			return false;
	}
	return enter(f, m, base | (u & 0xffff));
}

/*
 * Run the packets without changing the flow. Returns false if there is no stride, or if code may
 * change within it.
 */
static bool walk(struct dec_flow *f, const struct dec_stride_key *key, struct make *m)
{
	unsigned int i;

	m->at = f->cur;
	m->of_all = f->cur->of_all_spaces;
	m->insns = m->pops = m->pushes = m->steps = 0;
	for (i = 0; i < key->n; i++) {
		if (!unit(f, m, (uint32_t)(key->units[i / 2] >> (i % 2 * 32))) ||
		    f->insns + m->insns > f->limit)
			return false;
	}
	return true;
}

static struct dec_stride *free_slot(const struct dec_strides *s, const struct dec_stride *w)
{
	const struct dec_stride_key key = {{w->units[0], w->units[1]}, w->n, 0};
	size_t i = hash_of(w->from, &key) >> 32 & s->mask;

	while (s->slot[i].from)
		i = (i + 1) & s->mask;
	return &s->slot[i];
}

static bool double_slots(struct dec_strides *s)
{
	struct dec_strides old = *s;
	size_t i;

	s->mask = 2 * s->mask + 1;
	s->slot = calloc(s->mask + 1, sizeof(*s->slot));
	if (!s->slot) {
		s->slot = old.slot;
		s->mask = old.mask;
		return false;
	}
	for (i = 0; i <= old.mask; i++) {
		if (old.slot[i].from)
			*free_slot(s, &old.slot[i]) = old.slot[i];
	}
	free(old.slot);
	return true;
}

/* Make room for another stride. Returns false if there is no memory. */
static bool make_room(struct dec_strides *s, const struct dec_flow *f)
{
	bool full = s->used * 4 > s->mask * 3;

	if (s->max_room - s->paths.naddresses < DEC_STRIDE_STACK + 1 ||
	    s->max_room - s->paths.npath <= DEC_STRIDE_STEPS || (full && s->mask + 1 >= s->max))
		forget_all(s, f);
	else if (full && !double_slots(s))
		return false;
	return dec_paths_make_room(&s->paths, DEC_STRIDE_STACK + 1, DEC_STRIDE_STEPS + 1,
				   DEC_STRIDE_ROOM);
}

/* Keep a stride that was made in slot @w. */
static void keep(struct dec_strides *s, const struct dec_flow *f, const struct dec_stride_key *key,
		 const struct make *m, struct dec_stride *w)
{
	s->used += !w->from;
	*w = (struct dec_stride){
		.units = {key->units[0], key->units[1]},
		.from = f->cur,
		.to = m->at,
		.view = f->views[m->of_all],
		.stack = s->paths.naddresses,
		.insns = m->insns & 0x1ffff,
		.n = key->n & 7,
		.pops = m->pops & 15,
		.pushes = m->pushes & 15,
		.of_all = m->of_all,
	};
	dec_paths_keep_stack(&s->paths, m->pop, m->pops, m->push, m->pushes);
	if (s->paths.kept) {
		s->paths.addresses[s->paths.naddresses++] = s->paths.npath;
		s->paths.path[s->paths.npath++] = m->steps;
		memcpy(s->paths.path + s->paths.npath, m->path, m->steps * sizeof(*m->path));
		s->paths.npath += m->steps;
	}
}

/* Returns true if these packets occurred before. */
static bool is_known(struct dec_strides *s, uint64_t hash)
{
	uint16_t *seen = &s->seen[hash >> 32 & (DEC_STRIDE_SEEN - 1)],
		 mark = (uint16_t)(hash >> 16 | 1);

	if (*seen == mark)
		return true;
	*seen = mark;
	return false;
}

static VPT_COLD struct dec_stride *make_stride(struct dec_strides *s, struct dec_flow *f,
					       const struct dec_stride_key *key, uint64_t hash)
{
	struct dec_stride *w;
	struct make m;
	bool found;

	if (!is_known(s, hash) || !walk(f, key, &m) || !make_room(s, f))
		return NULL;
	w = find(s, f, key, hash, &found);
	if (w->from && s->paths.kept)
		dec_stride_expand(s, f, w);
	keep(s, f, key, &m, w);
	return w;
}

static inline void take(const struct dec_strides *s, struct dec_flow *f, const struct dec_stride *w)
{
	dec_paths_restack(&s->paths, f, w->stack, w->pops, w->pushes);
	f->insns += w->insns;
	f->cur = w->to;
	f->ip = w->to->ip;
}

bool dec_strides_run(struct dec_strides *s, struct dec_flow *f, const struct dec_stride_key *key)
{
	uint64_t hash = hash_of(f->cur, key);
	struct dec_stride *w;
	bool found;

	/* A CALL and its RET within a stride would hide that the oldest address is lost. */
	if (vpt_unlikely(f->depth > DEC_STACK - DEC_STRIDE_STACK))
		return false;
	w = find(s, f, key, hash, &found);
	if (vpt_unlikely(!found)) {
		w = make_stride(s, f, key, hash);
		if (!w)
			return false;
	}
	if (vpt_unlikely(f->insns + w->insns > f->limit))
		return false;
	if (vpt_unlikely(++w->hits == UINT32_MAX) && s->paths.kept)
		dec_stride_expand(s, f, w);
	take(s, f, w);
	return true;
}
