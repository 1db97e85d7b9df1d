// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs: the mix of items, the functions, and the data page. */
#include "gen.h"

#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"

/* Room to reserve for an item, and for a function's end. */
#define ITEM_ROOM 1024
#define DEPTH_MAX 3

static const struct {
	item_fn *fn;
	uint8_t weight;
	bool body; /* contains blocks */
} items[] = {
	{gen_arithmetic, 24, false}, {gen_memory, 10, false},	 {gen_string, 5, false},
	{gen_nops, 3, false},	     {gen_storm, 3, false},	 {gen_short_loop, 5, false},
	{gen_jrcxz, 4, false},	     {gen_jump_reg, 4, false},	 {gen_call, 10, false},
	{gen_call_reg, 6, false},    {gen_call_table, 6, false}, {gen_deep_recursion, 1, false},
	{gen_ret_jump, 3, false},    {gen_call_next, 2, false},	 {gen_ret_imm, 3, false},
	{gen_skip_level, 2, false},  {gen_soft_int, 2, false},	 {gen_fault, 2, false},
	{gen_bad_jump, 1, false},    {gen_cr3, 2, false},	 {gen_twin, 3, false},
	{gen_timer, 2, false},	     {gen_flags, 2, false},	 {gen_if, 16, true},
	{gen_if_else, 12, true},     {gen_loop, 6, true},	 {gen_backward, 3, true},
	{gen_jump_table, 5, true},   {gen_ring3, 1, false},
};

/*
 * The frequency of each item in this program, which differs from seed to seed. It is a wheel that
 * has each item's number as often as it weighs. Items with bodies are at the end, past `leaves`.
 */
static struct {
	uint8_t item[512];
	unsigned int leaves, all;
} wheel;

static void add_to_wheel(struct rng *rng, bool body)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(items); i++) {
		uint32_t weight = items[i].weight * rng_below(rng, 4);

		if (items[i].body != body)
			continue;
		/* Every program has branches and calls. */
		if (items[i].fn == gen_if || items[i].fn == gen_call)
			weight += items[i].weight;
		memset(wheel.item + wheel.all, (int)i, weight);
		wheel.all += weight;
	}
}

static void make_mix(struct rng *rng)
{
	wheel.all = 0;
	add_to_wheel(rng, false);
	wheel.leaves = wheel.all;
	add_to_wheel(rng, true);
}

static void gen_item(struct gen *g)
{
	unsigned int n = g->depth < DEPTH_MAX ? wheel.all : wheel.leaves;

	items[wheel.item[rng_below(&g->rng, n)]].fn(g);
}

void gen_block(struct gen *g)
{
	unsigned int n = 1 + rng_below(&g->rng, g->depth ? 3 : 6);

	g->depth++;
	while (n-- && g->c.end - g->c.at > ITEM_ROOM * (1 + (int)g->depth))
		gen_item(g);
	g->depth--;
}

static void gen_function(struct gen *g)
{
	struct program *p = g->program;
	uint8_t *start;
	hole out;

	/* Leave some unaligned: they begin in the middle of a line or across a page. */
	g->c.at += rng_below(&g->rng, 48);
	start = g->c.at;
	out = gen_fuel(g, 1);
	gen_block(g);
	if (g->made && rng_chance(&g->rng, 20))
		fill(emit_jmp(&g->c), p->function[rng_below(&g->rng, g->made)]);
	else
		emit_ret(&g->c);
	fill_here(out, &g->c);
	emit_ret(&g->c);

	memcpy(p->data + DATA_FUNCTIONS + 8 * g->made, &start, sizeof(start));
	p->function[g->made++] = start;
}

void program_make(struct program *program, uint64_t seed, const struct twin *twin)
{
	struct gen g = {.program = program, .table = DATA_TABLES};

	if (!program->code) {
		program->code = page_alloc(PROGRAM_CODE);
		program->data = page_alloc(DATA_BYTES);
	}
	g.c.at = program->code;
	g.c.end = program->code + PROGRAM_CODE;
	rng_seed(&g.rng, seed);
	make_mix(&g.rng);
	memcpy(program->data + DATA_CR3, twin->cr3, sizeof(twin->cr3));
	while (g.made < PROGRAM_FUNCTIONS)
		gen_function(&g);
	program->code_bytes = (uint64_t)(g.c.at - program->code);
}
