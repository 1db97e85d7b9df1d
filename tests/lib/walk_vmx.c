// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VMX operation of walks. The context of the side that is left is saved. The address at which that
 * side resumes is chosen anew.
 */
#include "lib/walk_inside.h"

uint64_t walk_traced_ctl(const struct walker *w)
{
	return w->config->ctl | walk_output_ctl(w) | VPT_CTL_MASK(TRACE_EN);
}

bool walk_is_traced_side(const struct walker *w)
{
	return w->config->vmx <= WALK_SYSTEM || w->guest == (w->config->vmx != WALK_HOST);
}

static struct vpt_vmx_transition transition(struct walker *w)
{
	struct vpt_vmx_transition t = {
		.controls = w->config->conceal,
		.vmcs = 0x5000,
		.ip = WALK_CODE_BASE + w->ip,
		.next = WALK_CODE_BASE + w->ip + w->insns[w->ip].size,
		.guest_ctl = w->guest_ctl,
	};

	if (w->config->vmx == WALK_GUEST)
		t.controls |= VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL;
	return t;
}

static void area(struct walker *w, uint64_t ctl)
{
	MUST(vpt_pt_wrmsr(&w->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, 0, 0) == VPT_FAULT_NONE);
}

static void retrace(struct walker *w, bool on)
{
	if (w->config->vmx == WALK_SYSTEM || w->tracing == on)
		return;
	w->tracing = on;
	w->gap = true;
	w->context = false;
	w->filter = !walk_filters(w);
}

static void swap_sides(struct walker *w)
{
	struct vpt_context ctx = w->ctx;

	w->ctx = w->other;
	w->other = ctx;
}

static void enter_host(struct walker *w)
{
	uint32_t to = walk_start(w);

	vpt_pt_vm_exit_host(&w->pt);
	if (w->config->vmx == WALK_GUEST_AREAS)
		area(w, 0);
	else if (w->config->vmx == WALK_HOST)
		area(w, walk_traced_ctl(w));
	w->ctx.cpl = 0;
	vpt_pt_vm_exited(&w->pt, WALK_CODE_BASE + to);
	retrace(w, w->config->vmx == WALK_HOST);
	walk_go(w, to, true);
}

static void vm_enter(struct walker *w)
{
	struct vpt_vmx_transition entry = transition(w);
	uint32_t next = w->ip + w->insns[w->ip].size, to = walk_start(w);

	walk_account(w, WALK_INSN);
	if (!walk_rnd(w, 8)) {
		vpt_pt_vm_entry_failed(&w->pt, WALK_CODE_BASE + next);
		walk_go(w, next, false);
		return;
	}
	w->out->entries++;
	vpt_pt_vm_entry(&w->pt, &entry);
	if (w->config->vmx == WALK_GUEST_AREAS)
		area(w, w->guest_ctl);
	else if (w->config->vmx == WALK_HOST)
		area(w, 0);
	if (!walk_rnd(w, 8)) {
		entry.flags = VPT_VMXF_ENTRY_FAIL;
		vpt_pt_vm_exit(&w->pt, &entry);
		enter_host(w);
		return;
	}
	swap_sides(w);
	w->guest = true;
	vpt_pt_vm_entered(&w->pt, WALK_CODE_BASE + to);
	retrace(w, w->config->vmx != WALK_HOST && w->guest_ctl & VPT_CTL_MASK(TRACE_EN));
	walk_go(w, to, true);
}

void walk_vm_exit(struct walker *w)
{
	struct vpt_vmx_transition exit = transition(w);

	walk_account(w, WALK_EVENT);
	w->out->exits++;
	w->guest_ctl = vpt_pt_vm_exit(&w->pt, &exit);
	MUST((w->guest_ctl & VPT_CTL_MASK(TRACE_EN)) == w->tracing);
	swap_sides(w);
	w->guest = false;
	enter_host(w);
}

void walk_vmx_insn(struct walker *w, enum insn_kind kind)
{
	if (w->guest) {
		walk_vm_exit(w);
	} else if (kind == I_CPUID) {
		walk_account(w, WALK_INSN);
		walk_fall_through(w);
	} else if (w->ctx.cpl || kind == I_VMCALL) {
		walk_event(w, VPT_EV_ASYNC);
	} else if (kind == I_VMENTER) {
		vm_enter(w);
	} else {
		walk_account(w, WALK_INSN);
		vpt_pt_vmptrld(&w->pt, 0x5000);
		walk_go(w, w->ip + w->insns[w->ip].size, false);
	}
}
