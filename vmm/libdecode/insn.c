// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Classify x86 instructions for the flow decoder. */
#include "libdecode/insn.h"

#include <stdlib.h>

#include "x86/insn.h"

struct dec_x86 {
	ZydisDecoder decoder[3]; /* 16, 32, 64 bits */
};

struct dec_x86 *dec_x86_new(void)
{
	struct dec_x86 *x86 = calloc(1, sizeof(*x86));

	if (!x86)
		return NULL;
	x86_decoder_init(&x86->decoder[0], 16);
	x86_decoder_init(&x86->decoder[1], 32);
	x86_decoder_init(&x86->decoder[2], 64);
	return x86;
}

void dec_x86_free(struct dec_x86 *x86)
{
	free(x86);
}

static enum dec_insn_kind branch_kind(const ZydisDecodedInstruction *insn)
{
	bool far = insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	bool direct = insn->raw.imm[0].is_relative;

	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return far ? DEC_INSN_FAR_CALL : direct ? DEC_INSN_CALL : DEC_INSN_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		return far ? DEC_INSN_FAR_RETURN : DEC_INSN_RET;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return far ? DEC_INSN_FAR_JUMP : direct ? DEC_INSN_JUMP : DEC_INSN_JUMP_IND;
	case ZYDIS_CATEGORY_COND_BR:
		/* XEND is also in this category. */
		return direct ? DEC_INSN_COND : DEC_INSN_PLAIN;
	default:
		return DEC_INSN_PLAIN;
	}
}

/* Classify MOV to CR0, MOV to CR3, and any other MOV. */
static enum dec_insn_kind mov_kind(const ZydisDecodedInstruction *insn)
{
	if (insn->opcode_map != ZYDIS_OPCODE_MAP_0F || insn->opcode != 0x22 || insn->raw.rex.R)
		return DEC_INSN_PLAIN;
	switch (insn->raw.modrm.reg) {
	case 0:
		return DEC_INSN_CR0;
	case 3:
		return DEC_INSN_CR3;
	default:
		return DEC_INSN_PLAIN;
	}
}

static enum dec_insn_kind kind_of(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_VMCALL:
		return DEC_INSN_FAR_CALL;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
		return DEC_INSN_SOFT_INT;
	case ZYDIS_MNEMONIC_INTO:
		return DEC_INSN_INTO;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_UIRET:
		return DEC_INSN_FAR_RETURN;
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return DEC_INSN_VM_ENTRY;
	/* An abort is an asynchronous event. Without one, XBEGIN falls through. */
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XABORT:
		return DEC_INSN_PLAIN;
	case ZYDIS_MNEMONIC_PTWRITE:
		return DEC_INSN_PTWRITE;
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
		return DEC_INSN_WRMSR;
	case ZYDIS_MNEMONIC_VMPTRLD:
		return DEC_INSN_VMPTRLD;
	case ZYDIS_MNEMONIC_MOV:
		return mov_kind(insn);
	default:
		return branch_kind(insn);
	}
}

/*
 * Detect FRED's returns, which are newer than Zydis 4.0: F3 0F 01 CA is ERETU, F2 0F 01 CA is
 * ERETS. Zydis decodes them as CLAC with a meaningless prefix.
 */
static bool is_fred_return(const uint8_t *bytes, size_t len)
{
	return len >= 4 && (bytes[0] == 0xf3 || bytes[0] == 0xf2) && bytes[1] == 0x0f &&
	       bytes[2] == 0x01 && bytes[3] == 0xca;
}

/* Detect APX's JMPABS: REX2 (D5) with W, R, X and B clear, A1 and a target of 64 bits. */
static bool is_jmpabs(const uint8_t *bytes, size_t len)
{
	return len >= 3 && bytes[0] == 0xd5 && bytes[1] == 0x00 && bytes[2] == 0xa1;
}

static int read_jmpabs(const uint8_t *bytes, size_t len, struct dec_insn *insn)
{
	uint64_t target = 0;
	unsigned int i;

	if (len < 11)
		return -1;
	for (i = 0; i < 8; i++)
		target |= (uint64_t)bytes[3 + i] << (8 * i);
	*insn = (struct dec_insn){
		.len = 11, .kind = DEC_INSN_JUMP, .absolute = true, .disp = (int64_t)target};
	return 1;
}

int dec_x86_read(struct dec_x86 *x86, unsigned int mode, const uint8_t *bytes, size_t len,
		 struct dec_insn *insn)
{
	const ZydisDecoder *decoder = &x86->decoder[mode == 16 ? 0 : mode == 32 ? 1 : 2];
	ZydisDecodedInstruction zydis;
	ZyanStatus status;

	if (mode == 64 && is_fred_return(bytes, len)) {
		*insn = (struct dec_insn){.len = 4, .kind = DEC_INSN_FAR_RETURN};
		return 1;
	}
	if (mode == 64 && is_jmpabs(bytes, len))
		return read_jmpabs(bytes, len, insn);
	status = x86_decode_insn(decoder, bytes, len, &zydis);
	if (!ZYAN_SUCCESS(status))
		return status == ZYDIS_STATUS_NO_MORE_DATA ? -1 : 0;
	*insn = (struct dec_insn){
		.len = zydis.length,
		.kind = (uint8_t)kind_of(&zydis),
		.target16 = mode != 64 && zydis.operand_width == 16,
		.disp = zydis.raw.imm[0].is_relative ? zydis.raw.imm[0].value.s : 0,
	};
	return 1;
}

int dec_x86_int_vector(unsigned int mode, const uint8_t *bytes, size_t len)
{
	return x86_int_vector(mode, bytes, len);
}
