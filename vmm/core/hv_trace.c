// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace of a vCPU with VM exits: its context, changes of the usage, insertion of MOV to CR3. */
#include "core/hv_exit.h"

void vpt_hv_adjust(const struct vpt_vcpu *v, struct vpt_context *ctx)
{
	const struct vpt_vcpu_hv *h = v->hv;

	if (h->hv.in_root) {
		vpt_hv_context(ctx);
		return;
	}
	ctx->tsc = vpt_tsc_guest(&h->tsc, ctx->tsc);
	if (h->before) {
		ctx->cr3 = h->cr3;
		ctx->intr_flag = h->rflags & VPT_FL_IF;
	}
}

void vpt_hv_change_usage(struct vpt_vcpu *v, enum vpt_usage usage)
{
	const struct vpt_hv_exit e = vpt_hv_exit_here(v, VPT_EXIT_REASON_TIMER);
	const char *why;

	/* The usage changes at the exit of the timer, and at no other. */
	if (!vpt_hv_go(v, false))
		return;
	vpt_hv_leave(v, &e);
	if (vpt_hv_switch(&v->hv->hv, usage, &why) != VPT_OK)
		vpt_vm_stop(v->vm, VPT_STOP_VMX, "usage %s: %s", vpt_usage_name(usage), why);
}

void vpt_hv_insert_cr3(struct vpt_vcpu *v, const struct vpt_retired *insn)
{
	const struct vpt_event event = {
		.kind = VPT_EV_CR3, .from = insn->ip, .to = insn->next, .next = insn->next};
	struct vpt_vcpu_hv *h = v->hv;
	bool begun;

	h->before = true;
	begun = vpt_hv_insert_begin(&h->hv, insn->ip);
	h->before = false;
	if (!begun)
		return;
	if (vpt_tracer_acts(&v->tracer)) {
		vpt_tracer_retired(&v->tracer, insn);
		vpt_tracer_event(&v->tracer, &event, insn->cpl);
	}
	vpt_hv_insert_end(&h->hv, insn->next, insn->cpl);
}
