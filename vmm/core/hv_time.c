// SPDX-License-Identifier: GPL-2.0-or-later
/* Time of a guest with VM exits: TSC offsetting and scaling. */
#include "core/hv_exit.h"

void core_hv_scale_tsc(struct core_vcpu *v, const struct core_insn *insn)
{
	bool reads = insn->cls == CORE_INSN_RDTSC;
	uint64_t tsc;

	if (insn->cls == CORE_INSN_RDMSR && (uint32_t)v->regs->rcx == X86_MSR_TSC)
		reads = true;
	if (!reads || (!v->hv->tsc.offset && v->hv->tsc.multiplier == VPT_TSC_ONE))
		return;
	tsc = vpt_tsc_guest(&v->hv->tsc, (uint32_t)v->regs->rax | v->regs->rdx << 32);
	v->regs->rax = (uint32_t)tsc;
	v->regs->rdx = tsc >> 32;
	v->ev->state |= ENGINE_REGS_DIRTY;
}

uint64_t core_hv_deadline(struct core_vcpu *v, uint64_t guest)
{
	uint64_t first, last, tries;

	v->hv->deadline = guest;
	/* A multiplier above one skips values. Take the next value that the guest sees. */
	for (tries = 0; guest && tries < 1 << 16; tries++)
		if (vpt_tsc_host(&v->hv->tsc, guest + tries, &first, &last) == VPT_OK)
			return first;
	return guest ? UINT64_MAX : 0;
}
