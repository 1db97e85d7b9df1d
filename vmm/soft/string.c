// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MOVS, CMPS, SCAS, LODS, STOS, INS and OUTS. With REP the registers are up to date after each
 * iteration. So the instruction can be left after any of them and resumed. It counts when it is
 * complete.
 */
#include "soft/alu_flags.h"
#include "soft/operand.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

enum string_op { MOVS, CMPS, SCAS, LODS, STOS, INS, OUTS };

/* The repeat prefix. CMPS and SCAS have REPE or REPNE, the others REP. */
enum string_rep { ONCE, REP, REPE, REPNE };

/* A string instruction, packed into `imm` of a micro-operation. */
struct string {
	uint8_t op, rep, seg; /* seg: the segment of the source */
	uint8_t size;	      /* bytes of an element */
	uint8_t width;	      /* bytes of an address */
};

/*
 * The work that a repeated instruction does before it lets run() return. Each pass of the loop
 * counts 1, and each 16 bytes moved in bulk count 1 more.
 */
#define WORK_AT_ONCE (1 << 18)
/* A pass that moves one element can access a device, which takes as long as so many others. */
#define WORK_OF_ONE 63

static inline struct string string_of(const struct soft_uop *u)
{
	struct string s;

	memcpy(&s, &u->imm, sizeof(s));
	return s;
}

static inline uint64_t narrow(uint64_t value, unsigned int width)
{
	return width == 8 ? value : width == 4 ? (uint32_t)value : (uint16_t)value;
}

static inline void add(struct soft *c, unsigned int slot, unsigned int width, uint64_t delta)
{
	if (width == 2)
		SOFT_REG(c, slot * 8, uint16_t) = (uint16_t)(c->r[slot] + delta);
	else
		c->r[slot] = narrow(c->r[slot] + delta, width);
}

/* Return the linear address. In 64-bit mode only FS and GS have a base. */
static inline uint64_t linear(struct soft *c, const struct soft_uop *u, enum soft_seg seg,
			      uint64_t offset, unsigned int size, bool write)
{
	if (vpt_likely(c->bits == 64 && seg < SOFT_SEG_FS))
		return offset;
	return soft_linear(c, u, seg, offset, size, write);
}

static inline uint64_t source(struct soft *c, const struct soft_uop *u, struct string s)
{
	return linear(c, u, s.seg, narrow(c->r[SOFT_R_RSI], s.width), s.size, false);
}

static inline uint64_t destination(struct soft *c, const struct soft_uop *u, struct string s,
				   bool write)
{
	return linear(c, u, SOFT_SEG_ES, narrow(c->r[SOFT_R_RDI], s.width), s.size, write);
}

static inline uint64_t load(struct soft *c, const struct soft_uop *u, uint64_t va,
			    unsigned int size)
{
	switch (size) {
	case 1:
		return soft_load8(c, u, va);
	case 2:
		return soft_load16(c, u, va);
	case 4:
		return soft_load32(c, u, va);
	default:
		return soft_load64(c, u, va);
	}
}

static inline void store(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t value,
			 unsigned int size)
{
	switch (size) {
	case 1:
		soft_store8(c, u, va, (uint8_t)value);
		break;
	case 2:
		soft_store16(c, u, va, (uint16_t)value);
		break;
	case 4:
		soft_store32(c, u, va, (uint32_t)value);
		break;
	default:
		soft_store64(c, u, va, value);
		break;
	}
}

static uint16_t compare(uint64_t a, uint64_t b, unsigned int size)
{
	uint16_t fl;

	switch (size) {
	case 1:
		SOFT_CMP_ASM("cmp", "b", (uint8_t)a, (uint8_t)b, fl);
		break;
	case 2:
		SOFT_CMP_ASM("cmp", "w", (uint16_t)a, (uint16_t)b, fl);
		break;
	case 4:
		SOFT_CMP_ASM("cmp", "l", (uint32_t)a, (uint32_t)b, fl);
		break;
	default:
		SOFT_CMP_ASM("cmp", "q", a, b, fl);
		break;
	}
	return fl;
}

static void accumulate(struct soft *c, uint64_t value, unsigned int size)
{
	if (size == 4)
		c->r[SOFT_R_RAX] = (uint32_t)value;
	else
		memcpy(&c->r[SOFT_R_RAX], &value, size);
}

/* Check that the destination can be written before reading the port. */
static void input(struct soft *c, const struct soft_uop *u, struct string s)
{
	uint16_t port = (uint16_t)c->r[SOFT_R_RDX];
	uint64_t va = destination(c, u, s, true), data = 0;

	soft_check_port(c, u, port, s.size);
	soft_probe_write(c, u, va, s.size);
	soft_bus_io(c, u, port, s.size, true, 1, &data);
	store(c, u, va, data, s.size);
}

static void output(struct soft *c, const struct soft_uop *u, struct string s)
{
	uint16_t port = (uint16_t)c->r[SOFT_R_RDX];
	uint64_t data;

	soft_check_port(c, u, port, s.size);
	data = load(c, u, source(c, u, s), s.size);
	soft_bus_io(c, u, port, s.size, false, 1, &data);
}

/* Execute one iteration. Return the flags of a comparison, else 0. */
static uint16_t once(struct soft *c, const struct soft_uop *u, struct string s)
{
	uint64_t delta = c->r[SOFT_R_RFLAGS] & X86_FL_DF ? -(uint64_t)s.size : s.size, a;
	uint16_t fl = 0;

	switch (s.op) {
	case MOVS:
		a = load(c, u, source(c, u, s), s.size);
		store(c, u, destination(c, u, s, true), a, s.size);
		break;
	case CMPS:
		a = load(c, u, source(c, u, s), s.size);
		fl = compare(a, load(c, u, destination(c, u, s, false), s.size), s.size);
		break;
	case SCAS:
		a = load(c, u, destination(c, u, s, false), s.size);
		fl = compare(c->r[SOFT_R_RAX], a, s.size);
		break;
	case LODS:
		accumulate(c, load(c, u, source(c, u, s), s.size), s.size);
		break;
	case STOS:
		store(c, u, destination(c, u, s, true), c->r[SOFT_R_RAX], s.size);
		break;
	case INS:
		input(c, u, s);
		break;
	default:
		output(c, u, s);
		break;
	}
	if (s.op != SCAS && s.op != STOS && s.op != INS)
		add(c, SOFT_R_RSI, s.width, delta);
	if (s.op != LODS && s.op != OUTS)
		add(c, SOFT_R_RDI, s.width, delta);
	return fl;
}

static NOINLINE void do_once(struct soft *c, const struct soft_uop *u)
{
	struct string s = string_of(u);
	uint16_t fl = once(c, u, s);

	if (s.op == CMPS || s.op == SCAS)
		c->fl = fl;
}

/*
 * Return how many elements from this address on are contiguous RAM, at most `count`. *host is the
 * host address of the first. Return 0 if the access must take the slow path.
 */
static uint64_t piece(struct soft *c, const struct soft_uop *u, struct string s, enum soft_seg seg,
		      uint64_t offset, uint64_t count, bool write, uint8_t **host)
{
	const struct x86_segment *segment = soft_seg_cache(c, seg);
	uint64_t base = c->bits != 64 || seg >= SOFT_SEG_FS ? segment->base : 0, va = base + offset;
	uint64_t most = (X86_PAGE_SIZE - va % X86_PAGE_SIZE) / s.size, bytes;
	const struct soft_tlb *t;

	if (s.width != 8 && most > ((1ull << (8 * s.width)) - offset) / s.size)
		most = ((1ull << (8 * s.width)) - offset) / s.size;
	count = count < most ? count : most;
	bytes = count * s.size;
	if (!count || !soft_permits(c, segment, offset, bytes, write))
		return 0;
	va = c->bits == 64 ? va : (uint32_t)va;
	t = soft_find_tlb(c, va);
	if (SOFT_TLB_HIT(write ? t->write : t->read, va, bytes))
		*host = (uint8_t *)(t->host + va);
	else
		*host = soft_host(c, u, va, bytes, write);
	return *host ? count : 0;
}

/*
 * Functions for each element size. The copy moves one element at a time, so that a later element
 * can read an earlier result. The comparison ends at the first equal pair if `until_equal`, else at
 * the first unequal pair.
 */
#define ELEMENTS(bits)                                                                        \
	static void fill##bits(uint8_t *to, uint64_t value, uint64_t count)                   \
	{                                                                                     \
		soft_ram##bits *at = (soft_ram##bits *)to;                                    \
                                                                                              \
		while (count--)                                                               \
			*at++ = (uint##bits##_t)value;                                        \
	}                                                                                     \
	static void copy##bits(uint8_t *to, const uint8_t *from, uint64_t count)              \
	{                                                                                     \
		soft_ram##bits *at = (soft_ram##bits *)to;                                    \
		const soft_ram##bits *src = (const soft_ram##bits *)from;                     \
                                                                                              \
		while (count--)                                                               \
			*at++ = *src++;                                                       \
	}                                                                                     \
	static uint64_t compare##bits(const uint8_t *from, uint64_t value, const uint8_t *to, \
				      uint64_t count, bool until_equal, uint16_t *fl)         \
	{                                                                                     \
		const soft_ram##bits *a = (const soft_ram##bits *)from;                       \
		const soft_ram##bits *b = (const soft_ram##bits *)to;                         \
		uint64_t i = 0;                                                               \
                                                                                              \
		while (((a ? a[i] : (uint##bits##_t)value) == b[i]) != until_equal &&         \
		       i + 1 < count)                                                         \
			i++;                                                                  \
		*fl = compare(a ? a[i] : value, b[i], (bits) / 8);                            \
		return i + 1;                                                                 \
	}
ELEMENTS(8)
ELEMENTS(16)
ELEMENTS(32)
ELEMENTS(64)

static const struct {
	void (*fill)(uint8_t *to, uint64_t value, uint64_t count);
	void (*copy)(uint8_t *to, const uint8_t *from, uint64_t count);
	uint64_t (*compare)(const uint8_t *from, uint64_t value, const uint8_t *to, uint64_t count,
			    bool until_equal, uint16_t *fl);
} elements[] = {
	{fill8, copy8, compare8},
	{fill16, copy16, compare16},
	{fill32, copy32, compare32},
	{fill64, copy64, compare64},
};

/*
 * Execute iterations on one piece of RAM on each side. Return how many were done. `from` is NULL if
 * the source is the accumulator.
 */
static uint64_t do_piece(struct soft *c, struct string s, uint8_t *to, const uint8_t *from,
			 uint64_t count, uint16_t *fl)
{
	unsigned int i = (unsigned int)__builtin_ctz(s.size);
	uint64_t bytes = count * s.size;

	if (s.op == STOS) {
		elements[i].fill(to, c->r[SOFT_R_RAX], count);
	} else if (s.op == MOVS) {
		if (to <= from || to >= from + bytes)
			memmove(to, from, bytes);
		else
			elements[i].copy(to, from, count);
	} else {
		return elements[i].compare(from, c->r[SOFT_R_RAX], to, count, s.rep == REPNE, fl);
	}
	return count;
}

/*
 * piece() for descending addresses in 64-bit mode. *host is the host address of the lowest element.
 */
static uint64_t piece_down(struct soft *c, struct string s, enum soft_seg seg, uint64_t offset,
			   uint64_t count, bool write, uint8_t **host)
{
	uint64_t va = offset + (seg >= SOFT_SEG_FS ? soft_seg_cache(c, seg)->base : 0), bytes;
	uint64_t most = va % X86_PAGE_SIZE / s.size + 1;
	const struct soft_tlb *t;

	if (va % X86_PAGE_SIZE + s.size > X86_PAGE_SIZE)
		return 0;
	count = count < most ? count : most;
	bytes = count * s.size;
	va -= bytes - s.size;
	t = soft_find_tlb(c, va);
	/* A fault has the address of the highest element, which the slow path accesses. */
	if (!SOFT_TLB_HIT(write ? t->write : t->read, va, bytes))
		return 0;
	*host = (uint8_t *)(t->host + va);
	return count;
}

/* Copy elements from the last to the first, so that a later one can read an earlier result. */
static void copy_down(uint8_t *to, const uint8_t *from, uint64_t count, unsigned int size)
{
	uint8_t element[8];

	while (count--) {
		memcpy(element, from + count * size, size);
		memcpy(to + count * size, element, size);
	}
}

/* bulk() for MOVS and STOS with DF set, in 64-bit mode. */
static uint64_t bulk_down(struct soft *c, struct string s, uint64_t count)
{
	uint8_t *from = NULL, *to;
	uint64_t n = count, most;

	if ((s.op != MOVS && s.op != STOS) || c->bits != 64 || s.width != 8)
		return 0;
	if (s.op == MOVS)
		n = piece_down(c, s, s.seg, c->r[SOFT_R_RSI], n, false, &from);
	most = n;
	if (n)
		n = piece_down(c, s, SOFT_SEG_ES, c->r[SOFT_R_RDI], n, true, &to);
	if (!n)
		return 0;
	if (s.op == MOVS)
		from += (most - n) * s.size;
	if (s.op == STOS)
		do_piece(c, s, to, NULL, n, NULL);
	else if (to >= from || to + n * s.size <= from)
		memmove(to, from, n * s.size);
	else
		copy_down(to, from, n, s.size);
	if (s.op == MOVS)
		add(c, SOFT_R_RSI, s.width, -(n * s.size));
	add(c, SOFT_R_RDI, s.width, -(n * s.size));
	return n;
}

/*
 * Execute iterations of a REP in bulk, up to the end of a page. Return how many were done, or 0 if
 * the next one must take the slow path.
 */
static uint64_t bulk(struct soft *c, const struct soft_uop *u, struct string s, uint64_t count,
		     uint16_t *fl)
{
	bool has_source = s.op == MOVS || s.op == CMPS, writes = s.op == MOVS || s.op == STOS;
	uint8_t *from = NULL, *to;
	uint64_t n = count;

	if (s.op == LODS || s.op >= INS || count < 4 || c->set == SOFT_TLB_SLOW || c->data_watches)
		return 0;
	if (c->r[SOFT_R_RFLAGS] & X86_FL_DF)
		return bulk_down(c, s, count);
	if (has_source)
		n = piece(c, u, s, s.seg, narrow(c->r[SOFT_R_RSI], s.width), n, false, &from);
	if (n)
		n = piece(c, u, s, SOFT_SEG_ES, narrow(c->r[SOFT_R_RDI], s.width), n, writes, &to);
	if (!n)
		return 0;
	n = do_piece(c, s, to, from, n, fl);
	if (has_source)
		add(c, SOFT_R_RSI, s.width, n * s.size);
	add(c, SOFT_R_RDI, s.width, n * s.size);
	return n;
}

/* Return true if the instruction is complete, false if it must be resumed from the registers. */
static NOINLINE bool do_repeat(struct soft *c, const struct soft_uop *u)
{
	struct string s = string_of(u);
	bool compares = s.op == CMPS || s.op == SCAS;
	uint64_t count = narrow(c->r[SOFT_R_RCX], s.width), n;
	int64_t work = WORK_AT_ONCE;
	uint16_t fl = c->fl;

	while (count) {
		n = bulk(c, u, s, count, &fl);
		work -= 1 + (int64_t)(n * s.size / 16);
		if (!n) {
			work -= WORK_OF_ONE;
			n = 1;
			fl = compares ? once(c, u, s) : (once(c, u, s), fl);
		}
		count -= n;
		add(c, SOFT_R_RCX, s.width, -n);
		if (compares && !(fl & SOFT_F_ZF) == (s.rep != REPNE))
			break;
		if (count && (work < 0 || c->base.state & ENGINE_ATTENTION)) {
			c->fl = fl;
			return false;
		}
	}
	c->fl = fl;
	return true;
}

/* Return true if a device requested the end of run() during an access. */
static inline bool is_wanted(const struct soft *c)
{
	return vpt_unlikely(c->base.state & ENGINE_ATTENTION);
}

SOFT_UOP(string_once)
{
	do_once(c, u);
	if (is_wanted(c))
		return soft_resume(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(string_repeat)
{
	if (vpt_unlikely(!do_repeat(c, u)))
		return soft_leave(c, u, false,
				  c->call & SOFT_STEP ? ENGINE_EXIT_NONE : ENGINE_EXIT_KICK);
	if (is_wanted(c))
		return soft_resume(c, u);
	return SOFT_NEXT(c, u);
}

/* The most elements that a loop stores faster than a function that is called. */
#define SHORT 16

static inline void quick_copy(struct soft *c, struct string s, uint8_t *to, const uint8_t *from,
			      uint64_t count)
{
	if (s.size == 8 && count <= SHORT)
		copy64(to, from, count);
	else
		do_piece(c, s, to, from, count, NULL);
}

static inline void quick_fill(struct soft *c, struct string s, uint8_t *to, uint64_t count)
{
	uint64_t value = c->r[SOFT_R_RAX];

	if (s.size == 8 && count <= SHORT)
		fill64(to, value, count);
	else if (s.size == 1 || value == (uint8_t)value * 0x0101010101010101u)
		memset(to, (uint8_t)value, count * s.size);
	else
		do_piece(c, s, to, NULL, count, NULL);
}

/*
 * Execute all iterations of an ascending REP MOVS or STOS in 64-bit mode. The source must be in one
 * page of the first-level TLB, and the destination likewise. Return false if nothing was done.
 */
static NOINLINE bool do_quick(struct soft *c, struct string s)
{
	uint64_t count = c->r[SOFT_R_RCX], from = c->r[SOFT_R_RSI], to = c->r[SOFT_R_RDI], bytes;
	const struct soft_tlb *source, *dest = soft_find_tlb(c, to);

	/* Without iterations, no page matters. With more, the entry of the first page cannot hit. */
	if (count - 1 >= X86_PAGE_SIZE || c->r[SOFT_R_RFLAGS] & X86_FL_DF || is_wanted(c))
		return false;
	bytes = count * s.size;
	if (!SOFT_TLB_HIT(dest->write, to, bytes))
		return false;
	if (s.op == MOVS) {
		source = soft_find_tlb(c, from);
		if (!SOFT_TLB_HIT(source->read, from, bytes))
			return false;
		quick_copy(c, s, (uint8_t *)(dest->host + to),
			   (const uint8_t *)(source->host + from), count);
		c->r[SOFT_R_RSI] = from + bytes;
	} else {
		quick_fill(c, s, (uint8_t *)(dest->host + to), count);
	}
	c->r[SOFT_R_RDI] = to + bytes;
	c->r[SOFT_R_RCX] = 0;
	return true;
}

SOFT_UOP(string_quick)
{
	if (vpt_likely(do_quick(c, string_of(u))))
		return SOFT_NEXT(c, u);
	return string_repeat(c, u);
}

static bool can_be_quick(const struct soft_translation *t, struct string s)
{
	return t->bits == 64 && s.width == 8 && s.rep == REP &&
	       (s.op == STOS || (s.op == MOVS && s.seg < SOFT_SEG_FS));
}

static uint8_t rep_of(const struct soft_translation *t)
{
	ZydisInstructionAttributes a = t->insn->attributes;
	bool compares = t->arg == CMPS || t->arg == SCAS;

	if (a & ZYDIS_ATTRIB_HAS_REPNE)
		return REPNE;
	if (a & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
		return compares ? REPE : REP;
	return ONCE;
}

/* Return the segment of the operand that RSI addresses, or DS if there is no such operand. */
static uint8_t source_segment(const struct soft_translation *t)
{
	unsigned int i;

	for (i = 0; i < t->insn->operand_count; i++)
		if (soft_tr_is_mem(t, i) && soft_tr_reg(t->op[i].mem.base) == SOFT_R_RSI * 8)
			return (uint8_t)(t->op[i].mem.segment - ZYDIS_REGISTER_ES);
	return SOFT_SEG_DS;
}

static uint8_t element_size(const struct soft_translation *t)
{
	unsigned int i;

	for (i = 0; i < t->insn->operand_count; i++)
		if (soft_tr_is_mem(t, i))
			return (uint8_t)soft_tr_size(t, i);
	return 1;
}

bool soft_tr_string(struct soft_translation *t)
{
	struct string s = {0};
	struct soft_uop *u;

	/* MOVSD and CMPSD are also mnemonics of SSE2. */
	if (t->insn->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return soft_tr_vector(t);
	s.op = (uint8_t)t->arg;
	s.rep = rep_of(t);
	s.seg = source_segment(t);
	s.size = element_size(t);
	s.width = t->insn->address_width / 8;
	u = soft_tr_emit(t, s.rep == ONCE	 ? string_once
			    : can_be_quick(t, s) ? string_quick
						 : string_repeat);
	memcpy(&u->imm, &s, sizeof(s));
	return true;
}
