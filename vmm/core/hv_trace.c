// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace of a vCPU with VM exits: its context, changes of the usage, insertion of MOV to CR3. */
#include "core/hv_exit.h"

void core_hv_adjust(const struct core_vcpu *v, struct vpt_context *ctx)
{
	const struct core_vcpu_hv *h = v->hv;

	if (h->hv.state & TRACER_HV_IN_ROOT) {
		tracer_hv_context(ctx);
		return;
	}
	ctx->tsc = vpt_tsc_guest(&h->tsc, ctx->tsc);
	if (h->state & CORE_HV_BEFORE) {
		ctx->cr3 = h->cr3;
		ctx->intr_flag = h->rflags & X86_FL_IF;
	}
}

void core_hv_change_usage(struct core_vcpu *v, enum vpt_usage usage)
{
	const struct tracer_hv_exit e = core_hv_exit_here(v, TRACER_EXIT_REASON_TIMER);
	const char *why;

	/* Every change of the usage has its own exit of the preemption timer. */
	if (!core_hv_go(v, false))
		return;
	core_hv_leave(v, &e);
	if (tracer_hv_switch(&v->hv->hv, usage, &why) != VPT_OK)
		core_vm_stop(v->vm, TRACE_STOP_VMX, "usage %s: %s", vpt_usage_name(usage), why);
}

void core_hv_insert_cr3(struct core_vcpu *v, const struct engine_report *r)
{
	struct engine_report write = *r;
	struct core_vcpu_hv *h = v->hv;
	bool begun;

	write.event.kind = VPT_EV_CR3;
	h->state |= CORE_HV_BEFORE;
	begun = tracer_hv_insert_begin(&h->hv, r->event.from);
	h->state &= ~CORE_HV_BEFORE;
	if (!begun)
		return;
	if (tracer_acts(&v->tracer))
		tracer_report(&v->tracer, &write);
	tracer_hv_insert_end(&h->hv, r->next, r->cpl);
}
