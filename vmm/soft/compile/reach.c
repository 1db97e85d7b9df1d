// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory operands of compiled code. An access leaves for its function if the TLB has no entry. One
 * check serves several accesses near each other by the same base register, such as those of a
 * stack frame.
 */
#include "soft/compile/plain.h"

/* The largest displacement of a first byte, so that the last one's is not too large. */
#define DISP_MAX (INT32_MAX - 255)

/* The most bytes that one look-up covers. A range across the end of a page leaves the run. */
#define REACH_MAX 128

/* The register that has the distance from linear to host addresses of g->reach. */
#define SLOT_DISTANCE (SOFT_R_SLOTS - 1u)

/* Bytes [lo, hi) from the registers of an address. */
struct access {
	int64_t lo, hi;
	bool write;
};

static bool has_index(const struct soft_base *by)
{
	return by->index != SOFT_R_ZERO;
}

/* Returns true if u pushes or pops. */
static bool stack_access(const struct soft_uop *u, struct access *a)
{
	unsigned int op = SOFT_KIND_OP(u->kind);
	bool pushes = op == SOFT_K_PUSH || op == SOFT_K_CALL || op == SOFT_K_CALL_TO;

	*a = (struct access){pushes ? -8 : 0, pushes ? 0 : 8, pushes};
	return pushes || op == SOFT_K_POP || op == SOFT_K_RET;
}

/* Returns true if u accesses memory by these registers. A CALL has its operand, if there is one. */
static bool access_by(const struct soft_uop *u, const struct soft_base *by, struct access *a)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);
	unsigned int size = SOFT_KIND_SIZE(u->kind);

	if ((op != SOFT_K_CALL_TO || form == SOFT_K_RR) && stack_access(u, a))
		return by->slot == SOFT_R_RSP && !has_index(by);
	if (form < SOFT_K_RM || form > SOFT_K_MI || u->base != by->slot * 8 ||
	    u->index != by->index * 8 || (has_index(by) && u->scale != by->scale))
		return false;
	if (op == SOFT_K_MOVZX || op == SOFT_K_MOVSX)
		size = SOFT_KIND_FROM(u->kind);
	*a = (struct access){u->disp, u->disp + (1 << size),
			     form != SOFT_K_RM && op != SOFT_K_CMP && op != SOFT_K_TEST};
	return true;
}

/* Return how far u moves RSP, if that is the base. */
static int64_t moved(const struct soft_uop *u, const struct soft_base *by)
{
	unsigned int op = SOFT_KIND_OP(u->kind);

	if (by->slot != SOFT_R_RSP)
		return 0;
	return op == SOFT_K_PUSH ? -8 : op == SOFT_K_POP ? 8 : 0;
}

/* Returns true if u changes the registers in a way that is not followed. */
static bool changes(const struct soft_uop *u, const struct soft_base *by)
{
	const bool stack = moved(u, by);

	return (!(stack && u->dst / 8 != SOFT_R_RSP) && soft_changes(u, by->slot)) ||
	       (has_index(by) && soft_changes(u, by->index));
}

/* Collect what the run accesses by these registers from u on. Returns the number of accesses. */
static unsigned int collect(const struct soft_uop *u, const struct soft_uop *end,
			    const struct soft_base *by, struct access *all)
{
	unsigned int count = 0;
	int64_t at = 0;

	for (; u < end; u++) {
		struct access a;

		if (access_by(u, by, &a)) {
			int64_t lo = a.lo + at, hi = a.hi + at;

			if (!count)
				*all = (struct access){lo, hi, a.write};
			lo = lo < all->lo ? lo : all->lo;
			hi = hi > all->hi ? hi : all->hi;
			if (hi - lo > REACH_MAX)
				break;
			*all = (struct access){lo, hi, all->write || a.write};
			count++;
		}
		/* RSP with an index is not followed. */
		if (changes(u, by) || (has_index(by) && moved(u, by)))
			break;
		at += moved(u, by);
	}
	return count;
}

void soft_to_host(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write)
{
	struct soft_operand d = soft_check_tlb(g, u, H_NONE, 0, 1u << size, write);

	e_rm(&g->e, SOFT_SIZE64, 0x03, H_R11, d.base, d.disp);
	g->operand = (struct soft_operand){H_R11, H_NONE, 0};
}

void soft_emit_operand(struct soft_compiler *g, unsigned int size, unsigned int opcode,
		       unsigned int reg)
{
	const struct soft_operand *o = &g->operand;

	if (o->index == H_NONE)
		e_rm(&g->e, size, opcode, reg, o->base, o->disp);
	else
		e_sib(&g->e, size, opcode, reg, o->base, o->index, 0, o->disp);
}

/* Emit LEA of the registers and a displacement. */
static void lea(struct soft_compiler *g, unsigned int to, const struct soft_base *by, int64_t disp)
{
	unsigned int base = soft_hold(g, by->slot, true);

	if (has_index(by))
		e_sib(&g->e, SOFT_SIZE64, 0x8d, to, base, soft_hold(g, by->index, true), by->scale,
		      (int32_t)disp);
	else
		e_rm(&g->e, SOFT_SIZE64, 0x8d, to, base, (int32_t)disp);
}

/*
 * Look up all of these at once. Returns false if no register is free for the distance. With an index
 * it is the host's address of the two registers.
 */
static bool begin(struct soft_compiler *g, const struct soft_uop *u, const struct soft_base *by,
		  const struct access *all)
{
	unsigned int distance, base = H_NONE;
	struct soft_operand d;

	/* The two or three of the address, and one that the micro-operation holds already. */
	if (soft_hold_spare(g) < (has_index(by) ? 4 : 3) || all->lo != (int32_t)all->lo ||
	    all->lo == INT32_MIN || all->lo > DISP_MAX)
		return false;
	if (has_index(by))
		lea(g, H_R11, by, all->lo);
	else
		base = soft_hold(g, by->slot, true);
	/* R11 has the displacement already. */
	d = soft_check_tlb(g, u, base, has_index(by) ? 0 : (int32_t)all->lo,
			   (uint32_t)(all->hi - all->lo), all->write);
	distance = soft_hold(g, SLOT_DISTANCE, false);
	e_rm(&g->e, SOFT_SIZE64, 0x8b, distance, d.base, d.disp);
	if (has_index(by))
		e_sib(&g->e, SOFT_SIZE64, 0x8d, distance, distance, H_R11, 0, (int32_t)-all->lo);
	g->reach =
		(struct soft_reach){.by = *by, .write = all->write, .lo = all->lo, .hi = all->hi};
	return true;
}

static bool covers(const struct soft_compiler *g, const struct soft_base *by,
		   const struct access *a)
{
	const struct soft_reach *r = &g->reach;

	return r->lo < r->hi && r->by.slot == by->slot && r->by.index == by->index &&
	       (!has_index(by) || r->by.scale == by->scale) && a->lo + r->moved >= r->lo &&
	       a->hi + r->moved <= r->hi && (r->write || !a->write);
}

/* Returns false, and emits nothing, if one look-up does not serve several accesses. */
static bool reach(struct soft_compiler *g, const struct soft_uop *u, const struct soft_base *by,
		  const struct access *a)
{
	struct access all = {0};
	unsigned int distance;

	if (!covers(g, by, a) && (collect(u, g->end, by, &all) < 2 || !begin(g, u, by, &all)))
		return false;
	/* First the one that nobody else can load again. */
	distance = soft_hold(g, SLOT_DISTANCE, false);
	if (has_index(by))
		g->operand = (struct soft_operand){(uint8_t)distance, H_NONE, (int32_t)a->lo};
	else
		g->operand = (struct soft_operand){(uint8_t)soft_hold(g, by->slot, true),
						   (uint8_t)distance, (int32_t)a->lo};
	return true;
}

/* g->operand := bytes from base + disp, with a site of their own. */
static void alone(struct soft_compiler *g, const struct soft_uop *u, unsigned int base,
		  int32_t disp, unsigned int bytes, bool write)
{
	struct soft_operand d = soft_check_tlb(g, u, base, disp, bytes, write);

	e_rm(&g->e, SOFT_SIZE64, 0x8b, H_R11, d.base, d.disp);
	g->operand = (struct soft_operand){(uint8_t)base, H_R11, disp};
}

void soft_stack_operand(struct soft_compiler *g, const struct soft_uop *u)
{
	const struct soft_base by = {SOFT_R_RSP, SOFT_R_ZERO, 0};
	struct access a;

	stack_access(u, &a);
	if (!reach(g, u, &by, &a))
		alone(g, u, soft_hold(g, SOFT_R_RSP, true), (int32_t)a.lo, 8, a.write);
}

/* Return the host register of a part of an address. */
static unsigned int part(struct soft_compiler *g, uint8_t offset)
{
	return offset == SOFT_R_ZERO * 8 ? H_NONE : soft_hold(g, offset / 8, true);
}

void soft_address(struct soft_compiler *g, unsigned int size, const struct soft_uop *u)
{
	unsigned int base = part(g, u->base), index = part(g, u->index);

	if (base == H_NONE && index == H_NONE)
		e_const(&g->e, H_R11, size == 2 ? (uint32_t)u->disp : (uint64_t)u->disp);
	else if (index == H_NONE)
		e_rm(&g->e, size, 0x8d, H_R11, base, (int32_t)u->disp);
	else
		e_sib(&g->e, size, 0x8d, H_R11, base, index, u->scale, (int32_t)u->disp);
}

void soft_operand(struct soft_compiler *g, const struct soft_uop *u, unsigned int size, bool write)
{
	const struct soft_base by = {u->base / 8, u->index / 8, u->scale};
	struct access a;

	if (by.slot != SOFT_R_ZERO && access_by(u, &by, &a) && reach(g, u, &by, &a))
		return;
	if (by.slot != SOFT_R_ZERO && !has_index(&by) && u->disp <= DISP_MAX) {
		alone(g, u, soft_hold(g, by.slot, true), (int32_t)u->disp, 1u << size, write);
		return;
	}
	soft_address(g, SOFT_SIZE64, u);
	soft_to_host(g, u, size, write);
}
