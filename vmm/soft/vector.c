// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Translate MMX, SSE, AVX and AVX-512. This file decides whether an instruction is enabled, the
 * alignment of its memory operand, and whether it uses MXCSR. The host executes the instruction.
 */
#include "soft/native.h"

/* Raise the exception of a unit that CR0, CR4 or XCR0 disables (SDM vol. 3, 2.5, 13.1). */
SOFT_UOP(forbidden)
{
	bool em = c->s.cr0 & X86_CR0_EM, ts = c->s.cr0 & X86_CR0_TS;

	switch (u->aux) {
	case SOFT_UNIT_X87:
		if (em || ts)
			soft_raise(c, u, X86_VEC_NM);
		break;
	case SOFT_UNIT_MMX:
		if (em)
			soft_raise(c, u, X86_VEC_UD);
		break;
	case SOFT_UNIT_SSE:
		if (em || c->mode & SOFT_BLOCK_NO_SSE)
			soft_raise(c, u, X86_VEC_UD);
		break;
	case SOFT_UNIT_AVX:
		if (c->mode & SOFT_BLOCK_NO_AVX)
			soft_raise(c, u, X86_VEC_UD);
		break;
	default:
		if (c->mode & (SOFT_BLOCK_NO_AVX | SOFT_BLOCK_NO_AVX512))
			soft_raise(c, u, X86_VEC_UD);
		break;
	}
	if (ts)
		soft_raise(c, u, X86_VEC_NM);
	return SOFT_NEXT(c, u);
}

void soft_tr_need(struct soft_translation *t, enum soft_unit unit)
{
	static const uint32_t bits[] = {
		[SOFT_UNIT_X87] = SOFT_BLOCK_NO_FPU,
		[SOFT_UNIT_MMX] = SOFT_BLOCK_NO_FPU,
		[SOFT_UNIT_SSE] = SOFT_BLOCK_NO_FPU | SOFT_BLOCK_NO_SSE,
		[SOFT_UNIT_AVX] = SOFT_BLOCK_NO_FPU | SOFT_BLOCK_NO_AVX,
		[SOFT_UNIT_AVX512] = SOFT_BLOCK_NO_FPU | SOFT_BLOCK_NO_AVX | SOFT_BLOCK_NO_AVX512,
	};

	if (t->mode & bits[unit])
		soft_tr_emit(t, forbidden)->aux = unit;
}

static enum soft_unit unit_of(const struct soft_translation *t, const struct soft_recoded *r)
{
	switch (t->insn->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return SOFT_UNIT_AVX512;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return r->k_used ? SOFT_UNIT_AVX512 : SOFT_UNIT_AVX;
	default:
		return r->mm_used && t->insn->meta.isa_ext == ZYDIS_ISA_EXT_MMX ? SOFT_UNIT_MMX
										: SOFT_UNIT_SSE;
	}
}

/* Return true if the instruction uses MXCSR. SDM vol. 2, 2.4 and 2.8, define the classes. */
static bool uses_mxcsr(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_SSE2:
	case ZYDIS_EXCEPTION_CLASS_SSE3:
	case ZYDIS_EXCEPTION_CLASS_AVX2:
	case ZYDIS_EXCEPTION_CLASS_AVX3:
	case ZYDIS_EXCEPTION_CLASS_AVX11:
	case ZYDIS_EXCEPTION_CLASS_E2:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E11:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		return true;
	default:
		break;
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CVTPD2PI:
	case ZYDIS_MNEMONIC_CVTPI2PD:
	case ZYDIS_MNEMONIC_CVTPI2PS:
	case ZYDIS_MNEMONIC_CVTPS2PI:
	case ZYDIS_MNEMONIC_CVTTPD2PI:
	case ZYDIS_MNEMONIC_CVTTPS2PI:
		return true;
	default:
		return false;
	}
}

/* Return true for instructions that treat denormals by MXCSR but raise no exceptions. */
static bool is_estimate(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VFPCLASSPD:
	case ZYDIS_MNEMONIC_VFPCLASSPS:
	case ZYDIS_MNEMONIC_VFPCLASSSD:
	case ZYDIS_MNEMONIC_VFPCLASSSS:
	case ZYDIS_MNEMONIC_VRCP14PD:
	case ZYDIS_MNEMONIC_VRCP14PS:
	case ZYDIS_MNEMONIC_VRCP14SD:
	case ZYDIS_MNEMONIC_VRCP14SS:
	case ZYDIS_MNEMONIC_VRSQRT14PD:
	case ZYDIS_MNEMONIC_VRSQRT14PS:
	case ZYDIS_MNEMONIC_VRSQRT14SD:
	case ZYDIS_MNEMONIC_VRSQRT14SS:
	case ZYDIS_MNEMONIC_RCPPS:
	case ZYDIS_MNEMONIC_RCPSS:
	case ZYDIS_MNEMONIC_RSQRTPS:
	case ZYDIS_MNEMONIC_RSQRTSS:
	case ZYDIS_MNEMONIC_VRCPPS:
	case ZYDIS_MNEMONIC_VRCPSS:
	case ZYDIS_MNEMONIC_VRSQRTPS:
	case ZYDIS_MNEMONIC_VRSQRTSS:
		return true;
	default:
		return false;
	}
}

/* Return true for the legacy SSE instructions whose 16-byte operand need not be aligned. */
static bool may_be_unaligned(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_PCMPESTRI:
	case ZYDIS_MNEMONIC_PCMPESTRM:
	case ZYDIS_MNEMONIC_PCMPISTRI:
	case ZYDIS_MNEMONIC_PCMPISTRM:
		return true;
	default:
		return false;
	}
}

static unsigned int alignment(const struct soft_translation *t, int mem)
{
	unsigned int size = mem < 0 ? 1 : soft_tr_size(t, (unsigned int)mem);

	switch (t->insn->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_AVX1:
	case ZYDIS_EXCEPTION_CLASS_E1:
	case ZYDIS_EXCEPTION_CLASS_E1NF:
		return size;
	default:
		break;
	}
	if (t->insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || size != 16 ||
	    may_be_unaligned(t->insn->mnemonic))
		return 1;
	return size;
}

/* VZEROUPPER or VZEROALL: clear u->aux registers from byte u->imm on. */
SOFT_UOP(zero_upper)
{
	unsigned int i;

	for (i = 0; i < u->aux; i++)
		memset(c->fpu.zmm[i] + u->imm, 0, sizeof(c->fpu.zmm[i]) - u->imm);
	return SOFT_NEXT(c, u);
}

static bool zero(struct soft_translation *t, unsigned int from)
{
	struct soft_uop *u;

	soft_tr_need(t, SOFT_UNIT_AVX);
	u = soft_tr_emit(t, zero_upper);
	u->aux = t->bits == 64 ? 16 : 8;
	u->imm = from;
	return true;
}

bool soft_tr_vector(struct soft_translation *t)
{
	struct soft_recoded r;
	unsigned int align;

	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_VZEROUPPER:
		return zero(t, 16);
	case ZYDIS_MNEMONIC_VZEROALL:
		return zero(t, 0);
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return soft_tr_maskmov(t);
	default:
		break;
	}
	if (soft_tr_gather(t))
		return true;
	if (!soft_recode(t, &r))
		return false;
	if (uses_mxcsr(t->insn))
		r.how |= SOFT_HOW_MXCSR | (t->insn->avx.has_sae ? SOFT_HOW_SAE : 0);
	else if (is_estimate(t->insn->mnemonic))
		r.how |= SOFT_HOW_MXCSR | SOFT_HOW_SAE;
	soft_tr_need(t, unit_of(t, &r));
	align = alignment(t, soft_native_memory(t));
	return soft_element_emit(t, &r, align) || soft_native_emit(t, &r, align);
}
