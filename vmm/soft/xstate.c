// SPDX-License-Identifier: GPL-2.0-or-later
/* Translate instructions that save and restore FPU state, MXCSR and XCR0 (SDM vol. 1, 13). */
#include "soft/xstate.h"

static __attribute__((noinline)) void do_ldmxcsr(struct soft *c, const struct soft_uop *u)
{
	uint32_t value = soft_load32(c, u, soft_ea(c, u));

	if (value & ~SOFT_MXCSR_VALID)
		soft_raise_code(c, u, X86_VEC_GP, 0);
	c->fpu.mxcsr = value;
}

static __attribute__((noinline)) void do_stmxcsr(struct soft *c, const struct soft_uop *u)
{
	soft_store32(c, u, soft_ea(c, u), c->fpu.mxcsr);
}

static __attribute__((noinline)) void do_emms(struct soft *c, const struct soft_uop *u)
{
	soft_x87_check(c, u);
	soft_x87_to_mmx(c);
	soft_x87(c)->ftw = 0;
}

static void need_osxsave(struct soft *c, const struct soft_uop *u)
{
	if (!(c->s.cr4 & X86_CR4_OSXSAVE))
		soft_raise(c, u, X86_VEC_UD);
}

static __attribute__((noinline)) void do_xgetbv(struct soft *c, const struct soft_uop *u)
{
	uint32_t index = (uint32_t)c->r[SOFT_R_RCX];
	const struct engine_cpuid_entry *e = soft_xstate_cpuid(c, 1);
	uint64_t value = c->fpu.xcr0;

	need_osxsave(c, u);
	if (index == 1 && e && e->eax & 4)
		value &= soft_xstate_in_use(c) |
			 (c->fpu.mxcsr != SOFT_MXCSR_DEFAULT ? SOFT_XCR0_SSE : 0);
	else if (index)
		soft_raise_code(c, u, X86_VEC_GP, 0);
	soft_set32(c, SOFT_R_RAX * 8, (uint32_t)value);
	soft_set32(c, SOFT_R_RDX * 8, (uint32_t)(value >> 32));
}

static uint64_t supported(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_xstate_cpuid(c, 0);

	return e ? e->eax & SOFT_XCR0_KNOWN : 0;
}

bool soft_xcr0_valid(const struct soft *c, uint64_t value)
{
	if (!(value & SOFT_XCR0_X87) || value & ~supported(c) ||
	    (value & SOFT_XCR0_AVX && !(value & SOFT_XCR0_SSE)))
		return false;
	return !(value & SOFT_XCR0_AVX512) || (~value & (SOFT_XCR0_AVX512 | SOFT_XCR0_AVX)) == 0;
}

static __attribute__((noinline)) void do_xsetbv(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = (uint64_t)(uint32_t)c->r[SOFT_R_RDX] << 32 | (uint32_t)c->r[SOFT_R_RAX];

	need_osxsave(c, u);
	if (c->cpl || (uint32_t)c->r[SOFT_R_RCX] || !soft_xcr0_valid(c, value))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	c->fpu.xcr0 = value;
}

SOFT_UOP(xsetbv)
{
	do_xsetbv(c, u);
	return soft_resume(c, u);
}

SOFT_UOP(osxsave)
{
	need_osxsave(c, u);
	return SOFT_NEXT(c, u);
}

#define SYSTEM_STATE(name, does)                                          \
	SOFT_UOP(name)                                                    \
	{                                                                 \
		if (!(c->call & SOFT_STEP) && soft_xstate_moves_pt(c))    \
			return soft_leave(c, u, false, ENGINE_EXIT_CORE); \
		does(c, u);                                               \
		return SOFT_NEXT(c, u);                                   \
	}

/* run() leaves these to the core if they move PT registers, since a trace may begin or end. */
SYSTEM_STATE(xsaves, soft_xstate_xsave)
SYSTEM_STATE(xrstors, soft_xstate_xrstor)

#define STATE(name, does)               \
	SOFT_UOP(name)                  \
	{                               \
		does(c, u);             \
		return SOFT_NEXT(c, u); \
	}

STATE(fxsave, soft_xstate_fxsave)
STATE(fxrstor, soft_xstate_fxrstor)
STATE(xsave, soft_xstate_xsave)
STATE(xrstor, soft_xstate_xrstor)
STATE(ldmxcsr, do_ldmxcsr)
STATE(stmxcsr, do_stmxcsr)
STATE(emms, do_emms)
STATE(xgetbv, do_xgetbv)

/* The properties of an instruction for its translator. */
struct form {
	soft_uop_fn fn;
	enum soft_unit unit;
	uint8_t bytes; /* the least size of the memory operand; 0 if there is none */
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
		FORM(FXSAVE, fxsave, SOFT_UNIT_X87, 160, true, false, 0),
		FORM(FXSAVE64, fxsave, SOFT_UNIT_X87, 160, true, false, SOFT_XSTATE_WIDE),
		FORM(FXRSTOR, fxrstor, SOFT_UNIT_X87, 160, false, false, 0),
		FORM(FXRSTOR64, fxrstor, SOFT_UNIT_X87, 160, false, false, SOFT_XSTATE_WIDE),
		FORM(XSAVE, xsave, SOFT_UNIT_X87, 160, true, true, 0),
		FORM(XSAVE64, xsave, SOFT_UNIT_X87, 160, true, true, SOFT_XSTATE_WIDE),
		FORM(XSAVEOPT, xsave, SOFT_UNIT_X87, 160, true, true, SOFT_XSTATE_OPTIMIZED),
		FORM(XSAVEOPT64, xsave, SOFT_UNIT_X87, 160, true, true,
		     SOFT_XSTATE_OPTIMIZED | SOFT_XSTATE_WIDE),
		FORM(XSAVEC, xsave, SOFT_UNIT_X87, 160, true, true, SOFT_XSTATE_COMPACT),
		FORM(XSAVEC64, xsave, SOFT_UNIT_X87, 160, true, true,
		     SOFT_XSTATE_COMPACT | SOFT_XSTATE_WIDE),
		FORM(XSAVES, xsaves, SOFT_UNIT_X87, 160, true, true,
		     SOFT_XSTATE_COMPACT | SOFT_XSTATE_SYSTEM),
		FORM(XSAVES64, xsaves, SOFT_UNIT_X87, 160, true, true,
		     SOFT_XSTATE_COMPACT | SOFT_XSTATE_SYSTEM | SOFT_XSTATE_WIDE),
		FORM(XRSTORS, xrstors, SOFT_UNIT_X87, 160, false, true, SOFT_XSTATE_SYSTEM),
		FORM(XRSTORS64, xrstors, SOFT_UNIT_X87, 160, false, true,
		     SOFT_XSTATE_SYSTEM | SOFT_XSTATE_WIDE),
		FORM(XRSTOR, xrstor, SOFT_UNIT_X87, 160, false, true, 0),
		FORM(XRSTOR64, xrstor, SOFT_UNIT_X87, 160, false, true, SOFT_XSTATE_WIDE),
		FORM(LDMXCSR, ldmxcsr, SOFT_UNIT_SSE, 4, false, false, 0),
		FORM(STMXCSR, stmxcsr, SOFT_UNIT_SSE, 4, true, false, 0),
		FORM(VLDMXCSR, ldmxcsr, SOFT_UNIT_AVX, 4, false, false, 0),
		FORM(VSTMXCSR, stmxcsr, SOFT_UNIT_AVX, 4, true, false, 0),
		FORM(EMMS, emms, SOFT_UNIT_MMX, 0, false, false, 0),
#undef FORM
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (forms[i].mnemonic == mnemonic)
			return &forms[i].form;
	return NULL;
}

bool soft_tr_xstate(struct soft_translation *t)
{
	const struct form *f = form_of(t->insn->mnemonic);
	struct soft_address address;
	struct soft_uop *u;

	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XGETBV) {
		soft_tr_emit(t, xgetbv);
		return true;
	}
	if (t->insn->mnemonic == ZYDIS_MNEMONIC_XSETBV) {
		soft_tr_emit(t, xsetbv);
		t->ends = true;
		return true;
	}
	if (!f)
		return false;
	if (f->xsave)
		soft_tr_emit(t, osxsave);
	soft_tr_need(t, f->unit);
	if (f->flags & SOFT_XSTATE_SYSTEM && t->mode & SOFT_BLOCK_USER) {
		soft_tr_raise(t, X86_VEC_GP);
		return true;
	}
	if (!f->bytes) {
		soft_tr_emit(t, f->fn);
		return true;
	}
	address = soft_tr_address(t, 0, f->bytes, f->write);
	u = soft_tr_emit(t, f->fn);
	soft_tr_put_address(u, &address);
	u->aux = f->flags | (t->bits == 64 ? SOFT_XSTATE_LONG : 0);
	return true;
}
