// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Translate code to blocks of micro-operations. A block ends at an instruction that can transfer
 * control, at the end of the page, or when it is full.
 */
#include "soft/translate.h"

#include "soft/feature.h"
#include "soft/kind.h"
#include "x86/insn.h"

/* The maximum number of micro-operations of one instruction. */
#define UOPS_OF_ONE 25u
#define INSN_MAX    15u

/* Rows name translators by number, because pointers would need a relocation for each mnemonic. */
enum translator {
	NO_TRANSLATOR,
#define SOFT_TRANSLATOR(name) TRANSLATOR_##name,
#include "soft/translators.def"
#undef SOFT_TRANSLATOR
};

static const soft_translate_fn translators[] = {
#define SOFT_TRANSLATOR(name) [TRANSLATOR_##name] = soft_tr_##name,
#include "soft/translators.def"
#undef SOFT_TRANSLATOR
};

struct row {
	uint8_t translator;
	uint32_t arg;
};

static const struct row rows[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define SOFT_INSN(mnemonic, name, value) \
	[ZYDIS_MNEMONIC_##mnemonic] = {.translator = TRANSLATOR_##name, .arg = (value)},
#include "soft/insns_alu.def"
#include "soft/insns_branch.def"
#include "soft/insns_system.def"
#include "soft/insns_vector.def"
#undef SOFT_INSN
};

static const uint8_t slot_of[16] = {SOFT_R_RAX, SOFT_R_RCX, SOFT_R_RDX, SOFT_R_RBX,
				    SOFT_R_RSP, SOFT_R_RBP, SOFT_R_RSI, SOFT_R_RDI,
				    8,		9,	    10,		11,
				    12,		13,	    14,		15};

uint8_t soft_tr_reg(ZydisRegister reg)
{
	int id;

	if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
		return (uint8_t)(slot_of[reg - ZYDIS_REGISTER_AH] * 8 + 1);
	if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
		return (uint8_t)(slot_of[reg - ZYDIS_REGISTER_SPL + 4] * 8);
	if (reg == ZYDIS_REGISTER_NONE)
		return SOFT_R_ZERO * 8;
	id = ZydisRegisterGetId(reg);
	return (uint8_t)(slot_of[id & 15] * 8);
}

uint8_t soft_tr_gpr(const struct soft_translation *t, unsigned int n)
{
	return soft_tr_reg(t->op[n].reg.value);
}

bool soft_tr_is_gpr(const struct soft_translation *t, unsigned int n)
{
	ZydisRegisterClass cls;

	if (t->op[n].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	cls = ZydisRegisterGetClass(t->op[n].reg.value);
	return cls >= ZYDIS_REGCLASS_GPR8 && cls <= ZYDIS_REGCLASS_GPR64;
}

bool soft_tr_is_mem(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool soft_tr_is_imm(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

unsigned int soft_tr_size(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].size / 8u;
}

uint64_t soft_tr_imm(const struct soft_translation *t, unsigned int n)
{
	return t->op[n].imm.value.u;
}

struct soft_uop *soft_tr_emit(struct soft_translation *t, soft_uop_fn fn)
{
	struct soft_uop *u = &t->block->uop[t->block->uops++];

	*u = (struct soft_uop){
		.fn = fn,
		.dst = SOFT_R_ZERO * 8,
		.src = SOFT_R_ZERO * 8,
		.base = SOFT_R_ZERO * 8,
		.index = SOFT_R_ZERO * 8,
		.len = t->insn ? t->insn->length : 0,
		.rest = (uint8_t)t->block->insns, /* see finish() */
		.ip = t->ip,
	};
	return u;
}

SOFT_UOP(raise)
{
	if (u->aux)
		soft_raise_code(c, u, (uint8_t)u->imm, 0);
	soft_raise(c, u, (uint8_t)u->imm);
}

void soft_tr_raise(struct soft_translation *t, uint8_t vector)
{
	struct soft_uop *u = soft_tr_emit(t, raise);

	u->imm = vector;
	u->aux = vector == X86_VEC_DF || (vector >= X86_VEC_TS && vector <= X86_VEC_PF) ||
		 vector == X86_VEC_AC;
	t->ends = true;
}

SOFT_UOP(leave)
{
	if (!(c->call & SOFT_STEP))
		return soft_leave(c, u, false, ENGINE_EXIT_CORE);
	return SOFT_NEXT(c, u);
}

void soft_tr_leave(struct soft_translation *t)
{
	soft_tr_emit(t, leave);
}

SOFT_UOP(fall_through)
{
	const struct soft_link *l = u->ptr;

	if (vpt_likely(l->gen == c->gen && c->left >= l->insns)) {
		c->left -= l->insns;
		return SOFT_RUN(c, l->first);
	}
	c->r[SOFT_R_RIP] = u->ip;
	c->missed = (struct soft_link *)(uintptr_t)l;
	return NULL;
}

/* Report a retired sequential instruction. */
SOFT_UOP(tell)
{
	if (c->gate)
		soft_report_plain(c, u, u->imm);
	return SOFT_NEXT(c, u);
}

static __attribute__((noinline, cold)) void flush_log(struct soft *c)
{
	const struct engine_observer *o = c->base.observer;

	o->flush(o->opaque);
}

SOFT_UOP(write_log)
{
	struct engine_log *log = c->log;

	if (log) {
		if (vpt_unlikely(log->at == log->end))
			flush_log(c);
		*log->at++ = u->aux;
		c->logged = u;
	}
	return SOFT_NEXT(c, u);
}

/* Begin a block with the micro-operation that writes its number to the log. */
static void begin_logged(struct soft_translation *t, struct engine_stretch *s)
{
	s->ip = t->ip;
	s->cpl = t->c->cpl;
	s->insns = 0;
	s->jump = false;
	t->stretch = s;
	soft_tr_emit(t, write_log)->kind = SOFT_KIND(SOFT_K_LOG, 0, 0, 0);
}

/*
 * Add an instruction to the stretch. The bytes of an invalid one have no length. It never retires,
 * so any length will do.
 */
static void add_logged(struct soft_translation *t)
{
	struct engine_stretch *s = t->stretch;
	const ZydisDecodedInstruction *insn = t->insn;

	s->insn[s->insns].len = insn ? insn->length : 1;
	s->insn[s->insns].cond = insn && (insn->meta.category == ZYDIS_CATEGORY_COND_BR);
	s->jump = insn && (insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
			   insn->meta.category == ZYDIS_CATEGORY_CALL ||
			   insn->meta.category == ZYDIS_CATEGORY_RET);
	s->insns++;
}

static void finish(struct soft_translation *t)
{
	const struct engine_observer *o = t->c->base.observer;
	struct soft_block *b = t->block;
	unsigned int i;

	for (i = 0; i < b->uops; i++) {
		b->uop[i].rest = (uint8_t)(b->insns - b->uop[i].rest);
		b->uop[i].plain = b->uop[i].fn;
	}
	if (!t->stretch)
		return;
	b->uop[0].aux = o->stretch(o->opaque, t->stretch);
	b->uop[0].len = t->stretch->insn[0].len;
}

/* Return the vector of the exception that replaces the instruction, or 0 to translate it. */
static uint8_t refused(const struct soft_translation *t)
{
	if (!soft_feature(t->c, t->insn))
		return X86_VEC_UD;
	/* XSAVES and XRSTORS check CR4.OSXSAVE before the privilege level. */
	if (t->insn->meta.isa_set == ZYDIS_ISA_SET_XSAVES)
		return 0;
	/* In CPL 3, CLAC, STAC, MONITOR and MWAIT raise #UD instead of #GP. */
	if (t->insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED && t->mode & SOFT_BLOCK_USER)
		return t->insn->meta.isa_set == ZYDIS_ISA_SET_SMAP ||
				       t->insn->meta.isa_set == ZYDIS_ISA_SET_MONITOR
			       ? X86_VEC_UD
			       : X86_VEC_GP;
	return 0;
}

SOFT_UOP(watched)
{
	if (!(c->call & SOFT_STEP))
		return soft_leave(c, u, false, ENGINE_EXIT_WATCH);
	return SOFT_NEXT(c, u);
}

static bool is_watched(const struct soft_translation *t)
{
	unsigned int i;

	for (i = 0; i < t->c->watches; i++)
		if (t->c->watch[i] == t->ip)
			return true;
	return false;
}

static void translate(struct soft_translation *t)
{
	const struct row *row = &rows[t->insn->mnemonic];
	uint16_t uops = t->block->uops;
	uint8_t vector = refused(t);

	if (vpt_unlikely(t->c->watches) && is_watched(t)) {
		soft_tr_emit(t, watched);
		uops++;
	}
	t->arg = row->arg;
	t->size = t->insn->operand_count ? (uint8_t)(t->op[0].size / 8) : 0;
	if (!vector && (!row->translator || !translators[row->translator](t))) {
		t->block->uops = uops;
		vector = X86_VEC_UD;
	}
	if (vector)
		soft_tr_raise(t, vector);
}

static ZydisDecoder *decoder(struct soft *c, uint32_t mode)
{
	return c->decoder[mode & SOFT_BLOCK_BITS];
}

bool soft_crosses(struct soft *c, uint32_t mode, const uint8_t *code, unsigned int room)
{
	ZydisDecodedInstruction insn;

	if (room >= INSN_MAX)
		return false;
	return x86_decode_insn(decoder(c, mode), code, room, &insn) == ZYDIS_STATUS_NO_MORE_DATA;
}

/* An invalid instruction raises #UD, one that is too long #GP (SDM vol. 3, 6.15). */
static uint8_t vector_of(ZyanStatus status)
{
	return status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ? X86_VEC_GP : X86_VEC_UD;
}

static uint64_t wrap(const struct soft_translation *t, uint64_t ip)
{
	return t->bits == 64 ? ip : (uint32_t)ip;
}

/* Translate one more instruction. Return false if the block ends before it or with it. */
static bool one(struct soft_translation *t, const uint8_t *code, unsigned int room)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct soft_block *b = t->block;
	ZyanStatus status;

	status = x86_decode(decoder(t->c, b->mode), code, room < INSN_MAX ? room : INSN_MAX, &insn,
			    op);
	if (status == ZYDIS_STATUS_NO_MORE_DATA && room < INSN_MAX)
		return false;
	t->ends = false;
	if (!ZYAN_SUCCESS(status)) {
		t->insn = NULL;
		soft_tr_raise(t, vector_of(status));
		b->bytes = (uint16_t)(b->bytes + (room < INSN_MAX ? room : INSN_MAX));
	} else {
		t->insn = &insn;
		t->op = op;
		t->code = code;
		t->next = wrap(t, t->ip + insn.length);
		b->bytes = (uint16_t)(b->bytes + insn.length);
		translate(t);
		if (!t->ends && b->mode & SOFT_BLOCK_EVERY)
			soft_tr_emit(t, tell)->imm = t->next;
	}
	if (t->stretch)
		add_logged(t);
	b->insns++;
	t->ip = t->next;
	return !t->ends;
}

static void resume(struct soft_translation *t)
{
	struct soft_uop *u;

	t->insn = NULL;
	u = soft_tr_emit(t, fall_through);
	u->kind = SOFT_KIND(SOFT_K_NEXT, 0, 0, 0);
	u->ptr = &t->block->link[0];
}

static void fill_crossing(struct soft_translation *t, const uint8_t *code, unsigned int room,
			  const uint8_t *more)
{
	uint8_t joined[INSN_MAX];

	memcpy(joined, code, room);
	memcpy(joined + room, more, INSN_MAX - room);
	if (one(t, joined, INSN_MAX))
		resume(t);
	/* A block that ends on the first page does not depend on the second. */
	if (t->block->bytes <= room)
		t->block->gpa2 = 0;
}

void soft_fill(struct soft *c, struct soft_block *b, const uint8_t *code, unsigned int room,
	       const uint8_t *more)
{
	static const uint8_t bits[4] = {16, 32, 64, 64};
	unsigned int most = b->mode & SOFT_BLOCK_SINGLE ? 1 : SOFT_BLOCK_MAX_INSNS;
	struct soft_translation t = {
		.c = c,
		.ip = b->ip,
		.mode = b->mode,
		.bits = bits[b->mode & SOFT_BLOCK_BITS],
		.block = b,
	};
	struct engine_stretch stretch;
	bool more_to_come = true;

	if (b->mode & SOFT_BLOCK_LOGGED)
		begin_logged(&t, &stretch);
	if (more) {
		fill_crossing(&t, code, room, more);
		finish(&t);
		return;
	}
	while (more_to_come && b->insns < most &&
	       b->uops + UOPS_OF_ONE + 2 <= SOFT_BLOCK_MAX_UOPS) {
		unsigned int done = b->bytes;

		if (done == room)
			break;
		more_to_come = one(&t, code + done, room - done);
	}
	if (!t.ends)
		resume(&t);
	finish(&t);
}
