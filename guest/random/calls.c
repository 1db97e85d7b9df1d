// SPDX-License-Identifier: GPL-2.0-or-later
/* Items of random programs: calls, and matching and other returns. */
#include "gen.h"

#define UD2 0x0b0f

/* Return an existing function, so that there is no cycle of calls. */
static unsigned int callee(struct gen *g)
{
	return rng_below(&g->rng, g->made);
}

void gen_call(struct gen *g)
{
	if (g->made)
		fill(emit_call(&g->c), g->program->function[callee(g)]);
}

void gen_call_reg(struct gen *g)
{
	if (!g->made)
		return;
	fill(emit_lea_rip(&g->c, R12), g->program->function[callee(g)]);
	emit_branch_reg(&g->c, 2, R12);
}

void gen_call_table(struct gen *g)
{
	if (g->made)
		emit_branch_data(&g->c, 2, DATA_FUNCTIONS + 8 * callee(g));
}

/* More levels than the 64 that return compression keeps. */
void gen_deep_recursion(struct gen *g)
{
	hole no_fuel = gen_fuel(g, 8), call, end, out;
	uint8_t *self;

	emit_mov_imm32(&g->c, R12, 66 + rng_below(&g->rng, 30));
	emit_data(&g->c, 0x89, R12, DATA_DEPTH);
	call = emit_call(&g->c);
	end = emit_jmp(&g->c);

	self = g->c.at;
	fill_here(call, &g->c);
	emit_bytes(&g->c, 0x8dff49, 3); /* DEC [R13 + disp32] */
	emit4(&g->c, DATA_DEPTH);
	out = emit_jcc(&g->c, CC_S);
	if (rng_chance(&g->rng, 50)) {
		fill(emit_call(&g->c), self);
	} else {
		fill(emit_lea_rip(&g->c, R12), self);
		emit_branch_reg(&g->c, 2, R12);
	}
	gen_arithmetic(g);
	fill_here(out, &g->c);
	emit_ret(&g->c);

	fill_here(end, &g->c);
	fill_here(no_fuel, &g->c);
}

/* PUSH and RET instead of a jump. */
void gen_ret_jump(struct gen *g)
{
	hole target = emit_lea_rip(&g->c, R12);

	emit_push(&g->c, R12);
	emit_ret(&g->c);
	emit_bytes(&g->c, UD2, 2);
	fill_here(target, &g->c);
}

/* A CALL without a return. */
void gen_call_next(struct gen *g)
{
	fill_here(emit_call(&g->c), &g->c);
	emit_bytes(&g->c, 0x08c48348, 4); /* ADD RSP, 8 */
}

/* RET with an immediate. */
void gen_ret_imm(struct gen *g)
{
	hole call, end;

	emit_push(&g->c, RAX);
	emit_push(&g->c, RDX);
	call = emit_call(&g->c);
	end = emit_jmp(&g->c);
	fill_here(call, &g->c);
	gen_arithmetic(g);
	emit_bytes(&g->c, 0x0010c2, 3);
	fill_here(end, &g->c);
}

/* A return past the caller, to the caller's caller. */
void gen_skip_level(struct gen *g)
{
	hole outer = emit_call(&g->c), end = emit_jmp(&g->c), inner;

	fill_here(outer, &g->c);
	inner = emit_call(&g->c);
	emit_bytes(&g->c, UD2, 2);
	fill_here(inner, &g->c);
	gen_arithmetic(g);
	emit_bytes(&g->c, 0x08c48348, 4); /* ADD RSP, 8 */
	emit_ret(&g->c);
	fill_here(end, &g->c);
}
