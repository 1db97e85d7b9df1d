// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PTWRITE. The processor has PTWRITE if the model has it, even if the guest's CPUID does not report
 * PT. A host that traces the guest then sees the guest's PTWRITEs.
 */
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

enum core_done core_emulate_ptwrite(struct core_vcpu *v, const struct core_insn *insn,
				    struct engine_exception *e)
{
	bool done;

	if (!vpt_caps_has(&v->vm->caps, VPT_CAP_PTWRITE) || !insn->aux) {
		*e = core_fault_plain(X86_VEC_UD);
		return CORE_DONE_FAULT;
	}
	done = core_operand_read(v, insn, insn->aux, &v->ptwrite, e);
	/* An engine that executes PTWRITE also raises its faults. */
	if (v->engine->can & ENGINE_NEAR)
		return CORE_DONE_NATIVE;
	if (!done)
		return CORE_DONE_FAULT;
	v->regs->rflags &= ~X86_FL_RF;
	core_vcpu_set_rip(v, v->regs->rip + insn->len);
	return CORE_DONE_RETIRED;
}

void core_ptwrite_describe(const struct core_vcpu *v, const struct core_insn *insn,
			   struct vpt_event *event)
{
	event->kind = VPT_EV_PTWRITE;
	event->flags = insn->aux == 8 ? VPT_EVF_WIDE : 0;
	event->value = v->ptwrite;
}
