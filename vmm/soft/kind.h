/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a micro-operation does, for who joins several of them into one: fuse.c and
 * compile.c. Only plain ones have a kind; the others are run as they are.
 */
#ifndef VMM_SOFT_KIND_H
#define VMM_SOFT_KIND_H

#include "soft/soft.h"

enum vpt_kind_op {
	VPT_K_NONE,
	/* These eight as opcodes count them, from 1. */
	VPT_K_ADD,
	VPT_K_OR,
	VPT_K_ADC,
	VPT_K_SBB,
	VPT_K_AND,
	VPT_K_SUB,
	VPT_K_XOR,
	VPT_K_CMP,
	VPT_K_TEST,
	VPT_K_INC,
	VPT_K_DEC,
	VPT_K_NEG,
	VPT_K_NOT,
	VPT_K_MOV,
	VPT_K_MOVZX, /* VPT_KIND_FROM(): log2 of the source's bytes */
	VPT_K_MOVSX,
	VPT_K_LEA,
	VPT_K_SHL, /* by imm, which is not 0 */
	VPT_K_SHR,
	VPT_K_SAR,
	VPT_K_IMUL,  /* dst times what the form says */
	VPT_K_IMUL3, /* src times imm */
	VPT_K_CMOV,  /* VPT_KIND_FROM(): the condition */
	VPT_K_SET,
	VPT_K_PUSH, /* 64-bit mode, 8 bytes */
	VPT_K_POP,
	VPT_K_JCC, /* VPT_KIND_FROM(): the condition */
	VPT_K_JMP,
	VPT_K_NEXT, /* the end of a block that just ends */
};

/* The operands: register, memory, immediate; the destination first. */
enum vpt_kind_form { VPT_K_RR, VPT_K_RI, VPT_K_RM, VPT_K_MR, VPT_K_MI, VPT_K_FORMS };

/* `size`: log2 of the operand's bytes. */
#define VPT_KIND(op, form, size, from) \
	((uint32_t)(op) | (uint32_t)(form) << 8 | (uint32_t)(size) << 12 | (uint32_t)(from) << 16)
#define VPT_KIND_OP(kind)   ((kind)&0xffu)
#define VPT_KIND_FORM(kind) ((kind) >> 8 & 15u)
#define VPT_KIND_SIZE(kind) ((kind) >> 12 & 15u)
#define VPT_KIND_FROM(kind) ((kind) >> 16 & 15u)

#endif /* VMM_SOFT_KIND_H */
