// SPDX-License-Identifier: GPL-2.0-or-later
/* PUSH, POP, PUSHA, POPA, ENTER and LEAVE. */
#include "soft/stack.h"

#include "soft/kind.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))
/* The slot of the value that PUSH of memory has loaded. Compiled CALLs use T0 and T1. */
#define SLOT_PUSHED (SOFT_R_T0 + 2)
#define PUSHED	    (SLOT_PUSHED * 8)

/* The fast handlers are for 64-bit operands in 64-bit mode, the most frequent case. */
SOFT_UOP(push64)
{
	uint64_t sp = c->r[SOFT_R_RSP] - 8;

	soft_store64(c, u, sp, SOFT_REG(c, u->src, uint64_t));
	c->r[SOFT_R_RSP] = sp;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(push64_imm)
{
	uint64_t sp = c->r[SOFT_R_RSP] - 8;

	soft_store64(c, u, sp, u->imm);
	c->r[SOFT_R_RSP] = sp;
	return SOFT_NEXT(c, u);
}

/* POP RSP keeps the popped value. */
SOFT_UOP(pop64)
{
	uint64_t value = soft_load64(c, u, c->r[SOFT_R_RSP]);

	c->r[SOFT_R_RSP] += 8;
	SOFT_REG(c, u->dst, uint64_t) = value;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(leave64)
{
	uint64_t rbp = c->r[SOFT_R_RBP], value = soft_load64(c, u, rbp);

	c->r[SOFT_R_RSP] = rbp + 8;
	c->r[SOFT_R_RBP] = value;
	return SOFT_NEXT(c, u);
}

/* Handlers for all other cases. u->aux is the operand size in bytes. */
SOFT_UOP(push_any)
{
	soft_push(c, u, u->aux, SOFT_REG(c, u->src, uint64_t));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(push_imm)
{
	soft_push(c, u, u->aux, u->imm);
	return SOFT_NEXT(c, u);
}

static void put(struct soft *c, unsigned int offset, unsigned int size, uint64_t value)
{
	if (size == 2)
		soft_put16(c, offset, (uint16_t)value);
	else
		soft_put64(c, offset, size == 4 ? (uint32_t)value : value);
}

static NOINLINE void do_pop_any(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = soft_peek(c, u, u->aux);

	soft_move_sp(c, (int64_t)u->aux);
	put(c, u->dst, u->aux, value);
}

SOFT_UOP(pop_any)
{
	do_pop_any(c, u);
	return SOFT_NEXT(c, u);
}

/* POP to memory changes SP only after the store has succeeded. */
SOFT_UOP(peek)
{
	c->r[SOFT_R_T0] = soft_peek(c, u, u->aux);
	return SOFT_NEXT(c, u);
}

#define POP_MEMORY(bits)                                                                \
	SOFT_UOP(pop_memory##bits)                                                      \
	{                                                                               \
		soft_store##bits(c, u, soft_ea(c, u), (uint##bits##_t)c->r[SOFT_R_T0]); \
		soft_move_sp(c, (bits) / 8);                                            \
		return SOFT_NEXT(c, u);                                                 \
	}
POP_MEMORY(16)
POP_MEMORY(32)
POP_MEMORY(64)

#define LOAD_PUSHED(bits)                                                 \
	SOFT_UOP(load##bits)                                              \
	{                                                                 \
		c->r[SLOT_PUSHED] = soft_load##bits(c, u, soft_ea(c, u)); \
		return SOFT_NEXT(c, u);                                   \
	}
LOAD_PUSHED(16)
LOAD_PUSHED(32)
LOAD_PUSHED(64)

/* u->imm is the segment. A 32-bit PUSH writes only the 16 bits of the selector. */
static NOINLINE void do_push_segment(struct soft *c, const struct soft_uop *u)
{
	uint16_t selector = soft_seg_cache(c, (enum soft_seg)u->imm)->selector;

	if (u->aux != 4) {
		soft_push(c, u, u->aux, selector);
		return;
	}
	soft_write(c, u, soft_stack(c, u, -4, 4), &selector, 2);
	soft_move_sp(c, -4);
}

SOFT_UOP(push_segment)
{
	do_push_segment(c, u);
	return SOFT_NEXT(c, u);
}

/* The order in which PUSHA stores registers. */
static const uint8_t all_slots[8] = {SOFT_R_RAX, SOFT_R_RCX, SOFT_R_RDX, SOFT_R_RBX,
				     SOFT_R_RSP, SOFT_R_RBP, SOFT_R_RSI, SOFT_R_RDI};

/* Load one of several values. A 16-bit stack can wrap between two of them. */
static uint64_t load_at(struct soft *c, const struct soft_uop *u, int64_t offset)
{
	uint64_t value = 0;

	soft_read(c, u, soft_stack(c, u, offset, u->aux), &value, u->aux);
	return value;
}

static void store_at(struct soft *c, const struct soft_uop *u, int64_t offset, uint64_t value)
{
	soft_write(c, u, soft_stack(c, u, offset, u->aux), &value, u->aux);
}

/* Fault unless the value can be stored. Callers probe all values before they store one. */
static void probe_at(struct soft *c, const struct soft_uop *u, int64_t offset)
{
	soft_probe_write(c, u, soft_stack(c, u, offset, u->aux), u->aux);
}

static NOINLINE void do_pusha(struct soft *c, const struct soft_uop *u)
{
	int64_t size = u->aux;
	unsigned int i;

	for (i = 0; i < 8; i++)
		probe_at(c, u, -size * (i + 1));
	for (i = 0; i < 8; i++)
		store_at(c, u, -size * (i + 1), c->r[all_slots[i]]);
	soft_move_sp(c, -8 * size);
}

static NOINLINE void do_popa(struct soft *c, const struct soft_uop *u)
{
	uint64_t value[8];
	int64_t size = u->aux;
	unsigned int i;

	for (i = 0; i < 8; i++)
		value[i] = load_at(c, u, size * (7 - i));
	for (i = 0; i < 8; i++)
		if (all_slots[i] != SOFT_R_RSP)
			put(c, all_slots[i] * 8u, u->aux, value[i]);
	soft_move_sp(c, 8 * size);
}

/* Return the linear address at RBP plus `offset`, with the width of the stack. */
static uint64_t frame_address(struct soft *c, const struct soft_uop *u, int64_t offset)
{
	int64_t delta = (int64_t)(c->r[SOFT_R_RBP] - c->r[SOFT_R_RSP]);

	return soft_stack(c, u, delta + offset, u->aux);
}

/*
 * u->imm is the number of bytes to allocate, and u->scale the nesting level. The frame pointers of
 * outer levels are copied one at a time, because source and destination may overlap.
 */
static NOINLINE void do_enter(struct soft *c, const struct soft_uop *u)
{
	int64_t size = u->aux, level = u->scale, words = level ? level + 1 : 1, i;
	uint64_t frame = c->r[SOFT_R_RSP] - (uint64_t)size, value = 0;

	for (i = 1; i <= words; i++)
		probe_at(c, u, -size * i);
	for (i = 1; i < level; i++)
		soft_read(c, u, frame_address(c, u, -size * i), &value, u->aux);
	probe_at(c, u, -size * words - (int64_t)u->imm);
	store_at(c, u, -size, c->r[SOFT_R_RBP]);
	for (i = 1; i < level; i++) {
		value = 0;
		soft_read(c, u, frame_address(c, u, -size * i), &value, u->aux);
		store_at(c, u, -size * (i + 1), value);
	}
	if (level)
		store_at(c, u, -size * words, frame);
	soft_move_sp(c, -size * words - (int64_t)u->imm);
	if (c->bits != 64 && !(c->s.ss.ar & X86_AR_DB))
		soft_put16(c, SOFT_R_RBP * 8, (uint16_t)frame);
	else
		put(c, SOFT_R_RBP * 8, u->aux, frame);
}

static NOINLINE void do_leave(struct soft *c, const struct soft_uop *u)
{
	int64_t delta = (int64_t)(c->r[SOFT_R_RBP] - c->r[SOFT_R_RSP]);
	uint64_t value = load_at(c, u, delta);

	soft_move_sp(c, delta + (int64_t)u->aux);
	put(c, SOFT_R_RBP * 8, u->aux, value);
}

#define UOP_OF(name)                    \
	SOFT_UOP(name)                  \
	{                               \
		do_##name(c, u);        \
		return SOFT_NEXT(c, u); \
	}
UOP_OF(pusha)
UOP_OF(popa)
UOP_OF(enter)
UOP_OF(leave)

static struct soft_uop *emit(struct soft_translation *t, soft_uop_fn fn)
{
	struct soft_uop *u = soft_tr_emit(t, fn);

	u->flags = SOFT_UOP_SS;
	u->aux = t->insn->operand_width / 8u;
	return u;
}

/* Select the handler for an operand size of 2, 4 or 8 bytes. */
#define BY_SIZE(name, size) ((size) == 2 ? name##16 : (size) == 4 ? name##32 : name##64)

static bool is_segment(const struct soft_translation *t)
{
	return t->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && !soft_tr_is_gpr(t, 0);
}

static bool push(struct soft_translation *t, bool fast)
{
	struct soft_address a;
	struct soft_uop *u;

	if (is_segment(t)) {
		emit(t, push_segment)->imm = (uint64_t)(t->op[0].reg.value - ZYDIS_REGISTER_ES);
	} else if (soft_tr_is_imm(t, 0)) {
		u = emit(t, fast ? push64_imm : push_imm);
		u->imm = soft_tr_imm(t, 0);
		u->kind = fast ? SOFT_KIND(SOFT_K_PUSH, SOFT_K_RI, 3, 0) : 0;
	} else if (soft_tr_is_mem(t, 0)) {
		a = soft_tr_address(t, 0, t->size, false);
		u = soft_tr_emit(t, BY_SIZE(load, t->size));
		soft_tr_put_address(u, &a);
		u->dst = PUSHED;
		u->kind = fast ? SOFT_KIND(SOFT_K_MOV, SOFT_K_RM, 3, 0) : 0;
		u = emit(t, fast ? push64 : push_any);
		u->src = PUSHED;
		u->kind = fast ? SOFT_KIND(SOFT_K_PUSH, SOFT_K_RR, 3, 0) : 0;
	} else {
		u = emit(t, fast ? push64 : push_any);
		u->src = soft_tr_gpr(t, 0);
		u->kind = fast ? SOFT_KIND(SOFT_K_PUSH, SOFT_K_RR, 3, 0) : 0;
	}
	return true;
}

/* Return the address of the operand of POP. An address based on RSP uses RSP after the POP. */
static struct soft_address popped_address(struct soft_translation *t)
{
	const ZydisDecodedOperand *op = t->op;
	ZydisDecodedOperand moved = op[0];
	struct soft_address a;

	if (soft_tr_reg(moved.mem.base) == SOFT_R_RSP * 8) {
		moved.mem.disp.has_displacement = true;
		moved.mem.disp.value += t->size;
	}
	t->op = &moved;
	a = soft_tr_address(t, 0, t->size, true);
	t->op = op;
	return a;
}

static bool pop(struct soft_translation *t, bool fast)
{
	struct soft_address a;
	struct soft_uop *u;

	if (is_segment(t))
		return soft_tr_segment(t);
	if (!soft_tr_is_mem(t, 0)) {
		u = emit(t, fast ? pop64 : pop_any);
		u->dst = soft_tr_gpr(t, 0);
		u->kind = fast && u->dst != SOFT_R_RSP * 8 ? SOFT_KIND(SOFT_K_POP, SOFT_K_RR, 3, 0)
							   : 0;
		return true;
	}
	emit(t, peek);
	a = popped_address(t);
	soft_tr_put_address(soft_tr_emit(t, BY_SIZE(pop_memory, t->size)), &a);
	return true;
}

static bool enter_frame(struct soft_translation *t)
{
	struct soft_uop *u = emit(t, enter);

	u->imm = (uint16_t)soft_tr_imm(t, 0);
	u->scale = soft_tr_imm(t, 1) & 31;
	return true;
}

bool soft_tr_stack(struct soft_translation *t)
{
	bool fast = t->bits == 64 && t->insn->operand_width == 64;
	struct soft_uop *u;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		return push(t, fast);
	case ZYDIS_MNEMONIC_POP:
		return pop(t, fast);
	case ZYDIS_MNEMONIC_PUSHA:
	case ZYDIS_MNEMONIC_PUSHAD:
		emit(t, pusha);
		return true;
	case ZYDIS_MNEMONIC_POPA:
	case ZYDIS_MNEMONIC_POPAD:
		emit(t, popa);
		return true;
	case ZYDIS_MNEMONIC_ENTER:
		return enter_frame(t);
	case ZYDIS_MNEMONIC_LEAVE:
		u = emit(t, fast ? leave64 : leave);
		u->dst = SOFT_R_RSP * 8;
		u->src = SOFT_R_RBP * 8;
		u->kind = fast ? SOFT_KIND(SOFT_K_LEAVE, SOFT_K_RR, 3, 0) : 0;
		return true;
	default:
		return false;
	}
}
