/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emit host code one instruction at a time, for compile.c. */
#ifndef VMM_SOFT_COMPILE_EMIT_H
#define VMM_SOFT_COMPILE_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Registers by their numbers in encodings. */
enum soft_host_reg {
	H_RAX,
	H_RCX,
	H_RDX,
	H_RBX,
	H_RSP,
	H_RBP,
	H_RSI,
	H_RDI,
	H_R8,
	H_R9,
	H_R10,
	H_R11,
	H_R12,
	H_R13,
	H_R14,
	H_R15,
	H_NONE = 16,
};

struct soft_emit {
	uint8_t *at; /* the address to write to; code runs at another address (compile.c) */
};

static inline void e8(struct soft_emit *e, unsigned int value)
{
	*e->at++ = (uint8_t)value;
}

static inline void e32(struct soft_emit *e, uint64_t value)
{
	uint32_t low = (uint32_t)value;

	memcpy(e->at, &low, sizeof(low));
	e->at += sizeof(low);
}

static inline void e64(struct soft_emit *e, uint64_t value)
{
	memcpy(e->at, &value, sizeof(value));
	e->at += sizeof(value);
}

/* Emit prefixes and opcode for operands of 1 << size bytes. An opcode 0x0fxx has two bytes. */
static inline void e_opcode(struct soft_emit *e, unsigned int size, unsigned int opcode,
			    unsigned int reg, unsigned int index, unsigned int rm)
{
	if (size == 1)
		e8(e, 0x66);
	/* A REX prefix selects the low byte of every register. */
	e8(e,
	   0x40 | (size == 3) << 3 | (reg >> 3 & 1) << 2 | (index >> 3 & 1) << 1 | (rm >> 3 & 1));
	if (opcode > 0xff)
		e8(e, opcode >> 8);
	e8(e, opcode);
}

/* Emit an instruction with two registers. */
static inline void e_rr(struct soft_emit *e, unsigned int size, unsigned int opcode,
			unsigned int reg, unsigned int rm)
{
	e_opcode(e, size, opcode, reg, 0, rm);
	e8(e, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* Emit an instruction with reg and [base + disp]. */
static inline void e_rm(struct soft_emit *e, unsigned int size, unsigned int opcode,
			unsigned int reg, unsigned int base, int32_t disp)
{
	/* A base of RBP or R13 needs a displacement. */
	bool none = !disp && (base & 7) != H_RBP, low = disp == (int8_t)disp;

	e_opcode(e, size, opcode, reg, 0, base);
	e8(e, (none ? 0 : low ? 0x40u : 0x80u) | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == H_RSP)
		e8(e, 0x24);
	if (none)
		return;
	if (low)
		e8(e, (uint32_t)disp & 0xff);
	else
		e32(e, (uint32_t)disp);
}

/*
 * Emit an instruction with reg and [base + (index << scale) + disp]. Either register may be H_NONE.
 */
static inline void e_sib(struct soft_emit *e, unsigned int size, unsigned int opcode,
			 unsigned int reg, unsigned int base, unsigned int index,
			 unsigned int scale, int32_t disp)
{
	unsigned int b = base == H_NONE ? H_RBP : base, i = index == H_NONE ? H_RSP : index;

	bool none = !disp && (b & 7) != H_RBP, low = disp == (int8_t)disp;

	e_opcode(e, size, opcode, reg, i, b);
	if (base == H_NONE)
		none = low = false;
	e8(e, (base == H_NONE || none ? 0 : low ? 0x40u : 0x80u) | (reg & 7) << 3 | 4);
	e8(e, scale << 6 | (i & 7) << 3 | (b & 7));
	if (low && !none)
		e8(e, (uint32_t)disp & 0xff);
	else if (!none)
		e32(e, (uint32_t)disp);
}

/* Emit the shortest MOV of a constant into all 64 bits. */
static inline void e_const(struct soft_emit *e, unsigned int reg, uint64_t value)
{
	if (value <= UINT32_MAX) {
		e_opcode(e, 2, 0xb8 | (reg & 7), 0, 0, reg);
		e32(e, value);
	} else if ((uint64_t)(int64_t)(int32_t)value == value) {
		e_rr(e, 3, 0xc7, 0, reg);
		e32(e, value);
	} else {
		e_opcode(e, 3, 0xb8 | (reg & 7), 0, 0, reg);
		e64(e, value);
	}
}

/* Emit a jump without its target: Jcc, or JMP if `cc` is 16. Returns the argument for e_aim(). */
static inline uint8_t *e_jump(struct soft_emit *e, unsigned int cc)
{
	if (cc == 16) {
		e8(e, 0xe9);
	} else {
		e8(e, 0x0f);
		e8(e, 0x80 | cc);
	}
	e32(e, 0);
	return e->at;
}

static inline void soft_aim_at(const uint8_t *to, uint8_t *from)
{
	int32_t distance = (int32_t)(to - from);

	memcpy(from - sizeof(distance), &distance, sizeof(distance));
}

static inline void e_aim(const struct soft_emit *e, uint8_t *from)
{
	soft_aim_at(e->at, from);
}

#endif /* VMM_SOFT_COMPILE_EMIT_H */
