// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile the exits of a unit: code out of line that stores what the guest has in registers. */
#include "soft/compile/compiler.h"

struct soft_exit *soft_exit_add(struct soft_compiler *g, const void *fn, const void *rsi)
{
	struct soft_exit *exit = &g->exit[g->exits++];

	*exit = (struct soft_exit){.fn = fn, .rsi = (uint64_t)(uintptr_t)rsi, .held = g->held};
	return exit;
}

void soft_leave_if(struct soft_compiler *g, unsigned int cc, const struct soft_uop *u)
{
	struct soft_exit *exit = soft_exit_add(g, (const void *)(uintptr_t)u->plain, u);

	exit->from[0] = e_jump(&g->e, cc);
}

static void give_back(struct soft_emit *e, const struct soft_exit *exit)
{
	if (exit->taken < 0) {
		e_rm(e, SOFT_SIZE64, 0x01, H_R11, H_RDI, SOFT_AT(left)); /* add */
	} else if (exit->taken) {
		e_rm(e, SOFT_SIZE64, 0x81, 0, H_RDI, SOFT_AT(left));
		e32(e, (uint32_t)exit->taken);
	}
}

void soft_exits_emit(struct soft_compiler *g)
{
	struct soft_emit *e = &g->e;
	unsigned int i, k;

	for (i = 0; i < g->exits; i++) {
		const struct soft_exit *exit = &g->exit[i];

		if (exit->spent)
			e_aim(e, exit->spent), give_back(e, exit);
		for (k = 0; k < SOFT_JUMPS && exit->from[k]; k++)
			e_aim(e, exit->from[k]);
		soft_hold_store(e, &exit->held, ~0u);
		soft_hold_store_tnt(e, &exit->held);
		soft_flags_emit(e, &exit->held.flags);
		e_const(e, H_RSI, exit->rsi);
		e_const(e, H_RDX, exit->rdx);
		soft_emit_jump(g, exit->fn);
	}
}
