// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PTWRITE. The processor has it if the model does, whatever the guest's CPUID says of PT: a
 * host that traces a guest sees what that writes.
 */
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

enum vpt_done vpt_emulate_ptwrite(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e)
{
	bool done;

	if (!vpt_caps_has(&v->vm->caps, VPT_CAP_PTWRITE) || !insn->aux) {
		*e = vpt_fault_plain(VPT_VEC_UD);
		return VPT_DONE_FAULT;
	}
	done = vpt_operand_read(v, insn, insn->aux, &v->ptwrite, e);
	/* An engine that executes PTWRITE raises its faults, too. */
	if (v->engine->can & VPT_ENGINE_NEAR)
		return VPT_DONE_NATIVE;
	if (!done)
		return VPT_DONE_FAULT;
	v->regs->rflags &= ~VPT_FL_RF;
	vpt_vcpu_set_rip(v, v->regs->rip + insn->len);
	return VPT_DONE_RETIRED;
}

void vpt_ptwrite_tell(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t ip, uint64_t next)
{
	const struct vpt_event event = {
		.kind = VPT_EV_PTWRITE,
		.flags = insn->aux == 8 ? VPT_EVF_WIDE : 0,
		.from = ip,
		.to = next,
		.value = v->ptwrite,
	};

	vpt_tracer_event(&v->tracer, &event, v->cpl);
}
