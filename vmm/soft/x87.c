// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x87 instructions. The host computes with the guest's registers and control word. Control and
 * status instructions are emulated here, so no exception of the guest is ever pending in the host.
 */
#include "soft/x87.h"

void soft_x87_check(struct soft *c, const struct soft_uop *u)
{
	if (vpt_unlikely(soft_x87_pending(soft_x87(c))))
		soft_raise(c, u, SOFT_VEC_MF);
}

uint64_t soft_x87_mm(struct soft *c, unsigned int n)
{
	struct soft_x87_image *x = soft_x87(c);
	uint64_t value;

	memcpy(&value, x->st[(n - soft_x87_top(x)) & 7].bytes, sizeof(value));
	return value;
}

void soft_x87_set_top(struct soft_x87_image *x, unsigned int top)
{
	unsigned int by = top - soft_x87_top(x), i;
	struct soft_x87_image was;

	if (!(by & 7))
		return;
	was = *x;
	for (i = 0; i < 8; i++)
		x->st[i] = was.st[(i + by) & 7];
	x->fsw = (uint16_t)((x->fsw & ~(7u << 11)) | top << 11);
}

void soft_x87_init(struct soft_x87_image *x)
{
	soft_x87_set_top(x, 0);
	x->fcw = SOFT_FCW_DEFAULT;
	x->fsw = 0;
	x->ftw = 0;
	x->fop = 0;
	x->fip = x->fdp = 0;
}

void soft_x87_to_mmx(struct soft *c)
{
	soft_x87_set_top(soft_x87(c), 0);
	soft_x87(c)->ftw = 0xff;
}

/* Record the last instruction and operand, which FNSTENV stores. */
static void remember(struct soft *c, const struct soft_uop *u, const uint64_t *operand)
{
	struct soft_x87_image *x = soft_x87(c);

	x->fip = u->ip;
	x->fop = (uint16_t)(u->imm & 0x7ff);
	if (operand)
		x->fdp = *operand;
}

static __attribute__((noinline)) void compute(struct soft *c, const struct soft_uop *u,
					      void *operand, const uint64_t *va)
{
	struct soft_x87_image *x = soft_x87(c);
	struct soft_x87_image was = *x;

	x->mxcsr = SOFT_MXCSR_DEFAULT;
	soft_native_call(c, u, operand);
	x->fop = was.fop;
	x->fip = was.fip;
	x->fdp = was.fdp;
	remember(c, u, va);
}

static __attribute__((noinline)) void compute_load(struct soft *c, const struct soft_uop *u)
{
	uint64_t va = soft_ea(c, u);

	compute(c, u, soft_native_load(c, u, va), &va);
}

static __attribute__((noinline)) void compute_store(struct soft *c, const struct soft_uop *u)
{
	uint64_t va = soft_ea(c, u);

	/* Read the operand too, because an unmasked exception leaves the operand unchanged. */
	compute(c, u, soft_rmw(c, u, va, u->aux), &va);
	soft_rmw_done(c, u);
}

SOFT_UOP(registers)
{
	soft_x87_check(c, u);
	compute(c, u, NULL, NULL);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(load)
{
	soft_x87_check(c, u);
	compute_load(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(store)
{
	soft_x87_check(c, u);
	compute_store(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(check)
{
	soft_x87_check(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fldcw)
{
	struct soft_x87_image *x = soft_x87(c);
	uint16_t value;

	soft_x87_check(c, u);
	value = soft_load16(c, u, soft_ea(c, u));
	x->fcw = (uint16_t)((value & SOFT_FCW_BITS) | SOFT_FCW_FIXED);
	soft_x87_summarize(x);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fnstcw)
{
	soft_store16(c, u, soft_ea(c, u), soft_x87(c)->fcw);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fnstsw)
{
	soft_store16(c, u, soft_ea(c, u), soft_x87(c)->fsw);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fnstsw_ax)
{
	SOFT_REG(c, u->dst, uint16_t) = soft_x87(c)->fsw;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fnclex)
{
	soft_x87(c)->fsw &= 0x7f00;
	return SOFT_NEXT(c, u);
}

SOFT_UOP(fninit)
{
	soft_x87_init(soft_x87(c));
	return SOFT_NEXT(c, u);
}

SOFT_UOP(nothing)
{
	return SOFT_NEXT(c, u);
}

/* FWAIT raises #NM if both MP and TS are set, and ignores EM (SDM vol. 3, 2.5). */
SOFT_UOP(fwait)
{
	if ((c->s.cr0 & X86_CR0_MP) && (c->s.cr0 & X86_CR0_TS))
		soft_raise(c, u, X86_VEC_NM);
	soft_x87_check(c, u);
	return SOFT_NEXT(c, u);
}

static bool word(struct soft_translation *t, soft_uop_fn fn, bool write)
{
	struct soft_address address = soft_tr_address(t, 0, 2, write);

	soft_tr_put_address(soft_tr_emit(t, fn), &address);
	return true;
}

static bool plain(struct soft_translation *t, soft_uop_fn fn)
{
	soft_tr_emit(t, fn);
	return true;
}

static bool compute_by_host(struct soft_translation *t)
{
	int mem = soft_native_memory(t);
	struct soft_recoded r;
	struct soft_uop *u;
	soft_uop_fn fn = registers;

	if (!soft_recode(t, &r))
		return false;
	r.how |= SOFT_HOW_X87;
	if (mem >= 0)
		fn = t->op[mem].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? store : load;
	u = soft_native_emit_by(t, &r, fn, mem);
	if (!u)
		return false;
	/* FOP: the low three bits of the first opcode byte, and the second byte. */
	u->imm = (t->insn->opcode & 7u) << 8 | t->code[t->insn->raw.modrm.offset];
	return true;
}

bool soft_tr_x87(struct soft_translation *t)
{
	struct soft_uop *u;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_FWAIT)
		return plain(t, fwait);
	soft_tr_need(t, SOFT_UNIT_X87);
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_FLDCW:
		return word(t, fldcw, false);
	case ZYDIS_MNEMONIC_FNSTCW:
		return word(t, fnstcw, true);
	case ZYDIS_MNEMONIC_FNSTSW:
		if (soft_tr_is_mem(t, 0))
			return word(t, fnstsw, true);
		u = soft_tr_emit(t, fnstsw_ax);
		u->dst = SOFT_R_RAX * 8;
		return true;
	case ZYDIS_MNEMONIC_FNCLEX:
		return plain(t, fnclex);
	case ZYDIS_MNEMONIC_FNINIT:
		return plain(t, fninit);
	case ZYDIS_MNEMONIC_FNOP:
		return plain(t, check);
	case ZYDIS_MNEMONIC_FENI8087_NOP:
	case ZYDIS_MNEMONIC_FDISI8087_NOP:
	case ZYDIS_MNEMONIC_FSETPM287_NOP:
		return plain(t, nothing);
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FNSAVE:
		return soft_tr_x87_environment(t);
	default:
		return compute_by_host(t);
	}
}
