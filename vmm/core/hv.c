// SPDX-License-Identifier: GPL-2.0-or-later
/* What a vCPU does as VM exits and entries. */
#include "core/hv.h"
#include "core/deliver.h"
#include "core/irq.h"

#include <stdlib.h>

/* Vectors of the host's own, which the guest's are not. */
#define HOST_VECTOR 0xec

/* Bits of exit qualifications (SDM vol. 3, tables 28-3, 28-5 and 28-7). */
#define QUAL_IO_IN	       (1ull << 3)
#define QUAL_EPT_READ	       (1ull << 0)
#define QUAL_EPT_WRITE	       (1ull << 1)
#define QUAL_CR3_MOV_FROM(reg) (3ull | (uint64_t)(reg) << 8)

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

uint64_t vpt_hv_where(const struct vpt_vcpu *v)
{
	return v->hv->hv.in_root ? vpt_hv_ip(&v->hv->hv) : v->regs->rip;
}

/* Where an exit leaves the guest: between two instructions. */
static struct vpt_hv_exit exit_here(const struct vpt_vcpu *v, enum vpt_hv_reason reason)
{
	return (struct vpt_hv_exit){
		.reason = reason,
		.ip = v->regs->rip,
		.cpl = v->cpl,
		.flags = v->pending & VPT_VCPU_ARRIVED ? VPT_ORACLE_ARRIVED : 0,
	};
}

static void leave(struct vpt_vcpu *v, const struct vpt_hv_exit *e)
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

static void change_usage(struct vpt_vcpu *v, enum vpt_usage usage)
{
	const struct vpt_hv_exit e = exit_here(v, VPT_EXIT_REASON_TIMER);
	const char *why;

	/* It is the timer's exit that this is done at, and no other. */
	if (!vpt_hv_go(v, false))
		return;
	leave(v, &e);
	if (vpt_hv_switch(&v->hv->hv, usage, &why) != VPT_OK)
		vpt_vm_stop(v->vm, VPT_STOP_VMX, "usage %s: %s", vpt_usage_name(usage), why);
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
		change_usage(v, h->change[h->changed++].usage);
	if (pending && !h->pending && !h->hv.in_root) {
		bool nmi = nmi_is_next(v);
		struct vpt_hv_exit e =
			exit_here(v, nmi ? VPT_EXIT_REASON_NMI : VPT_EXIT_REASON_INTERRUPT);

		e.vector = nmi ? VPT_VEC_NMI : HOST_VECTOR;
		leave(v, &e);
	}
	h->pending = pending;
}

bool vpt_hv_interrupt(struct vpt_vcpu *v, enum vpt_event_source source)
{
	if (!v->hv->hv.in_root) {
		const struct vpt_hv_exit e =
			exit_here(v, source == VPT_SOURCE_NMI ? VPT_EXIT_REASON_NMI_WINDOW
							      : VPT_EXIT_REASON_INTERRUPT_WINDOW);

		leave(v, &e);
	}
	return vpt_hv_go(v, true);
}

bool vpt_hv_exception(struct vpt_vcpu *v, uint64_t rip)
{
	struct vpt_vcpu_hv *h = v->hv;

	if (h->noted) {
		h->noted = false;
		h->note.ip = rip;
		leave(v, &h->note);
	}
	return vpt_hv_go(v, true);
}

void vpt_hv_begin(struct vpt_vcpu *v)
{
	struct vpt_vcpu_hv *h = v->hv;

	h->noted = false;
	h->cr3 = v->s.cr3;
	h->rflags = v->regs->rflags;
	h->note = exit_here(v, VPT_EXIT_REASON_HLT);
}

/* The first thing that an instruction does is what it exits for. */
static void note(struct vpt_vcpu *v, enum vpt_hv_reason reason, uint64_t qualification,
		 uint32_t count)
{
	struct vpt_vcpu_hv *h = v->hv;

	if (h->noted)
		return;
	h->noted = true;
	h->note.reason = reason;
	h->note.qualification = qualification;
	h->note.count = count;
}

void vpt_hv_note_io(struct vpt_vcpu *v, uint16_t port, uint8_t size, bool in, uint32_t count)
{
	note(v, VPT_EXIT_REASON_IO, (size - 1u) | (in ? QUAL_IO_IN : 0) | (uint64_t)port << 16,
	     size * count);
}

void vpt_hv_note_mmio(struct vpt_vcpu *v, uint32_t len, bool write)
{
	note(v, VPT_EXIT_REASON_EPT, write ? QUAL_EPT_WRITE : QUAL_EPT_READ, len);
}

void vpt_hv_note_rdmsr(struct vpt_vcpu *v)
{
	note(v, VPT_EXIT_REASON_RDMSR, 0, 0);
}

void vpt_hv_exit_wrmsr(struct vpt_vcpu *v, const struct vpt_retired *insn)
{
	struct vpt_hv_exit e = exit_here(v, VPT_EXIT_REASON_WRMSR);

	e.ip = insn->ip;
	leave(v, &e);
}

/* Its opcode, behind prefixes: up to three bytes. */
static uint32_t opcode_of(const struct vpt_insn *insn)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0x2e,
					   0x36, 0x3e, 0x26, 0x64, 0x65};
	unsigned int i, skip = 0;
	uint64_t bytes;

	for (; skip + 2 < insn->len && skip < 5; skip++) {
		uint8_t byte = (uint8_t)(insn->low >> (8 * skip));
		bool rex = insn->bits == 64 && (byte & 0xf0) == 0x40;

		for (i = 0; i < sizeof(prefixes) && prefixes[i] != byte; i++)
			;
		if (i == sizeof(prefixes) && !rex)
			break;
	}
	bytes = insn->low >> (8 * skip);
	return (uint32_t)bytes & (insn->len - skip >= 3 ? 0xffffff : 0xffff);
}

#define OP_INVD	  0x080fu
#define OP_XSETBV 0xd1010fu

/* Instructions that always exit. */
static void note_by_kind(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	switch (insn->cls) {
	case VPT_INSN_CPUID:
		note(v, VPT_EXIT_REASON_CPUID, 0, 0);
		break;
	case VPT_INSN_HLT:
		note(v, VPT_EXIT_REASON_HLT, 0, 0);
		break;
	case VPT_INSN_MOV_CR3:
		if (v->hv->trap_cr3)
			note(v, VPT_EXIT_REASON_CR,
			     QUAL_CR3_MOV_FROM(insn->low >> (8 * (insn->len - 1u)) & 7), 0);
		break;
	case VPT_INSN_PLAIN:
		if (opcode_of(insn) == OP_INVD)
			note(v, VPT_EXIT_REASON_INVD, 0, 0);
		else if (opcode_of(insn) == OP_XSETBV)
			note(v, VPT_EXIT_REASON_XSETBV, 0, 0);
		break;
	default:
		break;
	}
}

/* TSC offsetting and scaling: the processor does it, without an exit. */
static void scale_tsc(struct vpt_vcpu *v, const struct vpt_insn *insn)
{
	bool reads = insn->cls == VPT_INSN_RDTSC;
	uint64_t tsc;

	if (insn->cls == VPT_INSN_RDMSR && (uint32_t)v->regs->rcx == VPT_MSR_TSC)
		reads = true;
	if (!reads || (!v->hv->tsc.offset && v->hv->tsc.multiplier == VPT_TSC_ONE))
		return;
	tsc = vpt_tsc_guest(&v->hv->tsc, (uint32_t)v->regs->rax | v->regs->rdx << 32);
	v->regs->rax = (uint32_t)tsc;
	v->regs->rdx = tsc >> 32;
	v->ev->regs_dirty = true;
}

/* The guest's trace, if it rests by now, gets what MOV CR3 would have sent. */
static void insert_cr3(struct vpt_vcpu *v, const struct vpt_retired *insn)
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

bool vpt_hv_retired(struct vpt_vcpu *v, const struct vpt_insn *insn,
		    const struct vpt_retired *retired)
{
	struct vpt_vcpu_hv *h = v->hv;

	scale_tsc(v, insn);
	note_by_kind(v, insn);
	if (h->noted) {
		h->noted = false;
		h->note.ip = retired->ip;
		leave(v, &h->note);
		if (h->note.reason == VPT_EXIT_REASON_CR)
			insert_cr3(v, retired);
	}
	return h->hv.in_root;
}

uint64_t vpt_hv_deadline(struct vpt_vcpu *v, uint64_t guest)
{
	uint64_t first, last, tries;

	v->hv->deadline = guest;
	/* Where a multiplier above one leaves a gap, the next one that there is. */
	for (tries = 0; guest && tries < 1 << 16; tries++)
		if (vpt_tsc_host(&v->hv->tsc, guest + tries, &first, &last) == VPT_OK)
			return first;
	return guest ? UINT64_MAX : 0;
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
		struct vpt_hv_exit e = exit_here(v, crashed ? VPT_EXIT_REASON_TRIPLE_FAULT
							    : VPT_EXIT_REASON_INTERRUPT);

		e.vector = crashed ? 0 : HOST_VECTOR;
		vpt_hv_exit(&h->hv, &e);
	}
	vpt_hv_over(&h->hv);
}
