// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Breakpoints on execution, and what DR6 says of a #DB (SDM vol. 3, 18.2 and 18.3).
 * Other engines than those that observe have hardware for it, but for what the core does
 * in their place.
 */
#include "core/debug.h"
#include "core/vcpu.h"

#define DR6_TRAPS   0xfull
#define DR7_ENABLES 0xffull
#define DR7_GD	    (1ull << 13)

static uint64_t dr(struct core_vcpu *v, unsigned int n)
{
	uint64_t value;

	return v->engine->get_dr && !v->engine->get_dr(v->ev, n, &value) ? value : 0;
}

/* Enabled, globally or locally, and R/W and LEN are those of an instruction. */
static bool on_execution(uint64_t dr7, unsigned int n)
{
	return dr7 >> (2 * n) & 3 && !(dr7 >> (16 + 4 * n) & 15);
}

bool core_debug_armed(struct core_vcpu *v)
{
	uint64_t dr7;
	unsigned int n;

	if (v->regs->rflags & (X86_FL_TF | X86_FL_RF) || v->debug_pending)
		return true;
	dr7 = dr(v, 7);
	for (n = 0; n < 4; n++)
		if (on_execution(dr7, n))
			return true;
	return dr7 & DR7_GD;
}

bool core_debug_set(struct core_vcpu *v)
{
	return dr(v, 7) & DR7_ENABLES;
}

uint64_t core_debug_breakpoints(struct core_vcpu *v, uint64_t address)
{
	uint64_t dr7, hit = 0;
	unsigned int n;

	/* MOV SS and POP SS hold them back for one instruction. */
	if (v->regs->rflags & X86_FL_RF || v->shadowed & CORE_VCPU_AFTER_SS)
		return 0;
	dr7 = dr(v, 7);
	for (n = 0; n < 4; n++)
		if (on_execution(dr7, n) && dr(v, n) == address)
			hit |= 1ull << n;
	return hit;
}

bool core_debug_guarded(struct core_vcpu *v)
{
	return dr(v, 7) & DR7_GD;
}

void core_debug_report(struct core_vcpu *v, uint64_t causes)
{
	uint64_t dr7 = dr(v, 7);

	/* Only what hit is cleared by a new exception; the rest accumulates. */
	(void)v->engine->set_dr(v->ev, 6, (dr(v, 6) & ~DR6_TRAPS) | causes);
	if (dr7 & DR7_GD)
		(void)v->engine->set_dr(v->ev, 7, dr7 & ~DR7_GD);
}
