// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which blocks are compiled together. A block is compiled when it has run often. Its unit has the
 * blocks of the loops that it is in, as far as valid links tell, or the block alone. A block belongs
 * to one unit at a time, which code of no unit enters. Other units have copies of it, such as those of
 * a function that several loops call, or of an inner loop.
 */
#include "soft/compile.h"
#include "soft/compile/compiler.h"

/* A block is compiled after 1 << this many runs at most. The number doubles each time. */
#define RUNS_BITS_MAX 20u

/* Count the runs of a block that is not compiled. */
SOFT_UOP(count)
{
	struct soft_block *b = soft_block_of(u);

	if (vpt_unlikely(!--b->runs))
		soft_compile(c, b);
	if (u->fn == count)
		c->base.interpreted += b->insns;
	return u->fn == count ? u->plain(c, u) : u->fn(c, u);
}

void soft_unit_watch(const struct soft_compiler *g, struct soft_block *b)
{
	unsigned int bits = g->after + b->compiled;

	b->runs = 1u << (bits < RUNS_BITS_MAX ? bits : RUNS_BITS_MAX);
	b->uop[0].fn = count;
}

static bool has_copy(const struct soft_block *b)
{
	unsigned int i;

	for (i = 0; i < SOFT_COPIES && !b->copied[i]; i++)
		;
	return i < SOFT_COPIES;
}

static void forget_links(struct soft_block *b)
{
	unsigned int i;

	for (i = 0; i < SOFT_LINKS; i++)
		b->link[i].inner = 0;
}

/* Undo the compilation of a ring. A copy of one of its blocks still follows that one's links. */
static void drop_ring(const struct soft_compiler *g, struct soft_block *b)
{
	struct soft_block *next;
	unsigned int i;

	while (b && b->unit_next) {
		next = b->unit_next;
		b->unit_next = NULL;
		if (!has_copy(b))
			forget_links(b);
		for (i = 0; i < b->uops; i++)
			b->uop[i].fn = b->uop[i].plain;
		soft_unit_watch(g, b);
		b = next;
	}
}

void soft_unit_drop(const struct soft_compiler *g, struct soft_block *b)
{
	unsigned int i;

	for (i = 0; i < SOFT_COPIES; i++) {
		drop_ring(g, b->copied[i]);
		b->copied[i] = NULL;
	}
	drop_ring(g, b);
	forget_links(b);
}

void soft_unit_moved(const struct soft_compiler *g, struct soft_link *l)
{
	struct soft_link *first = l - (l->inner - 1);

	soft_unit_drop(g,
		       (struct soft_block *)((uintptr_t)first - offsetof(struct soft_block, link)));
}

/* Returns true if the end of a block can continue along this one of its links. */
static bool leads(const struct soft_block *b, unsigned int link)
{
	unsigned int op = SOFT_KIND_OP(b->uop[b->uops - 1].kind);

	if (op == SOFT_K_RET || op == SOFT_K_JUMP_TO || op == SOFT_K_CALL_TO)
		return b->link[link].first;
	return (op == SOFT_K_JCC && link < 2) ||
	       ((op == SOFT_K_JMP || op == SOFT_K_CALL) && link == 1) ||
	       (op == SOFT_K_NEXT && link == 0);
}

static struct soft_block *successor(const struct soft *c, const struct soft_block *b,
				    unsigned int link)
{
	const struct soft_link *l = &b->link[link];
	struct soft_block *next;

	if (!leads(b, link) || l->gen != c->gen)
		return NULL;
	next = soft_block_of(l->first);
	return next->dead || next->mode != b->mode ? NULL : next;
}

unsigned int soft_unit_index(const struct soft_compiler *g, const struct soft_block *b)
{
	unsigned int i;

	for (i = 0; i < g->blocks && g->block[i] != b; i++)
		;
	return i;
}

unsigned int soft_unit_next(const struct soft_compiler *g, const struct soft_uop *end,
			    unsigned int link)
{
	const struct soft_link *l = (const struct soft_link *)end->ptr + link;

	return l->inner ? soft_unit_index(g, soft_block_of(l->first)) : g->blocks;
}

bool soft_unit_leads_inside(const struct soft_block *b)
{
	unsigned int k;

	for (k = 0; k < SOFT_LINKS && !b->link[k].inner; k++)
		;
	return k < SOFT_LINKS;
}

const struct soft_block *soft_unit_block(const struct soft_uop *u)
{
	return (const struct soft_block *)((uintptr_t)u->ptr - offsetof(struct soft_block, link));
}

bool soft_unit_is_near(const struct soft_compiler *g, const struct soft_uop *u, unsigned int to)
{
	const struct soft_block *from = soft_unit_block(u), *b = g->block[to];

	return soft_unit_index(g, from) < to && !from->gpa2 && !b->gpa2 &&
	       (b->mode & SOFT_BLOCK_BITS) == SOFT_BLOCK_BITS64 &&
	       (from->ip ^ b->ip) < X86_PAGE_SIZE && (from->gpa ^ b->gpa) < X86_PAGE_SIZE;
}

/* Return the place to note that the unit of `head` has a copy of b, or NULL if there is none. */
static struct soft_block **room_for_copy(struct soft_block *b, const struct soft_block *head)
{
	unsigned int i;

	for (i = 0; i < SOFT_COPIES && b->copied[i] && b->copied[i] != head; i++)
		;
	return i < SOFT_COPIES ? &b->copied[i] : NULL;
}

/* Fill in g->block with the blocks that links lead to from the first, breadth first. */
static void reach(const struct soft *c, struct soft_compiler *g)
{
	unsigned int i, k, uops = g->block[0]->uops;

	for (i = 0; i < g->blocks; i++) {
		for (k = 0; k < SOFT_LINKS; k++) {
			struct soft_block *next = successor(c, g->block[i], k);

			if (!next || soft_unit_index(g, next) < g->blocks)
				continue;
			if (g->blocks == SOFT_UNIT_BLOCKS || uops + next->uops > SOFT_UNIT_UOPS)
				continue;
			if (next->unit_next && !room_for_copy(next, g->block[0]))
				continue;
			g->block[g->blocks++] = next;
			uops += next->uops;
		}
	}
}

/* Returns true if a block leads to one of these, a bit for each. */
static bool leads_to(const struct soft *c, const struct soft_compiler *g, unsigned int block,
		     uint32_t these)
{
	unsigned int k, to;

	for (k = 0; k < SOFT_LINKS; k++) {
		const struct soft_block *next = successor(c, g->block[block], k);

		to = next ? soft_unit_index(g, next) : g->blocks;
		if (to < g->blocks && these >> to & 1)
			return true;
	}
	return false;
}

/*
 * Keep the blocks that lead back to the first, and that one. Returns false if there are none: then no
 * register would be used again where it is.
 */
static bool keep_cycle(const struct soft *c, struct soft_compiler *g)
{
	uint32_t back = 0, old;
	unsigned int i, kept = 1;

	do {
		old = back;
		for (i = 0; i < g->blocks; i++)
			if (leads_to(c, g, i, back | 1))
				back |= 1u << i;
	} while (back != old);
	for (i = 1; i < g->blocks; i++)
		if (back >> i & 1)
			g->block[kept++] = g->block[i];
	g->blocks = kept;
	return back & 1;
}

/* Put next to each block one that it leads to, so that the code can go on without a jump. */
static void order(const struct soft *c, struct soft_compiler *g)
{
	unsigned int i, k, to;

	for (i = 0; i + 1 < g->blocks; i++) {
		for (k = SOFT_LINKS; k--;) {
			struct soft_block *next = successor(c, g->block[i], k);

			to = next ? soft_unit_index(g, next) : 0;
			if (to <= i || to == g->blocks)
				continue;
			g->block[to] = g->block[i + 1];
			g->block[i + 1] = next;
			break;
		}
	}
}

/* Make a ring of the blocks that are in no unit yet. The others are copies. */
static void own(struct soft_compiler *g)
{
	struct soft_block *head = g->block[0], *last = head;
	unsigned int i;

	g->copies = 0;
	for (i = 1; i < g->blocks; i++) {
		struct soft_block *b = g->block[i];

		if (b->unit_next) {
			*room_for_copy(b, head) = head;
			g->copies |= 1u << i;
			continue;
		}
		last->unit_next = b;
		last = b;
		/* Only a block without a unit has no next one. */
		b->unit_next = head;
	}
	last->unit_next = head;
}

bool soft_unit_collect(struct soft *c, struct soft_compiler *g, struct soft_block *head)
{
	unsigned int i, k;
	bool cycle;

	g->block[0] = head;
	g->blocks = 1;
	reach(c, g);
	cycle = keep_cycle(c, g);
	order(c, g);
	own(g);
	for (i = 0; i < g->blocks; i++) {
		struct soft_block *b = g->block[i];

		b->compiled += !(g->copies >> i & 1) && b->compiled < UINT8_MAX;
		for (k = 0; k < SOFT_LINKS; k++) {
			struct soft_block *next = successor(c, b, k);

			if (cycle && next && soft_unit_index(g, next) < g->blocks)
				b->link[k].inner = 1 + k;
		}
	}
	return cycle;
}
