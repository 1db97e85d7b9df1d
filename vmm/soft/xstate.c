// SPDX-License-Identifier: GPL-2.0-or-later
/* Control of vector and x87 state: MXCSR, XCR0, and who saves what (SDM vol. 1, 13). */
#include "soft/xstate.h"

static __attribute__((noinline)) void do_ldmxcsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint32_t value = vpt_load32(c, u, vpt_ea(c, u));

	if (value & ~VPT_MXCSR_VALID)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	c->fpu.mxcsr = value;
}

static __attribute__((noinline)) void do_stmxcsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	vpt_store32(c, u, vpt_ea(c, u), c->fpu.mxcsr);
}

static __attribute__((noinline)) void do_emms(struct vpt_soft *c, const struct vpt_uop *u)
{
	vpt_x87_check(c, u);
	vpt_x87_to_mmx(c);
	vpt_x87(c)->ftw = 0;
}

static void need_osxsave(struct vpt_soft *c, const struct vpt_uop *u)
{
	if (!(c->s.cr4 & VPT_CR4_OSXSAVE))
		vpt_soft_raise(c, u, VPT_VEC_UD);
}

static __attribute__((noinline)) void do_xgetbv(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint32_t index = (uint32_t)c->r[VPT_R_RCX];
	const struct vpt_cpuid_entry *e = vpt_xstate_cpuid(c, 1);
	uint64_t value = c->fpu.xcr0;

	need_osxsave(c, u);
	if (index == 1 && e && e->eax & 4)
		value &= vpt_xstate_in_use(c) |
			 (c->fpu.mxcsr != VPT_MXCSR_DEFAULT ? VPT_XCR0_SSE : 0);
	else if (index)
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	vpt_set32(c, VPT_R_RAX * 8, (uint32_t)value);
	vpt_set32(c, VPT_R_RDX * 8, (uint32_t)(value >> 32));
}

static uint64_t supported(const struct vpt_soft *c)
{
	const struct vpt_cpuid_entry *e = vpt_xstate_cpuid(c, 0);

	return e ? e->eax & VPT_XCR0_KNOWN : 0;
}

bool vpt_soft_xcr0_valid(const struct vpt_soft *c, uint64_t value)
{
	if (!(value & VPT_XCR0_X87) || value & ~supported(c) ||
	    (value & VPT_XCR0_AVX && !(value & VPT_XCR0_SSE)))
		return false;
	return !(value & VPT_XCR0_AVX512) || (~value & (VPT_XCR0_AVX512 | VPT_XCR0_AVX)) == 0;
}

static __attribute__((noinline)) void do_xsetbv(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value = (uint64_t)(uint32_t)c->r[VPT_R_RDX] << 32 | (uint32_t)c->r[VPT_R_RAX];

	need_osxsave(c, u);
	if (c->cpl || (uint32_t)c->r[VPT_R_RCX] || !vpt_soft_xcr0_valid(c, value))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	c->fpu.xcr0 = value;
}

VPT_UOP(xsetbv)
{
	do_xsetbv(c, u);
	return vpt_soft_resume(c, u);
}

VPT_UOP(osxsave)
{
	need_osxsave(c, u);
	return VPT_NEXT(c, u);
}

#define SYSTEM_STATE(name, does)                                           \
	VPT_UOP(name)                                                      \
	{                                                                  \
		if (!c->stepping && vpt_xstate_moves_pt(c))                \
			return vpt_soft_leave(c, u, false, VPT_EXIT_CORE); \
		does(c, u);                                                \
		return VPT_NEXT(c, u);                                     \
	}

/* What begins or ends a trace is done in step(), for the core. */
SYSTEM_STATE(xsaves, vpt_xstate_xsave)
SYSTEM_STATE(xrstors, vpt_xstate_xrstor)

#define STATE(name, does)              \
	VPT_UOP(name)                  \
	{                              \
		does(c, u);            \
		return VPT_NEXT(c, u); \
	}

STATE(fxsave, vpt_xstate_fxsave)
STATE(fxrstor, vpt_xstate_fxrstor)
STATE(xsave, vpt_xstate_xsave)
STATE(xrstor, vpt_xstate_xrstor)
STATE(ldmxcsr, do_ldmxcsr)
STATE(stmxcsr, do_stmxcsr)
STATE(emms, do_emms)
STATE(xgetbv, do_xgetbv)

/* What each of them is to a translator. */
struct form {
	vpt_uop_fn fn;
	enum vpt_unit unit;
	uint8_t bytes; /* that its operand surely has */
	bool write, xsave;
	uint8_t flags;
};

static const struct form *form_of(ZydisMnemonic mnemonic)
{
	static const struct {
		ZydisMnemonic mnemonic;
		struct form form;
	} forms[] = {
#define FORM(name, ...)                \
	{                              \
		ZYDIS_MNEMONIC_##name, \
		{                      \
			__VA_ARGS__    \
		}                      \
	}
		FORM(FXSAVE, fxsave, VPT_UNIT_X87, 160, true, false, 0),
		FORM(FXSAVE64, fxsave, VPT_UNIT_X87, 160, true, false, VPT_XSTATE_WIDE),
		FORM(FXRSTOR, fxrstor, VPT_UNIT_X87, 160, false, false, 0),
		FORM(FXRSTOR64, fxrstor, VPT_UNIT_X87, 160, false, false, VPT_XSTATE_WIDE),
		FORM(XSAVE, xsave, VPT_UNIT_X87, 160, true, true, 0),
		FORM(XSAVE64, xsave, VPT_UNIT_X87, 160, true, true, VPT_XSTATE_WIDE),
		FORM(XSAVEOPT, xsave, VPT_UNIT_X87, 160, true, true, VPT_XSTATE_OPTIMIZED),
		FORM(XSAVEOPT64, xsave, VPT_UNIT_X87, 160, true, true,
		     VPT_XSTATE_OPTIMIZED | VPT_XSTATE_WIDE),
		FORM(XSAVEC, xsave, VPT_UNIT_X87, 160, true, true, VPT_XSTATE_COMPACT),
		FORM(XSAVEC64, xsave, VPT_UNIT_X87, 160, true, true,
		     VPT_XSTATE_COMPACT | VPT_XSTATE_WIDE),
		FORM(XSAVES, xsaves, VPT_UNIT_X87, 160, true, true,
		     VPT_XSTATE_COMPACT | VPT_XSTATE_SYSTEM),
		FORM(XSAVES64, xsaves, VPT_UNIT_X87, 160, true, true,
		     VPT_XSTATE_COMPACT | VPT_XSTATE_SYSTEM | VPT_XSTATE_WIDE),
		FORM(XRSTORS, xrstors, VPT_UNIT_X87, 160, false, true, VPT_XSTATE_SYSTEM),
		FORM(XRSTORS64, xrstors, VPT_UNIT_X87, 160, false, true,
		     VPT_XSTATE_SYSTEM | VPT_XSTATE_WIDE),
		FORM(XRSTOR, xrstor, VPT_UNIT_X87, 160, false, true, 0),
		FORM(XRSTOR64, xrstor, VPT_UNIT_X87, 160, false, true, VPT_XSTATE_WIDE),
		FORM(LDMXCSR, ldmxcsr, VPT_UNIT_SSE, 4, false, false, 0),
		FORM(STMXCSR, stmxcsr, VPT_UNIT_SSE, 4, true, false, 0),
		FORM(VLDMXCSR, ldmxcsr, VPT_UNIT_AVX, 4, false, false, 0),
		FORM(VSTMXCSR, stmxcsr, VPT_UNIT_AVX, 4, true, false, 0),
		FORM(EMMS, emms, VPT_UNIT_MMX, 0, false, false, 0),
#undef FORM
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].mnemonic == mnemonic)
			return &forms[i].form;
	return NULL;
}

bool vpt_tr_xstate(struct vpt_translation *t)
{
	const struct form *f = form_of(t->insn->mnemonic);
	struct vpt_address address;
	struct vpt_uop *u;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XGETBV) {
		vpt_tr_emit(t, xgetbv);
		return true;
	}
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XSETBV) {
		vpt_tr_emit(t, xsetbv);
		t->ends = true;
		return true;
	}
	if (!f)
		return false;
	if (f->xsave)
		vpt_tr_emit(t, osxsave);
	vpt_tr_need(t, f->unit);
	if (f->flags & VPT_XSTATE_SYSTEM && t->mode & VPT_BLOCK_USER) {
		vpt_tr_raise(t, VPT_VEC_GP);
		return true;
	}
	if (!f->bytes) {
		vpt_tr_emit(t, f->fn);
		return true;
	}
	address = vpt_tr_address(t, 0, f->bytes, f->write);
	u = vpt_tr_emit(t, f->fn);
	vpt_tr_put_address(u, &address);
	u->aux = f->flags | (t->bits == 64 ? VPT_XSTATE_LONG : 0);
	return true;
}
