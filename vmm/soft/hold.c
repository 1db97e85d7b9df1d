// SPDX-License-Identifier: GPL-2.0-or-later
/* Guest registers and flags in registers of the host, for compiled code. */
#include "soft/compiler.h"

/*
 * The order matters little: REX prefixes are always there. RSP is the host's stack, RDI the
 * processor, and RAX, R10 and R11 are free for each micro-operation.
 */
static const uint8_t pool[SOFT_POOL] = {H_RCX, H_RDX, H_RBX, H_RBP, H_RSI, H_R8,
					H_R9,  H_R12, H_R13, H_R14, H_R15};

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

void soft_hold_choose(struct soft_compiler *g, bool linked)
{
	uint32_t uses[SOFT_R_SLOTS + 8] = {0};
	unsigned int i, k, distinct = 0, most;

	g->fixed_slots = 0;
	if (!linked)
		return;
	for (i = 0; i < g->blocks; i++)
		for (k = 0; k < g->block[i]->uops; k++)
			count(uses, &g->block[i]->uop[k]);
	uses[SOFT_R_ZERO] = 0;
	for (i = 0; i < SOFT_R_SLOTS; i++)
		distinct += uses[i] != 0;
	most = distinct <= SOFT_POOL ? distinct : SOFT_POOL - SPARE;
	for (i = 0; i < most; i++) {
		unsigned int slot = most_used(uses);

		g->fixed_slot[g->fixed_slots++] = (uint8_t)slot;
		uses[slot] = 0;
	}
}

void soft_hold_begin(struct soft_compiler *g, const struct soft_uop *end, bool fixed)
{
	g->end = end;
	g->reach = (struct soft_reach){0};
	memset(g->slot, SOFT_R_SLOTS, sizeof(g->slot));
	memset(g->used, 0, sizeof(g->used));
	g->clock = 0;
	g->dirty = 0;
	g->live = false;
	g->fixed = fixed ? g->fixed_slots : 0;
	memcpy(g->slot, g->fixed_slot, g->fixed);
}

unsigned int soft_hold(struct soft_compiler *g, unsigned int slot, bool load)
{
	unsigned int i, oldest = g->fixed;

	for (i = 0; i < SOFT_POOL; i++) {
		if (g->slot[i] == slot)
			break;
		if (i >= g->fixed && g->used[i] < g->used[oldest])
			oldest = i;
	}
	if (i == SOFT_POOL) {
		i = oldest;
		soft_hold_store(g, g->slot, g->dirty & 1u << i);
		g->dirty &= ~(1u << i);
		/* The distance of g->reach has gone. */
		if (g->slot[i] == SOFT_R_SLOTS - 1)
			g->reach.hi = g->reach.lo;
		g->slot[i] = (uint8_t)slot;
		if (load)
			e_rm(&g->e, SOFT_SIZE64, 0x8b, pool[i], H_RDI, SOFT_AT_SLOT(slot));
	}
	g->used[i] = ++g->clock;
	return pool[i];
}

void soft_hold_changed(struct soft_compiler *g, unsigned int slot)
{
	unsigned int i;

	if (slot == g->reach.slot)
		g->reach.hi = g->reach.lo;
	for (i = 0; g->slot[i] != slot; i++)
		;
	g->dirty |= 1u << i;
}

void soft_hold_move_rsp(struct soft_compiler *g, int32_t distance)
{
	unsigned int rsp = soft_hold(g, SOFT_R_RSP, true);
	const struct soft_reach reach = g->reach;

	e_rm(&g->e, SOFT_SIZE64, 0x8d, rsp, rsp, distance);
	soft_hold_changed(g, SOFT_R_RSP);
	g->reach = reach;
	if (reach.slot == SOFT_R_RSP)
		g->reach.moved += distance;
}

void soft_hold_store(struct soft_compiler *g, const uint8_t *slot, uint32_t dirty)
{
	unsigned int i;

	for (i = 0; i < SOFT_POOL; i++)
		if (dirty >> i & 1)
			e_rm(&g->e, SOFT_SIZE64, 0x89, pool[i], H_RDI, SOFT_AT_SLOT(slot[i]));
}

void soft_hold_flush(struct soft_compiler *g)
{
	soft_hold_store(g, g->slot, g->dirty);
	g->dirty = 0;
}

void soft_hold_load_fixed(struct soft_compiler *g)
{
	unsigned int i;

	for (i = 0; i < g->fixed_slots; i++)
		e_rm(&g->e, SOFT_SIZE64, 0x8b, pool[i], H_RDI, SOFT_AT_SLOT(g->fixed_slot[i]));
}

/* Store the host's flags where C code reads them. */
void soft_hold_save_flags(struct soft_compiler *g)
{
	e8(&g->e, 0x9f);		  /* lahf */
	e8(&g->e, 0x0f), e8(&g->e, 0x90); /* seto al */
	e8(&g->e, 0xc0);
	e_rm(&g->e, 1, 0x89, H_RAX, H_RDI, SOFT_AT(fl));
	g->live = true;
}

void soft_hold_load_flags(struct soft_compiler *g)
{
	if (g->live)
		return;
	e_rm(&g->e, 2, 0x0fb7, H_RAX, H_RDI, SOFT_AT(fl));
	e8(&g->e, 0x04), e8(&g->e, 0x7f); /* add al, 127: overflows if it is 1 */
	e8(&g->e, 0x9e);		  /* sahf */
	g->live = true;
}

void soft_hold_load_carry(struct soft_compiler *g)
{
	e_rm(&g->e, 1, 0x0fba, 4, H_RDI, SOFT_AT(fl)); /* bt word, 8 */
	e8(&g->e, 8);
	g->live = false;
}

void soft_leave_if(struct soft_compiler *g, unsigned int cc, const struct soft_uop *u)
{
	struct soft_exit *exit = &g->exit[g->exits++];

	*exit = (struct soft_exit){.from = e_jump(&g->e, cc), .u = u, .dirty = g->dirty};
	memcpy(exit->slot, g->slot, sizeof(exit->slot));
}
