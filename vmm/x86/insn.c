// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Decoding of x86 instructions by Zydis, with its errors corrected. */
#include "x86/insn.h"

void x86_decoder_init(ZydisDecoder *decoder, unsigned int bits)
{
	/* ZydisDecoderInit() fails only for combinations that are not among these. */
	if (bits == 64)
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	else if (bits == 32)
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	else
		ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16);
}

/*
 * A SIB byte with base 5 and mod 0 has no base but a displacement of 32 bits. If REX.B
 * is set and addresses have 32 bits, Zydis 4.0.0 reports R13D and drops the displacement.
 */
static void correct_base(const ZydisDecodedInstruction *insn, ZydisDecodedOperand *op)
{
	unsigned int i;

	if (!(insn->attributes & ZYDIS_ATTRIB_HAS_SIB) || insn->raw.modrm.mod ||
	    insn->raw.sib.base != 5)
		return;
	for (i = 0; i < insn->operand_count_visible; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		op[i].mem.base = ZYDIS_REGISTER_NONE;
		op[i].mem.disp.has_displacement = ZYAN_TRUE;
		op[i].mem.disp.value = insn->raw.disp.value;
	}
}

ZyanStatus x86_decode(const ZydisDecoder *decoder, const void *code, size_t len,
		      ZydisDecodedInstruction *insn, ZydisDecodedOperand *op)
{
	ZyanStatus status = ZydisDecoderDecodeFull(decoder, code, len, insn, op);

	if (ZYAN_SUCCESS(status))
		correct_base(insn, op);
	return status;
}

ZyanStatus x86_decode_insn(const ZydisDecoder *decoder, const void *code, size_t len,
			   ZydisDecodedInstruction *insn)
{
	return ZydisDecoderDecodeInstruction(decoder, NULL, code, len, insn);
}
