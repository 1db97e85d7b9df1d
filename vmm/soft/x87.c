// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x87: the host computes, on the guest's registers and with its control word. What
 * concerns control and status is done here, so that no exception of the guest's is
 * ever waiting in the host.
 */
#include "soft/x87.h"

void vpt_x87_check(struct vpt_soft *c, const struct vpt_uop *u)
{
	if (vpt_unlikely(vpt_x87_pending(vpt_x87(c))))
		vpt_soft_raise(c, u, VPT_VEC_MF);
}

uint64_t vpt_x87_mm(struct vpt_soft *c, unsigned int n)
{
	struct vpt_x87_image *x = vpt_x87(c);
	uint64_t value;

	memcpy(&value, x->st[(n - vpt_x87_top(x)) & 7].bytes, sizeof(value));
	return value;
}

void vpt_x87_set_top(struct vpt_x87_image *x, unsigned int top)
{
	unsigned int by = top - vpt_x87_top(x), i;
	struct vpt_x87_image was;

	if (!(by & 7))
		return;
	was = *x;
	for (i = 0; i < 8; i++)
		x->st[i] = was.st[(i + by) & 7];
	x->fsw = (uint16_t)((x->fsw & ~(7u << 11)) | top << 11);
}

void vpt_x87_init(struct vpt_x87_image *x)
{
	vpt_x87_set_top(x, 0);
	x->fcw = VPT_FCW_DEFAULT;
	x->fsw = 0;
	x->ftw = 0;
	x->fop = 0;
	x->fip = x->fdp = 0;
}

void vpt_x87_to_mmx(struct vpt_soft *c)
{
	vpt_x87_set_top(vpt_x87(c), 0);
	vpt_x87(c)->ftw = 0xff;
}

/* Last instruction and operand, as FNSTENV tells them. */
static void remember(struct vpt_soft *c, const struct vpt_uop *u, const uint64_t *operand)
{
	struct vpt_x87_image *x = vpt_x87(c);

	x->fip = u->ip;
	x->fop = (uint16_t)(u->imm & 0x7ff);
	if (operand)
		x->fdp = *operand;
}

static __attribute__((noinline)) void compute(struct vpt_soft *c, const struct vpt_uop *u,
					      void *operand, const uint64_t *va)
{
	struct vpt_x87_image *x = vpt_x87(c);
	struct vpt_x87_image was = *x;

	x->mxcsr = VPT_MXCSR_DEFAULT;
	vpt_native_call(c, u, operand);
	x->fop = was.fop;
	x->fip = was.fip;
	x->fdp = was.fdp;
	remember(c, u, va);
}

static __attribute__((noinline)) void compute_load(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t va = vpt_ea(c, u);

	compute(c, u, vpt_native_load(c, u, va), &va);
}

static __attribute__((noinline)) void compute_store(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t va = vpt_ea(c, u);

	/* One that traps leaves its operand as it is. */
	compute(c, u, vpt_rmw(c, u, va, u->aux), &va);
	vpt_rmw_end(c, u);
}

VPT_UOP(registers)
{
	vpt_x87_check(c, u);
	compute(c, u, NULL, NULL);
	return VPT_NEXT(c, u);
}

VPT_UOP(load)
{
	vpt_x87_check(c, u);
	compute_load(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(store)
{
	vpt_x87_check(c, u);
	compute_store(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(check)
{
	vpt_x87_check(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(fldcw)
{
	struct vpt_x87_image *x = vpt_x87(c);
	uint16_t value;

	vpt_x87_check(c, u);
	value = vpt_load16(c, u, vpt_ea(c, u));
	x->fcw = (uint16_t)((value & VPT_FCW_BITS) | VPT_FCW_FIXED);
	vpt_x87_summarize(x);
	return VPT_NEXT(c, u);
}

VPT_UOP(fnstcw)
{
	vpt_store16(c, u, vpt_ea(c, u), vpt_x87(c)->fcw);
	return VPT_NEXT(c, u);
}

VPT_UOP(fnstsw)
{
	vpt_store16(c, u, vpt_ea(c, u), vpt_x87(c)->fsw);
	return VPT_NEXT(c, u);
}

VPT_UOP(fnstsw_ax)
{
	VPT_REG(c, u->dst, uint16_t) = vpt_x87(c)->fsw;
	return VPT_NEXT(c, u);
}

VPT_UOP(fnclex)
{
	vpt_x87(c)->fsw &= 0x7f00;
	return VPT_NEXT(c, u);
}

VPT_UOP(fninit)
{
	vpt_x87_init(vpt_x87(c));
	return VPT_NEXT(c, u);
}

VPT_UOP(nothing)
{
	return VPT_NEXT(c, u);
}

/* FWAIT minds TS if MP says so, and not EM (SDM vol. 3, 2.5). */
VPT_UOP(fwait)
{
	if ((c->s.cr0 & VPT_CR0_MP) && (c->s.cr0 & VPT_CR0_TS))
		vpt_soft_raise(c, u, VPT_VEC_NM);
	vpt_x87_check(c, u);
	return VPT_NEXT(c, u);
}

static bool word(struct vpt_translation *t, vpt_uop_fn fn, bool write)
{
	struct vpt_address address = vpt_tr_address(t, 0, 2, write);

	vpt_tr_put_address(vpt_tr_emit(t, fn), &address);
	return true;
}

static bool plain(struct vpt_translation *t, vpt_uop_fn fn)
{
	vpt_tr_emit(t, fn);
	return true;
}

static bool compute_by_host(struct vpt_translation *t)
{
	int mem = vpt_native_memory(t);
	struct vpt_recoded r;
	struct vpt_uop *u;
	vpt_uop_fn fn = registers;

	if (!vpt_recode(t, &r))
		return false;
	r.how |= VPT_HOW_X87;
	if (mem >= 0)
		fn = t->op[mem].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? store : load;
	u = vpt_native_emit_by(t, &r, fn, mem);
	if (!u)
		return false;
	/* The last three bits of the opcode's first byte, and the second. */
	u->imm = (t->insn->opcode & 7u) << 8 | t->code[t->insn->raw.modrm.offset];
	return true;
}

bool vpt_tr_x87(struct vpt_translation *t)
{
	struct vpt_uop *u;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_FWAIT)
		return plain(t, fwait);
	vpt_tr_need(t, VPT_UNIT_X87);
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_FLDCW:
		return word(t, fldcw, false);
	case ZYDIS_MNEMONIC_FNSTCW:
		return word(t, fnstcw, true);
	case ZYDIS_MNEMONIC_FNSTSW:
		if (vpt_tr_is_mem(t, 0))
			return word(t, fnstsw, true);
		u = vpt_tr_emit(t, fnstsw_ax);
		u->dst = VPT_R_RAX * 8;
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
		return vpt_tr_x87_environment(t);
	default:
		return compute_by_host(t);
	}
}
