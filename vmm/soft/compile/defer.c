// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arithmetic flags in compiled code. Most flags are never read, but each exit needs them in memory.
 * So an instruction that sets flags leaves a step, from whose registers they can be made again. An
 * exit makes them out of line. There is no step if its registers change too early.
 */
#include "soft/compile/plain.h"

enum { SIZE32 = 2 };

/* Returns true if the step sets all flags. Others keep some of those before. */
static bool is_whole(const struct soft_step *s)
{
	return s->kind <= SOFT_STEP_SUB;
}

/* Returns true if the step computes in R10. */
static bool needs_scratch(const struct soft_step *s)
{
	return s->kind >= SOFT_STEP_ADD && s->kind != SOFT_STEP_BT;
}

static void immediate(struct soft_emit *e, unsigned int size, int32_t imm)
{
	if (size == 0)
		e8(e, (uint32_t)imm & 0xff);
	else if (size == 1)
		e8(e, (uint32_t)imm & 0xff), e8(e, (uint32_t)imm >> 8 & 0xff);
	else
		e32(e, (uint32_t)imm);
}

/* Emit the instruction of this digit in the first opcode row: to, and the step's second operand. */
static void with_operand(struct soft_emit *e, const struct soft_step *s, unsigned int digit,
			 unsigned int to)
{
	if (s->b != H_NONE) {
		e_rr(e, s->size, digit << 3 | (s->size != 0), s->b, to);
		return;
	}
	e_rr(e, s->size, 0x80 | (s->size != 0), digit, to);
	immediate(e, s->size, s->imm);
}

static void rotate(struct soft_emit *e, const struct soft_step *s, bool left)
{
	e_rr(e, s->size, 0xc0 | (s->size != 0), left ? 0 : 1, H_R10);
	e8(e, (uint32_t)s->imm & 0xff);
}

/* Emit what sets the flags of a step. Rotations have their operand in R10. */
static void replay_step(struct soft_emit *e, const struct soft_step *s)
{
	const bool wide = s->size != 0;

	switch (s->kind) {
	case SOFT_STEP_TEST:
		if (s->b != H_NONE) {
			e_rr(e, s->size, 0x84 | wide, s->b, s->a);
			break;
		}
		e_rr(e, s->size, 0xf6 | wide, 0, s->a);
		immediate(e, s->size, s->imm);
		break;
	case SOFT_STEP_CMP:
		with_operand(e, s, 7, s->a);
		break;
	case SOFT_STEP_ADD:
	case SOFT_STEP_SUB:
		e_rr(e, SOFT_SIZE64, 0x89, s->a, H_R10);
		with_operand(e, s, s->kind == SOFT_STEP_ADD ? 5 : 0, H_R10);
		with_operand(e, s, s->kind == SOFT_STEP_ADD ? 0 : 5, H_R10);
		break;
	case SOFT_STEP_INC:
	case SOFT_STEP_DEC:
		e_rm(e, SOFT_SIZE64, 0x8d, H_R10, s->a, s->kind == SOFT_STEP_INC ? -1 : 1);
		e_rr(e, s->size, 0xfe | wide, s->kind == SOFT_STEP_DEC, H_R10);
		break;
	case SOFT_STEP_ROL:
	case SOFT_STEP_ROR:
		rotate(e, s, s->kind == SOFT_STEP_ROL);
		break;
	default:
		if (s->b != H_NONE) {
			e_rr(e, s->size, 0x0fa3, s->b, s->a);
			break;
		}
		e_rr(e, s->size, 0x0fba, 4, s->a);
		e8(e, (uint32_t)s->imm & 0xff);
		break;
	}
}

/* The flags in memory become the host's. Changes RAX. */
static void load(struct soft_emit *e)
{
	e_rm(e, SIZE32, 0x0fb7, H_RAX, H_RDI, SOFT_AT(fl));
	e8(e, 0x04), e8(e, 0x7f); /* add al, 127: overflows if it is 1 */
	e8(e, 0x9e);		  /* sahf */
}

/* The host's flags become those in memory. Changes RAX. */
static void save(struct soft_emit *e)
{
	e8(e, 0x9f);		  /* lahf */
	e8(e, 0x0f), e8(e, 0x90); /* seto al */
	e8(e, 0xc0);
	e_rm(e, 1, 0x89, H_RAX, H_RDI, SOFT_AT(fl));
}

/* The guest's flags become the host's. Changes RAX and R10. */
static void replay(struct soft_emit *e, const struct soft_flags *flags)
{
	unsigned int i;

	for (i = 0; i < flags->steps; i++)
		if (flags->step[i].kind == SOFT_STEP_ROL || flags->step[i].kind == SOFT_STEP_ROR) {
			e_rr(e, SOFT_SIZE64, 0x89, flags->step[i].a, H_R10);
			rotate(e, &flags->step[i], flags->step[i].kind == SOFT_STEP_ROR);
		}
	if (!flags->steps || !is_whole(&flags->step[0]))
		load(e);
	for (i = 0; i < flags->steps; i++)
		replay_step(e, &flags->step[i]);
}

void soft_flags_emit(struct soft_emit *e, const struct soft_flags *flags)
{
	if (!flags->steps)
		return;
	replay(e, flags);
	save(e);
}

void soft_flags_need(struct soft_compiler *g)
{
	if (!g->live)
		replay(&g->e, &g->held.flags);
	g->live = true;
}

void soft_flags_store(struct soft_compiler *g)
{
	if (!g->held.flags.steps)
		return;
	soft_flags_need(g);
	save(&g->e);
	g->held.flags.steps = 0;
}

bool soft_flags_use(const struct soft_flags *flags, unsigned int host)
{
	unsigned int i;

	for (i = 0; i < flags->steps; i++)
		if (flags->step[i].a == host || flags->step[i].b == host)
			return true;
	return false;
}

void soft_flags_need_carry(struct soft_compiler *g)
{
	if (g->live)
		return;
	if (g->held.flags.steps) {
		soft_flags_need(g);
		return;
	}
	e_rm(&g->e, 1, 0x0fba, 4, H_RDI, SOFT_AT(fl)); /* bt word, 8 */
	e8(&g->e, 8);
}

/* Returns true if the micro-operation sets all flags and cannot leave. */
static bool sets_all(const struct soft_uop *u)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);

	if (form >= SOFT_K_RM || op == SOFT_K_NONE || op == SOFT_K_ADC || op == SOFT_K_SBB)
		return false;
	return op <= SOFT_K_TEST || op == SOFT_K_NEG ||
	       (op >= SOFT_K_SHL && op <= SOFT_K_SAR && form == SOFT_K_RI);
}

/* Returns true if it keeps some flags, or all, and neither reads them nor leaves. */
static bool passes(const struct soft_uop *u)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);

	if (form >= SOFT_K_RM || op == SOFT_K_NONE)
		return false;
	return (op >= SOFT_K_INC && op <= SOFT_K_LEA && op != SOFT_K_NEG) ||
	       (op >= SOFT_K_SHL && op <= SOFT_K_NOP);
}

bool soft_flags_matter(const struct soft_uop *u, const struct soft_uop *end)
{
	for (; u < end; u++) {
		if (sets_all(u))
			return false;
		if (!passes(u))
			return true;
	}
	return true;
}

bool soft_changes(const struct soft_uop *u, unsigned int slot)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);
	bool is_dst = slot == u->dst / 8;

	if (op == SOFT_K_CMP || op == SOFT_K_TEST || op >= SOFT_K_JCC ||
	    (op == SOFT_K_BT && !SOFT_KIND_FROM(u->kind)))
		return false;
	switch (op) {
	case SOFT_K_PUSH:
		return slot == SOFT_R_RSP;
	case SOFT_K_POP:
		return slot == SOFT_R_RSP || is_dst;
	case SOFT_K_XCHG:
		return is_dst || slot == u->src / 8;
	case SOFT_K_CMPXCHG:
	case SOFT_K_XADD:
		return is_dst;
	case SOFT_K_MUL:
	case SOFT_K_IMUL1:
	case SOFT_K_DIV:
	case SOFT_K_IDIV:
		return slot == SOFT_R_RAX || slot == SOFT_R_RDX;
	case SOFT_K_LEAVE:
		return slot == SOFT_R_RSP || slot == SOFT_R_RBP;
	default:
		return form <= SOFT_K_RM && is_dst;
	}
}

/* Returns true if the end of a block, which is no outcome, leads to code that does not need flags. */
static bool end_is_inside(const struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int link;

	for (link = 0; link < SOFT_LINKS; link++)
		if (!soft_needs_flags(g, u, link))
			return true;
	return false;
}

static bool moves_rsp(unsigned int op)
{
	return op == SOFT_K_CALL || op == SOFT_K_RET || op == SOFT_K_CALL_TO;
}

/*
 * Returns true if the registers a and b of a step of `u` do not change while its flags can be read.
 * Exits alone must seem to read them. Otherwise the flags are saved at once.
 */
static bool pays(const struct soft_compiler *g, const struct soft_uop *u, unsigned int a,
		 unsigned int b)
{
	for (u++; u < g->end; u++) {
		unsigned int op = SOFT_KIND_OP(u->kind);

		if (sets_all(u) || op == SOFT_K_JCC)
			return true;
		if (op >= SOFT_K_JMP)
			return end_is_inside(g, u) &&
			       !(moves_rsp(op) && (a == SOFT_R_RSP || b == SOFT_R_RSP));
		if (soft_changes(u, a) || soft_changes(u, b))
			return false;
		/* These read the flags, or set all. */
		if (op <= SOFT_K_TEST || op == SOFT_K_NEG || op == SOFT_K_IMUL ||
		    op == SOFT_K_IMUL3)
			return true;
	}
	return false;
}

/* Returns true if the registers of a step can be kept while others are found for the rest. */
static bool can_keep(const struct soft_compiler *g, const struct soft_step *s)
{
	unsigned int i, kept = 0, others = 0;

	for (i = g->fixed; i < g->pool; i++) {
		unsigned int host = soft_hold_host(i);

		if (host == s->a || host == s->b)
			kept++;
		else
			others += !soft_flags_use(&g->held.flags, host);
	}
	return !kept || others >= 3;
}

/* Returns true if the step can follow those before it. */
static bool fits(const struct soft_flags *flags, const struct soft_step *s)
{
	unsigned int i;

	if (is_whole(s))
		return true;
	if (flags->steps == SOFT_STEPS)
		return false;
	/* A rotation has R10 for itself. */
	for (i = 0; i < flags->steps; i++)
		if (needs_scratch(s) && needs_scratch(&flags->step[i]) &&
		    (s->kind >= SOFT_STEP_ROL || flags->step[i].kind >= SOFT_STEP_ROL))
			return false;
	return true;
}

bool soft_flags_defer(struct soft_compiler *g, const struct soft_uop *u, const struct soft_step *s,
		      unsigned int slot_a, unsigned int slot_b)
{
	struct soft_flags *flags = &g->held.flags;

	if (!fits(flags, s) || !can_keep(g, s) || !pays(g, u, slot_a, slot_b))
		return false;
	if (is_whole(s))
		flags->steps = 0;
	flags->step[flags->steps++] = *s;
	return true;
}

void soft_flags_save(struct soft_compiler *g)
{
	save(&g->e);
	g->held.flags.steps = 0;
	g->live = true;
}

bool soft_flags_dead(const struct soft_block *b)
{
	unsigned int plain = 0;

	while (plain < b->uops && soft_is_plain(&b->uop[plain]))
		plain++;
	return !soft_flags_matter(b->uop, b->uop + plain);
}
