// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions as text, and where execution goes from them. */
#include "disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "x86/insn.h"

struct vpt_disasm {
	const struct vpt_symbols *symbols;
	ZydisDecoder decoder[3]; /* 16, 32, 64 bits */
	ZydisFormatter formatter;
};

static ZydisDecoder *decoder(struct vpt_disasm *d, unsigned int mode)
{
	return &d->decoder[mode == 16 ? 0 : mode == 32 ? 1 : 2];
}

/* Append the name of the address that the instruction has in it, as objdump does. */
static void append_name(const struct vpt_disasm *d, const ZydisDecodedInstruction *insn,
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
		    !vpt_symbols_find(d->symbols, addr))
			continue;
		vpt_symbols_format(d->symbols, addr, name, sizeof(name));
		snprintf(text + len, size - len, "%s <%s>", rip ? "  #" : "", name);
		return;
	}
}

struct vpt_disasm *vpt_disasm_new(const struct vpt_symbols *symbols)
{
	static const unsigned int modes[] = {16, 32, 64};
	struct vpt_disasm *d = calloc(1, sizeof(*d));
	unsigned int i;

	if (!d)
		return NULL;
	d->symbols = symbols;
	for (i = 0; i < 3; i++)
		vpt_x86_decoder_init(&d->decoder[i], modes[i]);
	/* Neither of these can fail with constant arguments. */
	ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&d->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	return d;
}

void vpt_disasm_free(struct vpt_disasm *d)
{
	free(d);
}

unsigned int vpt_disasm_format(struct vpt_disasm *d, uint64_t ip, unsigned int mode,
			       const uint8_t *bytes, size_t len, char *text, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	if (!ZYAN_SUCCESS(vpt_x86_decode(decoder(d, mode), bytes, len, &insn, operands)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&d->formatter, &insn, operands,
							  insn.operand_count_visible, text, size,
							  ip, NULL))) {
		snprintf(text, size, "(bad)");
		return 0;
	}
	append_name(d, &insn, operands, ip, text, size);
	return insn.length;
}

static enum vpt_insn_class class_of(const ZydisDecodedInstruction *insn)
{
	bool far = insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_VMCALL:
		return VPT_INSN_FAR_CALL;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return VPT_INSN_FAR_RETURN;
	case ZYDIS_MNEMONIC_PTWRITE:
		return VPT_INSN_PTWRITE;
	default:
		break;
	}
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return far ? VPT_INSN_FAR_CALL : VPT_INSN_CALL;
	case ZYDIS_CATEGORY_RET:
		return far ? VPT_INSN_FAR_RETURN : VPT_INSN_RETURN;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return far ? VPT_INSN_FAR_JUMP : VPT_INSN_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return VPT_INSN_COND;
	default:
		return VPT_INSN_OTHER;
	}
}

enum vpt_insn_class vpt_disasm_class(struct vpt_disasm *d, unsigned int mode, const uint8_t *bytes,
				     size_t len, unsigned int *insn_len)
{
	ZydisDecodedInstruction insn;

	*insn_len = 0;
	if (!ZYAN_SUCCESS(vpt_x86_decode_insn(decoder(d, mode), bytes, len, &insn)))
		return VPT_INSN_UNKNOWN;
	*insn_len = insn.length;
	return class_of(&insn);
}

/* MOV to CR0 or CR3, which no prefix makes another register. */
static enum vpt_goes goes_on(const ZydisDecodedInstruction *insn)
{
	if (insn->mnemonic == ZYDIS_MNEMONIC_WRMSR)
		return VPT_GOES_WRMSR;
	if (insn->mnemonic != ZYDIS_MNEMONIC_MOV || insn->opcode_map != ZYDIS_OPCODE_MAP_0F ||
	    insn->opcode != 0x22 || insn->raw.rex.R)
		return VPT_GOES_ON;
	if (insn->raw.modrm.reg == 3)
		return VPT_GOES_CR3;
	return insn->raw.modrm.reg ? VPT_GOES_ON : VPT_GOES_CR0;
}

static enum vpt_goes goes(const ZydisDecodedInstruction *insn, enum vpt_insn_class class)
{
	bool direct = insn->raw.imm[0].is_relative;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
		return VPT_GOES_SOFT_INT;
	case ZYDIS_MNEMONIC_INTO:
		return VPT_GOES_INTO;
	/* They do not retire: VM exits, in non-root operation, or faults. */
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
	case ZYDIS_MNEMONIC_XBEGIN:
		return VPT_GOES_ON;
	default:
		break;
	}
	switch (class) {
	case VPT_INSN_CALL:
	case VPT_INSN_JUMP:
		return direct ? VPT_GOES_DIRECT : VPT_GOES_INDIRECT;
	case VPT_INSN_RETURN:
		return VPT_GOES_RETURN;
	case VPT_INSN_COND:
		return VPT_GOES_COND;
	case VPT_INSN_FAR_CALL:
	case VPT_INSN_FAR_RETURN:
	case VPT_INSN_FAR_JUMP:
		return VPT_GOES_FAR;
	default:
		return goes_on(insn);
	}
}

int vpt_disasm_look(struct vpt_disasm *d, unsigned int mode, const uint8_t *bytes, size_t len,
		    struct vpt_insn_look *look)
{
	ZydisDecodedInstruction insn;
	ZyanStatus status = vpt_x86_decode_insn(decoder(d, mode), bytes, len, &insn);

	if (!ZYAN_SUCCESS(status))
		return status == ZYDIS_STATUS_NO_MORE_DATA ? -1 : 0;
	look->class = (uint8_t)class_of(&insn);
	look->goes = (uint8_t)goes(&insn, (enum vpt_insn_class)look->class);
	look->size = insn.length;
	look->displacement = insn.raw.imm[0].is_relative ? insn.raw.imm[0].value.s : 0;
	return 1;
}
