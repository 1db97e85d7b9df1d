// SPDX-License-Identifier: GPL-2.0-or-later
/* VM exits and entries of a vCPU: when it leaves the guest, and when the guest resumes. */
#include "core/hv_exit.h"
#include "core/deliver.h"
#include "core/irq.h"

#include <stdlib.h>

/* The vector of the host's interrupts. The guest's interrupts do not use it. */
#define HOST_VECTOR 0xec

enum vpt_status vpt_hv_create(struct vpt_vcpu *v, const struct vpt_hv_setup *setup,
			      const char **why)
{
	struct vpt_hv_config config = setup->config;
	struct vpt_vcpu_hv *h = calloc(1, sizeof(*h));
	enum vpt_status status;
	size_t i;

	if (!h) {
		*why = NULL;
		return VPT_E_INVAL;
	}
	v->hv = h;
	config.tracer = &v->tracer;
	h->trap_cr3 = setup->trap_cr3;
	h->tsc = config.tsc;
	h->changes = setup->changes;
	status = vpt_hv_init(&h->hv, &config, why);
	for (i = 0; status == VPT_OK && i < setup->changes; i++) {
		h->change[i] = setup->change[i];
		status = vpt_hv_can(&h->hv, setup->change[i].usage, why);
	}
	return status;
}

void vpt_hv_destroy(struct vpt_vcpu *v)
{
	free(v->hv);
	v->hv = NULL;
}

static void failed(struct vpt_vcpu *v)
{
	vpt_vm_stop(v->vm, VPT_STOP_VMX, "%s", v->hv->hv.error);
}

uint64_t vpt_hv_where(const struct vpt_vcpu *v)
{
	return v->hv->hv.in_root ? vpt_hv_ip(&v->hv->hv) : v->regs->rip;
}

struct vpt_hv_exit vpt_hv_exit_here(const struct vpt_vcpu *v, enum vpt_hv_reason reason)
{
	return (struct vpt_hv_exit){
		.reason = reason,
		.ip = v->regs->rip,
		.cpl = v->cpl,
		.flags = v->pending & VPT_VCPU_ARRIVED ? VPT_ORACLE_ARRIVED : 0,
	};
}

void vpt_hv_leave(struct vpt_vcpu *v, const struct vpt_hv_exit *e)
{
	vpt_hv_exit(&v->hv->hv, e);
	if (v->hv->hv.error)
		failed(v);
}

bool vpt_hv_go(struct vpt_vcpu *v, bool inject)
{
	struct vpt_vcpu_hv *h = v->hv;

	h->ran = true;
	if (!h->hv.in_root)
		return true;
	v->pending |= VPT_VCPU_ARRIVED;
	if (vpt_hv_enter(&h->hv, v->regs->rip, inject))
		return true;
	failed(v);
	return false;
}

static bool nmi_is_next(const struct vpt_vcpu *v)
{
	return !(v->shadowed & VPT_VCPU_NMI_BLOCKED) && vpt_platform_nmi(&v->vm->platform);
}

void vpt_hv_look(struct vpt_vcpu *v)
{
	struct vpt_vcpu_hv *h = v->hv;
	bool pending = vpt_irq_pending(v);

	while (h->changed < h->changes && v->ev->retired >= h->change[h->changed].at &&
	       !v->vm->stop.kind)
		vpt_hv_change_usage(v, h->change[h->changed++].usage);
	if (pending && !h->pending && !h->hv.in_root) {
		bool nmi = nmi_is_next(v);
		struct vpt_hv_exit e =
			vpt_hv_exit_here(v, nmi ? VPT_EXIT_REASON_NMI : VPT_EXIT_REASON_INTERRUPT);

		e.vector = nmi ? VPT_VEC_NMI : HOST_VECTOR;
		vpt_hv_leave(v, &e);
	}
	h->pending = pending;
}

bool vpt_hv_interrupt(struct vpt_vcpu *v, enum vpt_event_source source)
{
	if (!v->hv->hv.in_root) {
		const struct vpt_hv_exit e = vpt_hv_exit_here(
			v, source == VPT_SOURCE_NMI ? VPT_EXIT_REASON_NMI_WINDOW
						    : VPT_EXIT_REASON_INTERRUPT_WINDOW);

		vpt_hv_leave(v, &e);
	}
	return vpt_hv_go(v, true);
}

bool vpt_hv_exception(struct vpt_vcpu *v, uint64_t rip)
{
	struct vpt_vcpu_hv *h = v->hv;

	if (h->noted) {
		h->noted = false;
		h->note.ip = rip;
		vpt_hv_leave(v, &h->note);
	}
	return vpt_hv_go(v, true);
}

void vpt_hv_begin(struct vpt_vcpu *v)
{
	struct vpt_vcpu_hv *h = v->hv;

	h->noted = false;
	h->cr3 = v->s.cr3;
	h->rflags = v->regs->rflags;
	h->note = vpt_hv_exit_here(v, VPT_EXIT_REASON_HLT);
}

void vpt_hv_exit_wrmsr(struct vpt_vcpu *v, const struct vpt_retired *insn)
{
	struct vpt_hv_exit e = vpt_hv_exit_here(v, VPT_EXIT_REASON_WRMSR);

	e.ip = insn->ip;
	vpt_hv_leave(v, &e);
}

bool vpt_hv_retired(struct vpt_vcpu *v, const struct vpt_insn *insn,
		    const struct vpt_retired *retired)
{
	struct vpt_vcpu_hv *h = v->hv;

	vpt_hv_scale_tsc(v, insn);
	vpt_hv_note_insn(v, insn);
	if (h->noted) {
		h->noted = false;
		h->note.ip = retired->ip;
		vpt_hv_leave(v, &h->note);
		if (h->note.reason == VPT_EXIT_REASON_CR)
			vpt_hv_insert_cr3(v, retired);
	}
	return h->hv.in_root;
}

void vpt_hv_step(struct vpt_vcpu *v)
{
	struct vpt_vcpu_hv *h = v->hv;
	uint64_t retired = v->retired;

	h->ran = false;
	vpt_vcpu_step(v);
	if (h->ran && v->retired == retired)
		h->still++;
	v->ev->retired = v->retired + h->still;
}

void vpt_hv_finish(struct vpt_vcpu *v)
{
	struct vpt_vcpu_hv *h = v->hv;

	if (!h->hv.in_root) {
		bool crashed = v->vm->stop.kind == VPT_STOP_TRIPLE_FAULT;
		struct vpt_hv_exit e = vpt_hv_exit_here(v, crashed ? VPT_EXIT_REASON_TRIPLE_FAULT
								   : VPT_EXIT_REASON_INTERRUPT);

		e.vector = crashed ? 0 : HOST_VECTOR;
		vpt_hv_exit(&h->hv, &e);
	}
	vpt_hv_over(&h->hv);
}
