// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile units of blocks to host code. The code of a run of plain micro-operations replaces the
 * function of its first one. It leaves for the functions that were there before in rare cases, and
 * those continue with each other.
 */
#include "soft/compile.h"

#include <stdlib.h>

#include "soft/compile/compiler.h"

#define REGION	     (64u << 20)
#define REGION_OTHER (16u << 20) /* of vCPUs other than the first */
/* Upper bounds for the size of a micro-operation's code, with its exits, and of the end of a block. */
#define UOP_MAX	 960u
#define END_MAX	 (2000u * SOFT_LINKS)
#define UNIT_MAX (SOFT_UNIT_UOPS * UOP_MAX + SOFT_UNIT_BLOCKS * END_MAX)
#define AFTER	 5u

#define JUMP_BYTES 5u

struct soft_compiler *soft_compiler_create(unsigned int index)
{
	struct soft_compiler *g = calloc(1, sizeof(*g));

	if (g && soft_region_create(&g->region, index ? REGION_OTHER : REGION)) {
		free(g);
		return NULL;
	}
	if (g)
		g->after = AFTER;
	return g;
}

void soft_compile_after(struct soft *c, unsigned int bits)
{
	c->compiler->after = bits;
}

void soft_compiler_destroy(struct soft_compiler *g)
{
	if (!g)
		return;
	soft_region_destroy(&g->region);
	free(g);
}

int soft_compiler_own(struct soft_compiler *g)
{
	return soft_region_own(&g->region);
}

bool soft_compiler_has_room(const struct soft_compiler *g)
{
	return g->region.bytes - g->region.used >= UNIT_MAX;
}

void soft_compiler_reset(struct soft_compiler *g)
{
	soft_region_reset(&g->region, 0);
}

bool soft_compiler_made(const struct soft_compiler *g, soft_uop_fn fn)
{
	return (uintptr_t)fn - (uintptr_t)g->region.executable < g->region.used;
}

/* Emit the call of a micro-operation without code. It goes on to the next by itself. */
static void call(struct soft_compiler *g, const struct soft_uop *u)
{
	soft_hold_flush(g);
	e_const(&g->e, H_RSI, (uint64_t)(uintptr_t)u);
	soft_emit_jump(g, (const void *)(uintptr_t)u->plain);
}

static void enter_at(struct soft_compiler *g, unsigned int index, struct soft_uop *u, bool fixed)
{
	if (g->copies >> index & 1)
		return;
	g->entry[g->entries++] = (struct soft_entry){u, g->e.at, fixed};
}

/* Emit the run [from, to) of a block. All fixed registers are loaded at the begin of a block. */
static void emit_run(struct soft_compiler *g, unsigned int index, unsigned int from,
		     unsigned int to)
{
	struct soft_block *b = g->block[index];
	bool inside = to == b->uops && soft_unit_leads_inside(b);
	unsigned int i;

	soft_hold_begin(g, &b->uop[to], !from || inside, !from);
	enter_at(g, index, &b->uop[from], !from || inside);
	for (i = from; i < to; i++)
		soft_emit_plain(g, &b->uop[i], &b->uop[to]);
	if (to < b->uops)
		call(g, &b->uop[to]);
}

/* Returns true if the run is worth the loads at its begin. */
static bool is_long(const struct soft_block *b, unsigned int from, unsigned int to)
{
	return to - from >= 2 || (to > from && (!from || to == b->uops));
}

static void emit_block(struct soft_compiler *g, unsigned int index)
{
	const bool copy = g->copies >> index & 1;
	struct soft_block *b = g->block[index];
	unsigned int from, to;

	/* The block before goes on here. */
	if (g->fixups && g->fixup[g->fixups - 1].from == g->e.at &&
	    g->fixup[g->fixups - 1].block == index) {
		g->fixups--;
		g->e.at -= JUMP_BYTES;
	}
	g->label[index] = g->e.at;
	if (!copy)
		b->uop[0].fn = b->uop[0].plain;
	if (!soft_is_plain(&b->uop[0])) {
		soft_hold_begin(g, &b->uop[0], true, true);
		call(g, &b->uop[0]);
	}
	/* A copy has no entry behind a micro-operation without code. */
	for (from = 0; from < b->uops && !(copy && from); from = to + 1) {
		for (to = from; to < b->uops && soft_is_plain(&b->uop[to]); to++)
			;
		if (is_long(b, from, to))
			emit_run(g, index, from, to);
	}
}

/* Code out of line that enters the unit. From here on it is what the micro-operations do. */
static void emit_entries(struct soft_compiler *g)
{
	const uint8_t *writable = g->region.writable, *executable = g->region.executable;
	unsigned int i;

	for (i = 0; i < g->entries; i++) {
		const struct soft_entry *entry = &g->entry[i];
		const uint8_t *at = entry->label;

		if (entry->fixed && (g->fixed_slots || g->pool < SOFT_POOL)) {
			at = g->e.at;
			soft_hold_load_fixed(g);
			soft_aim_at(entry->label, e_jump(&g->e, SOFT_ALWAYS));
		}
		entry->u->fn = (soft_uop_fn)(uintptr_t)(executable + (at - writable));
	}
}

void soft_compile(struct soft *c, struct soft_block *b)
{
	struct soft_compiler *g = c->compiler;
	unsigned int i;
	void *run;

	if (!soft_compiler_has_room(g))
		return;
	g->exits = g->entries = g->fixups = g->refills = g->fulls = 0;
	g->mode = b->mode;
	g->traced = b->mode & SOFT_BLOCK_TRACED;
	soft_hold_choose(g, soft_unit_collect(c, g, b));
	g->e.at = soft_region_at(&g->region, &run);
	for (i = 0; i < g->blocks; i++)
		emit_block(g, i);
	soft_sites_emit(g);
	soft_outcomes_emit(g);
	soft_exits_emit(g);
	emit_entries(g);
	for (i = 0; i < g->fixups; i++)
		soft_aim_at(g->label[g->fixup[i].block], g->fixup[i].from);
	soft_region_take(&g->region, g->e.at);
}

/*
 * Enter host code. The asm aligns the stack, because the compiler does not know of this call. It
 * also skips the red zone.
 */
static const struct soft_uop *enter(struct soft *c, const struct soft_uop *u)
{
	const void *code = (const void *)(uintptr_t)u->fn;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "push %%rbp\n\t"
			 "mov %%rsp, %%rdx\n\t"
			 "and $-16, %%rsp\n\t"
			 "push %%rdx\n\t"
			 "push %%rdx\n\t"
			 "call *%[code]\n\t"
			 "pop %%rdx\n\t"
			 "pop %%rsp\n\t"
			 "pop %%rbp\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : [code] "+a"(code), "+D"(c), "+S"(u)
			 :
			 : "rcx", "rdx", "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
	return code;
}

void soft_enter(struct soft *c, const struct soft_uop *u)
{
	/* Without SOFT_THREADED, host code also ends when a function of C returns. */
	while (u)
		u = enter(c, u);
}
