// SPDX-License-Identifier: GPL-2.0-or-later
/* Items of random programs: arithmetic, memory, strings, and conditions. */
#include "gen.h"

#include "lib/guest.h"

/* Registers that are summed at the end. RCX counts loops, and RSI, RDI and R12 hold addresses. */
static const enum reg values[] = {RAX, RDX, RBX, RBP, R8, R9, R10, R11};

enum reg gen_value_reg(struct gen *g)
{
	return values[rng_below(&g->rng, ARRAY_SIZE(values))];
}

void gen_scramble(struct gen *g)
{
	/* A linear congruential generator; its high bits are the random ones. */
	emit_imul_imm(&g->c, R14, 0x5851f42d);
	emit_alu_imm(&g->c, ALU_ADD, R14, (uint32_t)rng_next(&g->rng) | 1);
}

static void gen_operation(struct gen *g)
{
	enum reg dst = gen_value_reg(g), src = gen_value_reg(g);

	switch (rng_below(&g->rng, 8)) {
	case 0:
		emit_alu_imm(&g->c, (enum alu)rng_below(&g->rng, 8), dst,
			     (uint32_t)rng_next(&g->rng));
		break;
	case 1:
		emit_shift(&g->c, (unsigned int[]){0, 1, 4, 5, 7}[rng_below(&g->rng, 5)], dst,
			   (uint8_t)(1 + rng_below(&g->rng, 63)));
		break;
	case 2:
		emit_imul(&g->c, dst, src);
		break;
	case 3:
		emit_unary(&g->c, 2 + rng_below(&g->rng, 2), dst);
		break;
	case 4:
		emit_mov(&g->c, dst, rng_chance(&g->rng, 50) ? R14 : src);
		break;
	case 5:
		emit_alu(&g->c, ALU_CMP, dst, src);
		emit_cmov(&g->c, (enum cc)rng_below(&g->rng, 16), dst, src);
		break;
	default:
		emit_alu(&g->c, (enum alu)rng_below(&g->rng, 8), dst, src);
		break;
	}
}

void gen_arithmetic(struct gen *g)
{
	unsigned int n = 1 + rng_below(&g->rng, 7);

	while (n--)
		gen_operation(g);
}

enum cc gen_condition(struct gen *g)
{
	uint32_t kind = rng_below(&g->rng, 10);

	if (kind < 4) {
		/* With probability 1/2. */
		gen_scramble(g);
		emit_bt(&g->c, R14, (uint8_t)(40 + rng_below(&g->rng, 24)));
		return CC_B ^ (enum cc)rng_below(&g->rng, 2);
	}
	if (kind < 7) {
		/* With any probability. */
		gen_scramble(g);
		emit_mov(&g->c, RAX, R14);
		emit_shift(&g->c, 5, RAX, 48);
		emit_alu_imm(&g->c, ALU_CMP, RAX, rng_below(&g->rng, 65536));
		return (enum cc)(CC_B + rng_below(&g->rng, 6));
	}
	if (kind < 9) {
		/* Depends on the values. */
		emit_alu(&g->c, ALU_CMP, gen_value_reg(g), gen_value_reg(g));
		return (enum cc)rng_below(&g->rng, 16);
	}
	/* Always or never. */
	emit_alu(&g->c, ALU_CMP, RAX, RAX);
	return (enum cc)rng_below(&g->rng, 16);
}

hole gen_fuel(struct gen *g, uint8_t units)
{
	emit_bytes(&g->c, 0xef8349, 3); /* SUB R15, imm8 */
	emit1(&g->c, units);
	return emit_jcc(&g->c, CC_S);
}

void gen_memory(struct gen *g)
{
	uint32_t at = DATA_VALUES + 8 * rng_below(&g->rng, 64);

	switch (rng_below(&g->rng, 3)) {
	case 0:
		emit_data(&g->c, 0x8b, gen_value_reg(g), at); /* load */
		break;
	case 1:
		emit_data(&g->c, 0x89, gen_value_reg(g), at); /* store */
		break;
	default:
		emit_data(&g->c, 0x01, gen_value_reg(g), at); /* add to memory */
		break;
	}
}

/* Straight code without a branch, sometimes long. */
void gen_nops(struct gen *g)
{
	static const uint8_t sizes[] = {1, 2, 3, 4, 7};
	static const uint64_t nops[] = {
		0x90, 0x9066, 0x001f0f, 0x00401f0f, 0x00000000801f0f,
	};
	unsigned int n = 1 + rng_below(&g->rng, 24), i = rng_below(&g->rng, ARRAY_SIZE(sizes));

	while (n--)
		emit_bytes(&g->c, nops[i], sizes[i]);
}

static void gen_string_op(struct gen *g)
{
	static const struct {
		uint8_t size;
		uint32_t bytes;
	} ops[] = {
		{2, 0xa4f3},   /* rep movsb */
		{3, 0xa5f366}, /* rep movsw */
		{2, 0xa5f3},   /* rep movsl */
		{3, 0xa548f3}, /* rep movsq */
		{2, 0xaaf3},   /* rep stosb */
		{3, 0xab48f3}, /* rep stosq */
		{2, 0xacf3},   /* rep lodsb */
		{2, 0xaef2},   /* repne scasb */
		{2, 0xaef3},   /* repe scasb */
		{2, 0xa6f3},   /* repe cmpsb */
		{1, 0xa4},     /* movsb */
		{2, 0xad48},   /* lodsq */
	};
	uint32_t i = rng_below(&g->rng, ARRAY_SIZE(ops));

	emit_bytes(&g->c, ops[i].bytes, ops[i].size);
}

void gen_string(struct gen *g)
{
	/* 24 quadwords fit on both sides of these addresses. */
	uint32_t from = DATA_STRINGS + 200 + rng_below(&g->rng, 600);
	uint32_t to = DATA_STRINGS + 200 + rng_below(&g->rng, 600);
	bool down = rng_chance(&g->rng, 25);

	emit_push(&g->c, RCX);
	emit_data(&g->c, 0x8d, RSI, from);
	emit_data(&g->c, 0x8d, RDI, to);
	if (rng_chance(&g->rng, 40)) {
		/* A count that is computed at run time, possibly 0. */
		emit_mov(&g->c, RCX, R14);
		emit_shift(&g->c, 5, RCX, 60);
	} else {
		emit_mov_imm32(&g->c, RCX, rng_chance(&g->rng, 25) ? 0 : rng_below(&g->rng, 24));
	}
	if (down)
		emit1(&g->c, 0xfd);
	gen_string_op(g);
	if (down)
		emit1(&g->c, 0xfc);
	emit_pop(&g->c, RCX);
}
