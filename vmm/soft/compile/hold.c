// SPDX-License-Identifier: GPL-2.0-or-later
/* Guest registers and flags in registers of the host, for compiled code. */
#include "soft/compile/plain.h"

/*
 * RSP is the host's stack, RDI the processor, and RAX, R10 and R11 are free for each micro-operation. The
 * last one can be SOFT_TNT.
 */
static const uint8_t pool[SOFT_POOL] = {H_RBX, H_RBP, H_R12, H_R13, H_R14, H_RCX,
					H_RDX, H_RSI, H_R8,  H_R9,  H_R15};

enum { SIZE32 = 2 };

/* If not all registers of a unit fit, so many of the pool serve the rest. */
#define SPARE 3u

static void count(uint32_t uses[SOFT_R_SLOTS + 8], const struct soft_uop *u)
{
	const unsigned int op = SOFT_KIND_OP(u->kind);

	if (!soft_is_plain(u))
		return;
	uses[u->dst / 8]++;
	uses[u->src / 8]++;
	uses[u->base / 8]++;
	uses[u->index / 8]++;
	if (op >= SOFT_K_MUL && op <= SOFT_K_IDIV)
		uses[SOFT_R_RAX]++;
	if (op == SOFT_K_PUSH || op == SOFT_K_POP || op >= SOFT_K_CALL)
		uses[SOFT_R_RSP] += 2;
}

static unsigned int most_used(const uint32_t *uses)
{
	unsigned int i, best = 0;

	for (i = 1; i < SOFT_R_SLOTS; i++)
		if (uses[i] > uses[best])
			best = i;
	return best;
}

/* Returns true if a block of the unit changes the register. */
static bool is_changed(const struct soft_compiler *g, unsigned int slot)
{
	unsigned int i, k;

	for (i = 0; i < g->blocks; i++)
		for (k = 0; k < g->block[i]->uops; k++) {
			const struct soft_uop *u = &g->block[i]->uop[k];
			const unsigned int op = SOFT_KIND_OP(u->kind);

			if (op == SOFT_K_CMP || op == SOFT_K_TEST || !soft_is_plain(u))
				continue;
			if (u->dst / 8 == slot || slot == SOFT_R_RSP || soft_changes(u, slot))
				return true;
		}
	return false;
}

void soft_hold_choose(struct soft_compiler *g, bool linked)
{
	uint32_t uses[SOFT_R_SLOTS + 8] = {0};
	unsigned int i, k, distinct = 0, most;

	g->fixed_slots = g->fixed_changed = 0;
	g->pool = SOFT_POOL;
	if (!linked)
		return;
	for (i = 0; i < g->blocks; i++)
		for (k = 0; k < g->block[i]->uops; k++)
			count(uses, &g->block[i]->uop[k]);
	uses[SOFT_R_ZERO] = 0;
	for (i = 0; i < SOFT_R_SLOTS; i++)
		distinct += uses[i] != 0;
	/* A unit that needs just all of them keeps them for its registers. */
	g->pool -= g->traced && distinct != SOFT_POOL;
	most = distinct <= g->pool ? distinct : g->pool - SPARE;
	for (i = 0; i < most; i++) {
		unsigned int slot = most_used(uses);

		g->fixed_changed |= (uint32_t)is_changed(g, slot) << g->fixed_slots;
		g->fixed_slot[g->fixed_slots++] = (uint8_t)slot;
		uses[slot] = 0;
	}
}

void soft_hold_begin(struct soft_compiler *g, const struct soft_uop *end, bool fixed, bool first)
{
	g->end = end;
	g->reach = (struct soft_reach){0};
	g->held = (struct soft_held){.dirty = fixed && first ? g->fixed_changed : 0};
	memset(g->held.slot, SOFT_R_SLOTS, sizeof(g->held.slot));
	memset(g->used, 0, sizeof(g->used));
	g->clock = 0;
	g->live = false;
	g->fixed = fixed ? g->fixed_slots : 0;
	g->held.tnt = fixed && g->pool < SOFT_POOL;
	memcpy(g->held.slot, g->fixed_slot, g->fixed);
}

unsigned int soft_hold_host(unsigned int place)
{
	return pool[place];
}

bool soft_holds(const struct soft_compiler *g, unsigned int slot, unsigned int host)
{
	unsigned int i;

	for (i = 0; i < SOFT_POOL && g->held.slot[i] != slot; i++)
		;
	return i < SOFT_POOL && pool[i] == host;
}

unsigned int soft_hold_spare(const struct soft_compiler *g)
{
	unsigned int i, spare = 0;

	for (i = g->fixed; i < g->pool; i++)
		spare += !soft_flags_use(&g->held.flags, pool[i]);
	return spare;
}

void soft_hold_store(struct soft_emit *e, const struct soft_held *held, uint32_t these)
{
	unsigned int i;

	for (i = 0; i < SOFT_POOL; i++)
		if (held->dirty & these & 1u << i)
			e_rm(e, SOFT_SIZE64, 0x89, pool[i], H_RDI, SOFT_AT_SLOT(held->slot[i]));
}

void soft_hold_store_tnt(struct soft_emit *e, const struct soft_held *held)
{
	if (!held->tnt)
		return;
	e_rm(e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(open));
	e_rm(e, SOFT_SIZE64, 0x89, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
	e_rm(e, SOFT_SIZE64, 0x8b, SOFT_TNT, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(e, SOFT_SIZE64, 0x2b, SOFT_TNT, H_RDI, SOFT_AT(put_from));
	e_rm(e, SIZE32, 0x01, SOFT_TNT, H_RAX, SOFT_AT_PT(psb_bytes));
}

void soft_hold_lend_tnt(struct soft_compiler *g)
{
	const uint32_t last = 1u << (SOFT_POOL - 1);

	if (g->held.tnt)
		return;
	soft_flags_store(g);
	soft_hold_store(&g->e, &g->held, last);
	g->held.dirty &= ~last;
	soft_emit_open(g);
	e_rm(&g->e, SOFT_SIZE64, 0x8b, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
}

void soft_hold_return_tnt(struct soft_compiler *g)
{
	if (g->held.tnt)
		return;
	e_rm(&g->e, SOFT_SIZE64, 0x89, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
	e_rm(&g->e, SOFT_SIZE64, 0x8b, SOFT_TNT, H_RDI, SOFT_AT_SLOT(g->fixed_slot[SOFT_POOL - 1]));
}

/* Free the register that was used longest ago. Those of steps are kept: see can_keep() in defer.c. */
static unsigned int evict(struct soft_compiler *g)
{
	unsigned int i, oldest = SOFT_POOL;

	for (i = g->fixed; i < g->pool; i++)
		if (!soft_flags_use(&g->held.flags, pool[i]) &&
		    (oldest == SOFT_POOL || g->used[i] < g->used[oldest]))
			oldest = i;
	soft_hold_store(&g->e, &g->held, 1u << oldest);
	g->held.dirty &= ~(1u << oldest);
	/* The distance of g->reach has gone. */
	if (g->held.slot[oldest] == SOFT_R_SLOTS - 1)
		g->reach.hi = g->reach.lo;
	return oldest;
}

unsigned int soft_hold(struct soft_compiler *g, unsigned int slot, bool load)
{
	unsigned int i;

	for (i = 0; i < SOFT_POOL && g->held.slot[i] != slot; i++)
		;
	if (i == SOFT_POOL) {
		i = evict(g);
		g->held.slot[i] = (uint8_t)slot;
		if (load)
			e_rm(&g->e, SOFT_SIZE64, 0x8b, pool[i], H_RDI, SOFT_AT_SLOT(slot));
	}
	g->used[i] = ++g->clock;
	return pool[i];
}

void soft_hold_changed(struct soft_compiler *g, unsigned int slot)
{
	unsigned int i;

	if (slot == g->reach.by.slot || slot == g->reach.by.index)
		g->reach.hi = g->reach.lo;
	for (i = 0; g->held.slot[i] != slot; i++)
		;
	g->held.dirty |= 1u << i;
}

void soft_hold_move_rsp(struct soft_compiler *g, int32_t distance)
{
	unsigned int rsp = soft_hold(g, SOFT_R_RSP, true);
	const struct soft_reach reach = g->reach;

	e_rm(&g->e, SOFT_SIZE64, 0x8d, rsp, rsp, distance);
	soft_hold_changed(g, SOFT_R_RSP);
	/* With an index the distance has the old RSP. */
	if (reach.by.index != SOFT_R_ZERO)
		return;
	g->reach = reach;
	if (reach.by.slot == SOFT_R_RSP)
		g->reach.moved += distance;
}

void soft_hold_flush_rest(struct soft_compiler *g)
{
	const uint32_t rest = ~0u << g->fixed;

	soft_hold_store(&g->e, &g->held, rest);
	g->held.dirty &= ~rest;
}

void soft_hold_flush(struct soft_compiler *g)
{
	soft_flags_store(g);
	soft_hold_store(&g->e, &g->held, ~0u);
	soft_hold_store_tnt(&g->e, &g->held);
	g->held.dirty = 0;
	g->held.tnt = false;
}

void soft_hold_load_fixed(struct soft_compiler *g)
{
	unsigned int i;

	for (i = 0; i < g->fixed_slots; i++)
		e_rm(&g->e, SOFT_SIZE64, 0x8b, pool[i], H_RDI, SOFT_AT_SLOT(g->fixed_slot[i]));
	if (g->pool == SOFT_POOL)
		return;
	soft_emit_open(g);
	e_rm(&g->e, SOFT_SIZE64, 0x8b, SOFT_TNT, H_RAX, SOFT_AT_GATE(tnt));
	e_rm(&g->e, SOFT_SIZE64, 0x8b, H_RAX, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(&g->e, SOFT_SIZE64, 0x89, H_RAX, H_RDI, SOFT_AT(put_from));
}
