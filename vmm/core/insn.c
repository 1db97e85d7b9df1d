// SPDX-License-Identifier: GPL-2.0-or-later
/* Decoding and classification of instructions with Zydis, with a cache. */
#include "core/insn.h"

#include <stdlib.h>
#include <string.h>

#include "x86/insn.h"
#include "x86/x86.h"
#include "engine/engine.h"

#define CACHE_BITS 15
#define CACHE_SIZE (1u << CACHE_BITS)

struct core_insn_cache {
	ZydisDecoder wide, half, narrow; /* 64, 32 and 16 bits */
	struct core_insn slot[CACHE_SIZE];
};

struct core_insn_cache *core_insn_cache_create(void)
{
	struct core_insn_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	x86_decoder_init(&cache->wide, 64);
	x86_decoder_init(&cache->half, 32);
	x86_decoder_init(&cache->narrow, 16);
	return cache;
}

void core_insn_cache_destroy(struct core_insn_cache *cache)
{
	free(cache);
}

static const ZydisDecoder *decoder(const struct core_insn_cache *cache, uint8_t bits)
{
	return bits == 64 ? &cache->wide : bits == 32 ? &cache->half : &cache->narrow;
}

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

static bool is_class(const ZydisDecodedOperand *op, ZydisRegisterClass cls)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetClass(op->reg.value) == cls;
}

static uint8_t target_flag(const struct core_insn *insn, const ZydisDecodedInstruction *d)
{
	return insn->bits != 64 && d->operand_width == 16 ? CORE_INSN_TARGET16 : 0;
}

static void classify_branch(struct core_insn *insn, const ZydisDecodedInstruction *d,
			    const ZydisDecodedOperand *op)
{
	bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative;

	if (d->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
		insn->cls = CORE_INSN_FAR;
		insn->flags |= CORE_INSN_SYSTEM;
		return;
	}
	if (direct) {
		insn->disp = op[0].imm.value.s;
		insn->flags |= target_flag(insn, d);
	}
	if (d->mnemonic == ZYDIS_MNEMONIC_JMP)
		insn->cls = direct ? CORE_INSN_JMP : CORE_INSN_JMP_INDIRECT;
	else
		insn->cls = direct ? CORE_INSN_CALL : CORE_INSN_CALL_INDIRECT;
}

static void classify_cond(struct core_insn *insn, const ZydisDecodedInstruction *d,
			  const ZydisDecodedOperand *op)
{
	insn->cls = CORE_INSN_COND;
	insn->aux = d->opcode;
	insn->disp = op[0].imm.value.s;
	insn->flags |= target_flag(insn, d);
	if (d->address_width == 32)
		insn->flags |= CORE_INSN_ADDRESS32;
	else if (d->address_width == 16)
		insn->flags |= CORE_INSN_ADDRESS16;
}

static void classify_mov(struct core_insn *insn, const ZydisDecodedOperand *op)
{
	if (is_register(&op[0], ZYDIS_REGISTER_CR3)) {
		insn->cls = CORE_INSN_MOV_CR3;
		insn->flags |= CORE_INSN_SYSTEM;
	} else if (is_class(&op[0], ZYDIS_REGCLASS_CONTROL)) {
		insn->flags |= CORE_INSN_SYSTEM;
	} else if (is_class(&op[0], ZYDIS_REGCLASS_DEBUG) ||
		   is_class(&op[1], ZYDIS_REGCLASS_DEBUG)) {
		insn->flags |= CORE_INSN_DEBUG_REGS;
	} else if (is_class(&op[0], ZYDIS_REGCLASS_SEGMENT)) {
		insn->flags |= CORE_INSN_SYSTEM;
		if (is_register(&op[0], ZYDIS_REGISTER_SS))
			insn->flags |= CORE_INSN_LOADS_SS;
	}
}

static void classify_pop(struct core_insn *insn, const ZydisDecodedOperand *op)
{
	if (!is_class(&op[0], ZYDIS_REGCLASS_SEGMENT))
		return;
	insn->flags |= CORE_INSN_SYSTEM;
	if (is_register(&op[0], ZYDIS_REGISTER_SS))
		insn->flags |= CORE_INSN_LOADS_SS;
}

/* Classify all other instructions. Each row has one mnemonic. */
static void classify_other(struct core_insn *insn, const ZydisDecodedInstruction *d,
			   const ZydisDecodedOperand *op)
{
	static const struct {
		ZydisMnemonic mnemonic;
		uint8_t cls, flags;
	} row[] = {
		{ZYDIS_MNEMONIC_SYSCALL, CORE_INSN_SYSCALL, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_SYSRET, CORE_INSN_SYSRET, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_SYSENTER, CORE_INSN_SYSENTER, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_SYSEXIT, CORE_INSN_SYSEXIT, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_IRET, CORE_INSN_IRET, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_IRETD, CORE_INSN_IRET, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_IRETQ, CORE_INSN_IRET, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_INT1, CORE_INSN_INT1, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_RDMSR, CORE_INSN_RDMSR, 0},
		{ZYDIS_MNEMONIC_WRMSR, CORE_INSN_WRMSR, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_HLT, CORE_INSN_HLT, 0},
		{ZYDIS_MNEMONIC_PUSHF, CORE_INSN_PUSHF, 0},
		{ZYDIS_MNEMONIC_PUSHFD, CORE_INSN_PUSHF, 0},
		{ZYDIS_MNEMONIC_PUSHFQ, CORE_INSN_PUSHF, 0},
		{ZYDIS_MNEMONIC_POPF, CORE_INSN_POPF, 0},
		{ZYDIS_MNEMONIC_POPFD, CORE_INSN_POPF, 0},
		{ZYDIS_MNEMONIC_POPFQ, CORE_INSN_POPF, 0},
		{ZYDIS_MNEMONIC_SIDT, CORE_INSN_SIDT, 0},
		{ZYDIS_MNEMONIC_CPUID, CORE_INSN_CPUID, 0},
		{ZYDIS_MNEMONIC_RDTSC, CORE_INSN_RDTSC, 0},
		{ZYDIS_MNEMONIC_RDTSCP, CORE_INSN_RDTSC, 0},
		{ZYDIS_MNEMONIC_RDPMC, CORE_INSN_RDPMC, 0},
		{ZYDIS_MNEMONIC_PTWRITE, CORE_INSN_PTWRITE, 0},
		{ZYDIS_MNEMONIC_MONITOR, CORE_INSN_MONITOR, 0},
		{ZYDIS_MNEMONIC_MWAIT, CORE_INSN_MWAIT, 0},
		{ZYDIS_MNEMONIC_UMONITOR, CORE_INSN_UMONITOR, 0},
		{ZYDIS_MNEMONIC_UMWAIT, CORE_INSN_UMWAIT, 0},
		{ZYDIS_MNEMONIC_TPAUSE, CORE_INSN_TPAUSE, 0},
		{ZYDIS_MNEMONIC_STI, CORE_INSN_PLAIN, CORE_INSN_STI},
		{ZYDIS_MNEMONIC_LGDT, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LIDT, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LLDT, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LTR, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LMSW, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_CLTS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_SWAPGS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_WRFSBASE, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_WRGSBASE, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LFS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LGS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LDS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LES, CORE_INSN_PLAIN, CORE_INSN_SYSTEM},
		{ZYDIS_MNEMONIC_LSS, CORE_INSN_PLAIN, CORE_INSN_SYSTEM | CORE_INSN_LOADS_SS},
	};
	size_t i;

	(void)op;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		if (row[i].mnemonic != d->mnemonic)
			continue;
		insn->cls = row[i].cls;
		insn->flags |= row[i].flags;
		insn->aux = (uint8_t)(d->operand_width / 8);
	}
	/* PTWRITE with a 66H prefix is invalid. */
	if (insn->cls == CORE_INSN_PTWRITE && d->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		insn->aux = 0;
}

static void classify(struct core_insn *insn, const ZydisDecodedInstruction *d,
		     const ZydisDecodedOperand *op)
{
	if (d->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		insn->flags |= CORE_INSN_REP;
	switch (d->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
	case ZYDIS_MNEMONIC_CALL:
		classify_branch(insn, d, op);
		break;
	case ZYDIS_MNEMONIC_RET:
		insn->cls = CORE_INSN_RET;
		if (d->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
			insn->cls = CORE_INSN_FAR;
			insn->flags |= CORE_INSN_SYSTEM;
		}
		break;
	case ZYDIS_MNEMONIC_INT:
		insn->cls = CORE_INSN_INT;
		insn->flags |= CORE_INSN_SYSTEM;
		insn->aux = (uint8_t)op[0].imm.value.u;
		break;
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
		insn->cls = CORE_INSN_INT;
		insn->flags |= CORE_INSN_SYSTEM;
		insn->aux = d->mnemonic == ZYDIS_MNEMONIC_INT3 ? X86_VEC_BP : X86_VEC_OF;
		break;
	case ZYDIS_MNEMONIC_MOV:
		classify_mov(insn, op);
		break;
	case ZYDIS_MNEMONIC_POP:
		classify_pop(insn, op);
		break;
	default:
		if (d->meta.category == ZYDIS_CATEGORY_COND_BR &&
		    d->mnemonic != ZYDIS_MNEMONIC_XBEGIN)
			classify_cond(insn, d, op);
		else
			classify_other(insn, d, op);
		break;
	}
}

static uint64_t low_mask(unsigned int count)
{
	return count >= 8 ? ~0ull : (1ull << (8 * count)) - 1;
}

static bool matches(const struct core_insn *insn, uint64_t gpa, uint8_t bits,
		    const struct core_insn_bytes *bytes)
{
	if (insn->gpa != gpa || insn->bits != bits || !insn->len || bytes->count < insn->len)
		return false;
	if (insn->len <= 8)
		return (bytes->low & low_mask(insn->len)) == insn->low;
	return bytes->low == insn->low && (bytes->high & low_mask(insn->len - 8u)) == insn->high;
}

const struct core_insn *core_insn_find(struct core_insn_cache *cache, uint64_t gpa, uint8_t bits,
				       const struct core_insn_bytes *bytes, bool *truncated)
{
	struct core_insn *slot = &cache->slot[(gpa ^ gpa >> CACHE_BITS) % CACHE_SIZE];
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	uint8_t code[16];
	ZyanStatus status;

	if (matches(slot, gpa, bits, bytes))
		return slot;
	memcpy(code, &bytes->low, 8);
	memcpy(code + 8, &bytes->high, 8);
	status = x86_decode(decoder(cache, bits), code, bytes->count, &d, op);
	*truncated = status == ZYDIS_STATUS_NO_MORE_DATA;
	if (!ZYAN_SUCCESS(status))
		return NULL;
	memset(slot, 0, sizeof(*slot));
	slot->gpa = gpa;
	slot->bits = bits;
	slot->len = d.length;
	slot->low = bytes->low & low_mask(d.length);
	slot->high = d.length > 8 ? bytes->high & low_mask(d.length - 8u) : 0;
	classify(slot, &d, op);
	return slot;
}

void core_insn_format(struct core_insn_cache *cache, uint64_t ip, uint8_t bits,
		      const struct core_insn_bytes *bytes, char *text, unsigned int size)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisFormatter formatter;
	uint8_t code[16];

	memcpy(code, &bytes->low, 8);
	memcpy(code + 8, &bytes->high, 8);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	if (!ZYAN_SUCCESS(x86_decode(decoder(cache, bits), code, bytes->count, &d, op)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		    &formatter, &d, op, d.operand_count_visible, text, size, ip, NULL)))
		strcpy(text, "no instruction");
}

static void fill_context(ZydisRegisterContext *ctx, const struct x86_regs *r)
{
	static const ZydisRegister first = ZYDIS_REGISTER_RAX;
	const uint64_t gpr[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
	unsigned int i;

	memset(ctx, 0, sizeof(*ctx));
	for (i = 0; i < 16; i++) {
		ctx->values[first + i] = gpr[i];
		ctx->values[ZYDIS_REGISTER_EAX + i] = (uint32_t)gpr[i];
		ctx->values[ZYDIS_REGISTER_AX + i] = (uint16_t)gpr[i];
	}
}

static bool decode(const struct core_insn_cache *cache, const struct core_insn *insn,
		   ZydisDecodedInstruction *d, ZydisDecodedOperand *op)
{
	uint8_t code[16];

	memcpy(code, &insn->low, 8);
	memcpy(code + 8, &insn->high, 8);
	return ZYAN_SUCCESS(x86_decode(decoder(cache, insn->bits), code, insn->len, d, op));
}

static char segment_letter(ZydisRegister reg, bool wide)
{
	switch (reg) {
	case ZYDIS_REGISTER_FS:
		return 'f';
	case ZYDIS_REGISTER_GS:
		return 'g';
	case ZYDIS_REGISTER_SS:
		return 's';
	case ZYDIS_REGISTER_CS:
		return wide ? 0 : 'c';
	case ZYDIS_REGISTER_ES:
		return wide ? 0 : 'e';
	default:
		return wide ? 0 : 'd';
	}
}

bool core_insn_address(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisRegisterContext ctx;
	unsigned int i;

	if (!decode(cache, insn, &d, op))
		return false;
	for (i = 0; i < d.operand_count && op[i].type != ZYDIS_OPERAND_TYPE_MEMORY; i++)
		;
	if (i == d.operand_count)
		return false;
	fill_context(&ctx, regs);
	*segment = segment_letter(op[i].mem.segment, insn->bits == 64);
	return ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&d, &op[i], regs->rip, &ctx, address));
}

bool core_insn_register(struct core_insn_cache *cache, const struct core_insn *insn,
			const struct x86_regs *regs, uint64_t *value)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisRegisterContext ctx;

	if (!decode(cache, insn, &d, op) || !d.operand_count ||
	    op[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	fill_context(&ctx, regs);
	*value = ctx.values[op[0].reg.value];
	return true;
}

/*
 * Returns the segment of an implied memory operand, from the prefixes. Zydis reports segments only
 * for explicit operands.
 */
static ZydisRegister override_of(const ZydisDecodedInstruction *d, bool wide)
{
	static const struct {
		uint8_t prefix;
		ZydisRegister reg;
	} row[] = {
		{0x64, ZYDIS_REGISTER_FS}, {0x65, ZYDIS_REGISTER_GS}, {0x26, ZYDIS_REGISTER_ES},
		{0x2e, ZYDIS_REGISTER_CS}, {0x36, ZYDIS_REGISTER_SS}, {0x3e, ZYDIS_REGISTER_DS},
	};
	ZydisRegister reg = ZYDIS_REGISTER_DS;
	size_t i, n;

	for (n = 0; n < d->raw.prefix_count; n++)
		for (i = 0; i < (wide ? 2 : sizeof(row) / sizeof(row[0])); i++)
			if (d->raw.prefixes[n].value == row[i].prefix)
				reg = row[i].reg;
	return reg;
}

bool core_insn_pointer(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisRegisterContext ctx;

	if (!decode(cache, insn, &d, op) || op[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	fill_context(&ctx, regs);
	*address = ctx.values[op[0].reg.value];
	*segment = segment_letter(override_of(&d, insn->bits == 64), insn->bits == 64);
	return true;
}

bool core_insn_far(struct core_insn_cache *cache, const struct core_insn *insn,
		   struct core_insn_far *far)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;

	if (insn->cls != CORE_INSN_FAR || !decode(cache, insn, &d, op))
		return false;
	*far = (struct core_insn_far){
		.kind = d.mnemonic == ZYDIS_MNEMONIC_JMP    ? CORE_FAR_JMP
			: d.mnemonic == ZYDIS_MNEMONIC_CALL ? CORE_FAR_CALL
							    : CORE_FAR_RET,
		.size = (uint8_t)(d.operand_width / 8),
		.memory =
			d.mnemonic != ZYDIS_MNEMONIC_RET && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY,
	};
	if (op[0].type == ZYDIS_OPERAND_TYPE_POINTER) {
		far->selector = op[0].ptr.segment;
		far->offset = op[0].ptr.offset;
	} else if (far->kind == CORE_FAR_RET && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		far->release = (uint16_t)op[0].imm.value.u;
	}
	return true;
}

bool core_insn_condition(uint8_t opcode, uint64_t rflags)
{
	bool cf = rflags & X86_FL_CF, zf = rflags & X86_FL_ZF, sf = rflags & X86_FL_SF;
	bool of = rflags & X86_FL_OF, pf = rflags & X86_FL_PF;
	const bool holds[8] = {of, cf, zf, cf || zf, sf, pf, sf != of, zf || sf != of};

	return holds[opcode >> 1 & 7] != (opcode & 1);
}
