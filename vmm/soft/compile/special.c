// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile the plain micro-operations with special operands: second bytes of registers, fixed registers,
 * segment bases, and memory that is read and written.
 */
#include "soft/compile/plain.h"

/* Condition codes of Jcc and CMOVcc. */
enum { CC_BE = 6, CC_NE = 5 };

bool soft_can_high(const struct soft_uop *u)
{
	unsigned int op = SOFT_KIND_OP(u->kind);

	if (op == SOFT_K_MOVZX || op == SOFT_K_MOVSX)
		return !(u->dst & 7) && !SOFT_KIND_FROM(u->kind) && SOFT_KIND_SIZE(u->kind) >= 2;
	return !SOFT_KIND_SIZE(u->kind) &&
	       ((op >= SOFT_K_ADD && op <= SOFT_K_TEST) || op == SOFT_K_MOV) && op != SOFT_K_ADC &&
	       op != SOFT_K_SBB;
}

/* Rotate a register by 8 bits, so that its second byte becomes the first, or the reverse. */
static void rotate(struct soft_compiler *g, unsigned int host, bool back)
{
	e_rr(&g->e, SOFT_SIZE64, 0xc1, back ? 0 : 1, host);
	e8(&g->e, 8);
	g->live = false;
}

/* Return a host register that has the byte of an operand in its first: `copy` if it is a second byte. */
static unsigned int byte_of(struct soft_compiler *g, unsigned int offset, unsigned int copy)
{
	unsigned int host = soft_hold(g, offset / 8, true);

	if (!(offset & 7))
		return host;
	e_rr(&g->e, SOFT_SIZE64, 0x89, host, copy);
	rotate(g, copy, false);
	return copy;
}

static void extend_high(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int opcode = SOFT_KIND_OP(u->kind) == SOFT_K_MOVZX ? 0x0fb6 : 0x0fbe;
	unsigned int src = byte_of(g, u->src, H_R10), dst = soft_hold(g, u->dst / 8, false);

	e_rr(&g->e, SOFT_KIND_SIZE(u->kind), opcode, dst, src);
	soft_hold_changed(g, u->dst / 8);
}

/* Emit the instruction with these registers that have the bytes. */
static void emit_bytes(struct soft_compiler *g, const struct soft_uop *u, unsigned int dst,
		       unsigned int src)
{
	unsigned int op = SOFT_KIND_OP(u->kind), digit = (op - SOFT_K_ADD) & 7;
	unsigned int opcode = op == SOFT_K_MOV ? 0x88 : op == SOFT_K_TEST ? 0x84 : digit << 3;
	unsigned int by_imm = op == SOFT_K_MOV ? 0xc6 : op == SOFT_K_TEST ? 0xf6 : 0x80;

	switch (SOFT_KIND_FORM(u->kind)) {
	case SOFT_K_RR:
		e_rr(&g->e, 0, opcode, src, dst);
		break;
	case SOFT_K_RI:
		e_rr(&g->e, 0, by_imm, op == SOFT_K_MOV || op == SOFT_K_TEST ? 0 : digit, dst);
		soft_emit_immediate(g, 0, u->imm);
		break;
	case SOFT_K_RM:
		soft_emit_operand(g, 0, op == SOFT_K_TEST ? opcode : opcode | 2, dst);
		break;
	default:
		soft_emit_operand(g, 0, opcode, src);
		break;
	}
}

/* In memory forms the operand can be at R11, so that R10 has the byte. */
void soft_emit_high(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind), dst = 0, src = 0;
	bool keeps = op == SOFT_K_CMP || op == SOFT_K_TEST, to_register = form <= SOFT_K_RM;

	if (op == SOFT_K_MOVZX || op == SOFT_K_MOVSX) {
		extend_high(g, u);
		return;
	}
	if (form >= SOFT_K_RM) {
		(void)soft_hold(g, (to_register ? u->dst : u->src) / 8, true);
		soft_operand(g, u, 0, !to_register && !keeps);
	}
	if (form == SOFT_K_RR || form == SOFT_K_MR)
		src = byte_of(g, u->src, H_R10);
	if (to_register)
		dst = byte_of(g, u->dst, form == SOFT_K_RM ? H_R10 : H_R11);
	emit_bytes(g, u, dst, src);
	if (op != SOFT_K_MOV)
		soft_flags_out(g, u, end);
	if (keeps || !to_register)
		return;
	if (u->dst & 7) {
		rotate(g, dst, true);
		e_rr(&g->e, SOFT_SIZE64, 0x89, dst, soft_hold(g, u->dst / 8, true));
	}
	soft_hold_changed(g, u->dst / 8);
}

static void bswap(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int dst = soft_hold(g, u->dst / 8, true);

	e_opcode(&g->e, SOFT_KIND_SIZE(u->kind), 0x0fc8 | (dst & 7), 0, 0, dst);
	soft_hold_changed(g, u->dst / 8);
}

static void based(struct soft_compiler *g, const struct soft_uop *u)
{
	int32_t base = (int32_t)u->imm + (int32_t)offsetof(struct x86_segment, base);
	unsigned int dst;

	soft_address(g, SOFT_KIND_SIZE(u->kind), u);
	e_rm(&g->e, SOFT_SIZE64, 0x8b, H_R10, H_RDI, base);
	dst = soft_hold(g, u->dst / 8, false);
	e_sib(&g->e, SOFT_SIZE64, 0x8d, dst, H_R10, H_R11, 0, 0);
	soft_hold_changed(g, u->dst / 8);
}

static void double_shift(struct soft_compiler *g, const struct soft_uop *u,
			 const struct soft_uop *end)
{
	unsigned int dst = soft_hold(g, u->dst / 8, true), src = soft_hold(g, u->src / 8, true);

	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	e_rr(&g->e, SOFT_KIND_SIZE(u->kind), SOFT_KIND_OP(u->kind) == SOFT_K_SHLD ? 0x0fa4 : 0x0fac,
	     src, dst);
	e8(&g->e, (unsigned int)u->imm & 0xff);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, u->dst / 8);
}

/* Some of these keep dst, or flags, on some processors. */
static void scan(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	static const uint16_t opcodes[] = {0x0fbc, 0x0fbd, 0x0fbc, 0x0fbd, 0x0fb8};
	unsigned int op = SOFT_KIND_FROM(u->kind), size = SOFT_KIND_SIZE(u->kind), dst, src = 0;
	bool memory = SOFT_KIND_FORM(u->kind) == SOFT_K_RM;

	if (memory)
		soft_operand(g, u, size, false);
	else
		src = soft_hold(g, u->src / 8, true);
	dst = soft_hold(g, u->dst / 8, true);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	if (op >= SOFT_SCAN_TZCNT)
		e8(&g->e, 0xf3);
	if (memory)
		soft_emit_operand(g, size, opcodes[op], dst);
	else
		e_rr(&g->e, size, opcodes[op], dst, src);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, u->dst / 8);
}

/* The form AR: g->operand := the operand at R11. Registers can be held until it is used. */
static void alone(struct soft_compiler *g, const struct soft_uop *u)
{
	soft_address(g, SOFT_SIZE64, u);
	soft_to_host(g, u, SOFT_KIND_SIZE(u->kind), true);
}

static void xchg(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), dst, src;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_AR) {
		alone(g, u);
		src = soft_hold(g, u->src / 8, true);
		soft_emit_operand(g, size, 0x8b, H_R10);
		soft_emit_operand(g, size, 0x89, src);
		e_rr(&g->e, size, 0x89, H_R10, src);
	} else {
		dst = soft_hold(g, u->dst / 8, true);
		src = soft_hold(g, u->src / 8, true);
		e_rr(&g->e, size, 0x89, dst, H_R10);
		e_rr(&g->e, size, 0x89, src, dst);
		e_rr(&g->e, size, 0x89, H_R10, src);
		soft_hold_changed(g, u->dst / 8);
	}
	soft_hold_changed(g, u->src / 8);
}

static void xadd(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), src;

	alone(g, u);
	src = soft_hold(g, u->src / 8, true);
	e_rr(&g->e, SOFT_SIZE64, 0x89, src, H_R10);
	soft_emit_operand(g, size, 0x0fc1, H_R10);
	e_rr(&g->e, size, 0x89, H_R10, src);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, u->src / 8);
}

/* RAX keeps its upper half if the values are equal. */
static void cmpxchg(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int acc, src;

	alone(g, u);
	acc = soft_hold(g, SOFT_R_RAX, true);
	src = soft_hold(g, u->src / 8, true);
	e_rr(&g->e, SOFT_SIZE64, 0x89, acc, H_RAX);
	soft_emit_operand(g, SOFT_KIND_SIZE(u->kind), 0x0fb1, src);
	e_rr(&g->e, SOFT_SIZE64, 0x0f40 | CC_NE, acc, H_RAX);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, SOFT_R_RAX);
}

/* BT, BTS, BTR, BTC of memory by a register, which selects the operand from a string of bits. */
static void bit_string(struct soft_compiler *g, const struct soft_uop *u,
		       const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_FROM(u->kind), size = SOFT_KIND_SIZE(u->kind), src;

	soft_address(g, SOFT_SIZE64, u);
	src = soft_hold(g, u->src / 8, true);
	e_rr(&g->e, SOFT_SIZE64, size == 2 ? 0x63 : 0x8b, H_R10, src); /* movsxd, mov */
	e_rr(&g->e, SOFT_SIZE64, 0xc1, 7, H_R10);		       /* sar */
	e8(&g->e, size + 3);
	e_sib(&g->e, SOFT_SIZE64, 0x8d, H_R11, H_R11, H_R10, size, 0);
	soft_to_host(g, u, size, op);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	soft_emit_operand(g, size, 0x8b, H_R10);
	e_rr(&g->e, size, 0x0fa3 + 8 * op, src, H_R10);
	if (op)
		soft_emit_operand(g, size, 0x89, H_R10);
	soft_flags_out(g, u, end);
}

/* Leave if the quotient of high:low and R11 may not fit. Changes R10. */
static void check_quotient(struct soft_compiler *g, const struct soft_uop *u, unsigned int high,
			   unsigned int low)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind);
	struct soft_exit *exit;

	g->live = false;
	if (SOFT_KIND_OP(u->kind) == SOFT_K_DIV) {
		e_rr(&g->e, size, 0x39, H_R11, high);
		soft_leave_if(g, SOFT_JAE, u);
		return;
	}
	/* It fits if high is the sign of low, and the divisor neither 0 nor -1. */
	exit = soft_exit_add(g, (const void *)(uintptr_t)u->plain, u);
	e_rr(&g->e, SOFT_SIZE64, 0x89, low, H_R10);
	e_rr(&g->e, size, 0xc1, 7, H_R10);
	e8(&g->e, (8u << size) - 1);
	e_rr(&g->e, size, 0x39, high, H_R10);
	exit->from[0] = e_jump(&g->e, SOFT_JNE);
	e_rm(&g->e, SOFT_SIZE64, 0x8d, H_R10, H_R11, 1);
	e_rr(&g->e, size, 0x83, 7, H_R10); /* cmp */
	e8(&g->e, 1);
	exit->from[1] = e_jump(&g->e, CC_BE);
}

/* MUL, IMUL, DIV, IDIV by one operand. Host RDX can be another register of the guest. */
static void mul_div(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind), low, high;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM) {
		soft_operand(g, u, size, false);
		soft_emit_operand(g, size, 0x8b, H_R11);
	} else {
		e_rr(&g->e, SOFT_SIZE64, 0x89, soft_hold(g, u->src / 8, true), H_R11);
	}
	low = soft_hold(g, SOFT_R_RAX, true);
	high = soft_hold(g, SOFT_R_RDX, true);
	if (op >= SOFT_K_DIV)
		check_quotient(g, u, high, low);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_RDX, H_R10);
	e_rr(&g->e, SOFT_SIZE64, 0x89, low, H_RAX);
	e_rr(&g->e, SOFT_SIZE64, 0x89, high, H_RDX);
	e_rr(&g->e, size, 0xf7, 4 + op - SOFT_K_MUL, H_R11);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_RDX, H_R11);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R10, H_RDX);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_RAX, low);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R11, high);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, SOFT_R_RAX);
	soft_hold_changed(g, SOFT_R_RDX);
}

static void leave(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int rbp = soft_hold(g, SOFT_R_RBP, true), rsp;

	e_rr(&g->e, SOFT_SIZE64, 0x89, rbp, H_R11);
	soft_to_host(g, u, SOFT_SIZE64, false);
	soft_emit_operand(g, SOFT_SIZE64, 0x8b, H_R10);
	rsp = soft_hold(g, SOFT_R_RSP, false);
	e_rm(&g->e, SOFT_SIZE64, 0x8d, rsp, rbp, 8);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R10, rbp);
	soft_hold_changed(g, SOFT_R_RSP);
	soft_hold_changed(g, SOFT_R_RBP);
}

void soft_emit_special(struct soft_compiler *g, const struct soft_uop *u,
		       const struct soft_uop *end)
{
	switch (SOFT_KIND_OP(u->kind)) {
	case SOFT_K_BSWAP:
		bswap(g, u);
		break;
	case SOFT_K_BASED:
		based(g, u);
		break;
	case SOFT_K_XCHG:
		xchg(g, u);
		break;
	case SOFT_K_SCAN:
		scan(g, u, end);
		break;
	case SOFT_K_SHLD:
	case SOFT_K_SHRD:
		double_shift(g, u, end);
		break;
	case SOFT_K_BT:
		bit_string(g, u, end);
		break;
	case SOFT_K_CMPXCHG:
		cmpxchg(g, u, end);
		break;
	case SOFT_K_XADD:
		xadd(g, u, end);
		break;
	case SOFT_K_LEAVE:
		leave(g, u);
		break;
	default:
		mul_div(g, u, end);
		break;
	}
}
