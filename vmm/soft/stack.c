// SPDX-License-Identifier: GPL-2.0-or-later
/* PUSH and POP in all their forms, ENTER and LEAVE, flags on the stack. */
#include "soft/stack.h"

#include "soft/kind.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))
#define T0	 (VPT_R_T0 * 8)

/* 64-bit mode, 64-bit operands: nearly all that there are. */
VPT_UOP(push64)
{
	uint64_t sp = c->r[VPT_R_RSP] - 8;

	vpt_store64(c, u, sp, VPT_REG(c, u->src, uint64_t));
	c->r[VPT_R_RSP] = sp;
	return VPT_NEXT(c, u);
}

VPT_UOP(push64_imm)
{
	uint64_t sp = c->r[VPT_R_RSP] - 8;

	vpt_store64(c, u, sp, u->imm);
	c->r[VPT_R_RSP] = sp;
	return VPT_NEXT(c, u);
}

/* POP RSP: what was popped stays. */
VPT_UOP(pop64)
{
	uint64_t value = vpt_load64(c, u, c->r[VPT_R_RSP]);

	c->r[VPT_R_RSP] += 8;
	VPT_REG(c, u->dst, uint64_t) = value;
	return VPT_NEXT(c, u);
}

VPT_UOP(leave64)
{
	uint64_t rbp = c->r[VPT_R_RBP], value = vpt_load64(c, u, rbp);

	c->r[VPT_R_RSP] = rbp + 8;
	c->r[VPT_R_RBP] = value;
	return VPT_NEXT(c, u);
}

/* The others; aux: operand bytes. */
VPT_UOP(push_any)
{
	vpt_soft_push(c, u, u->aux, VPT_REG(c, u->src, uint64_t));
	return VPT_NEXT(c, u);
}

VPT_UOP(push_imm)
{
	vpt_soft_push(c, u, u->aux, u->imm);
	return VPT_NEXT(c, u);
}

static void put(struct vpt_soft *c, unsigned int offset, unsigned int size, uint64_t value)
{
	if (size == 2)
		vpt_put16(c, offset, (uint16_t)value);
	else
		vpt_put64(c, offset, size == 4 ? (uint32_t)value : value);
}

static NOINLINE void do_pop_any(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value = vpt_soft_peek(c, u, u->aux);

	vpt_soft_move_sp(c, (int64_t)u->aux);
	put(c, u->dst, u->aux, value);
}

VPT_UOP(pop_any)
{
	do_pop_any(c, u);
	return VPT_NEXT(c, u);
}

/* POP to memory: SP moves when the store has succeeded. */
VPT_UOP(peek)
{
	c->r[VPT_R_T0] = vpt_soft_peek(c, u, u->aux);
	return VPT_NEXT(c, u);
}

#define POP_MEMORY(bits)                                                             \
	VPT_UOP(pop_memory##bits)                                                    \
	{                                                                            \
		vpt_store##bits(c, u, vpt_ea(c, u), (uint##bits##_t)c->r[VPT_R_T0]); \
		vpt_soft_move_sp(c, (bits) / 8);                                     \
		return VPT_NEXT(c, u);                                               \
	}
POP_MEMORY(16)
POP_MEMORY(32)
POP_MEMORY(64)

#define LOAD_T0(bits)                                                \
	VPT_UOP(load##bits)                                          \
	{                                                            \
		c->r[VPT_R_T0] = vpt_load##bits(c, u, vpt_ea(c, u)); \
		return VPT_NEXT(c, u);                               \
	}
LOAD_T0(16)
LOAD_T0(32)
LOAD_T0(64)

/* imm: the segment. Of 32 bits on the stack only a selector's 16 are written. */
static NOINLINE void do_push_segment(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint16_t selector = vpt_soft_seg(c, (enum vpt_seg)u->imm)->selector;

	if (u->aux != 4) {
		vpt_soft_push(c, u, u->aux, selector);
		return;
	}
	vpt_soft_write(c, u, vpt_soft_stack(c, u, -4, 4), &selector, 2);
	vpt_soft_move_sp(c, -4);
}

VPT_UOP(push_segment)
{
	do_push_segment(c, u);
	return VPT_NEXT(c, u);
}

/* As PUSHA stores them, first to last. */
static const uint8_t all_slots[8] = {VPT_R_RAX, VPT_R_RCX, VPT_R_RDX, VPT_R_RBX,
				     VPT_R_RSP, VPT_R_RBP, VPT_R_RSI, VPT_R_RDI};

/* One place of several; a stack of 16 bits wraps between them. */
static uint64_t load_at(struct vpt_soft *c, const struct vpt_uop *u, int64_t offset)
{
	uint64_t value = 0;

	vpt_soft_read(c, u, vpt_soft_stack(c, u, offset, u->aux), &value, u->aux);
	return value;
}

static void store_at(struct vpt_soft *c, const struct vpt_uop *u, int64_t offset, uint64_t value)
{
	vpt_soft_write(c, u, vpt_soft_stack(c, u, offset, u->aux), &value, u->aux);
}

/* All of it can be written, or nothing is. */
static void probe_at(struct vpt_soft *c, const struct vpt_uop *u, int64_t offset)
{
	vpt_soft_probe_write(c, u, vpt_soft_stack(c, u, offset, u->aux), u->aux);
}

static NOINLINE void do_pusha(struct vpt_soft *c, const struct vpt_uop *u)
{
	int64_t size = u->aux;
	unsigned int i;

	for (i = 0; i < 8; i++)
		probe_at(c, u, -size * (i + 1));
	for (i = 0; i < 8; i++)
		store_at(c, u, -size * (i + 1), c->r[all_slots[i]]);
	vpt_soft_move_sp(c, -8 * size);
}

static NOINLINE void do_popa(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value[8];
	int64_t size = u->aux;
	unsigned int i;

	for (i = 0; i < 8; i++)
		value[i] = load_at(c, u, size * (7 - i));
	for (i = 0; i < 8; i++)
		if (all_slots[i] != VPT_R_RSP)
			put(c, all_slots[i] * 8u, u->aux, value[i]);
	vpt_soft_move_sp(c, 8 * size);
}

/* As wide as the stack is, RBP is an address on it. */
static uint64_t frame_address(struct vpt_soft *c, const struct vpt_uop *u, int64_t offset)
{
	int64_t delta = (int64_t)(c->r[VPT_R_RBP] - c->r[VPT_R_RSP]);

	return vpt_soft_stack(c, u, delta + offset, u->aux);
}

/* imm: bytes to allocate; scale: nesting level. The frame pointers of the outer levels
 * are copied one by one, since they may lie where the copies go. */
static NOINLINE void do_enter(struct vpt_soft *c, const struct vpt_uop *u)
{
	int64_t size = u->aux, level = u->scale, words = level ? level + 1 : 1, i;
	uint64_t frame = c->r[VPT_R_RSP] - (uint64_t)size, value = 0;

	for (i = 1; i <= words; i++)
		probe_at(c, u, -size * i);
	for (i = 1; i < level; i++)
		vpt_soft_read(c, u, frame_address(c, u, -size * i), &value, u->aux);
	probe_at(c, u, -size * words - (int64_t)u->imm);
	store_at(c, u, -size, c->r[VPT_R_RBP]);
	for (i = 1; i < level; i++) {
		value = 0;
		vpt_soft_read(c, u, frame_address(c, u, -size * i), &value, u->aux);
		store_at(c, u, -size * (i + 1), value);
	}
	if (level)
		store_at(c, u, -size * words, frame);
	vpt_soft_move_sp(c, -size * words - (int64_t)u->imm);
	if (c->bits != 64 && !c->s.ss.db)
		vpt_put16(c, VPT_R_RBP * 8, (uint16_t)frame);
	else
		put(c, VPT_R_RBP * 8, u->aux, frame);
}

static NOINLINE void do_leave(struct vpt_soft *c, const struct vpt_uop *u)
{
	int64_t delta = (int64_t)(c->r[VPT_R_RBP] - c->r[VPT_R_RSP]);
	uint64_t value = load_at(c, u, delta);

	vpt_soft_move_sp(c, delta + (int64_t)u->aux);
	put(c, VPT_R_RBP * 8, u->aux, value);
}

#define UOP_OF(name)                   \
	VPT_UOP(name)                  \
	{                              \
		do_##name(c, u);       \
		return VPT_NEXT(c, u); \
	}
UOP_OF(pusha)
UOP_OF(popa)
UOP_OF(enter)
UOP_OF(leave)

static struct vpt_uop *emit(struct vpt_translation *t, vpt_uop_fn fn)
{
	struct vpt_uop *u = vpt_tr_emit(t, fn);

	u->flags = VPT_UOP_SS;
	u->aux = t->insn->operand_width / 8u;
	return u;
}

/* By operand bytes: 2, 4, 8. */
#define BY_SIZE(name, size) ((size) == 2 ? name##16 : (size) == 4 ? name##32 : name##64)

static bool is_segment(const struct vpt_translation *t)
{
	return t->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && !vpt_tr_is_gpr(t, 0);
}

static bool push(struct vpt_translation *t, bool fast)
{
	struct vpt_address a;
	struct vpt_uop *u;

	if (is_segment(t)) {
		emit(t, push_segment)->imm = (uint64_t)(t->op[0].reg.value - ZYDIS_REGISTER_ES);
	} else if (vpt_tr_is_imm(t, 0)) {
		emit(t, fast ? push64_imm : push_imm)->imm = vpt_tr_imm(t, 0);
	} else if (vpt_tr_is_mem(t, 0)) {
		a = vpt_tr_address(t, 0, t->size, false);
		vpt_tr_put_address(vpt_tr_emit(t, BY_SIZE(load, t->size)), &a);
		emit(t, fast ? push64 : push_any)->src = T0;
	} else {
		u = emit(t, fast ? push64 : push_any);
		u->src = vpt_tr_gpr(t, 0);
		u->kind = fast ? VPT_KIND(VPT_K_PUSH, VPT_K_RR, 3, 0) : 0;
	}
	return true;
}

/* An address made of RSP is made of what it becomes. */
static struct vpt_address popped_address(struct vpt_translation *t)
{
	const ZydisDecodedOperand *op = t->op;
	ZydisDecodedOperand moved = op[0];
	struct vpt_address a;

	if (vpt_tr_reg(moved.mem.base) == VPT_R_RSP * 8) {
		moved.mem.disp.has_displacement = true;
		moved.mem.disp.value += t->size;
	}
	t->op = &moved;
	a = vpt_tr_address(t, 0, t->size, true);
	t->op = op;
	return a;
}

static bool pop(struct vpt_translation *t, bool fast)
{
	struct vpt_address a;
	struct vpt_uop *u;

	if (is_segment(t))
		return vpt_tr_segment(t);
	if (!vpt_tr_is_mem(t, 0)) {
		u = emit(t, fast ? pop64 : pop_any);
		u->dst = vpt_tr_gpr(t, 0);
		u->kind = fast && u->dst != VPT_R_RSP * 8 ? VPT_KIND(VPT_K_POP, VPT_K_RR, 3, 0) : 0;
		return true;
	}
	emit(t, peek);
	a = popped_address(t);
	vpt_tr_put_address(vpt_tr_emit(t, BY_SIZE(pop_memory, t->size)), &a);
	return true;
}

static bool enter_frame(struct vpt_translation *t)
{
	struct vpt_uop *u = emit(t, enter);

	u->imm = (uint16_t)vpt_tr_imm(t, 0);
	u->scale = vpt_tr_imm(t, 1) & 31;
	return true;
}

bool vpt_tr_stack(struct vpt_translation *t)
{
	bool fast = t->bits == 64 && t->insn->operand_width == 64;

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
		emit(t, fast ? leave64 : leave);
		return true;
	default:
		return false;
	}
}
