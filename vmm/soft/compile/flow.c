// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile the ends of blocks: the outcome for PT, and the way to the next block. A link is valid if
 * its generation is the processor's. Within a unit the code goes to the next block directly, with
 * the guest registers where they are. The link to a later block in the same page is valid, because
 * a block of the page runs. Only interrupt() changes the generation meanwhile. Each loop has a link
 * that sees it. A trace also needs to know which blocks ran in the address space, so its links are
 * checked.
 */
#include "soft/branch.h"
#include "soft/compile/compiler.h"

void soft_emit_jump(struct soft_compiler *g, const void *fn)
{
	e_opcode(&g->e, SOFT_SIZE64, 0xb8, 0, 0, H_RAX);
	e64(&g->e, (uint64_t)(uintptr_t)fn);
	e8(&g->e, 0xff), e8(&g->e, 0xe0);
}

/* Go to a block of the unit. Its address may not be known yet. */
static void go(struct soft_compiler *g, unsigned int block)
{
	uint8_t *from = e_jump(&g->e, SOFT_ALWAYS);

	g->fixup[g->fixups++] = (struct soft_fixup){from, block};
}

/* Follow the link to a block of the unit. */
static void follow_inside(struct soft_compiler *g, struct soft_exit *exit, unsigned int block)
{
	struct soft_emit *e = &g->e;

	exit->taken = g->block[block]->insns;
	e_rm(e, SOFT_SIZE64, 0x81, 5, H_RDI, SOFT_AT(left)); /* sub */
	e32(e, (uint32_t)exit->taken);
	exit->spent = e_jump(e, SOFT_JL);
	go(g, block);
}

/* Emit the code of soft_follow(). */
void soft_emit_follow(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		      uint64_t to)
{
	const struct soft_link *l = (const struct soft_link *)u->ptr + link;
	unsigned int block = soft_unit_next(g, u, link);
	struct soft_emit *e = &g->e;
	struct soft_exit *exit;

	if (block == g->blocks)
		soft_hold_flush(g);
	exit = soft_exit_add(g, (const void *)(uintptr_t)soft_miss, l);
	exit->rdx = to;
	g->live = false;
	if (block < g->blocks && !g->traced && soft_unit_is_near(g, u, block)) {
		follow_inside(g, exit, block);
		return;
	}
	e_const(e, H_R10, (uint64_t)(uintptr_t)l);
	e_rm(e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(gen));
	e_rm(e, SOFT_SIZE64, 0x3b, H_RAX, H_R10, SOFT_AT_LINK(gen));
	exit->from[0] = e_jump(e, SOFT_JNE);
	if (block < g->blocks) {
		follow_inside(g, exit, block);
		return;
	}
	exit->taken = -1;
	e_rm(e, SOFT_SIZE64, 0x63, H_R11, H_R10, SOFT_AT_LINK(insns)); /* movsxd */
	e_rm(e, SOFT_SIZE64, 0x29, H_R11, H_RDI, SOFT_AT(left));
	exit->spent = e_jump(e, SOFT_JL);
	e_rm(e, SOFT_SIZE64, 0x8b, H_RSI, H_R10, SOFT_AT_LINK(first));
	e8(e, 0xff), e8(e, 0x26); /* jmp [rsi] */
}

void soft_emit_open(struct soft_compiler *g)
{
	e_rm(&g->e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(open));
}

uint8_t *soft_emit_gate(struct soft_compiler *g)
{
	soft_emit_open(g);
	e_rm(&g->e, 0, 0xf6, 0, H_RAX, SOFT_AT_GATE(state));
	e8(&g->e, VPT_GATE_OPEN);
	return e_jump(&g->e, SOFT_JE);
}

/* Do what vpt_gate_cond() does with an outcome. A closed gate has no room for it. */
static void record(struct soft_compiler *g, const struct soft_uop *u, bool taken)
{
	struct soft_exit *slow = soft_exit_add(g, (const void *)(uintptr_t)soft_cond_slow, u);

	slow->rdx = taken;
	soft_emit_outcome(g, taken, slow, H_R10);
}

bool soft_needs_flags(const struct soft_compiler *g, const struct soft_uop *u, unsigned int link)
{
	unsigned int block = soft_unit_next(g, u, link);

	return block == g->blocks || !soft_flags_dead(g->block[block]);
}

/* One outcome of a Jcc. The host's flags are the guest's. */
static void outcome(struct soft_compiler *g, const struct soft_uop *u, bool taken)
{
	if (soft_needs_flags(g, u, taken))
		soft_flags_store(g);
	if (g->traced)
		record(g, u, taken);
	soft_emit_follow(g, u, taken, soft_cond_target(u, taken));
}

/* The outcome that leads to the next block of the unit is the last in the code. */
static void jcc(struct soft_compiler *g, const struct soft_uop *u)
{
	const unsigned int block = soft_unit_index(g, soft_unit_block(u));
	const bool last = soft_unit_next(g, u, 0) != block + 1;
	struct soft_held held;
	uint8_t *other;

	soft_flags_need(g);
	soft_hold_flush_rest(g);
	other = e_jump(&g->e, SOFT_KIND_FROM(u->kind) ^ !last);
	held = g->held;
	outcome(g, u, !last);
	e_aim(&g->e, other);
	g->held = held;
	g->live = true;
	outcome(g, u, last);
}

/* Follow a link without an outcome. */
static void follow(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		   uint64_t to)
{
	if (soft_needs_flags(g, u, link))
		soft_flags_store(g);
	soft_hold_flush_rest(g);
	soft_emit_follow(g, u, link, to);
}

static void jmp(struct soft_compiler *g, const struct soft_uop *u)
{
	if (g->traced) {
		e_rm(&g->e, SOFT_SIZE64, 0x83, 7, H_RDI, SOFT_AT(tnt_limit)); /* cmp */
		e8(&g->e, 0);
		g->live = false;
		soft_leave_if(g, SOFT_JE, u);
	}
	follow(g, u, 1, u->imm);
}

void soft_emit_end(struct soft_compiler *g, const struct soft_uop *u)
{
	switch (SOFT_KIND_OP(u->kind)) {
	case SOFT_K_JCC:
		jcc(g, u);
		break;
	case SOFT_K_JMP:
		jmp(g, u);
		break;
	default:
		follow(g, u, 0, u->ip);
		break;
	}
}
