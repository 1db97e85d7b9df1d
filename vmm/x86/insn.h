/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The x86 front end: Zydis, and corrections for errors of Zydis 4.0.0. All code that needs the
 * operands of an instruction decodes it here. The exception is tests/run/silicon, which has a
 * copy of its own, so that it stays an independent judge.
 */
#ifndef VMM_X86_INSN_H
#define VMM_X86_INSN_H

#include <Zydis/Zydis.h>

/* Initialize @decoder for code of @bits: 16, 32 or 64. */
void x86_decoder_init(ZydisDecoder *decoder, unsigned int bits);

/*
 * Decode the instruction at @code, of which @len bytes can be read. @op receives its operands and
 * has room for ZYDIS_MAX_OPERAND_COUNT. Returns the status of Zydis, which is
 * ZYDIS_STATUS_NO_MORE_DATA if more bytes could complete an instruction.
 */
ZyanStatus x86_decode(const ZydisDecoder *decoder, const void *code, size_t len,
		      ZydisDecodedInstruction *insn, ZydisDecodedOperand *op);

/* Decode an instruction without operands. Only operands need corrections. */
ZyanStatus x86_decode_insn(const ZydisDecoder *decoder, const void *code, size_t len,
			   ZydisDecodedInstruction *insn);

/*
 * Returns the vector of the INT n, INT3, INT1 or INTO at @code, which is for @bits. Returns -1 if
 * the first @len bytes are not one.
 */
int x86_int_vector(unsigned int bits, const uint8_t *code, size_t len);

#endif /* VMM_X86_INSN_H */
