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

/* Returns the length of the legacy prefixes and the REX prefix. */
static size_t prefixes(unsigned int bits, const uint8_t *code, size_t len)
{
	size_t n = 0;

	while (n < len &&
	       (code[n] == 0x66 || code[n] == 0x67 || (code[n] & 0xe7) == 0x26 || code[n] == 0x64 ||
		code[n] == 0x65 || code[n] == 0xf2 || code[n] == 0xf3))
		n++;
	return n < len && bits == 64 && (code[n] & 0xf0) == 0x40 ? n + 1 : n;
}

int x86_int_vector(unsigned int bits, const uint8_t *code, size_t len)
{
	const size_t at = prefixes(bits, code, len);
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	/* Almost no instruction is one, and Zydis takes longer. */
	if (at == len || ((code[at] & 0xfc) != 0xcc && code[at] != 0xf1))
		return -1;
	x86_decoder_init(&decoder, bits);
	if (!ZYAN_SUCCESS(x86_decode_insn(&decoder, code, len, &insn)))
		return -1;
	switch (insn.mnemonic) {
	case ZYDIS_MNEMONIC_INT:
		return (int)insn.raw.imm[0].value.u & 0xff;
	case ZYDIS_MNEMONIC_INT1:
		return 1;
	case ZYDIS_MNEMONIC_INT3:
		return 3;
	case ZYDIS_MNEMONIC_INTO:
		return 4;
	default:
		return -1;
	}
}
