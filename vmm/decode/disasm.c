// SPDX-License-Identifier: GPL-2.0-or-later
/* Format and read instructions, and map the classes of libvptdecode. */
#include "decode/disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "x86/insn.h"

struct decode_disasm {
	const struct debug_symbols *symbols;
	ZydisDecoder decoder[3]; /* 16, 32, 64 bits */
	ZydisFormatter formatter;
	struct dec_x86 *x86;
};

static ZydisDecoder *decoder(struct decode_disasm *d, unsigned int mode)
{
	return &d->decoder[mode == 16 ? 0 : mode == 32 ? 1 : 2];
}

/* Append the name of the address in the instruction, as objdump does. */
static void append_name(const struct decode_disasm *d, const ZydisDecodedInstruction *insn,
			const ZydisDecodedOperand *operands, uint64_t ip, char *text, size_t size)
{
	size_t len = strlen(text);
	ZyanU8 i;

	for (i = 0; i < insn->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operands[i];
		bool relative = op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative;
		bool rip =
			op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP;
		char name[128];
		ZyanU64 addr;

		if ((!relative && !rip) ||
		    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(insn, op, ip, &addr)) ||
		    !debug_symbols_find(d->symbols, addr))
			continue;
		debug_symbols_format(d->symbols, addr, name, sizeof(name));
		snprintf(text + len, size - len, "%s <%s>", rip ? "  #" : "", name);
		return;
	}
}

struct decode_disasm *decode_disasm_new(const struct debug_symbols *symbols)
{
	static const unsigned int modes[] = {16, 32, 64};
	struct decode_disasm *d = calloc(1, sizeof(*d));
	unsigned int i;

	if (!d)
		return NULL;
	d->x86 = dec_x86_new();
	if (!d->x86) {
		free(d);
		return NULL;
	}
	d->symbols = symbols;
	for (i = 0; i < 3; i++)
		x86_decoder_init(&d->decoder[i], modes[i]);
	/* Neither of these can fail with constant arguments. */
	ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	return d;
}

void decode_disasm_free(struct decode_disasm *d)
{
	if (d)
		dec_x86_free(d->x86);
	free(d);
}

unsigned int decode_disasm_format(struct decode_disasm *d, uint64_t ip, unsigned int mode,
				  const uint8_t *bytes, size_t len, char *text, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	if (!ZYAN_SUCCESS(x86_decode(decoder(d, mode), bytes, len, &insn, operands)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&d->formatter, &insn, operands,
							  insn.operand_count_visible, text, size,
							  ip, NULL))) {
		snprintf(text, size, "(bad)");
		return 0;
	}
	append_name(d, &insn, operands, ip, text, size);
	return insn.length;
}

int decode_disasm_read(struct decode_disasm *d, unsigned int mode, const uint8_t *bytes, size_t len,
		       struct dec_insn *insn)
{
	return dec_x86_read(d->x86, mode, bytes, len, insn);
}

uint64_t decode_disasm_target(const struct dec_insn *insn, unsigned int mode, uint64_t ip)
{
	uint64_t target = (uint64_t)insn->disp + (insn->absolute ? 0 : ip + insn->len);

	return mode == 64 ? target : (uint32_t)target;
}

enum decode_insn_class decode_disasm_class_of(enum dec_insn_kind kind)
{
	static const uint8_t classes[] = {
		[DEC_INSN_PLAIN] = DECODE_INSN_OTHER,
		[DEC_INSN_COND] = DECODE_INSN_COND,
		[DEC_INSN_JUMP] = DECODE_INSN_JUMP,
		[DEC_INSN_CALL] = DECODE_INSN_CALL,
		[DEC_INSN_JUMP_IND] = DECODE_INSN_JUMP,
		[DEC_INSN_CALL_IND] = DECODE_INSN_CALL,
		[DEC_INSN_RET] = DECODE_INSN_RETURN,
		[DEC_INSN_FAR_JUMP] = DECODE_INSN_FAR_JUMP,
		[DEC_INSN_FAR_CALL] = DECODE_INSN_FAR_CALL,
		[DEC_INSN_FAR_RETURN] = DECODE_INSN_FAR_RETURN,
		[DEC_INSN_SOFT_INT] = DECODE_INSN_FAR_CALL,
		[DEC_INSN_INTO] = DECODE_INSN_FAR_CALL,
		[DEC_INSN_VM_ENTRY] = DECODE_INSN_FAR_RETURN,
		[DEC_INSN_CR3] = DECODE_INSN_OTHER,
		[DEC_INSN_CR0] = DECODE_INSN_OTHER,
		[DEC_INSN_PTWRITE] = DECODE_INSN_PTWRITE,
		[DEC_INSN_WRMSR] = DECODE_INSN_OTHER,
		[DEC_INSN_VMPTRLD] = DECODE_INSN_OTHER,
	};

	return (enum decode_insn_class)classes[kind];
}
