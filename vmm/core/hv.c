// SPDX-License-Identifier: GPL-2.0-or-later
/* VM exits and entries of a vCPU: when it leaves the guest, and when the guest resumes. */
#include "core/hv_exit.h"
#include "core/deliver.h"
#include "core/irq.h"

#include <stdlib.h>

/* The vector of the host's interrupts. The guest's interrupts do not use it. */
#define HOST_VECTOR 0xec

enum vpt_status core_hv_create(struct core_vcpu *v, const struct core_hv_setup *setup,
			       const char **why)
{
	struct tracer_hv_config config = setup->config;
	struct core_vcpu_hv *h = calloc(1, sizeof(*h));
	enum vpt_status status;
	size_t i;

	if (!h) {
		*why = NULL;
		return VPT_E_INVAL;
	}
	v->hv = h;
	config.tracer = &v->tracer;
	core_put_bit(&h->state, CORE_HV_TRAP_CR3, setup->trap_cr3);
	h->tsc = config.tsc;
	h->changes = setup->changes;
	status = tracer_hv_init(&h->hv, &config, why);
	for (i = 0; status == VPT_OK && i < setup->changes; i++) {
		h->change[i] = setup->change[i];
		status = tracer_hv_can(&h->hv, setup->change[i].usage, why);
	}
	return status;
}

void core_hv_destroy(struct core_vcpu *v)
{
	free(v->hv);
	v->hv = NULL;
}

static void failed(struct core_vcpu *v)
{
	core_vm_stop(v->vm, TRACE_STOP_VMX, "%s", v->hv->hv.error);
}

uint64_t core_hv_where(const struct core_vcpu *v)
{
	return v->hv->hv.state & TRACER_HV_IN_ROOT ? tracer_hv_ip(&v->hv->hv) : v->regs->rip;
}

struct tracer_hv_exit core_hv_exit_here(const struct core_vcpu *v, enum tracer_hv_reason reason)
{
	return (struct tracer_hv_exit){
		.reason = reason,
		.ip = v->regs->rip,
		.cpl = v->cpl,
		.flags = v->pending & CORE_VCPU_ARRIVED ? TRACE_ORACLE_ARRIVED : 0,
	};
}

void core_hv_leave(struct core_vcpu *v, const struct tracer_hv_exit *e)
{
	tracer_hv_exit(&v->hv->hv, e);
	if (v->hv->hv.error)
		failed(v);
}

bool core_hv_go(struct core_vcpu *v, bool inject)
{
	struct core_vcpu_hv *h = v->hv;

	h->state |= CORE_HV_RAN;
	if (!(h->hv.state & TRACER_HV_IN_ROOT))
		return true;
	v->pending |= CORE_VCPU_ARRIVED;
	if (tracer_hv_enter(&h->hv, v->regs->rip, inject))
		return true;
	failed(v);
	return false;
}

static bool nmi_is_next(const struct core_vcpu *v)
{
	return !(v->shadowed & CORE_VCPU_NMI_BLOCKED) &&
	       dev_platform_nmi(&v->vm->platform, v->index);
}

void core_hv_poll(struct core_vcpu *v)
{
	struct core_vcpu_hv *h = v->hv;
	bool pending = core_irq_pending(v);

	while (h->changed < h->changes && v->ev->retired >= h->change[h->changed].at &&
	       !v->vm->stop.kind)
		core_hv_change_usage(v, h->change[h->changed++].usage);
	if (pending && !(h->state & CORE_HV_PENDING) && !(h->hv.state & TRACER_HV_IN_ROOT)) {
		bool nmi = nmi_is_next(v);
		struct tracer_hv_exit e = core_hv_exit_here(v, nmi ? TRACER_EXIT_REASON_NMI
								   : TRACER_EXIT_REASON_INTERRUPT);

		e.vector = nmi ? X86_VEC_NMI : HOST_VECTOR;
		core_hv_leave(v, &e);
	}
	core_put_bit(&h->state, CORE_HV_PENDING, pending);
}

bool core_hv_interrupt(struct core_vcpu *v, enum core_event_source source)
{
	if (!(v->hv->hv.state & TRACER_HV_IN_ROOT)) {
		const struct tracer_hv_exit e = core_hv_exit_here(
			v, source == CORE_SOURCE_NMI ? TRACER_EXIT_REASON_NMI_WINDOW
						     : TRACER_EXIT_REASON_INTERRUPT_WINDOW);

		core_hv_leave(v, &e);
	}
	return core_hv_go(v, true);
}

bool core_hv_exception(struct core_vcpu *v, uint64_t rip)
{
	struct core_vcpu_hv *h = v->hv;

	if (h->state & CORE_HV_NOTED) {
		h->state &= ~CORE_HV_NOTED;
		h->note.ip = rip;
		core_hv_leave(v, &h->note);
	}
	return core_hv_go(v, true);
}

void core_hv_begin(struct core_vcpu *v)
{
	struct core_vcpu_hv *h = v->hv;

	h->state &= ~CORE_HV_NOTED;
	h->cr3 = v->s.cr3;
	h->rflags = v->regs->rflags;
	h->note = core_hv_exit_here(v, TRACER_EXIT_REASON_HLT);
}

void core_hv_exit_wrmsr(struct core_vcpu *v, const struct engine_report *r)
{
	struct tracer_hv_exit e = core_hv_exit_here(v, TRACER_EXIT_REASON_WRMSR);

	e.ip = r->event.from;
	core_hv_leave(v, &e);
}

bool core_hv_retired(struct core_vcpu *v, const struct core_insn *insn,
		     const struct engine_report *r)
{
	struct core_vcpu_hv *h = v->hv;

	core_hv_scale_tsc(v, insn);
	core_hv_note_insn(v, insn);
	if (h->state & CORE_HV_NOTED) {
		h->state &= ~CORE_HV_NOTED;
		h->note.ip = r->event.from;
		core_hv_leave(v, &h->note);
		if (h->note.reason == TRACER_EXIT_REASON_CR)
			core_hv_insert_cr3(v, r);
	}
	return h->hv.state & TRACER_HV_IN_ROOT;
}

void core_hv_step(struct core_vcpu *v)
{
	struct core_vcpu_hv *h = v->hv;
	uint64_t retired = v->retired;

	h->state &= ~CORE_HV_RAN;
	core_vcpu_step(v);
	if (h->state & CORE_HV_RAN && v->retired == retired)
		h->still++;
	v->ev->retired = v->retired + h->still;
}

void core_hv_finish(struct core_vcpu *v)
{
	struct core_vcpu_hv *h = v->hv;

	if (!(h->hv.state & TRACER_HV_IN_ROOT)) {
		bool crashed = v->vm->stop.kind == TRACE_STOP_TRIPLE_FAULT;
		struct tracer_hv_exit e =
			core_hv_exit_here(v, crashed ? TRACER_EXIT_REASON_TRIPLE_FAULT
						     : TRACER_EXIT_REASON_INTERRUPT);

		e.vector = crashed ? 0 : HOST_VECTOR;
		tracer_hv_exit(&h->hv, &e);
	}
	tracer_hv_over(&h->hv);
}
