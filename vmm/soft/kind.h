/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of micro-operations, for fuse.c and the compiler (compile.h), which join several of them. Only
 * plain micro-operations have a kind. The others run unchanged.
 */
#ifndef VMM_SOFT_KIND_H
#define VMM_SOFT_KIND_H

#include "soft/soft.h"

enum soft_kind_op {
	SOFT_K_NONE,
	/* The order of these eight is that of the opcodes, from 1. */
	SOFT_K_ADD,
	SOFT_K_OR,
	SOFT_K_ADC,
	SOFT_K_SBB,
	SOFT_K_AND,
	SOFT_K_SUB,
	SOFT_K_XOR,
	SOFT_K_CMP,
	SOFT_K_TEST,
	SOFT_K_INC,
	SOFT_K_DEC,
	SOFT_K_NEG,
	SOFT_K_NOT,
	SOFT_K_MOV,
	SOFT_K_MOVZX, /* SOFT_KIND_FROM(): log2 of the source's bytes */
	SOFT_K_MOVSX,
	SOFT_K_LEA,
	SOFT_K_SHL, /* by imm, which is not 0, or a register by RCX, which is src */
	SOFT_K_SHR,
	SOFT_K_SAR,
	SOFT_K_IMUL,  /* dst times the operand of the form */
	SOFT_K_IMUL3, /* src times imm */
	SOFT_K_ROL,   /* as SHL */
	SOFT_K_ROR,
	SOFT_K_BT,   /* SOFT_KIND_FROM(): BT, BTS, BTR, BTC; BT of memory by imm has the form RM */
	SOFT_K_SIGN, /* RDX := the sign of RAX */
	SOFT_K_BSWAP,
	SOFT_K_BASED, /* dst := the address plus the base of the segment at offset imm */
	SOFT_K_XCHG,
	SOFT_K_SHLD, /* by imm, which is not 0 */
	SOFT_K_SHRD,
	SOFT_K_SCAN, /* SOFT_KIND_FROM(): enum soft_kind_scan */
	SOFT_K_NOP,
	SOFT_K_CMOV, /* SOFT_KIND_FROM(): the condition */
	SOFT_K_SET,
	SOFT_K_CMPXCHG, /* dst is RAX */
	SOFT_K_XADD,	/* dst is src */
	SOFT_K_MUL,	/* RDX:RAX and src, or the operand in memory; dst is RDX */
	SOFT_K_IMUL1,
	SOFT_K_DIV,
	SOFT_K_IDIV,
	SOFT_K_LEAVE, /* dst is RSP, src is RBP; as PUSH */
	SOFT_K_PUSH,  /* 64-bit mode, 8 bytes */
	SOFT_K_POP,
	SOFT_K_LOG,   /* the first of a block: write aux to the log */
	SOFT_K_COUNT, /* before a branch: count it */
	SOFT_K_JCC,   /* SOFT_KIND_FROM(): the condition */
	SOFT_K_JMP,
	SOFT_K_NEXT, /* the end of a block without a branch */
	SOFT_K_CALL, /* in 64-bit mode, like the rest */
	SOFT_K_RET,
	SOFT_K_JUMP_TO, /* indirect: the target is src, or the operand in memory */
	SOFT_K_CALL_TO,
};

enum soft_kind_scan {
	SOFT_SCAN_BSF,
	SOFT_SCAN_BSR,
	SOFT_SCAN_TZCNT,
	SOFT_SCAN_LZCNT,
	SOFT_SCAN_POPCNT
};

/*
 * The operands, destination first: register, memory, immediate. The form AR is MR with an address that
 * serves this micro-operation alone.
 */
enum soft_kind_form {
	SOFT_K_RR,
	SOFT_K_RI,
	SOFT_K_RM,
	SOFT_K_MR,
	SOFT_K_MI,
	SOFT_K_AR,
	SOFT_K_FORMS
};

/* `size` is log2 of the operand's bytes. */
#define SOFT_KIND(op, form, size, from) \
	((uint32_t)(op) | (uint32_t)(form) << 8 | (uint32_t)(size) << 12 | (uint32_t)(from) << 16)
#define SOFT_KIND_OP(kind)   ((kind)&0xffu)
#define SOFT_KIND_FORM(kind) ((kind) >> 8 & 15u)
#define SOFT_KIND_SIZE(kind) ((kind) >> 12 & 15u)
#define SOFT_KIND_FROM(kind) ((kind) >> 16 & 15u)

#endif /* VMM_SOFT_KIND_H */
