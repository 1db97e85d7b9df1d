// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random instructions: every encoding that decodes and that the engine has, of the
 * classes in classes.def, is a form; a mnemonic is drawn, then one of its forms, then
 * registers, immediate and addressing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/silicon/silicon.h"

enum kind { LEGACY, VEX, EVEX };

struct form {
	uint8_t kind, prefix, map, opcode, modrm;
	uint8_t w, l, pp, b, mask;
	bool has_modrm, mem, reg_free, rm_free, vvvv_free, vsib, lockable;
	uint16_t mnemonic;
};

struct class_row {
	const char *name, *translator, *set;
};

static const struct class_row rows[] = {
#define SILICON_CLASS(name, translator, set) {#name, translator, set},
#include "run/silicon/classes.def"
#undef SILICON_CLASS
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const char *const sil_class_name[] = {
#define SILICON_CLASS(name, translator, set) #name,
#include "run/silicon/classes.def"
#undef SILICON_CLASS
};
const unsigned int sil_classes = ROWS;

static const char *const translator_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
#define SOFT_INSN(mnemonic, translator, arg) [ZYDIS_MNEMONIC_##mnemonic] = #translator,
#include "soft/insns_alu.def"
#include "soft/insns_system.def"
#include "soft/insns_vector.def"
#undef SOFT_INSN
};

/* The forms of a mnemonic in one class. */
struct group {
	uint16_t class, mnemonic;
	size_t first, count;
};

static ZydisDecoder decoder;
static struct form *forms;
static size_t form_count, form_room;
static struct group *groups;
static size_t group_count;
static size_t class_first[ROWS], class_groups[ROWS], used_class[ROWS], used_classes;

uint64_t sil_next(struct sil_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int class_of(const ZydisDecodedInstruction *insn)
{
	const char *translator = translator_of[insn->mnemonic];
	const char *set = ZydisISASetGetString(insn->meta.isa_set);
	size_t i, j;

	for (i = 0; translator && i < ROWS; i++) {
		if (strcmp(rows[i].translator, translator) ||
		    strncmp(set, rows[i].set, strlen(rows[i].set)))
			continue;
		for (j = 0; j < i; j++) /* rows of one name are one class */
			if (!strcmp(rows[i].name, rows[j].name))
				break;
		return (int)j;
	}
	return -1;
}

/* Is the instruction left out, since its effects cannot be compared? See `reason`. */
static bool is_left_out(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	unsigned int i;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_XSAVE: /* areas larger than the window */
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XGETBV: /* what the host has enabled */
	case ZYDIS_MNEMONIC_INSB:   /* ports */
	case ZYDIS_MNEMONIC_INSW:
	case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
		return true;
	case ZYDIS_MNEMONIC_NOP: /* 0F 0D of registers: AMD's is #UD */
		if (insn->opcode == 0x0d)
			return true;
		break;
	default:
		break;
	}
	for (i = 0; i < insn->operand_count; i++) {
		ZydisRegisterClass cls;

		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		cls = ZydisRegisterGetClass(op[i].reg.value);
		if (cls == ZYDIS_REGCLASS_SEGMENT || cls == ZYDIS_REGCLASS_CONTROL ||
		    cls == ZYDIS_REGCLASS_DEBUG)
			return true;
	}
	return false;
}

static unsigned int put_opcode(const struct form *f, uint8_t *p)
{
	unsigned int n = 0;

	if (f->map)
		p[n++] = 0x0f;
	if (f->map >= 2)
		p[n++] = f->map == 2 ? 0x38 : 0x3a;
	p[n++] = f->opcode;
	return n;
}

/* Extensions of register numbers: REX, VEX and EVEX bits. */
struct bits {
	unsigned int r, x, b, r2, v2, vvvv, mask, z;
	bool rex;
};

static unsigned int put_head(const struct form *f, const struct bits *e, uint8_t *p)
{
	unsigned int n = 0, rex;

	switch (f->kind) {
	case LEGACY:
		if (f->prefix)
			p[n++] = f->prefix;
		rex = f->w << 3 | e->r << 2 | e->x << 1 | e->b;
		if (rex || e->rex)
			p[n++] = (uint8_t)(0x40 | rex);
		return n + put_opcode(f, p + n);
	case VEX:
		p[n++] = 0xc4;
		p[n++] = (uint8_t)(!e->r << 7 | !e->x << 6 | !e->b << 5 | f->map);
		p[n++] = (uint8_t)(f->w << 7 | (~e->vvvv & 15) << 3 | f->l << 2 | f->pp);
		break;
	default:
		p[n++] = 0x62;
		p[n++] = (uint8_t)(!e->r << 7 | !e->x << 6 | !e->b << 5 | !e->r2 << 4 | f->map);
		p[n++] = (uint8_t)(f->w << 7 | (~e->vvvv & 15) << 3 | 4 | f->pp);
		p[n++] = (uint8_t)(e->z << 7 | f->l << 5 | f->b << 4 | !e->v2 << 3 | e->mask);
		break;
	}
	p[n++] = f->opcode;
	return n;
}

/*
 * Zydis 4.0.0 takes a SIB byte without base (mod 0, base 5) for R13D if REX.B is set and
 * addresses have 32 bits, and forgets the displacement.
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

static bool decode(const uint8_t *code, ZydisDecodedInstruction *insn, ZydisDecodedOperand *op)
{
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, 15, insn, op)))
		return false;
	correct_base(insn, op);
	return true;
}

static void add(const struct form *f)
{
	if (form_count == form_room) {
		form_room = form_room ? form_room * 2 : 1024;
		forms = realloc(forms, form_room * sizeof(*forms));
		if (!forms)
			abort();
	}
	forms[form_count++] = *f;
}

/* Try one encoding; is it a form? Those that differ in registers only count once. */
static void try_form(struct form *f, unsigned int reg, unsigned int rm)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct bits e = {.mask = f->mask, .vvvv = f->vsib && f->kind == VEX};
	uint8_t code[16] = {0};
	unsigned int n, i;

	n = put_head(f, &e, code);
	code[n++] = (uint8_t)(f->mem ? reg << 3 | (f->vsib ? 4 : 3) : 0xc0 | reg << 3 | rm);
	if (f->vsib)
		code[n] = 0x23;
	if (!decode(code, &insn, op) || class_of(&insn) < 0 || is_left_out(&insn, op) ||
	    !sil_soft_has(&insn))
		return;
	f->mnemonic = (uint16_t)insn.mnemonic;
	f->has_modrm = insn.attributes & ZYDIS_ATTRIB_HAS_MODRM;
	f->lockable = f->mem && insn.attributes & ZYDIS_ATTRIB_ACCEPTS_LOCK;
	f->modrm = code[n - 1];
	f->reg_free = f->rm_free = f->vvvv_free = false;
	for (i = 0; i < insn.operand_count; i++) {
		f->reg_free |= op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG;
		f->rm_free |= op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
		f->vvvv_free |= op[i].encoding == ZYDIS_OPERAND_ENCODING_NDSNDD;
	}
	if ((reg && (f->reg_free || !f->has_modrm)) || (!f->has_modrm && f->mem) ||
	    (rm && (f->rm_free || !f->has_modrm)))
		return;
	add(f);
}

static void try_modrm(struct form f)
{
	unsigned int reg, rm;

	for (reg = 0; reg < 8; reg++) {
		for (rm = 0; rm < 8; rm++) {
			f.mem = f.vsib = false;
			try_form(&f, reg, rm);
		}
		f.mem = true;
		try_form(&f, reg, 0);
		f.vsib = true;
		if (f.kind != LEGACY && f.map == 2 &&
		    ((f.opcode >= 0x90 && f.opcode <= 0x93) ||
		     (f.opcode >= 0xa0 && f.opcode <= 0xa3)))
			try_form(&f, reg, 0);
	}
}

static void all_legacy(void)
{
	static const uint8_t prefix[] = {0, 0x66, 0xf2, 0xf3};
	unsigned int p, w, map, opcode;

	for (p = 0; p < 4; p++)
		for (w = 0; w < 2; w++)
			for (map = 0; map < 4; map++)
				for (opcode = 0; opcode < 256; opcode++) {
					struct form f = {.prefix = prefix[p],
							 .map = (uint8_t)map,
							 .opcode = (uint8_t)opcode,
							 .w = (uint8_t)w};

					/* Prefixes, and escapes to other maps. */
					if (!map &&
					    (opcode == 0x0f || opcode == 0x62 ||
					     (opcode & 0xfe) == 0xc4 || (opcode & 0xf0) == 0x40 ||
					     (opcode & 0xe7) == 0x26 ||
					     (opcode >= 0x64 && opcode < 0x68) || opcode == 0x9b ||
					     (opcode & 0xfc) == 0xf0))
						continue;
					if (map == 1 && (opcode == 0x38 || opcode == 0x3a))
						continue;
					try_modrm(f);
				}
}

static void all_vex(enum kind kind)
{
	unsigned int n, opcode;

	for (n = 0; n < (kind == VEX ? 48u : 384u); n++) {
		struct form f = {.kind = (uint8_t)kind,
				 .map = (uint8_t)(1 + n % 3),
				 .pp = n / 3 & 3,
				 .w = n / 12 & 1,
				 .l = (uint8_t)(n / 24 & (kind == VEX ? 1 : 3)),
				 .b = kind == VEX ? 0 : n / 96 & 1,
				 .mask = kind == VEX ? 0 : n / 192 & 1};

		for (opcode = 0; opcode < 256; opcode++) {
			f.opcode = (uint8_t)opcode;
			try_modrm(f);
		}
	}
}

static struct form wanted_class(const struct form *f, int *class)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct bits e = {.mask = f->mask, .vvvv = f->vsib && f->kind == VEX};
	uint8_t code[16] = {0};
	unsigned int n = put_head(f, &e, code);

	code[n++] = f->modrm;
	if (f->vsib)
		code[n] = 0x23;
	*class = decode(code, &insn, op) ? class_of(&insn) : -1;
	return *f;
}

static int by_class(const void *a, const void *b)
{
	int ca, cb;

	wanted_class(a, &ca);
	wanted_class(b, &cb);
	if (ca != cb)
		return ca - cb;
	return (int)((const struct form *)a)->mnemonic - (int)((const struct form *)b)->mnemonic;
}

static void make_groups(const char *only)
{
	size_t i;
	int class;

	groups = calloc(form_count + 1, sizeof(*groups));
	if (!groups)
		abort();
	for (i = 0; i < form_count; i++) {
		struct group *g = group_count ? &groups[group_count - 1] : NULL;

		wanted_class(&forms[i], &class);
		if (only && strcmp(only, rows[class].name))
			continue;
		if (g && g->class == class && g->mnemonic == forms[i].mnemonic) {
			g->count++;
			continue;
		}
		if (!class_groups[class]++)
			class_first[class] = group_count;
		groups[group_count++] = (struct group){(uint16_t) class, forms[i].mnemonic, i, 1};
	}
	for (i = 0; i < ROWS; i++)
		if (class_groups[i])
			used_class[used_classes++] = i;
}

size_t sil_gen_init(const char *only)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	all_legacy();
	all_vex(VEX);
	all_vex(EVEX);
	qsort(forms, form_count, sizeof(*forms), by_class);
	make_groups(only);
	return used_classes ? form_count : 0;
}

/* Assemble a form with random registers and addressing. */
static unsigned int assemble(struct sil_random *rnd, const struct form *f, uint8_t *code)
{
	uint64_t x = sil_next(rnd), y = sil_next(rnd);
	struct bits e = {.r = x & 1, .x = x >> 1 & 1, .b = x >> 2 & 1, .rex = x >> 3 & 1};
	unsigned int n = 0, modrm = f->modrm, i;

	if (f->kind == EVEX) {
		e.r2 = x >> 4 & 1;
		e.v2 = f->vvvv_free || f->vsib ? x >> 5 & 1 : 0;
		e.mask = f->mask ? 1 + (x >> 6 & 0xff) % 7 : 0;
		e.z = f->mask ? x >> 14 & 1 : 0;
	}
	if (f->vvvv_free)
		e.vvvv = x >> 15 & 15;
	if (f->lockable && !(x >> 19 & 7))
		code[n++] = 0xf0;
	if (!(x >> 22 & 15))
		code[n++] = 0x67;
	n += put_head(f, &e, code + n);
	if (f->has_modrm) {
		if (f->reg_free)
			modrm = (modrm & ~0x38u) | (x >> 26 & 7) << 3;
		if (f->mem)
			modrm = (modrm & 0x38u) | (f->vsib ? 4 : x >> 29 & 7) |
				((x >> 32 & 3) % 3) << 6;
		else if (f->rm_free)
			modrm = (modrm & ~7u) | (x >> 29 & 7);
		code[n++] = (uint8_t)modrm;
	}
	/* SIB, displacement, immediate. */
	for (i = 0; n < 15; i++)
		code[n++] = (uint8_t)(i < 8 ? y >> (8 * i) : x >> 40);
	return n;
}

static uint64_t integer(struct sil_random *r)
{
	static const uint64_t some[] = {0,	    1,	    2,		0x7f,	       0x80,
					0xff,	    0x7fff, 0x8000,	0xffff,	       0x7fffffff,
					0x80000000, ~0ull,  1ull << 63, ~(1ull << 63), 0xffffffff,
					63};
	uint64_t x = sil_next(r);

	switch (x & 3) {
	case 0:
		return some[x >> 8 & 15];
	case 1:
		return sil_next(r) >> (x >> 8 & 63);
	default:
		return sil_next(r);
	}
}

/* Return bits that are interesting floating-point numbers of every width. */
static uint64_t number(struct sil_random *r)
{
	static const uint64_t some[] = {
		0,
		1ull << 63,
		0x3ff0000000000000, /* 1 */
		0x7ff0000000000000, /* infinity */
		0xfff0000000000000,
		0x7ff8000000000000, /* NaN */
		0x7ff0000000000001,
		0x000fffffffffffff, /* denormal */
		0x0000000000000001,
		0x0010000000000000,
		0x7fefffffffffffff,
		0x3f8000003f800000, /* the same in single precision */
		0x7f800000ff800000,
		0x7fc000007f800001,
		0x007fffff00000001,
		0x008000007f7fffff,
		0x41dfffffffc00000, /* limits of integers */
		0x43e0000000000000,
		0x4f0000004effffff,
		0x40490fdb3fc90fdb,
	};
	uint64_t x = sil_next(r);

	if (!(x & 3))
		return some[(x >> 8) % (sizeof(some) / sizeof(some[0]))];
	if ((x & 3) == 1) /* exponents near that of 1 */
		return (sil_next(r) & 0x800fffffffffffff) | (0x3e0 + (x >> 8 & 63)) << 52;
	if ((x & 7) == 2)
		return (sil_next(r) & 0x807fffff807fffff) | 0x3f0000003f000000;
	return sil_next(r);
}

static void fill(struct sil_random *r, void *to, size_t bytes)
{
	uint8_t *p = to;

	for (; bytes; bytes -= 8, p += 8) {
		uint64_t v = number(r);

		memcpy(p, &v, 8);
	}
}

static void random_x87(struct sil_random *r, uint8_t *fx)
{
	uint64_t x = sil_next(r);
	uint16_t fcw = (uint16_t)(0x37f & ~(x >> 8 & 7 ? 0 : x >> 16 & 0x3f)), fsw;
	unsigned int i;

	fcw = (uint16_t)((fcw & ~0xf00) | (x >> 24 & 0xf00));
	if ((fcw & 0x300) == 0x100)
		fcw |= 0x300;
	fsw = x >> 36 & 0x7f7f;
	if (x >> 52 & 7)
		fsw &= (uint16_t) ~(fsw & ~fcw & 0x3f);
	if (fsw & ~fcw & 0x3f)
		fsw |= 0x8080;
	memcpy(fx, &fcw, 2);
	memcpy(fx + 2, &fsw, 2);
	fx[4] = (uint8_t)(x >> 55 & 1 ? 0xff : sil_next(r));
	for (i = 0; i < 8; i++) {
		uint64_t m = sil_next(r), e = sil_next(r);
		uint16_t exponent = (uint16_t)(0x3fff + (int)(e & 63) - 32);

		if (!(e >> 8 & 7))
			exponent = (uint16_t)(e >> 16 & 1 ? 0 : e >> 17 & 1 ? 0x7fff : e >> 24);
		if (e >> 12 & 15)
			m |= 1ull << 63;
		if (!(e >> 40 & 7))
			m &= 0xc000000000000000;
		exponent = (uint16_t)((exponent & 0x7fff) | (e >> 48 & 1) << 15);
		memcpy(fx + 32 + 16 * i, &m, 8);
		memcpy(fx + 40 + 16 * i, &exponent, 2);
	}
}

/* Clear what the host does not have of vectors and masks. */
static void clear_absent(struct sil_state *s)
{
	const unsigned int bytes = sil_has_avx ? 32 : 16;
	unsigned int i;

	if (sil_has_avx512)
		return;
	for (i = 0; i < 16; i++)
		memset(s->zmm[i] + bytes, 0, sizeof(s->zmm[i]) - bytes);
	memset(s->zmm[16], 0, 16 * sizeof(s->zmm[16]));
	memset(s->k, 0, sizeof(s->k));
}

static void random_state(struct sil_random *r, struct sil_state *s, bool vectors)
{
	uint64_t x = sil_next(r);
	uint32_t mxcsr;
	unsigned int i;

	for (i = 0; i < 16; i++)
		s->gpr[i] = integer(r);
	s->rflags = 0x202 | (x & 0x8d5) | (x >> 12 & 3 ? 0 : 0x400);
	memset(s->fx, 0, sizeof(s->fx));
	if (vectors) {
		fill(r, s->zmm, sizeof(s->zmm));
		for (i = 0; i < 8; i++)
			s->k[i] = sil_next(r);
		clear_absent(s);
		random_x87(r, s->fx);
	} else {
		s->fx[0] = 0x7f;
		s->fx[1] = 3;
	}
	mxcsr = 0x1f80 | (x >> 20 & 0xe07f);
	if (!(x >> 40 & 7))
		mxcsr &= ~(uint32_t)(x >> 44 & 0x3f) << 7 | 0xe07f;
	memcpy(s->fx + 24, &mxcsr, 4);
	fill(r, s->window, sizeof(s->window));
}

/* Choose the address of an operand of @size bytes. */
static uint64_t target(struct sil_random *r, unsigned int size)
{
	uint64_t x = sil_next(r);
	unsigned int at = (unsigned int)(x >> 8 & 0xffff) % (SIL_WINDOW_LEN - size + 1);

	if (!(x & 63))
		switch (x >> 32 & 3) {
		case 0:
			return SIL_READ_ONLY + (x >> 40 & 0xff);
		case 1:
			return SIL_NOTHING - (x >> 40 & 63);
		case 2:
			return SIL_SANDBOX - 1 - (x >> 40 & 63);
		default:
			return 0x8000000000000000 | (x & ~7ull);
		}
	if (x >> 32 & 7 && size && !(size & (size - 1)))
		at &= ~(size - 1);
	return SIL_WINDOW + at;
}

static void put_disp(struct sil_test *t, const ZydisDecodedInstruction *insn, uint64_t disp)
{
	uint32_t d = (uint32_t)disp;

	if (insn->raw.disp.size == 32)
		memcpy(t->code + insn->raw.disp.offset, &d, 4);
}

/*
 * Set a memory operand's address to `to` by its registers or its displacement. Returns the
 * resulting address.
 */
static uint64_t point(struct sil_random *r, struct sil_test *t, const ZydisDecodedInstruction *insn,
		      const ZydisDecodedOperand *op, uint64_t to)
{
	const ZydisDecodedOperandMem *m = &op->mem;
	uint64_t *gpr = t->in.gpr, disp = m->disp.has_displacement ? (uint64_t)m->disp.value : 0;
	uint64_t index = 0, noise = insn->address_width == 32 ? sil_next(r) << 32 : 0;
	int base = ZydisRegisterGetId(m->base), i = ZydisRegisterGetId(m->index);
	bool vsib = ZydisRegisterGetClass(m->index) >= ZYDIS_REGCLASS_XMM;
	unsigned int scale = m->scale ? m->scale : 1;

	if (m->base == ZYDIS_REGISTER_RIP || m->base == ZYDIS_REGISTER_EIP) {
		put_disp(t, insn, to - (t->ip + insn->length));
		return to;
	}
	if (m->index != ZYDIS_REGISTER_NONE && !vsib) {
		if (i == base && m->base != ZYDIS_REGISTER_NONE) {
			gpr[i] = (to - disp) / (1 + scale);
			return gpr[i] * (1 + scale) + disp;
		}
		index = sil_next(r) & 1 ? sil_next(r) & 0xfff : integer(r);
		if (m->base == ZYDIS_REGISTER_NONE)
			index = sil_next(r) & 0xfff;
		gpr[i] = index;
		if (insn->address_width == 32)
			index = (uint32_t)index;
	}
	if (m->base == ZYDIS_REGISTER_NONE)
		put_disp(t, insn, to - index * scale);
	else
		gpr[base] = to - disp - index * scale + noise;
	return to;
}

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

/* Choose small indices of gathers, which stay in the window. */
static void point_vector(struct sil_random *r, struct sil_test *t, const ZydisDecodedOperand *op)
{
	uint8_t *v = t->in.zmm[ZydisRegisterGetId(op->mem.index)];
	bool wide = sil_next(r) & 1;
	unsigned int i;

	/* Indices for one width are far outside the window as the other width, and fault. */
	for (i = 0; i < 8; i++) {
		uint64_t two = sil_next(r) & 0x3f0000003f;

		if (wide && sil_next(r) & 7)
			two &= 0x3f;
		memcpy(v + i * 8, &two, 8);
	}
	clear_absent(&t->in);
}

static uint64_t *window_at(struct sil_test *t, uint64_t at)
{
	if (at < SIL_WINDOW || at + 8 > SIL_WINDOW + SIL_WINDOW_LEN)
		return NULL;
	return (uint64_t *)(void *)(t->in.window + (at - SIL_WINDOW));
}

static void mask_word(struct sil_test *t, uint64_t at, uint64_t keep, uint64_t set)
{
	uint64_t *p = window_at(t, at), v;

	if (!p)
		return;
	memcpy(&v, p, 8);
	v = (v & keep) | set;
	memcpy(p, &v, 8);
}

/* Set registers for which an instruction expects particular values. */
static void particular(struct sil_random *r, struct sil_test *t,
		       const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op,
		       uint64_t to)
{
	const char *translator = translator_of[insn->mnemonic];
	uint64_t x = sil_next(r), *gpr = t->in.gpr;

	if (!strcmp(translator, "string") && insn->meta.category == ZYDIS_CATEGORY_STRINGOP) {
		gpr[RSI] = SIL_WINDOW + 128 + (x & 511);
		gpr[RDI] = SIL_WINDOW + 128 + (x >> 9 & 511);
		gpr[RCX] = x >> 20 & 15;
		if (!(x >> 24 & 7))
			gpr[RDI] = SIL_READ_ONLY - (x >> 32 & 63);
		if (!(x >> 27 & 15))
			gpr[RSI] = SIL_NOTHING - (x >> 40 & 63);
	} else if (!strcmp(translator, "stack") || !strcmp(translator, "pushf")) {
		if (t->in.gpr[RSP] != to || !(x & 1))
			gpr[RSP] = SIL_WINDOW + 256 + (x >> 8 & 255);
		if (x >> 16 & 3)
			gpr[RSP] &= ~7ull;
		/* POPF takes what has been looked at: see mask_word() below. */
		if (!strcmp(translator, "stack") && !(x >> 32 & 31))
			gpr[RSP] = (x >> 40 & 1 ? SIL_READ_ONLY : SIL_NOTHING) + 8 - (x >> 44 & 15);
		if (insn->mnemonic == ZYDIS_MNEMONIC_ENTER ||
		    insn->mnemonic == ZYDIS_MNEMONIC_LEAVE)
			gpr[RBP] = SIL_WINDOW + 512 + (x >> 20 & 127);
	} else if (!strcmp(translator, "div") && x & 3) {
		gpr[RDX] = x & 1 ? 0 : (uint64_t)((int64_t)gpr[RAX] >> 63);
		if (x & 2 && x >> 8 & 1)
			gpr[RAX] &= 0xff;
	} else if (!strcmp(translator, "bit") && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		   op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		int n = ZydisRegisterGetId(op[1].reg.value);

		if (ZydisRegisterGetId(op[0].mem.base) != n &&
		    ZydisRegisterGetId(op[0].mem.index) != n)
			gpr[n] = (x & 0x7ff) - 0x400;
	} else if (!strcmp(translator, "xchg") && x & 1) {
		uint64_t *p = window_at(t, to);

		if (p && insn->meta.isa_set != ZYDIS_ISA_SET_I86) {
			gpr[RAX] = p[0];
			if (to + 16 <= SIL_WINDOW + SIL_WINDOW_LEN)
				gpr[RDX] = p[1];
		}
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_POPF: /* none that would stay on in the host */
		mask_word(t, gpr[RSP], 0xcd5, 0x202);
		break;
	case ZYDIS_MNEMONIC_XLAT:
		gpr[RBX] = SIL_WINDOW + (x & 511);
		break;
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		gpr[RDI] = to;
		break;
	case ZYDIS_MNEMONIC_PCMPESTRI:
	case ZYDIS_MNEMONIC_PCMPESTRM:
	case ZYDIS_MNEMONIC_VPCMPESTRI:
	case ZYDIS_MNEMONIC_VPCMPESTRM:
		if (x & 1) {
			gpr[RAX] = (x >> 8 & 63) - 32;
			gpr[RDX] = (x >> 16 & 63) - 32;
		}
		break;
	case ZYDIS_MNEMONIC_LDMXCSR: /* AMD's bit 17 is not Intel's */
	case ZYDIS_MNEMONIC_VLDMXCSR:
		mask_word(t, to, x & 1 ? 0xffff : ~0x20000ull, 0);
		break;
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		mask_word(t, to + 24, x & 1 ? 0xffff : ~0x20000ull, 0);
		break;
	default:
		break;
	}
}

/* Limit the nesting level and size of ENTER, so that the frame stays in the window. */
static void tame(struct sil_test *t, const ZydisDecodedInstruction *insn)
{
	if (insn->mnemonic == ZYDIS_MNEMONIC_ENTER) {
		t->code[insn->raw.imm[0].offset] &= 0x3f;
		t->code[insn->raw.imm[0].offset + 1] = 0;
		t->code[insn->raw.imm[1].offset] &= t->index & 1 ? 0xe3 : 0xff;
	}
}

static bool generate(struct sil_random *r, struct sil_test *t)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	size_t class = used_class[sil_next(r) % used_classes];
	const struct group *g = &groups[class_first[class] + sil_next(r) % class_groups[class]];
	const struct form *f = &forms[g->first + sil_next(r) % g->count];
	uint64_t to = SIL_WINDOW + 64;
	unsigned int i;

	do {
		memset(t->code, 0, sizeof(t->code));
		assemble(r, f, t->code);
	} while (!decode(t->code, &insn, op) || insn.mnemonic != f->mnemonic ||
		 is_left_out(&insn, op));
	t->class = (uint16_t) class;
	t->mnemonic = (uint16_t)insn.mnemonic;
	t->len = insn.length;
	memset(t->code + t->len, 0x90, sizeof(t->code) - t->len);
	random_state(r, &t->in, strcmp(translator_of[insn.mnemonic], "alu") != 0);
	tame(t, &insn);
	to = target(r, 16);
	for (i = 0; i < insn.operand_count; i++) {
		if (op[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    op[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			continue;
		to = target(r, op[i].size / 8u);
		if (f->vsib) {
			to = SIL_WINDOW + (sil_next(r) & 0x1ff);
			point_vector(r, t, &op[i]);
		}
		to = point(r, t, &insn, &op[i], to);
	}
	/* AMD's SHA instructions accept unaligned operands; Intel's fault. */
	if (insn.meta.isa_set == ZYDIS_ISA_SET_SHA && to & 15)
		return false;
	t->operand = to;
	particular(r, t, &insn, op, to);
	return true;
}

void sil_generate(uint64_t seed, uint64_t index, struct sil_test *t)
{
	struct sil_random r = {seed * 0x2545f4914f6cdd1d + index};

	t->index = index;
	t->ip = SIL_CODE + (index % SIL_BATCH) * SIL_SLOT;
	while (!generate(&r, t))
		;
}
