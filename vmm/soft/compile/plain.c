// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile plain micro-operations: moves, integer arithmetic, PUSH and POP. Those that access memory
 * leave for their function before any change if the TLB has no entry.
 */
#include "soft/compile/plain.h"

void soft_emit_immediate(struct soft_compiler *g, unsigned int size, uint64_t imm)
{
	if (size == 0)
		e8(&g->e, (unsigned int)imm & 0xff);
	else if (size == 1)
		e8(&g->e, (unsigned int)imm & 0xff), e8(&g->e, (unsigned int)(imm >> 8) & 0xff);
	else
		e32(&g->e, imm);
}

void soft_flags_out(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	g->held.flags.steps = 0;
	g->live = true;
	if (soft_flags_matter(u + 1, end))
		soft_flags_save(g);
}

/* Returns the step of a binary operation; false if its flags need more than its registers. */
static bool binary_step(const struct soft_uop *u, unsigned int dst, unsigned int src,
			struct soft_step *s)
{
	unsigned int op = SOFT_KIND_OP(u->kind);

	*s = (struct soft_step){.size = (uint8_t)SOFT_KIND_SIZE(u->kind),
				.a = (uint8_t)dst,
				.b = (uint8_t)src,
				.imm = (int32_t)u->imm};
	switch (op) {
	case SOFT_K_CMP:
		s->kind = SOFT_STEP_CMP;
		return true;
	case SOFT_K_TEST:
		s->kind = SOFT_STEP_TEST;
		return true;
	case SOFT_K_AND:
	case SOFT_K_OR:
	case SOFT_K_XOR:
		s->kind = SOFT_STEP_TEST;
		s->b = s->a;
		return true;
	case SOFT_K_ADD:
	case SOFT_K_SUB:
		s->kind = op == SOFT_K_ADD ? SOFT_STEP_ADD : SOFT_STEP_SUB;
		return dst != src;
	default:
		return false;
	}
}

/* The host's flags are those of the binary operation u. */
static void binary_flags(struct soft_compiler *g, const struct soft_uop *u,
			 const struct soft_uop *end, unsigned int dst, unsigned int src)
{
	unsigned int form = SOFT_KIND_FORM(u->kind);
	struct soft_step s;

	if (form <= SOFT_K_RI && binary_step(u, dst, form == SOFT_K_RI ? H_NONE : src, &s) &&
	    soft_flags_matter(u + 1, end) &&
	    soft_flags_defer(g, u, &s, u->dst / 8, form == SOFT_K_RI ? SOFT_R_SLOTS : u->src / 8))
		g->live = true;
	else
		soft_flags_out(g, u, end);
}

static void binary(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind), dst = 0, src = 0;
	unsigned int form = SOFT_KIND_FORM(u->kind);
	bool test = op == SOFT_K_TEST, keeps = test || op == SOFT_K_CMP;
	unsigned int digit = op - SOFT_K_ADD, opcode = soft_width(test ? 0x84 : digit << 3, size);

	if (form == SOFT_K_RR || form == SOFT_K_RI || form == SOFT_K_RM)
		dst = soft_hold(g, u->dst / 8, true);
	if (form == SOFT_K_RR || form == SOFT_K_MR)
		src = soft_hold(g, u->src / 8, true);
	if (form >= SOFT_K_RM)
		soft_operand(g, u, size, form != SOFT_K_RM && !keeps);
	if (op == SOFT_K_ADC || op == SOFT_K_SBB)
		soft_flags_need_carry(g);
	switch (form) {
	case SOFT_K_RR:
		e_rr(&g->e, size, opcode, src, dst);
		break;
	case SOFT_K_RM:
		soft_emit_operand(g, size, test ? opcode : opcode | 2, dst);
		break;
	case SOFT_K_MR:
		soft_emit_operand(g, size, opcode, src);
		break;
	case SOFT_K_RI:
		e_rr(&g->e, size, soft_width(test ? 0xf6 : 0x80, size), test ? 0 : digit, dst);
		soft_emit_immediate(g, size, u->imm);
		break;
	default:
		soft_emit_operand(g, size, soft_width(test ? 0xf6 : 0x80, size), test ? 0 : digit);
		soft_emit_immediate(g, size, u->imm);
		break;
	}
	if (!keeps && form <= SOFT_K_RM)
		soft_hold_changed(g, u->dst / 8);
	binary_flags(g, u, end, dst, src);
}

/*
 * Before INC and DEC, which keep the carry flag. Returns true if a step tells their flags, or nothing
 * reads them. Otherwise the carry flag is the host's.
 */
static bool begin_count(struct soft_compiler *g, const struct soft_uop *u, unsigned int dst)
{
	const struct soft_step s = {.kind = SOFT_KIND_OP(u->kind) == SOFT_K_INC ? SOFT_STEP_INC
										: SOFT_STEP_DEC,
				    .size = (uint8_t)SOFT_KIND_SIZE(u->kind),
				    .a = (uint8_t)dst,
				    .b = H_NONE};
	bool memory = SOFT_KIND_FORM(u->kind) == SOFT_K_MI;

	if (!soft_flags_matter(u + 1, g->end))
		return false;
	if (!memory && soft_flags_defer(g, u, &s, u->dst / 8, SOFT_R_SLOTS))
		return true;
	soft_flags_need_carry(g);
	return false;
}

static void unary(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind);
	bool counts = op == SOFT_K_INC || op == SOFT_K_DEC, told = op == SOFT_K_NOT;
	bool memory = SOFT_KIND_FORM(u->kind) == SOFT_K_MI;
	unsigned int opcode = soft_width(counts ? 0xfe : 0xf6, size), dst = 0;
	unsigned int digit = counts ? op == SOFT_K_DEC : op == SOFT_K_NEG ? 3 : 2;

	if (memory)
		soft_operand(g, u, size, true);
	else
		dst = soft_hold(g, u->dst / 8, true);
	if (counts)
		told = begin_count(g, u, dst);
	if (memory)
		soft_emit_operand(g, size, opcode, digit);
	else
		e_rr(&g->e, size, opcode, digit, dst);
	if (!memory)
		soft_hold_changed(g, u->dst / 8);
	if (!told)
		soft_flags_out(g, u, end);
}

static void mov(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), form = SOFT_KIND_FORM(u->kind), dst = 0,
		     src = 0;
	bool part = size < 2;

	if (form == SOFT_K_RR || form == SOFT_K_MR)
		src = soft_hold(g, u->src / 8, true);
	if (part && form <= SOFT_K_RM)
		dst = soft_hold(g, u->dst / 8, true);
	if (form >= SOFT_K_RM)
		soft_operand(g, u, size, form != SOFT_K_RM);
	if (!part && form <= SOFT_K_RM)
		dst = soft_hold(g, u->dst / 8, false);
	switch (form) {
	case SOFT_K_RR:
		e_rr(&g->e, size, soft_width(0x88, size), src, dst);
		break;
	case SOFT_K_RI:
		if (part) {
			e_rr(&g->e, size, soft_width(0xc6, size), 0, dst);
			soft_emit_immediate(g, size, u->imm);
		} else {
			e_const(&g->e, dst, size == 2 ? (uint32_t)u->imm : u->imm);
		}
		break;
	case SOFT_K_RM:
		soft_emit_operand(g, size, soft_width(0x8a, size), dst);
		break;
	case SOFT_K_MR:
		soft_emit_operand(g, size, soft_width(0x88, size), src);
		return;
	default:
		soft_emit_operand(g, size, soft_width(0xc6, size), 0);
		soft_emit_immediate(g, size, u->imm);
		return;
	}
	soft_hold_changed(g, u->dst / 8);
}

static void extend(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), from = SOFT_KIND_FROM(u->kind), dst, src = 0;
	unsigned int opcode = from == 2				      ? 0x63
			      : SOFT_KIND_OP(u->kind) == SOFT_K_MOVZX ? 0x0fb6 | from
								      : 0x0fbe | from;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM)
		soft_operand(g, u, from, false);
	else
		src = soft_hold(g, u->src / 8, true);
	dst = soft_hold(g, u->dst / 8, false);
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM)
		soft_emit_operand(g, size, opcode, dst);
	else
		e_rr(&g->e, size, opcode, dst, src);
	soft_hold_changed(g, u->dst / 8);
}

static void lea(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), dst;

	soft_address(g, size, u);
	dst = soft_hold(g, u->dst / 8, false);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R11, dst);
	soft_hold_changed(g, u->dst / 8);
}

/* Return the opcode's extension of a shift or rotation. */
static unsigned int digit_of(unsigned int op)
{
	switch (op) {
	case SOFT_K_ROL:
		return 0;
	case SOFT_K_ROR:
		return 1;
	case SOFT_K_SHL:
		return 4;
	default:
		return op == SOFT_K_SHR ? 5 : 7;
	}
}

/* Shift by RCX. A count of 0 preserves the flags. */
static void shift_by_rcx(struct soft_compiler *g, const struct soft_uop *u,
			 const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind);
	unsigned int dst = soft_hold(g, u->dst / 8, true), count = soft_hold(g, u->src / 8, true);

	e_rr(&g->e, SOFT_SIZE64, 0x89, dst, H_R11);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_RCX, H_R10);
	e_rr(&g->e, SOFT_SIZE64, 0x89, count, H_RCX);
	e_rr(&g->e, size, soft_width(0xd2, size), digit_of(op), H_R11);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R10, H_RCX);
	soft_flags_out(g, u, end);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R11, dst);
	soft_hold_changed(g, u->dst / 8);
}

/* ROL and ROR by a constant keep most flags. Returns true if a step tells theirs. */
static bool begin_rotate(struct soft_compiler *g, const struct soft_uop *u, unsigned int dst)
{
	const struct soft_step s = {.kind = SOFT_KIND_OP(u->kind) == SOFT_K_ROL ? SOFT_STEP_ROL
										: SOFT_STEP_ROR,
				    .size = (uint8_t)SOFT_KIND_SIZE(u->kind),
				    .a = (uint8_t)dst,
				    .b = H_NONE,
				    .imm = (int32_t)(u->imm & 0xff)};

	if (!soft_flags_matter(u + 1, g->end))
		return false;
	if (soft_flags_defer(g, u, &s, u->dst / 8, SOFT_R_SLOTS))
		return true;
	soft_flags_need(g);
	return false;
}

static void shift_memory(struct soft_compiler *g, const struct soft_uop *u,
			 const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind);

	soft_operand(g, u, size, true);
	if ((op == SOFT_K_ROL || op == SOFT_K_ROR) && soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	soft_emit_operand(g, size, soft_width(0xc0, size), digit_of(op));
	e8(&g->e, (unsigned int)u->imm & 0xff);
	soft_flags_out(g, u, end);
}

static void shift(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind), dst;
	bool told = false;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RR) {
		shift_by_rcx(g, u, end);
		return;
	}
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_MI) {
		shift_memory(g, u, end);
		return;
	}
	dst = soft_hold(g, u->dst / 8, true);
	if (op == SOFT_K_ROL || op == SOFT_K_ROR)
		told = begin_rotate(g, u, dst);
	e_rr(&g->e, size, soft_width(0xc0, size), digit_of(op), dst);
	e8(&g->e, (unsigned int)u->imm & 0xff);
	soft_hold_changed(g, u->dst / 8);
	if (!told)
		soft_flags_out(g, u, end);
}

/* BT of registers keeps all flags but the carry flag. Returns true if a step tells it. */
static bool begin_bit(struct soft_compiler *g, const struct soft_uop *u, unsigned int dst,
		      unsigned int src)
{
	const struct soft_step s = {.kind = SOFT_STEP_BT,
				    .size = (uint8_t)SOFT_KIND_SIZE(u->kind),
				    .a = (uint8_t)dst,
				    .b = (uint8_t)src,
				    .imm = (int32_t)(u->imm & 0xff)};

	if (!soft_flags_matter(u + 1, g->end))
		return false;
	if (!SOFT_KIND_FROM(u->kind) &&
	    soft_flags_defer(g, u, &s, u->dst / 8, src == H_NONE ? SOFT_R_SLOTS : u->src / 8))
		return true;
	soft_flags_need(g);
	return false;
}

/* BT, BTS, BTR, BTC of memory by a constant. */
static void bit_memory(struct soft_compiler *g, const struct soft_uop *u,
		       const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_FROM(u->kind), size = SOFT_KIND_SIZE(u->kind);

	soft_operand(g, u, size, op);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	soft_emit_operand(g, size, 0x0fba, 4 + op);
	e8(&g->e, (unsigned int)u->imm & 0xff);
	soft_flags_out(g, u, end);
}

/* BT, BTS, BTR, BTC of a register. They set the carry flag. */
static void bit(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_FROM(u->kind), size = SOFT_KIND_SIZE(u->kind);
	unsigned int dst = soft_hold(g, u->dst / 8, true), src = H_NONE;
	bool told;

	if (SOFT_KIND_FORM(u->kind) != SOFT_K_RI)
		src = soft_hold(g, u->src / 8, true);
	told = begin_bit(g, u, dst, src);
	if (src == H_NONE) {
		e_rr(&g->e, size, 0x0fba, 4 + op, dst);
		e8(&g->e, (unsigned int)u->imm & 0xff);
	} else {
		e_rr(&g->e, size, 0x0fa3 + 8 * op, src, dst);
	}
	if (op)
		soft_hold_changed(g, u->dst / 8);
	if (!told)
		soft_flags_out(g, u, end);
}

static void sign(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind);
	unsigned int src = soft_hold(g, u->src / 8, true), dst;

	dst = soft_hold(g, u->dst / 8, false);
	e_rr(&g->e, size, 0x89, src, dst);
	e_rr(&g->e, size, 0xc1, 7, dst); /* sar */
	e8(&g->e, (8u << size) - 1);
	g->live = false;
	soft_hold_changed(g, u->dst / 8);
}

/* IMUL. Some of its flags keep their values on some processors. */
static void imul(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	bool three = SOFT_KIND_OP(u->kind) == SOFT_K_IMUL3,
	     memory = SOFT_KIND_FORM(u->kind) == SOFT_K_RM;
	unsigned int size = SOFT_KIND_SIZE(u->kind), dst, src = 0;
	unsigned int opcode = three ? 0x69 : 0x0faf;

	if (memory)
		soft_operand(g, u, size, false);
	else
		src = soft_hold(g, u->src / 8, true);
	dst = soft_hold(g, u->dst / 8, !three);
	if (soft_flags_matter(u + 1, end))
		soft_flags_need(g);
	if (memory)
		soft_emit_operand(g, size, opcode, dst);
	else
		e_rr(&g->e, size, opcode, dst, src);
	if (three)
		soft_emit_immediate(g, size, u->imm);
	soft_flags_out(g, u, end);
	soft_hold_changed(g, u->dst / 8);
}

static void cmov(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), opcode = 0x0f40 | SOFT_KIND_FROM(u->kind);
	unsigned int dst = soft_hold(g, u->dst / 8, true), src = 0;
	bool memory = SOFT_KIND_FORM(u->kind) == SOFT_K_RM;

	if (memory)
		soft_operand(g, u, size, false);
	else
		src = soft_hold(g, u->src / 8, true);
	soft_flags_need(g);
	if (memory)
		soft_emit_operand(g, size, opcode, dst);
	else
		e_rr(&g->e, size, opcode, dst, src);
	soft_hold_changed(g, u->dst / 8);
}

static void set(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int dst;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_MI) {
		soft_operand(g, u, 0, true);
		soft_flags_need(g);
		soft_emit_operand(g, 0, 0x0f90 | SOFT_KIND_FROM(u->kind), 0);
		return;
	}
	dst = soft_hold(g, u->dst / 8, true);
	soft_flags_need(g);
	e_rr(&g->e, 0, 0x0f90 | SOFT_KIND_FROM(u->kind), 0, dst);
	soft_hold_changed(g, u->dst / 8);
}

static void push(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int src;

	soft_stack_operand(g, u);
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RI) {
		soft_emit_operand(g, SOFT_SIZE64, 0xc7, 0);
		e32(&g->e, u->imm);
	} else {
		src = soft_hold(g, u->src / 8, true);
		soft_emit_operand(g, SOFT_SIZE64, 0x89, src);
	}
	soft_hold_move_rsp(g, -8);
}

static void pop(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int dst;

	soft_stack_operand(g, u);
	dst = soft_hold(g, u->dst / 8, false);
	soft_emit_operand(g, SOFT_SIZE64, 0x8b, dst);
	soft_hold_changed(g, u->dst / 8);
	soft_hold_move_rsp(g, 8);
}

/* Emit the code of the micro-operation that writes a word to the log. */
static void write_log(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_emit *e = &g->e;
	uint8_t *none;

	e_rm(e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(log));
	e_rr(e, SOFT_SIZE64, 0x85, H_RAX, H_RAX);
	none = e_jump(e, SOFT_JE);
	e_rm(e, SOFT_SIZE64, 0x8b, H_R10, H_RAX, SOFT_AT_LOG(at));
	e_rm(e, SOFT_SIZE64, 0x3b, H_R10, H_RAX, SOFT_AT_LOG(end));
	soft_leave_if(g, SOFT_JE, u);
	e_rm(e, 2, 0xc7, 0, H_R10, 0); /* mov dword [r10], aux */
	e32(e, u->aux);
	e_rm(e, SOFT_SIZE64, 0x8d, H_R10, H_R10, sizeof(uint32_t));
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RAX, SOFT_AT_LOG(at));
	e_const(e, H_R11, (uint64_t)(uintptr_t)u);
	e_rm(e, SOFT_SIZE64, 0x89, H_R11, H_RDI, SOFT_AT(logged));
	e_aim(e, none);
	g->live = false;
}

static void count(struct soft_compiler *g)
{
	e_rm(&g->e, SOFT_SIZE64, 0xff, 0, H_RDI, SOFT_AT(base.branches)); /* inc */
	g->live = false;
}

/* Returns true if there is code for operands of 8 and 16 bits. Others of this size are rare. */
static bool can_be_narrow(unsigned int op)
{
	return op <= SOFT_K_MOV || (op >= SOFT_K_SHL && op <= SOFT_K_SAR) || op == SOFT_K_ROL ||
	       op == SOFT_K_ROR || op == SOFT_K_SET;
}

bool soft_is_plain(const struct soft_uop *u)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);
	unsigned int size = SOFT_KIND_SIZE(u->kind);
	bool memory = form >= SOFT_K_RM || op == SOFT_K_LEA || op == SOFT_K_BASED;

	if (op == SOFT_K_NONE || (soft_has_high(u) && !soft_can_high(u)))
		return false;
	if (op == SOFT_K_LOG || op == SOFT_K_COUNT)
		return true;
	if (memory && (int64_t)(int32_t)u->disp != u->disp)
		return false;
	if (op >= SOFT_K_JCC)
		return true;
	/* Only MOV has immediates of 64 bits. */
	if ((form == SOFT_K_RI || form == SOFT_K_MI) && size == 3 &&
	    (op != SOFT_K_MOV || form == SOFT_K_MI) && (int64_t)(int32_t)u->imm != (int64_t)u->imm)
		return false;
	if (op == SOFT_K_IMUL3 && (int64_t)(int32_t)u->imm != (int64_t)u->imm && size == 3)
		return false;
	return size >= 2 || can_be_narrow(op);
}

void soft_emit_plain(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	if (soft_has_high(u)) {
		soft_emit_high(g, u, end);
		return;
	}
	switch (SOFT_KIND_OP(u->kind)) {
	case SOFT_K_INC:
	case SOFT_K_DEC:
	case SOFT_K_NEG:
	case SOFT_K_NOT:
		unary(g, u, end);
		break;
	case SOFT_K_MOV:
		mov(g, u);
		break;
	case SOFT_K_MOVZX:
	case SOFT_K_MOVSX:
		extend(g, u);
		break;
	case SOFT_K_LEA:
		lea(g, u);
		break;
	case SOFT_K_SHL:
	case SOFT_K_SHR:
	case SOFT_K_SAR:
	case SOFT_K_ROL:
	case SOFT_K_ROR:
		shift(g, u, end);
		break;
	case SOFT_K_BT:
		if (SOFT_KIND_FORM(u->kind) == SOFT_K_AR)
			soft_emit_special(g, u, end);
		else if (SOFT_KIND_FORM(u->kind) >= SOFT_K_RM)
			bit_memory(g, u, end);
		else
			bit(g, u, end);
		break;
	case SOFT_K_SIGN:
		sign(g, u);
		break;
	case SOFT_K_NOP:
		break;
	case SOFT_K_IMUL:
	case SOFT_K_IMUL3:
		imul(g, u, end);
		break;
	case SOFT_K_CMOV:
		cmov(g, u);
		break;
	case SOFT_K_SET:
		set(g, u);
		break;
	case SOFT_K_PUSH:
		push(g, u);
		break;
	case SOFT_K_POP:
		pop(g, u);
		break;
	case SOFT_K_LOG:
		write_log(g, u);
		break;
	case SOFT_K_COUNT:
		count(g);
		break;
	case SOFT_K_JCC:
	case SOFT_K_JMP:
	case SOFT_K_NEXT:
		soft_emit_end(g, u);
		break;
	case SOFT_K_CALL:
	case SOFT_K_RET:
	case SOFT_K_JUMP_TO:
	case SOFT_K_CALL_TO:
		soft_emit_far_end(g, u);
		break;
	case SOFT_K_BSWAP:
	case SOFT_K_BASED:
	case SOFT_K_XCHG:
	case SOFT_K_SHLD:
	case SOFT_K_SHRD:
	case SOFT_K_SCAN:
	case SOFT_K_CMPXCHG:
	case SOFT_K_XADD:
	case SOFT_K_MUL:
	case SOFT_K_IMUL1:
	case SOFT_K_DIV:
	case SOFT_K_IDIV:
	case SOFT_K_LEAVE:
		soft_emit_special(g, u, end);
		break;
	default:
		binary(g, u, end);
		break;
	}
}
