// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/plain.h"

#include <string.h>

enum { RAX = 0, RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R13 = 13, R14 = 14, R15 = 15 };

/* The location of an operand. */
struct place {
	bool memory, absolute, relative;
	unsigned int reg, base, index, scale;
	int32_t disp;
};

struct gen {
	uint64_t *state;
	struct plain_program *p;
	uint32_t at;
	bool wide; /* 64-bit mode */
	/* Immediates of the instructions so far, as targets of stores. */
	uint32_t patch[16];
	unsigned int patches;
	/* rel32 fields to set once the addresses of all blocks are known. */
	uint32_t jump[2 * PLAIN_BLOCKS];
	unsigned int jumps;
	/* imm32 fields to set to the addresses of blocks. */
	uint32_t address[2 * PLAIN_BLOCKS];
	unsigned int addresses;
	struct place last; /* the last operand in memory with a base, if there was one */
};

#define NO_REG 16u

uint64_t plain_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int below(struct gen *g, unsigned int n)
{
	return (unsigned int)(plain_next(g->state) >> 16) % n;
}

static bool one_in(struct gen *g, unsigned int n)
{
	return !below(g, n);
}

static uint64_t edge(uint64_t *state)
{
	static const uint64_t some[] = {
		0,	0,	1,	 2,	     0x7f,	 0x80,	     0xff,	 0x7fff,
		0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, ~0ull};
	uint64_t x = plain_next(state);

	return x & 1 ? some[x >> 8 & 15] : x & 2 ? plain_next(state) >> (x >> 8 & 63) : x >> 2;
}

uint64_t plain_value(uint64_t *state, unsigned int reg)
{
	uint64_t x = plain_next(state), at = PLAIN_DATA + (x & 0x7fff);

	switch (reg) {
	case RSP:
		return PLAIN_STACK + (x >> 20 & 7 ? 8 * (x & 15) : x & 127);
	case RSI:
	case R14:
	case R15:
		if (!(x >> 20 & 3)) /* near the end of a page */
			at = (at | 0xfff) - (x >> 24 & 15);
		if (!(x >> 30 & 63)) /* in a read-only page or a page after it */
			return PLAIN_READ_ONLY + (x >> 40 & 0x1fff);
		return at + (x >> 36 & 1 ? PLAIN_AGAIN - PLAIN_DATA : 0);
	case RDI:
	case R13:
		return x & 63;
	default:
		return edge(state);
	}
}

static void put(struct gen *g, uint64_t value, unsigned int bytes)
{
	memcpy(g->p->code + g->at, &value, bytes);
	g->at += bytes;
}

/* Choose a destination register, rarely one that is used in addresses. */
static unsigned int target(struct gen *g)
{
	static const uint8_t free64[] = {0, 1, 2, 3, 5, 8, 9, 10, 11, 12};
	static const uint8_t free32[] = {0, 1, 2, 3, 5};

	if (one_in(g, 150))
		return below(g, g->wide ? 16 : 8);
	return g->wide ? free64[below(g, sizeof(free64))] : free32[below(g, sizeof(free32))];
}

static unsigned int source(struct gen *g)
{
	return below(g, g->wide ? 16 : 8);
}

static struct place in_register(unsigned int reg)
{
	return (struct place){.reg = reg};
}

static struct place in_memory(struct gen *g)
{
	static const uint8_t bases[] = {RSI, R14, R15};
	struct place m = {.memory = true, .base = RSI, .index = NO_REG};

	/* Near the one before, by the same registers. */
	if (g->last.memory && one_in(g, 3)) {
		g->last.disp += (int32_t)below(g, 17) - 8;
		return g->last;
	}
	if (one_in(g, 12)) {
		m.absolute = true;
		m.disp = PLAIN_DATA + (int32_t)below(g, 0x4000);
		m.relative = g->wide && one_in(g, 2);
		m.base = NO_REG;
		return m;
	}
	if (g->wide)
		m.base = bases[below(g, 3)];
	if (one_in(g, 8))
		m.base = RSP;
	if (one_in(g, 3)) {
		m.index = g->wide && one_in(g, 2) ? R13 : RDI;
		m.scale = below(g, 4);
	}
	if (one_in(g, 600)) /* anywhere at all */
		m.base = source(g);
	m.disp = one_in(g, 3) ? 0 : (int32_t)below(g, 256) - 128;
	if (one_in(g, 5))
		m.disp = (int32_t)below(g, 0x1000) - 0x800;
	g->last = m;
	return m;
}

static struct place anywhere(struct gen *g)
{
	return one_in(g, 3) ? in_memory(g) : in_register(target(g));
}

static void put_modrm(struct gen *g, unsigned int reg, const struct place *m, unsigned int imm)
{
	unsigned int mod = m->disp == 0 ? 0 : m->disp >= -128 && m->disp < 128 ? 1 : 2;

	reg = (reg & 7) << 3;
	if (!m->memory) {
		put(g, 0xc0 | reg | (m->reg & 7), 1);
		return;
	}
	if (m->relative) {
		put(g, reg | 5, 1);
		put(g, (uint32_t)(m->disp - PLAIN_CODE) - (g->at + 4 + imm), 4);
		return;
	}
	if (m->base == NO_REG) {
		put(g, reg | 4, 1);
		put(g, m->scale << 6 | 4 << 3 | 5, 1);
		put(g, (uint32_t)m->disp, 4);
		return;
	}
	if (!mod && (m->base & 7) == RBP)
		mod = 1;
	if (m->index != NO_REG || (m->base & 7) == RSP) {
		put(g, mod << 6 | reg | 4, 1);
		put(g, m->scale << 6 | (m->index == NO_REG ? 4 : m->index & 7) << 3 | (m->base & 7),
		    1);
	} else {
		put(g, mod << 6 | reg | (m->base & 7), 1);
	}
	put(g, (uint32_t)m->disp, mod == 0 ? 0 : mod == 1 ? 1 : 4);
}

/* Emit prefixes, opcode and operands of 1 << size bytes. The caller appends `imm` bytes. */
static void put_insn(struct gen *g, unsigned int size, unsigned int opcode, unsigned int reg,
		     const struct place *m, unsigned int imm)
{
	unsigned int rm = m->memory ? m->base : m->reg, rex;

	if (m->index == NO_REG || !m->memory)
		rex = 0;
	else
		rex = m->index >> 3 << 1;
	rex |= (size == 3) << 3 | (reg >> 3 & 1) << 2;
	if (rm != NO_REG)
		rex |= rm >> 3 & 1;
	if (size == 1)
		put(g, 0x66, 1);
	/* Without a REX prefix byte registers 4 to 7 are AH to BH. */
	if (g->wide && (rex || !one_in(g, 4)))
		put(g, 0x40 | rex, 1);
	if (opcode > 0xff)
		put(g, opcode >> 8, 1);
	put(g, opcode & 0xff, 1);
	put_modrm(g, reg, m, imm);
}

static unsigned int any_size(struct gen *g)
{
	static const uint8_t sizes[] = {0, 1, 2, 2, 2, 3, 3, 3};

	return sizes[below(g, g->wide ? 8 : 5)];
}

static unsigned int word_size(struct gen *g)
{
	return one_in(g, 8) ? 1 : g->wide ? 2 + below(g, 2) : 2;
}

static unsigned int imm_bytes(unsigned int size)
{
	return size < 2 ? 1u << size : 4;
}

static void binary(struct gen *g)
{
	unsigned int size = any_size(g), op = below(g, 8) << 3;
	struct place m = anywhere(g);

	if (one_in(g, 2))
		put_insn(g, size, op | (size != 0), source(g), &m, 0);
	else
		put_insn(g, size, op | 2 | (size != 0), target(g), &m, 0);
}

static void binary_imm(struct gen *g)
{
	unsigned int size = any_size(g), op = below(g, 8);
	struct place m = anywhere(g);

	if (size && one_in(g, 2)) {
		put_insn(g, size, 0x83, op, &m, 1);
		put(g, edge(g->state), 1);
		return;
	}
	put_insn(g, size, 0x80 | (size != 0), op, &m, imm_bytes(size));
	put(g, edge(g->state), imm_bytes(size));
}

static void test(struct gen *g)
{
	unsigned int size = any_size(g), reg = source(g);
	struct place m = one_in(g, 2) ? in_register(reg) : anywhere(g);

	if (one_in(g, 3)) {
		put_insn(g, size, 0xf6 | (size != 0), 0, &m, imm_bytes(size));
		put(g, edge(g->state), imm_bytes(size));
	} else {
		put_insn(g, size, 0x84 | (size != 0), reg, &m, 0);
	}
}

static void unary(struct gen *g)
{
	unsigned int size = any_size(g), op = below(g, 4);
	struct place m = one_in(g, 6) ? in_memory(g) : in_register(target(g));

	put_insn(g, size, (op < 2 ? 0xfe : 0xf6) | (size != 0), op, &m, 0);
}

static void mov(struct gen *g)
{
	unsigned int size = any_size(g);
	struct place m = anywhere(g);

	if (one_in(g, 2))
		put_insn(g, size, 0x88 | (size != 0), source(g), &m, 0);
	else
		put_insn(g, size, 0x8a | (size != 0), target(g), &m, 0);
}

/* Emit a MOV of an immediate. Stores change some of these immediates later. */
static void mov_imm(struct gen *g)
{
	unsigned int size = any_size(g), reg = target(g);
	struct place m = anywhere(g);

	if (one_in(g, 2)) {
		put_insn(g, size, 0xc6 | (size != 0), 0, &m, imm_bytes(size));
		put(g, edge(g->state), imm_bytes(size));
		return;
	}
	size = g->wide && one_in(g, 3) ? 3 : 2;
	if (g->wide)
		put(g, 0x40 | (size == 3) << 3 | reg >> 3, 1);
	put(g, 0xb8 | (reg & 7), 1);
	g->patch[g->patches++ % 16] = g->at;
	put(g, edge(g->state), 1u << size);
}

static void store_to_code(struct gen *g)
{
	unsigned int known = g->patches < 16 ? g->patches : 16, size = below(g, 3),
		     op = below(g, 8);
	struct place m = {.memory = true, .base = NO_REG, .index = NO_REG};

	if (!known)
		return;
	m.disp = PLAIN_CODE + (int32_t)g->patch[below(g, known)];
	if (one_in(g, 2))
		put_insn(g, size, 0x88 | (size != 0), source(g), &m, 0);
	else
		put_insn(g, size, op << 3 | (size != 0), source(g), &m, 0);
}

static void extend(struct gen *g)
{
	unsigned int size = word_size(g);
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(source(g));
	static const uint16_t some[] = {0x0fb6, 0x0fb7, 0x0fbe, 0x0fbf};

	if (g->wide && one_in(g, 4))
		put_insn(g, size, 0x63, target(g), &m, 0);
	else
		put_insn(g, size, some[below(g, 4)], target(g), &m, 0);
}

static void lea(struct gen *g)
{
	struct place m = in_memory(g);

	if (m.absolute && !m.relative && one_in(g, 2))
		m.disp = (int32_t)edge(g->state);
	if (!m.absolute) {
		if (one_in(g, 2))
			m.base = source(g);
		if (one_in(g, 2))
			m.index = source(g);
		if (m.index == RSP)
			m.index = NO_REG;
		if (one_in(g, 4))
			m.disp = (int32_t)edge(g->state);
	}
	if (g->wide && one_in(g, 6))
		put(g, 0x67, 1);
	put_insn(g, word_size(g), 0x8d, target(g), &m, 0);
}

static void shift(struct gen *g)
{
	static const uint8_t digit[] = {4, 5, 7, 4, 5, 7, 0, 1, 2, 3};
	unsigned int size = any_size(g), op = digit[below(g, 10)];
	struct place m = one_in(g, 8) ? in_memory(g) : in_register(target(g));

	if (one_in(g, 5)) {
		put_insn(g, size, (one_in(g, 2) ? 0xd0 : 0xd2) | (size != 0), op, &m, 0);
		return;
	}
	put_insn(g, size, 0xc0 | (size != 0), op, &m, 1);
	put(g, one_in(g, 3) ? plain_next(g->state) : below(g, 64), 1);
}

static void imul(struct gen *g)
{
	unsigned int size = word_size(g);
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(source(g));

	switch (below(g, 3)) {
	case 0:
		put_insn(g, size, 0x0faf, target(g), &m, 0);
		break;
	case 1:
		put_insn(g, size, 0x6b, target(g), &m, 1);
		put(g, edge(g->state), 1);
		break;
	default:
		put_insn(g, size, 0x69, target(g), &m, imm_bytes(size));
		put(g, edge(g->state), imm_bytes(size));
		break;
	}
}

static void cmov(struct gen *g)
{
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(source(g));

	put_insn(g, word_size(g), 0x0f40 | below(g, 16), target(g), &m, 0);
}

static void set(struct gen *g)
{
	struct place m = one_in(g, 5) ? in_memory(g) : in_register(target(g));

	put_insn(g, 0, 0x0f90 | below(g, 16), 0, &m, 0);
}

static void push_pop(struct gen *g)
{
	bool pop = one_in(g, 2);
	unsigned int reg = pop ? target(g) : source(g);
	struct place m;

	switch (below(g, 8)) {
	case 0: /* an immediate */
		put(g, 0x68, 1);
		put(g, edge(g->state), 4);
		break;
	case 1:
		m = in_memory(g);
		put_insn(g, 2, pop ? 0x8f : 0xff, pop ? 0 : 6, &m, 0);
		break;
	default:
		if (g->wide && reg > 7)
			put(g, 0x41, 1);
		put(g, (pop ? 0x58 : 0x50) | (reg & 7), 1);
		break;
	}
}

/* BT, BTS, BTR, BTC of a register or in memory. */
static void bit(struct gen *g)
{
	unsigned int size = word_size(g), op = below(g, 4);
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(target(g));

	if (one_in(g, 2)) {
		put_insn(g, size, 0x0fa3 + 8 * op, m.memory && one_in(g, 2) ? RDI : source(g), &m,
			 0);
		return;
	}
	put_insn(g, size, 0x0fba, 4 + op, &m, 1);
	put(g, plain_next(g->state), 1);
}

/* CWD, CDQ or CQO. */
static void sign(struct gen *g)
{
	if (g->wide && one_in(g, 2))
		put(g, 0x48, 1);
	put(g, 0x99, 1);
}

static void bswap(struct gen *g)
{
	unsigned int reg = target(g);

	if (g->wide)
		put(g, 0x40 | below(g, 2) << 3 | reg >> 3, 1);
	put(g, 0x0f, 1);
	put(g, 0xc8 | (reg & 7), 1);
}

/* BSF, BSR, TZCNT, LZCNT, POPCNT. */
static void scan(struct gen *g)
{
	static const uint16_t opcode[] = {0x0fbc, 0x0fbd, 0x0fbc, 0x0fbd, 0x0fb8};
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(source(g));
	unsigned int op = below(g, 5);

	if (op >= 2)
		put(g, 0xf3, 1);
	put_insn(g, word_size(g), opcode[op], target(g), &m, 0);
}

static void double_shift(struct gen *g)
{
	unsigned int opcode = one_in(g, 2) ? 0x0fa4 : 0x0fac, size = word_size(g);
	struct place m = one_in(g, 8) ? in_memory(g) : in_register(target(g));

	if (one_in(g, 4)) { /* by CL */
		put_insn(g, size, opcode + 1, source(g), &m, 0);
		return;
	}
	put_insn(g, size, opcode, source(g), &m, 1);
	put(g, below(g, size == 1 ? 17 : 70), 1);
}

/* MUL, IMUL, DIV, IDIV. Most quotients fit. */
static void mul_div(struct gen *g)
{
	unsigned int size = any_size(g), op = 4 + below(g, 4);
	struct place m = one_in(g, 3) ? in_memory(g) : in_register(source(g));
	struct place high = in_register(RDX);

	if (op == 6 && !one_in(g, 20))
		put_insn(g, 2, 0x31, RDX, &high, 0);
	if (op == 7 && !one_in(g, 20)) {
		if (size == 3)
			put(g, 0x48, 1);
		put(g, 0x99, 1);
	}
	if (op >= 6 && !m.memory && !one_in(g, 4)) {
		m.reg = one_in(g, 2) ? RSI : RDI;
		if (one_in(g, 4)) {
			put_insn(g, size, 0x80 | (size != 0), 1, &m, imm_bytes(size)); /* OR */
			put(g, 1, imm_bytes(size));
		}
	}
	put_insn(g, size, 0xf6 | (size != 0), op, &m, 0);
}

/* XCHG, XADD, CMPXCHG. */
static void exchange(struct gen *g)
{
	unsigned int size = any_size(g), op = below(g, 3);
	struct place m = op && !one_in(g, 4) ? in_memory(g) : anywhere(g);

	if (op == 2 && m.memory && one_in(g, 2)) /* the values are equal */
		put_insn(g, size, 0x8a | (size != 0), RAX, &m, 0);
	if (m.memory && one_in(g, 3))
		put(g, 0xf0, 1);
	put_insn(g, size,
		 (op == 0   ? 0x86
		  : op == 1 ? 0x0fc0
			    : 0x0fb0) |
			 (size != 0),
		 target(g), &m, 0);
}

/* LEAVE, mostly from a frame on the stack. */
static void leave(struct gen *g)
{
	struct place m = {.memory = true, .base = RSP, .index = NO_REG};

	m.disp = (int32_t)below(g, 16) - 8;
	if (!one_in(g, 20))
		put_insn(g, g->wide ? 3 : 2, 0x8d, RBP, &m, 0);
	if (one_in(g, 3)) { /* flags of RBP */
		m = in_register(RBP);
		put_insn(g, g->wide ? 3 : 2, 0x39, source(g), &m, 0);
	}
	put(g, 0xc9, 1);
}

/* An operand with the base of FS or GS, rarely with a 32-bit address. */
static void based(struct gen *g)
{
	unsigned int size = any_size(g), op = below(g, 4);
	struct place m = in_memory(g);

	put(g, one_in(g, 2) ? 0x64 : 0x65, 1);
	if (g->wide && one_in(g, 8))
		put(g, 0x67, 1);
	if (op == 0)
		put_insn(g, size, 0xfe | (size != 0), below(g, 2), &m, 0);
	else
		put_insn(g, size,
			 (op == 1   ? 0x88
			  : op == 2 ? 0x8a
				    : 0x02) |
				 (size != 0),
			 target(g), &m, 0);
}

/* Emit an instruction that the software CPU does not make host code of. */
static void not_plain(struct gen *g)
{
	static const uint8_t alone[] = {0x90, 0xf8, 0xf9, 0xf5, 0x98, 0x99, 0x9e, 0x9f};
	struct place m = in_register(target(g));

	switch (below(g, 4)) {
	case 0: /* BT of 16 bits */
		put_insn(g, 1, 0x0fa3, source(g), &m, 0);
		break;
	case 1: /* XADD of registers */
		put_insn(g, 2, 0x0fc1, target(g), &m, 0);
		break;
	case 2: /* XCHG of a byte in memory */
		m = in_memory(g);
		put_insn(g, 0, 0x86, target(g), &m, 0);
		break;
	default:
		put(g, alone[below(g, sizeof(alone))], 1);
		break;
	}
}

/* Frequent instructions are listed several times. */
static void (*const makers[])(struct gen *g) = {
	binary,	  binary,	binary,	 binary_imm, binary_imm, test,	  unary,  mov,
	mov,	  mov,		mov_imm, extend,     lea,	 shift,	  imul,	  cmov,
	set,	  push_pop,	binary,	 unary,	     mov,	 cmov,	  extend, lea,
	push_pop, binary_imm,	shift,	 shift,	     bit,	 sign,	  bswap,  scan,
	leave,	  double_shift, mul_div, exchange,   based,	 mul_div, based,  binary,
};

/* Emit an AND or XOR that keeps an index register small. */
static void mend_index(struct gen *g)
{
	unsigned int reg = g->wide && one_in(g, 2) ? R13 : RDI;
	struct place m = in_register(reg);
	bool clears = one_in(g, 2);

	put_insn(g, 2, 0x83, clears ? 4 : 6, &m, 1);
	put(g, clears ? 63 : below(g, 64), 1);
	g->p->insns++;
}

static void one(struct gen *g)
{
	if (one_in(g, 25))
		mend_index(g);
	if (one_in(g, 30))
		not_plain(g);
	else if (one_in(g, 60))
		store_to_code(g);
	else
		makers[below(g, sizeof(makers) / sizeof(makers[0]))](g);
	g->p->insns++;
}

static void jump(struct gen *g, unsigned int opcode)
{
	if (opcode > 0xff)
		put(g, opcode >> 8, 1);
	put(g, opcode & 0xff, 1);
	g->jump[g->jumps++] = g->at;
	put(g, 0, 4);
	g->p->insns++;
}

/* Emit an immediate that becomes the address of a block. */
static void put_address(struct gen *g)
{
	g->address[g->addresses++] = g->at;
	put(g, 0, 4);
}

/* Load a register with the address of a block. */
static void load_address(struct gen *g, unsigned int reg)
{
	if (g->wide)
		put(g, 0x40 | reg >> 3, 1);
	put(g, 0xb8 | (reg & 7), 1);
	put_address(g);
	g->p->insns++;
}

/*
 * Go to a block by a register or by the stack: indirect JMP and CALL, RET. Flags choose between two
 * blocks.
 */
static void go(struct gen *g)
{
	static const uint8_t digit[] = {4, 4, 2};
	struct place m = {.reg = target(g), .base = RSP, .index = NO_REG};
	struct place other = in_register(target(g));

	load_address(g, m.reg);
	if (other.reg != m.reg && one_in(g, 2)) {
		load_address(g, other.reg);
		put_insn(g, g->wide ? 3 : 2, 0x0f40 | below(g, 16), m.reg, &other, 0);
		g->p->insns++;
	}
	m.memory = one_in(g, 2);
	if (m.memory) {
		if (g->wide)
			put(g, 0x40 | m.reg >> 3, 1);
		put(g, 0x50 | (m.reg & 7), 1); /* PUSH */
		g->p->insns++;
	}
	/* Flags of RSP. */
	if (m.memory && one_in(g, 4)) {
		other = in_register(RSP);
		put_insn(g, g->wide ? 3 : 2, 0x83, one_in(g, 2) ? 0 : 5, &other, 1); /* ADD, SUB */
		put(g, 0, 1);
		g->p->insns++;
	}
	if (m.memory && one_in(g, 2))
		put(g, one_in(g, 2) ? 0xc3 : 0x0008c2, 3); /* RET, RET 8 */
	else
		put_insn(g, 2, 0xff, digit[below(g, 3)], &m, 0);
	g->p->insns++;
}

static void block(struct gen *g)
{
	unsigned int n = one_in(g, 12) ? 66 : 1 + below(g, 14);

	while (n--)
		one(g);
	if (one_in(g, 4))
		mend_index(g);
	if (one_in(g, 6))
		jump(g, one_in(g, 3) ? 0xe8 : 0xe9);
	else if (one_in(g, 4))
		go(g);
	else if (!one_in(g, 8))
		jump(g, 0x0f80 | below(g, 16));
}

void plain_program(uint64_t *state, unsigned int bits, struct plain_program *p)
{
	struct gen g = {.state = state, .p = p, .wide = bits == 64};
	unsigned int i;

	memset(p, 0, sizeof(*p));
	/* Some programs cross the end of a page. */
	p->first = g.at = one_in(&g, 4) ? 0x1000 - below(&g, 128) : below(&g, 64);
	p->blocks = 1 + below(&g, PLAIN_BLOCKS);
	for (i = 0; i < p->blocks; i++) {
		p->block[i] = g.at;
		block(&g);
	}
	jump(&g, 0xe9);
	p->end = g.at;
	for (i = 0; i < g.jumps; i++) {
		uint32_t to = p->block[i + 1 == g.jumps ? 0 : below(&g, p->blocks)];
		uint32_t distance = to - (g.jump[i] + 4);

		memcpy(p->code + g.jump[i], &distance, 4);
	}
	for (i = 0; i < g.addresses; i++) {
		uint32_t to = PLAIN_CODE + p->block[below(&g, p->blocks)];

		memcpy(p->code + g.address[i], &to, 4);
	}
}
