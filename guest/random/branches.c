// SPDX-License-Identifier: GPL-2.0-or-later
/* Items of random programs: branches other than calls. */
#include "gen.h"

#include "lib/mem.h"

/* A short branch backwards. */
static void emit_short_back(struct code *c, uint8_t opcode, const uint8_t *target)
{
	emit1(c, opcode);
	emit1(c, (uint8_t)(target - (c->at + 1)));
}

void gen_if(struct gen *g)
{
	hole skip = emit_jcc(&g->c, gen_condition(g));

	gen_block(g);
	fill_here(skip, &g->c);
}

void gen_if_else(struct gen *g)
{
	hole other = emit_jcc(&g->c, gen_condition(g)), end;

	gen_block(g);
	end = emit_jmp(&g->c);
	fill_here(other, &g->c);
	gen_block(g);
	fill_here(end, &g->c);
}

void gen_loop(struct gen *g)
{
	uint8_t *top;
	hole out;

	emit_push(&g->c, RCX);
	emit_mov_imm32(&g->c, RCX, 1 + rng_below(&g->rng, 8));
	top = g->c.at;
	out = gen_fuel(g, 1);
	gen_block(g);
	emit_bytes(&g->c, 0xc9ff48, 3); /* DEC RCX */
	fill(emit_jcc(&g->c, CC_NE), top);
	fill_here(out, &g->c);
	emit_pop(&g->c, RCX);
}

/* LOOP, LOOPE, LOOPNE. */
void gen_short_loop(struct gen *g)
{
	uint8_t *top;
	hole out;

	emit_push(&g->c, RCX);
	emit_mov_imm32(&g->c, RCX, 1 + rng_below(&g->rng, 20));
	top = g->c.at;
	out = gen_fuel(g, 1);
	gen_arithmetic(g);
	emit_short_back(&g->c, (uint8_t)(0xe0 + rng_below(&g->rng, 3)), top);
	fill_here(out, &g->c);
	emit_pop(&g->c, RCX);
}

void gen_jrcxz(struct gen *g)
{
	uint8_t *disp;

	gen_scramble(g);
	emit_push(&g->c, RCX);
	emit_mov(&g->c, RCX, R14);
	emit_shift(&g->c, 5, RCX, (uint8_t)(61 + rng_below(&g->rng, 3)));
	if (rng_chance(&g->rng, 30))
		emit1(&g->c, 0x67); /* JECXZ */
	emit_bytes(&g->c, 0xe3, 2);
	disp = g->c.at - 1;
	gen_arithmetic(g);
	*disp = (uint8_t)(g->c.at - (disp + 1));
	emit_pop(&g->c, RCX);
}

/* Branches to the next instruction: only the trace distinguishes taken from not taken. */
void gen_storm(struct gen *g)
{
	unsigned int n = 4 + rng_below(&g->rng, 60);
	uint64_t conditions = 0;

	gen_condition(g);
	for (; n; n--, conditions >>= 4) {
		if (!conditions)
			conditions = rng_next(&g->rng);
		emit1(&g->c, (uint8_t)(0x70 | (conditions & 0xf)));
		emit1(&g->c, 0);
	}
}

void gen_backward(struct gen *g)
{
	hole to_tail = emit_jmp(&g->c), end;
	uint8_t *body = g->c.at;

	gen_block(g);
	end = emit_jmp(&g->c);
	fill_here(to_tail, &g->c);
	gen_arithmetic(g);
	fill(emit_jmp(&g->c), body);
	fill_here(end, &g->c);
}

void gen_jump_reg(struct gen *g)
{
	hole target = emit_lea_rip(&g->c, R12);

	emit_branch_reg(&g->c, 4, R12);
	gen_arithmetic(g); /* dead */
	fill_here(target, &g->c);
}

void gen_jump_table(struct gen *g)
{
	uint32_t table = g->table;
	hole end[4];
	unsigned int i;

	if (table + 32 > DATA_TABLES_END) {
		gen_if(g);
		return;
	}
	g->table += 32;
	gen_scramble(g);
	emit_mov(&g->c, RAX, R14);
	emit_shift(&g->c, 5, RAX, 62);
	emit_bytes(&g->c, 0xc5a4ff41, 4); /* JMP [R13 + 8 * RAX + disp32] */
	emit4(&g->c, table);
	for (i = 0; i < 4; i++) {
		memcpy(g->program->data + table + 8 * i, &g->c.at, sizeof(g->c.at));
		gen_block(g);
		end[i] = emit_jmp(&g->c);
	}
	for (i = 0; i < 4; i++)
		fill_here(end[i], &g->c);
}
