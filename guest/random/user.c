// SPDX-License-Identifier: GPL-2.0-or-later
/* Random programs in ring 3: some branches, calls and system calls. */
#include "gen.h"

#include "lib/ring3.h"

#define STRING(x)  STRING2(x)
#define STRING2(x) #x

USER_TEXT static uint64_t user_leaf(uint64_t v)
{
	return v & 4 ? v * 3 : v ^ v >> 5;
}

USER_TEXT static uint64_t user_part(uint64_t v)
{
	uint64_t i, turns = v % 5;

	for (i = 0; i < turns; i++) {
		v = user_leaf(v + i);
		if (v % 3 == 0)
			v += user_syscall(v, i);
		else if (v % 3 == 1)
			__asm__ volatile("int $" STRING(PROGRAM_VEC_USER) : "+a"(v) : : "memory");
	}
	return v;
}

/* ring3_call() preserves only RAX of the registers that calls may change. */
static uint64_t visit_ring3(uint64_t v)
{
	return ring3_call(user_part, v);
}

/* R14 determines the work in ring 3; the result is in RAX and in memory. */
void gen_ring3(struct gen *g)
{
	hole no_fuel;

	if (!g->program->user) {
		gen_arithmetic(g);
		return;
	}
	no_fuel = gen_fuel(g, 6);
	emit_push(&g->c, RCX);
	/* IF is clear afterwards. */
	emit1(&g->c, 0x9c); /* PUSHFQ */
	emit_mov(&g->c, RDI, R14);
	emit_shift(&g->c, 5, RDI, 48);
	emit_mov_imm64(&g->c, R12, (uintptr_t)visit_ring3);
	emit_branch_reg(&g->c, 2, R12);
	/* A call may change these registers; only RAX is defined. */
	emit_mov(&g->c, RDX, RAX);
	emit_mov(&g->c, R8, RAX);
	emit_mov(&g->c, R9, RAX);
	emit_mov(&g->c, R10, RAX);
	emit_mov(&g->c, R11, RAX);
	emit1(&g->c, 0x9d); /* POPFQ */
	emit_pop(&g->c, RCX);
	fill_here(no_fuel, &g->c);
}
