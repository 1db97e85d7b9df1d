// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Near transfers end blocks: compute the target and report the branch to PT. Most branches become a
 * TNT bit, which is stored at once.
 */
#include "soft/access.h"
#include "soft/branch.h"
#include "soft/compile.h"
#include "soft/flagcond.h"
#include "soft/kind.h"
#include "soft/operand.h"
#include "soft/stack.h"
#include "soft/translate.h"

#define COLD	 __attribute__((noinline, cold))
#define NOINLINE __attribute__((noinline))

static inline const struct soft_link *links(const struct soft_uop *u)
{
	return u->ptr;
}

static inline uint64_t next_of(const struct soft_uop *u)
{
	return u->ip + u->len;
}

static inline uint64_t next_ip(const struct soft *c, const struct soft_uop *u)
{
	return c->bits == 64 ? next_of(u) : (uint32_t)next_of(u);
}

COLD const struct soft_uop *soft_miss(struct soft *c, const struct soft_link *l, uint64_t to)
{
	if (l->gen == c->gen && soft_pass_due(c, l->insns))
		return SOFT_RUN(c, l->first);
	c->r[SOFT_R_RIP] = to;
	c->missed = (struct soft_link *)(uintptr_t)l;
	return NULL;
}

COLD const struct soft_uop *soft_branch_slow(struct soft *c, const struct soft_uop *u, uint8_t kind,
					     uint64_t to, const struct soft_link *l)
{
	if (c->gate)
		soft_report_branch(c, u, kind, next_ip(c, u), to, false);
	return soft_follow(c, l, to);
}

COLD const struct soft_uop *soft_cond_slow(struct soft *c, const struct soft_uop *u, bool taken)
{
	uint64_t to = soft_cond_target(u, taken);

	if (c->gate)
		soft_report_branch(c, u, VPT_EV_COND, next_ip(c, u), to, taken);
	return soft_follow(c, (const struct soft_link *)u->ptr + taken, to);
}

/* Jcc. imm is the target, and u->disp the address of the next instruction. */
#define JCC(name, condition)                       \
	SOFT_UOP(name)                             \
	{                                          \
		bool taken = (condition);          \
                                                   \
		return soft_end_cond(c, u, taken); \
	}
#define JCC_CC(cc) JCC(jcc_##cc, soft_cond(c->fl, cc))

JCC_CC(0)
JCC_CC(1)
JCC_CC(2)
JCC_CC(3)
JCC_CC(4)
JCC_CC(5)
JCC_CC(6)
JCC_CC(7)
JCC_CC(8)
JCC_CC(9)
JCC_CC(10)
JCC_CC(11)
JCC_CC(12)
JCC_CC(13)
JCC_CC(14)
JCC_CC(15)

static const soft_uop_fn jcc[16] = {
	jcc_0, jcc_1, jcc_2,  jcc_3,  jcc_4,  jcc_5,  jcc_6,  jcc_7,
	jcc_8, jcc_9, jcc_10, jcc_11, jcc_12, jcc_13, jcc_14, jcc_15,
};

/* LOOPcc and J*CXZ count in the low `aux` bytes of RCX, the address size. */
static inline uint64_t count_of(const struct soft *c, const struct soft_uop *u)
{
	uint64_t rcx = c->r[SOFT_R_RCX];

	return u->aux == 8 ? rcx : u->aux == 4 ? (uint32_t)rcx : (uint16_t)rcx;
}

static inline uint64_t count_down(struct soft *c, const struct soft_uop *u)
{
	uint64_t count = count_of(c, u) - 1;

	if (u->aux == 2)
		SOFT_REG(c, SOFT_R_RCX * 8, uint16_t) = (uint16_t)count;
	else
		c->r[SOFT_R_RCX] = u->aux == 4 ? (uint32_t)count : count;
	return count_of(c, u);
}

JCC(jcxz, !count_of(c, u))
JCC(loop, count_down(c, u) != 0)
JCC(loope, count_down(c, u) && c->fl & SOFT_F_ZF)
JCC(loopne, count_down(c, u) && !(c->fl & SOFT_F_ZF))

SOFT_UOP(jmp)
{
	if (c->gate && !vpt_gate_jmp(c->gate))
		return soft_branch_slow(c, u, VPT_EV_JMP, u->imm, &links(u)[1]);
	return soft_follow(c, &links(u)[1], u->imm);
}

/* Check that an indirect target is valid in this mode. */
static inline void check_target(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	if (vpt_unlikely(c->bits == 64 ? !soft_canonical(c, to) : to > c->s.cs.limit))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

static COLD SOFT_NO_ENDBR const struct soft_uop *far_end(struct soft *c, const struct soft_uop *u)
{
	soft_raise_code(c, u, X86_VEC_GP, 0);
}

/*
 * disp is the address of the target if it is in memory; otherwise src has the target. aux is its
 * size in bytes.
 */
static inline uint64_t target_in_register(const struct soft *c, const struct soft_uop *u)
{
	uint64_t to = SOFT_REG(c, u->src, uint64_t);

	return u->aux == 8 ? to : u->aux == 4 ? (uint32_t)to : (uint16_t)to;
}

static inline uint64_t target_in_memory(struct soft *c, const struct soft_uop *u)
{
	return u->aux == 4 ? soft_load32(c, u, soft_ea(c, u)) : soft_load16(c, u, soft_ea(c, u));
}

/*
 * End an indirect branch while PT is on. If the unit has room, the TIP is written at once. These
 * are separate functions so that untraced branches need no stack.
 */
static NOINLINE const struct soft_uop *traced_jmp(struct soft *c, const struct soft_uop *u,
						  uint64_t to)
{
	if (!vpt_gate_jmp_indirect(c->gate, to))
		return soft_branch_slow(c, u, VPT_EV_JMP_INDIRECT, to, soft_jump_link(c, to));
	return soft_follow(c, soft_jump_link(c, to), to);
}

static NOINLINE const struct soft_uop *traced_call(struct soft *c, const struct soft_uop *u,
						   uint64_t to)
{
	if (!vpt_gate_call_indirect(c->gate, to, next_ip(c, u)))
		return soft_branch_slow(c, u, VPT_EV_CALL_INDIRECT, to, soft_jump_link(c, to));
	return soft_follow(c, soft_jump_link(c, to), to);
}

static NOINLINE const struct soft_uop *traced_ret(struct soft *c, const struct soft_uop *u,
						  uint64_t to)
{
	if (!vpt_gate_ret_tip(c->gate, to))
		return soft_branch_slow(c, u, VPT_EV_RET, to, soft_jump_link(c, to));
	return soft_follow(c, soft_jump_link(c, to), to);
}

static inline struct soft_block *block_of(const struct soft_uop *u)
{
	return (struct soft_block *)((uintptr_t)u->ptr - offsetof(struct soft_block, link));
}

/*
 * Note in the links of a block where its indirect branch leads to, the most frequent targets first.
 * Compiled code can follow them. If it did not know of a target, it is made again.
 */
static inline void note_target(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	const struct soft_link *found = soft_jump_link(c, to);
	struct soft_link *l = (struct soft_link *)(uintptr_t)links(u);
	unsigned int k = 0;
	bool stray;

	while (k + 1 < SOFT_LINKS && l[k].first && l[k].first != found->first)
		k++;
	stray = k && l[k - 1].inner;
	if (vpt_unlikely(found->gen != c->gen || l[k].inner || (stray && l[k].first))) {
		block_of(u)->strays = SOFT_STRAYS;
		return;
	}
	if (k && !stray && l[k].first == found->first) {
		l[k] = l[k - 1];
		k--;
	}
	l[k] = (struct soft_link){found->gen, found->first, found->insns, 0};
	if (vpt_unlikely(stray))
		soft_unit_moved(c->compiler, &l[k - 1]);
}

static inline const struct soft_uop *end_jmp(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	note_target(c, u, to);
	if (c->gate)
		return traced_jmp(c, u, to);
	return soft_follow(c, soft_jump_link(c, to), to);
}

static inline const struct soft_uop *end_call(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	note_target(c, u, to);
	if (c->gate)
		return traced_call(c, u, to);
	return soft_follow(c, soft_jump_link(c, to), to);
}

static inline const struct soft_uop *end_ret(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	note_target(c, u, to);
	if (c->gate && !vpt_gate_ret(c->gate, to))
		return traced_ret(c, u, to);
	return soft_follow(c, soft_jump_link(c, to), to);
}

const struct soft_uop *soft_ret_to(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	return end_ret(c, u, to);
}

const struct soft_uop *soft_jump_to(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	return end_jmp(c, u, to);
}

const struct soft_uop *soft_call_to(struct soft *c, const struct soft_uop *u, uint64_t to)
{
	return end_call(c, u, to);
}

COLD const struct soft_uop *soft_call_slow(struct soft *c, const struct soft_uop *u)
{
	return soft_branch_slow(c, u, VPT_EV_CALL, u->imm, &links(u)[1]);
}

SOFT_UOP(jmp_register)
{
	uint64_t to = target_in_register(c, u);

	check_target(c, u, to);
	return end_jmp(c, u, to);
}

SOFT_LOAD_UOP(jmp64_memory, 64)
{
	check_target(c, u, m);
	return end_jmp(c, u, m);
}

SOFT_UOP(jmp_memory)
{
	uint64_t to = target_in_memory(c, u);

	check_target(c, u, to);
	return end_jmp(c, u, to);
}

/*
 * Return the host address of the top of the stack in 64-bit mode, or NULL unless the TLB maps it to
 * RAM.
 */
static inline void *stack_slot(const struct soft *c, int64_t offset, bool write)
{
	uint64_t va = c->r[SOFT_R_RSP] + (uint64_t)offset;
	const struct soft_tlb *t = soft_find_tlb(c, va);

	return SOFT_TLB_HIT(write ? t->write : t->read, va, 8) ? (void *)(t->host + va) : NULL;
}

static inline const struct soft_uop *end_call64(struct soft *c, const struct soft_uop *u)
{
	uint64_t next = next_of(u);

	c->r[SOFT_R_RSP] -= 8;
	if (c->gate && (u->imm == next || !vpt_gate_call(c->gate, next)))
		return soft_branch_slow(c, u, VPT_EV_CALL, u->imm, &links(u)[1]);
	return soft_follow(c, &links(u)[1], u->imm);
}

COLD SOFT_UOP(call64_slow)
{
	soft_store_slow(c, u, c->r[SOFT_R_RSP] - 8, next_of(u), 8);
	return end_call64(c, u);
}

/* imm is the target. */
SOFT_UOP(call64)
{
	uint64_t next = next_of(u);
	void *slot = stack_slot(c, -8, true);

	if (vpt_unlikely(!slot))
		return call64_slow(c, u);
	memcpy(slot, &next, sizeof(next));
	return end_call64(c, u);
}

static COLD const struct soft_uop *call64_to_slow(struct soft *c, const struct soft_uop *u,
						  uint64_t to)
{
	soft_store_slow(c, u, c->r[SOFT_R_RSP] - 8, next_of(u), 8);
	c->r[SOFT_R_RSP] -= 8;
	return end_call(c, u, to);
}

static inline const struct soft_uop *call64_to(struct soft *c, const struct soft_uop *u,
					       uint64_t to)
{
	uint64_t next = next_of(u);
	void *slot = stack_slot(c, -8, true);

	check_target(c, u, to);
	if (vpt_unlikely(!slot))
		return call64_to_slow(c, u, to);
	memcpy(slot, &next, sizeof(next));
	c->r[SOFT_R_RSP] -= 8;
	return end_call(c, u, to);
}

SOFT_UOP(call64_register)
{
	return call64_to(c, u, target_in_register(c, u));
}

SOFT_LOAD_UOP(call64_memory, 64)
{
	return call64_to(c, u, m);
}

static inline const struct soft_uop *end_ret64(struct soft *c, const struct soft_uop *u,
					       uint64_t to)
{
	check_target(c, u, to);
	c->r[SOFT_R_RSP] += 8 + u->imm;
	return end_ret(c, u, to);
}

COLD SOFT_UOP(ret64_slow)
{
	return end_ret64(c, u, soft_load_slow(c, u, c->r[SOFT_R_RSP], 8));
}

SOFT_UOP(ret64)
{
	const void *slot = stack_slot(c, 0, false);
	uint64_t to;

	if (vpt_unlikely(!slot))
		return ret64_slow(c, u);
	memcpy(&to, slot, sizeof(to));
	return end_ret64(c, u, to);
}

/* CALL outside 64-bit mode; aux is the operand size in bytes. */
SOFT_UOP(call)
{
	uint32_t next = (uint32_t)next_of(u);

	check_target(c, u, u->imm);
	soft_push(c, u, u->aux, next);
	if (c->gate)
		return soft_branch_slow(c, u, VPT_EV_CALL, u->imm, &links(u)[1]);
	return soft_follow(c, &links(u)[1], u->imm);
}

static inline const struct soft_uop *call_indirect(struct soft *c, const struct soft_uop *u,
						   uint64_t to)
{
	check_target(c, u, to);
	soft_push(c, u, u->aux, (uint32_t)next_of(u));
	return end_call(c, u, to);
}

SOFT_UOP(call_register)
{
	return call_indirect(c, u, target_in_register(c, u));
}

SOFT_UOP(call_memory)
{
	return call_indirect(c, u, target_in_memory(c, u));
}

SOFT_UOP(ret)
{
	uint64_t to = soft_peek(c, u, u->aux);

	check_target(c, u, to);
	soft_move_sp(c, (int64_t)u->aux + (int64_t)u->imm);
	return end_ret(c, u, to);
}

/* Count the branch of the next micro-operation. A fault of that branch takes it back. */
SOFT_UOP(count)
{
	c->base.branches++;
	return SOFT_NEXT(c, u);
}

static bool counts(const struct soft_translation *t)
{
	return t->block->mode & SOFT_BLOCK_BRANCHES;
}

static struct soft_uop *emit(struct soft_translation *t, soft_uop_fn fn)
{
	struct soft_uop *u;

	if (counts(t))
		soft_tr_emit(t, count)->kind = SOFT_KIND(SOFT_K_COUNT, 0, 0, 0);
	u = soft_tr_emit(t, fn);
	u->ptr = t->block->link;
	u->flags = counts(t) ? SOFT_UOP_COUNTED : 0;
	u->aux = t->bits == 64 ? 8 : t->insn->operand_width / 8;
	t->ends = true;
	return u;
}

static uint64_t direct_target(const struct soft_translation *t)
{
	uint64_t to = t->next + (uint64_t)t->op[0].imm.value.s;

	if (t->bits == 64)
		return to;
	return t->insn->operand_width == 16 ? (uint16_t)to : (uint32_t)to;
}

/*
 * Emit a direct branch whose target is outside the address space. disp is the address after the
 * branch if it is not taken.
 */
static bool direct(struct soft_translation *t, soft_uop_fn fn)
{
	uint64_t to = direct_target(t);
	struct soft_uop *u;

	/* This occurs only at the edge of the address space. */
	if (t->bits == 64 && !soft_canonical(t->c, to)) {
		if (t->insn->meta.category == ZYDIS_CATEGORY_COND_BR)
			return false;
		emit(t, far_end);
		return true;
	}
	u = emit(t, fn);
	u->imm = to;
	u->disp = (int64_t)t->next;
	return true;
}

static bool counting(struct soft_translation *t, soft_uop_fn fn)
{
	if (!direct(t, fn))
		return false;
	t->block->uop[t->block->uops - 1].aux = t->insn->address_width / 8;
	return true;
}

static bool in_memory(struct soft_translation *t, soft_uop_fn plain, soft_uop_fn indexed)
{
	const struct soft_address a =
		soft_tr_address(t, 0, t->bits == 64 ? 8 : t->insn->operand_width / 8, false);

	soft_tr_put_address(emit(t, a.index == SOFT_R_ZERO * 8 ? plain : indexed), &a);
	return true;
}

static bool in_register(struct soft_translation *t, soft_uop_fn fn)
{
	emit(t, fn)->src = soft_tr_gpr(t, 0);
	return true;
}

/* Set the kind of the branch that was emitted last. */
static bool of_kind(struct soft_translation *t, enum soft_kind_op op, enum soft_kind_form form)
{
	if (t->bits == 64)
		t->block->uop[t->block->uops - 1].kind = SOFT_KIND(op, form, 3, 0);
	return true;
}

static bool indirect_call(struct soft_translation *t)
{
	bool wide = t->bits == 64;

	if (!soft_tr_is_mem(t, 0)) {
		in_register(t, wide ? call64_register : call_register);
		return of_kind(t, SOFT_K_CALL_TO, SOFT_K_RR);
	}
	if (!wide)
		return in_memory(t, call_memory, call_memory);
	in_memory(t, call64_memory, call64_memory_indexed);
	return of_kind(t, SOFT_K_CALL_TO, SOFT_K_RM);
}

static bool indirect_jump(struct soft_translation *t)
{
	if (!soft_tr_is_mem(t, 0)) {
		in_register(t, jmp_register);
		return of_kind(t, SOFT_K_JUMP_TO, SOFT_K_RR);
	}
	if (t->bits != 64)
		return in_memory(t, jmp_memory, jmp_memory);
	in_memory(t, jmp64_memory, jmp64_memory_indexed);
	return of_kind(t, SOFT_K_JUMP_TO, SOFT_K_RM);
}

static bool call_or_jump(struct soft_translation *t)
{
	bool is_call = t->insn->mnemonic == ZYDIS_MNEMONIC_CALL, wide = t->bits == 64;

	if (t->insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return soft_tr_core(t);
	if (soft_tr_is_imm(t, 0) && !is_call) {
		if (!direct(t, jmp))
			return false;
		if (t->block->uop[t->block->uops - 1].fn == jmp)
			t->block->uop[t->block->uops - 1].kind = SOFT_KIND(SOFT_K_JMP, 0, 0, 0);
		return true;
	}
	if (soft_tr_is_imm(t, 0)) {
		if (!direct(t, wide ? call64 : call))
			return false;
		if (t->block->uop[t->block->uops - 1].fn == call64)
			of_kind(t, SOFT_K_CALL, SOFT_K_RR);
		return true;
	}
	return is_call ? indirect_call(t) : indirect_jump(t);
}

static bool returns(struct soft_translation *t)
{
	struct soft_uop *u;

	if (t->insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return soft_tr_core(t);
	u = emit(t, t->bits == 64 ? ret64 : ret);
	u->flags |= SOFT_UOP_SS;
	u->imm = soft_tr_is_imm(t, 0) ? (uint16_t)soft_tr_imm(t, 0) : 0;
	return of_kind(t, SOFT_K_RET, SOFT_K_RR);
}

/* Fuse the branch with the preceding instruction that sets the flags, if possible. */
static bool conditional(struct soft_translation *t)
{
	struct soft_block *b = t->block;
	unsigned int cc = t->insn->opcode & 15;
	struct soft_uop *before = b->uops ? &b->uop[b->uops - 1] : NULL;
	soft_uop_fn fused = NULL;

	if (before && before->kind && !counts(t))
		fused = soft_fused(before, cc);
	if (!direct(t, jcc[cc]))
		return false;
	b->uop[b->uops - 1].kind = SOFT_KIND(SOFT_K_JCC, 0, 0, cc);
	if (fused)
		before->fn = fused;
	return true;
}

bool soft_tr_branch(struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
		return call_or_jump(t);
	case ZYDIS_MNEMONIC_RET:
		return returns(t);
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
		return counting(t, jcxz);
	case ZYDIS_MNEMONIC_LOOP:
		return counting(t, loop);
	case ZYDIS_MNEMONIC_LOOPE:
		return counting(t, loope);
	case ZYDIS_MNEMONIC_LOOPNE:
		return counting(t, loopne);
	default:
		return conditional(t);
	}
}
