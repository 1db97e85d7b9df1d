/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encoders for the instructions of random programs (64-bit mode). Every engine executes these
 * instructions: no vector, x87 or bit-manipulation sets.
 */
#ifndef GUEST_RANDOM_EMIT_H
#define GUEST_RANDOM_EMIT_H

#include "vpt/base.h"

enum reg {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
};

/* Condition codes as in Jcc; CC ^ 1 is the opposite. */
enum cc {
	CC_O,
	CC_NO,
	CC_B,
	CC_AE,
	CC_E,
	CC_NE,
	CC_BE,
	CC_A,
	CC_S,
	CC_NS,
	CC_P,
	CC_NP,
	CC_L,
	CC_GE,
	CC_LE,
	CC_G,
};

/* /n of opcodes 80, 81, 83; 8 * n + 1 is the register form. */
enum alu { ALU_ADD, ALU_OR, ALU_ADC, ALU_SBB, ALU_AND, ALU_SUB, ALU_XOR, ALU_CMP };

/* The place of the next byte. The generator checks the available room. */
struct code {
	uint8_t *at;
	uint8_t *end;
};

static inline void emit1(struct code *c, uint8_t b)
{
	*c->at++ = b;
}

static inline void emit_bytes(struct code *c, uint64_t bytes, unsigned int n)
{
	for (; n; n--, bytes >>= 8)
		emit1(c, (uint8_t)bytes);
}

static inline void emit4(struct code *c, uint32_t v)
{
	emit_bytes(c, v, 4);
}

/* REX.W with the registers' high bits. */
static inline void emit_rex(struct code *c, enum reg reg, enum reg rm)
{
	emit1(c, (uint8_t)(0x48 | reg >> 3 << 2 | rm >> 3));
}

static inline void emit_modrm(struct code *c, unsigned int mod, unsigned int reg, unsigned int rm)
{
	emit1(c, (uint8_t)(mod << 6 | (reg & 7) << 3 | (rm & 7)));
}

static inline void emit_alu(struct code *c, enum alu op, enum reg dst, enum reg src)
{
	emit_rex(c, src, dst);
	emit1(c, (uint8_t)(8 * op + 1));
	emit_modrm(c, 3, src, dst);
}

static inline void emit_alu_imm(struct code *c, enum alu op, enum reg dst, uint32_t imm)
{
	emit_rex(c, 0, dst);
	emit1(c, 0x81);
	emit_modrm(c, 3, op, dst);
	emit4(c, imm);
}

static inline void emit_mov(struct code *c, enum reg dst, enum reg src)
{
	emit_rex(c, src, dst);
	emit1(c, 0x89);
	emit_modrm(c, 3, src, dst);
}

static inline void emit_mov_imm32(struct code *c, enum reg dst, uint32_t imm)
{
	if (dst >= R8)
		emit1(c, 0x41);
	emit1(c, (uint8_t)(0xb8 + (dst & 7)));
	emit4(c, imm);
}

static inline void emit_mov_imm64(struct code *c, enum reg dst, uint64_t imm)
{
	emit_rex(c, 0, dst);
	emit1(c, (uint8_t)(0xb8 + (dst & 7)));
	emit_bytes(c, imm, 8);
}

/* reg and [R13 + disp]; `opcode` 8b loads, 89 stores, 8d is LEA. */
static inline void emit_data(struct code *c, uint8_t opcode, enum reg reg, uint32_t disp)
{
	emit_rex(c, reg, R13);
	emit1(c, opcode);
	emit_modrm(c, 2, reg, R13);
	emit4(c, disp);
}

/* n: 0 ROL, 1 ROR, 4 SHL, 5 SHR, 7 SAR */
static inline void emit_shift(struct code *c, unsigned int n, enum reg dst, uint8_t by)
{
	emit_rex(c, 0, dst);
	emit1(c, 0xc1);
	emit_modrm(c, 3, n, dst);
	emit1(c, by);
}

static inline void emit_imul(struct code *c, enum reg dst, enum reg src)
{
	emit_rex(c, dst, src);
	emit_bytes(c, 0xaf0f, 2);
	emit_modrm(c, 3, dst, src);
}

static inline void emit_imul_imm(struct code *c, enum reg dst, uint32_t imm)
{
	emit_rex(c, dst, dst);
	emit1(c, 0x69);
	emit_modrm(c, 3, dst, dst);
	emit4(c, imm);
}

static inline void emit_cmov(struct code *c, enum cc cc, enum reg dst, enum reg src)
{
	emit_rex(c, dst, src);
	emit1(c, 0x0f);
	emit1(c, (uint8_t)(0x40 + cc));
	emit_modrm(c, 3, dst, src);
}

/* n: 2 NOT, 3 NEG, 6 DIV */
static inline void emit_unary(struct code *c, unsigned int n, enum reg dst)
{
	emit_rex(c, 0, dst);
	emit1(c, 0xf7);
	emit_modrm(c, 3, n, dst);
}

/* CF = bit of reg */
static inline void emit_bt(struct code *c, enum reg reg, uint8_t bit)
{
	emit_rex(c, 0, reg);
	emit_bytes(c, 0xba0f, 2);
	emit_modrm(c, 3, 4, reg);
	emit1(c, bit);
}

static inline void emit_push(struct code *c, enum reg reg)
{
	if (reg >= R8)
		emit1(c, 0x41);
	emit1(c, (uint8_t)(0x50 + (reg & 7)));
}

static inline void emit_pop(struct code *c, enum reg reg)
{
	if (reg >= R8)
		emit1(c, 0x41);
	emit1(c, (uint8_t)(0x58 + (reg & 7)));
}

static inline void emit_ret(struct code *c)
{
	emit1(c, 0xc3);
}

/* A displacement that is set later: the address of its 4 bytes. */
typedef uint8_t *hole;

static inline hole emit_hole(struct code *c)
{
	emit4(c, 0);
	return c->at - 4;
}

static inline void fill(hole h, const uint8_t *target)
{
	uint32_t disp = (uint32_t)(target - (h + 4));

	__builtin_memcpy(h, &disp, sizeof(disp));
}

static inline void fill_here(hole h, const struct code *c)
{
	fill(h, c->at);
}

static inline hole emit_jcc(struct code *c, enum cc cc)
{
	emit1(c, 0x0f);
	emit1(c, (uint8_t)(0x80 + cc));
	return emit_hole(c);
}

static inline hole emit_jmp(struct code *c)
{
	emit1(c, 0xe9);
	return emit_hole(c);
}

static inline hole emit_call(struct code *c)
{
	emit1(c, 0xe8);
	return emit_hole(c);
}

/* LEA reg, [RIP + hole] */
static inline hole emit_lea_rip(struct code *c, enum reg reg)
{
	emit_rex(c, reg, 0);
	emit1(c, 0x8d);
	emit_modrm(c, 0, reg, RBP);
	return emit_hole(c);
}

/* JMP or CALL through a register (n: 4 or 2). */
static inline void emit_branch_reg(struct code *c, unsigned int n, enum reg reg)
{
	if (reg >= R8)
		emit1(c, 0x41);
	emit1(c, 0xff);
	emit_modrm(c, 3, n, reg);
}

/* JMP or CALL through [R13 + disp]. */
static inline void emit_branch_data(struct code *c, unsigned int n, uint32_t disp)
{
	emit1(c, 0x41);
	emit1(c, 0xff);
	emit_modrm(c, 2, n, R13);
	emit4(c, disp);
}

#endif /* GUEST_RANDOM_EMIT_H */
