// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code into blocks of micro-operations: one instruction after the other until one
 * that may lead elsewhere, the end of the page, or enough of them. insns_*.def name
 * who translates what.
 */
#include "soft/translate.h"

#include "soft/feature.h"
#include "soft/kind.h"
#include "x86/insn.h"

/* No instruction becomes more of them than this. */
#define UOPS_OF_ONE 24u
#define INSN_MAX    15u

/* By number, so that the dynamic linker has no pointer to write for each mnemonic. */
enum translator {
	NO_TRANSLATOR,
#define VPT_TRANSLATOR(name) TRANSLATOR_##name,
#include "soft/translators.def"
#undef VPT_TRANSLATOR
};

static const vpt_translate_fn translators[] = {
#define VPT_TRANSLATOR(name) [TRANSLATOR_##name] = vpt_tr_##name,
#include "soft/translators.def"
#undef VPT_TRANSLATOR
};

struct row {
	uint8_t translator;
	uint32_t arg;
};

static const struct row rows[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define VPT_INSN(mnemonic, name, value) \
	[ZYDIS_MNEMONIC_##mnemonic] = {.translator = TRANSLATOR_##name, .arg = (value)},
#include "soft/insns_alu.def"
#include "soft/insns_branch.def"
#include "soft/insns_system.def"
#include "soft/insns_vector.def"
#undef VPT_INSN
};

static const uint8_t slot_of[16] = {
	VPT_R_RAX, VPT_R_RCX, VPT_R_RDX, VPT_R_RBX, VPT_R_RSP, VPT_R_RBP, VPT_R_RSI, VPT_R_RDI,
	8,	   9,	      10,	 11,	    12,	       13,	  14,	     15};

uint8_t vpt_tr_reg(ZydisRegister reg)
{
	int id;

	if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
		return (uint8_t)(slot_of[reg - ZYDIS_REGISTER_AH] * 8 + 1);
	if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
		return (uint8_t)(slot_of[reg - ZYDIS_REGISTER_SPL + 4] * 8);
	if (reg == ZYDIS_REGISTER_NONE)
		return VPT_R_ZERO * 8;
	id = ZydisRegisterGetId(reg);
	return (uint8_t)(slot_of[id & 15] * 8);
}

uint8_t vpt_tr_gpr(const struct vpt_translation *t, unsigned int n)
{
	return vpt_tr_reg(t->op[n].reg.value);
}

bool vpt_tr_is_gpr(const struct vpt_translation *t, unsigned int n)
{
	ZydisRegisterClass cls;

	if (t->op[n].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	cls = ZydisRegisterGetClass(t->op[n].reg.value);
	return cls >= ZYDIS_REGCLASS_GPR8 && cls <= ZYDIS_REGCLASS_GPR64;
}

bool vpt_tr_is_mem(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool vpt_tr_is_imm(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

unsigned int vpt_tr_size(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].size / 8u;
}

uint64_t vpt_tr_imm(const struct vpt_translation *t, unsigned int n)
{
	return t->op[n].imm.value.u;
}

struct vpt_uop *vpt_tr_emit(struct vpt_translation *t, vpt_uop_fn fn)
{
	struct vpt_uop *u = &t->block->uop[t->block->uops++];

	*u = (struct vpt_uop){
		.fn = fn,
		.dst = VPT_R_ZERO * 8,
		.src = VPT_R_ZERO * 8,
		.base = VPT_R_ZERO * 8,
		.index = VPT_R_ZERO * 8,
		.len = t->insn ? t->insn->length : 0,
		.rest = (uint8_t)t->block->insns, /* see finish() */
		.ip = t->ip,
	};
	return u;
}

VPT_UOP(raise)
{
	if (u->aux)
		vpt_soft_raise_code(c, u, (uint8_t)u->imm, 0);
	vpt_soft_raise(c, u, (uint8_t)u->imm);
}

void vpt_tr_raise(struct vpt_translation *t, uint8_t vector)
{
	struct vpt_uop *u = vpt_tr_emit(t, raise);

	u->imm = vector;
	u->aux = vector == VPT_VEC_DF || (vector >= VPT_VEC_TS && vector <= VPT_VEC_PF) ||
		 vector == VPT_VEC_AC;
	t->ends = true;
}

VPT_UOP(leave)
{
	if (!c->stepping)
		return vpt_soft_leave(c, u, false, VPT_EXIT_CORE);
	return VPT_NEXT(c, u);
}

void vpt_tr_leave(struct vpt_translation *t)
{
	vpt_tr_emit(t, leave);
}

VPT_UOP(fall_through)
{
	const struct vpt_link *l = u->ptr;

	if (vpt_likely(l->gen == c->gen && c->left >= l->insns)) {
		c->left -= l->insns;
		return VPT_RUN(c, l->first);
	}
	c->r[VPT_R_RIP] = u->ip;
	c->missed = (struct vpt_link *)(uintptr_t)l;
	return NULL;
}

/* An instruction that goes on with the next has retired. */
VPT_UOP(tell)
{
	if (c->pt)
		vpt_soft_tell_plain(c, u, u->imm);
	return VPT_NEXT(c, u);
}

static void finish(struct vpt_translation *t)
{
	struct vpt_block *b = t->block;
	unsigned int i;

	for (i = 0; i < b->uops; i++)
		b->uop[i].rest = (uint8_t)(b->insns - b->uop[i].rest);
}

/* Why an instruction cannot even be tried: the vector it raises, 0 if it can. */
static uint8_t refused(const struct vpt_translation *t)
{
	if (!vpt_soft_feature(t->c, t->insn))
		return VPT_VEC_UD;
	/* CLAC and STAC, MONITOR and MWAIT are no instructions there, rather than forbidden. */
	/* XSAVES and XRSTORS ask for CR4.OSXSAVE first. */
	if (t->insn->meta.isa_set == ZYDIS_ISA_SET_XSAVES)
		return 0;
	if (t->insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED && t->mode & VPT_BLOCK_USER)
		return t->insn->meta.isa_set == ZYDIS_ISA_SET_SMAP ||
				       t->insn->meta.isa_set == ZYDIS_ISA_SET_MONITOR
			       ? VPT_VEC_UD
			       : VPT_VEC_GP;
	return 0;
}

static void translate(struct vpt_translation *t)
{
	const struct row *row = &rows[t->insn->mnemonic];
	uint16_t uops = t->block->uops;
	uint8_t vector = refused(t);

	t->arg = row->arg;
	t->size = t->insn->operand_count ? (uint8_t)(t->op[0].size / 8) : 0;
	if (!vector && (!row->translator || !translators[row->translator](t))) {
		t->block->uops = uops;
		vector = VPT_VEC_UD;
	}
	if (vector)
		vpt_tr_raise(t, vector);
}

static ZydisDecoder *decoder(struct vpt_soft *c, uint32_t mode)
{
	return c->decoder[mode & VPT_BLOCK_BITS];
}

bool vpt_soft_crosses(struct vpt_soft *c, uint32_t mode, const uint8_t *code, unsigned int room)
{
	ZydisDecodedInstruction insn;

	if (room >= INSN_MAX)
		return false;
	return vpt_x86_decode_insn(decoder(c, mode), code, room, &insn) ==
	       ZYDIS_STATUS_NO_MORE_DATA;
}

/* Bytes that are no instruction: #UD, or #GP if they are too many (SDM vol. 3, 6.15). */
static uint8_t vector_of(ZyanStatus status)
{
	return status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ? VPT_VEC_GP : VPT_VEC_UD;
}

static uint64_t wrap(const struct vpt_translation *t, uint64_t ip)
{
	return t->bits == 64 ? ip : (uint32_t)ip;
}

/* One more instruction; false: the block ends before it, or with it. */
static bool one(struct vpt_translation *t, const uint8_t *code, unsigned int room)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct vpt_block *b = t->block;
	ZyanStatus status;

	status = vpt_x86_decode(decoder(t->c, b->mode), code, room < INSN_MAX ? room : INSN_MAX,
				&insn, op);
	if (status == ZYDIS_STATUS_NO_MORE_DATA && room < INSN_MAX)
		return false;
	t->ends = false;
	if (!ZYAN_SUCCESS(status)) {
		t->insn = NULL;
		vpt_tr_raise(t, vector_of(status));
		b->bytes = (uint16_t)(b->bytes + (room < INSN_MAX ? room : INSN_MAX));
	} else {
		t->insn = &insn;
		t->op = op;
		t->code = code;
		t->next = wrap(t, t->ip + insn.length);
		b->bytes = (uint16_t)(b->bytes + insn.length);
		translate(t);
		if (!t->ends && b->mode & VPT_BLOCK_EVERY)
			vpt_tr_emit(t, tell)->imm = t->next;
	}
	b->insns++;
	t->ip = t->next;
	return !t->ends;
}

static void go_on(struct vpt_translation *t)
{
	struct vpt_uop *u;

	t->insn = NULL;
	u = vpt_tr_emit(t, fall_through);
	u->kind = VPT_KIND(VPT_K_NEXT, 0, 0, 0);
	u->ptr = &t->block->link[0];
}

static void fill_crossing(struct vpt_translation *t, const uint8_t *code, unsigned int room,
			  const uint8_t *more)
{
	uint8_t joined[INSN_MAX];

	memcpy(joined, code, room);
	memcpy(joined + room, more, INSN_MAX - room);
	if (one(t, joined, INSN_MAX))
		go_on(t);
	/* Bad bytes can end before the page does. */
	if (t->block->bytes <= room)
		t->block->gpa2 = 0;
}

void vpt_soft_fill(struct vpt_soft *c, struct vpt_block *b, const uint8_t *code, unsigned int room,
		   const uint8_t *more)
{
	static const uint8_t bits[4] = {16, 32, 64, 64};
	unsigned int most = b->mode & VPT_BLOCK_SINGLE ? 1 : VPT_BLOCK_MAX_INSNS;
	struct vpt_translation t = {
		.c = c,
		.ip = b->ip,
		.mode = b->mode,
		.bits = bits[b->mode & VPT_BLOCK_BITS],
		.block = b,
	};
	bool more_to_come = true;

	if (more) {
		fill_crossing(&t, code, room, more);
		finish(&t);
		return;
	}
	while (more_to_come && b->insns < most && b->uops + UOPS_OF_ONE + 2 <= VPT_BLOCK_MAX_UOPS) {
		unsigned int done = b->bytes;

		if (done == room)
			break;
		more_to_come = one(&t, code + done, room - done);
	}
	if (!t.ends)
		go_on(&t);
	finish(&t);
}
