// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Encode a guest instruction for the host in 64-bit mode, with the same opcode and immediate.
 * Register fields come from the decoded operands, and a pointer without displacement replaces the
 * memory operand.
 */
#include "soft/native.h"

enum { RAX = 0, RCX = 1, RDX = 2, R8 = 8, R9 = 9 };

/* The parts of an encoding that hold register numbers. */
struct fields {
	uint8_t reg, rm, vvvv, is4, opcode; /* numbers, 0 to 31 */
	bool rm_is_vector, has_vector, has_opcode_reg, has_is4, low_byte;
	bool has_reg, has_rm; /* if false, these fields are part of the opcode */
};

static bool is_class(ZydisRegister reg, ZydisRegisterClass first, ZydisRegisterClass last)
{
	ZydisRegisterClass cls = ZydisRegisterGetClass(reg);

	return cls >= first && cls <= last;
}

static int host_register(struct soft_recoded *r, const ZydisDecodedOperand *op)
{
	static const uint8_t pool[] = {RCX, R8, R9};
	uint8_t offset = soft_tr_reg(op->reg.value), host = 0;
	uint8_t access = 0;
	unsigned int i;

	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= SOFT_GPR_READ;
	/* A register that is written in part, or conditionally, is read first. */
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= SOFT_GPR_READ | SOFT_GPR_WRITTEN;
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) {
		host = (uint8_t)ZydisRegisterGetId(op->reg.value);
		if (host > RDX)
			return -1;
		if (host == RDX)
			r->pointer = R8;
	} else {
		for (i = 0; i < r->gprs; i++)
			if (r->gpr[i].offset == offset)
				break;
		if (i < r->gprs) {
			r->gpr[i].access |= access;
			return r->gpr[i].host;
		}
		if (r->gprs >= sizeof(pool))
			return -1;
		host = pool[r->gprs];
	}
	r->gpr[r->gprs].offset = offset;
	r->gpr[r->gprs].host = host;
	r->gpr[r->gprs++].access = access;
	return host;
}

static int vector_register(struct soft_recoded *r, const ZydisDecodedOperand *op)
{
	int id = ZydisRegisterGetId(op->reg.value);
	uint8_t bytes = is_class(op->reg.value, ZYDIS_REGCLASS_ZMM, ZYDIS_REGCLASS_ZMM)	  ? 64
			: is_class(op->reg.value, ZYDIS_REGCLASS_YMM, ZYDIS_REGCLASS_YMM) ? 32
											  : 16;

	if (r->vector[id] < bytes)
		r->vector[id] = bytes;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		r->vector_written |= 1u << id;
	return id;
}

static int mask_register(struct soft_recoded *r, const ZydisDecodedOperand *op, bool pair)
{
	int id = ZydisRegisterGetId(op->reg.value);

	r->k_used |= (uint8_t)(1u << id);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		r->k_written |= (uint8_t)(pair ? 3u << (id & 6) : 1u << id);
	return id;
}

static int register_of(struct soft_recoded *r, const ZydisDecodedOperand *op, bool pair)
{
	int id;

	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return host_register(r, op);
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return vector_register(r, op);
	case ZYDIS_REGCLASS_MASK:
		return mask_register(r, op, pair);
	case ZYDIS_REGCLASS_MMX:
		id = ZydisRegisterGetId(op->reg.value);
		r->mm_used |= (uint8_t)(1u << id);
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			r->mm_written |= (uint8_t)(1u << id);
		return id;
	case ZYDIS_REGCLASS_X87:
		return ZydisRegisterGetId(op->reg.value);
	default:
		return -1; /* RFLAGS, MXCSR and other registers that are not encoded */
	}
}

static void place(struct fields *f, const ZydisDecodedOperand *op, uint8_t id)
{
	ZydisRegisterClass cls = ZydisRegisterGetClass(op->reg.value);

	switch (op->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG:
		f->reg = id;
		f->has_reg = true;
		break;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM:
		f->rm = id;
		f->has_rm = true;
		f->rm_is_vector = cls >= ZYDIS_REGCLASS_XMM && cls <= ZYDIS_REGCLASS_ZMM;
		break;
	case ZYDIS_OPERAND_ENCODING_NDSNDD:
		f->vvvv = id;
		break;
	case ZYDIS_OPERAND_ENCODING_IS4:
		f->is4 = id;
		f->has_is4 = true;
		break;
	case ZYDIS_OPERAND_ENCODING_OPCODE:
		f->opcode = id;
		f->has_opcode_reg = true;
		break;
	default:
		break;
	}
	f->low_byte |= cls == ZYDIS_REGCLASS_GPR8;
	f->has_vector |= cls == ZYDIS_REGCLASS_XMM || cls == ZYDIS_REGCLASS_MMX;
}

static bool registers(const struct soft_translation *t, struct soft_recoded *r, struct fields *f)
{
	bool pair = t->insn->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTD ||
		    t->insn->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTQ;
	unsigned int n;
	int id;

	for (n = 0; n < t->insn->operand_count; n++) {
		const ZydisDecodedOperand *op = &t->op[n];

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
				return false;
			r->how |= SOFT_HOW_MEM;
			continue;
		}
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		id = register_of(r, op, pair);
		if (id >= 0)
			place(f, op, (uint8_t)id);
		else if (op->encoding != ZYDIS_OPERAND_ENCODING_NONE)
			return false;
	}
	return true;
}

static void put(struct soft_recoded *r, unsigned int byte)
{
	r->bytes[r->len++] = (uint8_t)byte;
}

/*
 * Returns true if VEX.W or EVEX.W selects the width of a general operand. Outside 64-bit mode that
 * width is always 32 bits.
 */
static bool w_is_width(const struct soft_translation *t, const struct soft_recoded *r)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VPINSRD:
	case ZYDIS_MNEMONIC_VPEXTRD:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
	case ZYDIS_MNEMONIC_VCVTUSI2SD:
	case ZYDIS_MNEMONIC_VCVTUSI2SS:
		return true;
	default:
		return r->gprs;
	}
}

static unsigned int bit(unsigned int value, unsigned int n)
{
	return value >> n & 1;
}

/*
 * Returns true if prefix 66H selects an operand of 16 bits in the host's code. Zydis has a width of
 * 16 bits for MOVNTI in 16-bit code, whose operands have 32 bits, and which raises #UD with 66H.
 */
static bool has_width_16(const struct soft_translation *t)
{
	unsigned int n;

	for (n = 0; n < t->insn->operand_count; n++)
		if (t->op[n].size == 16)
			return t->insn->operand_width == 16;
	return false;
}

/* [66 F2 F3] REX opcode */
static void legacy(const struct soft_translation *t, struct soft_recoded *r, const struct fields *f)
{
	const ZydisDecodedInstruction *insn = t->insn;
	unsigned int at = insn->raw.modrm.offset, i;
	unsigned int rex = insn->raw.rex.W && t->bits == 64 ? 8 : 0;
	/* In 16-bit code prefix 66H has the opposite meaning if it selects the width. */
	bool by_width = t->bits == 16 && r->gprs && !f->has_vector;
	bool has_66 = false, mandatory_66 = false;
	uint8_t rep = 0;

	if (!(insn->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		at = insn->length;
	at -= insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? 1
	      : insn->opcode_map == ZYDIS_OPCODE_MAP_0F	   ? 2
							   : 3;
	for (i = 0; i < insn->raw.prefix_count; i++) {
		uint8_t p = insn->raw.prefixes[i].value;

		has_66 |= p == 0x66;
		mandatory_66 |=
			p == 0x66 && insn->raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_MANDATORY;
		if ((p == 0xf2 || p == 0xf3) &&
		    insn->raw.prefixes[i].type != ZYDIS_PREFIX_TYPE_IGNORED)
			rep = p;
	}
	if (by_width ? mandatory_66 || has_width_16(t) : has_66)
		put(r, 0x66);
	if (rep)
		put(r, rep);
	rex |= bit(f->reg, 3) << 2 | bit(f->rm, 3) | bit(f->opcode, 3);
	if (rex || f->low_byte)
		put(r, 0x40 | rex);
	for (; at < insn->length && r->len < 12; at++) {
		if (insn->attributes & ZYDIS_ATTRIB_HAS_MODRM && at == insn->raw.modrm.offset)
			break;
		put(r, t->code[at]);
	}
	if (f->has_opcode_reg)
		r->bytes[r->len - 1] = (uint8_t)((r->bytes[r->len - 1] & ~7) | (f->opcode & 7));
}

static void vex(const struct soft_translation *t, struct soft_recoded *r, const struct fields *f)
{
	const ZydisDecodedInstruction *insn = t->insn;
	const uint8_t *p = t->code + insn->raw.vex.offset;
	bool three = p[0] == 0xc4;
	unsigned int map = three ? p[1] & 0x1f : 1;
	unsigned int last = three ? p[2] : p[1] & 0x7f;

	if (t->bits != 64 && w_is_width(t, r))
		last &= 0x7f;
	put(r, 0xc4);
	put(r, !bit(f->reg, 3) << 7 | 1 << 6 | !bit(f->rm, 3) << 5 | map);
	put(r, (last & 0x87) | (~f->vvvv & 15u) << 3);
	put(r, insn->opcode);
}

static void evex(const struct soft_translation *t, struct soft_recoded *r, const struct fields *f)
{
	const ZydisDecodedInstruction *insn = t->insn;
	const uint8_t *p = t->code + insn->raw.evex.offset;
	unsigned int second = p[2];
	unsigned int x = f->rm_is_vector ? !bit(f->rm, 4) : 1;

	if (t->bits != 64 && w_is_width(t, r))
		second &= 0x7f;
	put(r, 0x62);
	put(r, !bit(f->reg, 3) << 7 | x << 6 | !bit(f->rm, 3) << 5 | !bit(f->reg, 4) << 4 |
		       (p[1] & 7));
	put(r, (second & 0x87) | (~f->vvvv & 15u) << 3);
	put(r, (p[3] & 0xf7) | !bit(f->vvvv, 4) << 3);
	put(r, insn->opcode);
}

static void modrm_and_immediate(const struct soft_translation *t, struct soft_recoded *r,
				const struct fields *f)
{
	const ZydisDecodedInstruction *insn = t->insn;
	unsigned int i, at, reg = f->has_reg ? f->reg : insn->raw.modrm.reg;
	unsigned int rm = f->has_rm ? f->rm : insn->raw.modrm.rm, last = 0;

	if (!(insn->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return;
	if (r->how & SOFT_HOW_MEM)
		put(r, (reg & 7) << 3 | (r->pointer & 7));
	else
		put(r, 0xc0 | (reg & 7) << 3 | (rm & 7));
	for (i = 0; i < 2; i++) {
		if (!insn->raw.imm[i].size)
			continue;
		for (at = 0; at < insn->raw.imm[i].size / 8u; at++)
			put(r, t->code[insn->raw.imm[i].offset + at]);
		last = r->len - 1u;
	}
	if (f->has_is4 && last)
		r->bytes[last] = (uint8_t)((r->bytes[last] & 15) | f->is4 << 4);
}

static void flags(const struct soft_translation *t, struct soft_recoded *r)
{
	const uint32_t arithmetic =
		X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF;
	const ZydisAccessedFlags *f = t->insn->cpu_flags;
	uint32_t set, changed;

	if (!f)
		return;
	set = (f->modified | f->set_0 | f->set_1) & arithmetic;
	changed = set | (f->undefined & arithmetic);
	if (changed)
		r->how |= SOFT_HOW_FLAGS_OUT;
	if (f->tested & arithmetic || (changed && set != arithmetic))
		r->how |= SOFT_HOW_FLAGS_IN;
}

bool soft_recode(const struct soft_translation *t, struct soft_recoded *r)
{
	const ZydisDecodedInstruction *insn = t->insn;
	struct fields f = {0};

	memset(r, 0, sizeof(*r));
	r->pointer = RDX;
	if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		r->how |= SOFT_HOW_VEX;
	else if (insn->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		r->how |= SOFT_HOW_EVEX;
	else if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (!registers(t, r, &f))
		return false;
	if (r->how & SOFT_HOW_MEM)
		f.rm = r->pointer;
	flags(t, r);
	if (r->how & SOFT_HOW_VEX)
		vex(t, r, &f);
	else if (r->how & SOFT_HOW_EVEX)
		evex(t, r, &f);
	else
		legacy(t, r, &f);
	modrm_and_immediate(t, r, &f);
	if (r->mm_used)
		r->how |= SOFT_HOW_MMX;
	return true;
}
