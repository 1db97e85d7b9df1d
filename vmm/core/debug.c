// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Breakpoints on execution, and DR6 after a #DB (SDM vol. 3, 18.2 and 18.3). While KVM runs the
 * guest freely, the processor checks its own debug registers. The core checks the instructions that
 * it emulates or steps.
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

/* Returns true if breakpoint @n is enabled and its R/W and LEN bits select execution. */
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

	/* MOV SS and POP SS suppress breakpoints for one instruction. */
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

	/* A new exception clears only B0 to B3. The other bits accumulate. */
	(void)v->engine->set_dr(v->ev, 6, (dr(v, 6) & ~DR6_TRAPS) | causes);
	if (dr7 & DR7_GD)
		(void)v->engine->set_dr(v->ev, 7, dr7 & ~DR7_GD);
}
