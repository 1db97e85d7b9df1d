// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * VMX transitions into packets (33.5, tables 33-52 to 33-54, 33-56 and 33-59).
 *
 * Between the calls of a transition only the registers of the trace unit change. Until the last
 * call PacketEn keeps its value of the side that is left, unless the trace ends. PacketEn therefore
 * tells whether a decoder expects the target of the transition.
 */
#include "vpt/vmx_pt.h"

#include "gen_control.h"

static uint64_t vmcs_pointer(uint64_t vmcs)
{
	return vmcs == VPT_NO_VMCS ? vmcs : vmcs & VPTI_VMCS_POINTER;
}

/* End a transition: set the state of VMX operation. */
static void finish(struct vpt_pt *pt, bool on, bool non_root, uint64_t vmcs, uint32_t controls)
{
	vpt_memset(&pt->vmx, 0, sizeof(pt->vmx));
	pt->vmx.on = on;
	pt->vmx.non_root = non_root;
	pt->vmx.vmcs = vmcs_pointer(vmcs);
	pt->vmx.controls = controls;
}

void vpt_pt_vmxon(struct vpt_pt *pt, uint64_t ip)
{
	/* [VMX-NO-PT] */
	if (!pt->caps->vmx_pt && VPT_CTL_GET(pt->rtit.ctl, TRACE_EN)) {
		vpti_gen_now(pt);
		vpti_gen_set_ctl(pt, pt->rtit.ctl & ~VPT_CTL_MASK(TRACE_EN), ip, ip);
	}
	finish(pt, true, false, VPT_NO_VMCS, 0);
}

void vpt_pt_vmxoff(struct vpt_pt *pt)
{
	finish(pt, false, false, VPT_NO_VMCS, 0);
}

void vpt_pt_vmptrld(struct vpt_pt *pt, uint64_t vmcs)
{
	if (!pt->vmx.on)
		return;
	pt->vmx.vmcs = vmcs_pointer(vmcs);
	vpti_gen_now(pt);
	/* [VMX-VMPTRLD] */
	if (vmcs != VPT_NO_VMCS && pt->trigger_en)
		vpti_gen_vmcs(pt);
}

void vpt_pt_vm_entry_failed(struct vpt_pt *pt, uint64_t next)
{
	vpti_gen_now(pt);
	/* [VMX-FAIL-EARLY] */
	if (pt->packet_en)
		vpti_gen_ip(pt, VPT_OP_TIP, next);
	vpti_gen_psb_if_due(pt, next);
}

/* The first call of a transition. `leaving`: its source is sent here. */
static void begin(struct vpt_pt *pt, const struct vpt_vmx_transition *t, bool leaving)
{
	if (!pt->vmx.on)
		vpt_pt_vmxon(pt, t->ip);
	vpti_gen_now(pt);
	pt->vmx.was_context = pt->trigger_en && pt->context_en;
	pt->vmx.moving = true;
	pt->vmx.leaving = leaving;
	pt->vmx.flags = t->flags;
	pt->vmx.controls = pt->caps->vmx_pt ? t->controls & VPT_VMX_CONTROLS : 0;
	pt->vmx.vmcs = vmcs_pointer(t->vmcs);
}

static bool returns_from_smm(const struct vpt_pt *pt)
{
	return pt->vmx.flags & VPT_VMXF_SMM && !(pt->vmx.controls & VPT_VMX_ENTRY_CONCEAL);
}

/*
 * [VMX-ENTRY-LOAD] What the checks refuse is not loaded. A TraceEn that rises waits for
 * vpt_pt_vm_entered().
 */
static void load_ctl(struct vpt_pt *pt, uint64_t ctl)
{
	struct vpt_rtit after = pt->rtit;

	if (vpt_rtit_write(&after, pt->caps, VPT_MSR_CTL, ctl, VPT_ACCESS_HOST) == VPT_FAULT_NONE)
		vpti_gen_set_ctl(pt, ctl, 0, 0);
}

void vpt_pt_vm_entry(struct vpt_pt *pt, const struct vpt_vmx_transition *entry)
{
	begin(pt, entry, false);
	pt->vmx.next = entry->next;
	/* [VMX-ENTRY-CONCEAL] */
	if (pt->vmx.was_context && vpti_gen_event_en(pt) &&
	    !(pt->vmx.controls & VPT_VMX_ENTRY_CONCEAL)) {
		if (returns_from_smm(pt)) /* [VMX-SMM-EVENT] */
			vpti_gen_cfe(pt, VPTI_CFE_RSM, 0, false);
		/* [VMX-ENTRY-EVENT] An entry has no FUP otherwise that could be shared. */
		vpti_gen_cfe_at(pt, VPTI_CFE_VMENTRY, 0, entry->ip);
	}
	if (pt->vmx.controls & VPT_VMX_ENTRY_LOAD_CTL)
		load_ctl(pt, entry->guest_ctl);
}

/*
 * [VMX-EXIT-EVENT] With BranchEn the exit has one FUP, which belongs to branch trace, and no CFE has
 * its IP bit set. Otherwise each CFE has a FUP of its own.
 */
static void exit_events(struct vpt_pt *pt, const struct vpt_vmx_transition *exit)
{
	const uint32_t smi = VPT_VMXF_SMM | VPT_VMXF_SMI;
	enum vpti_cfe_type type = VPTI_CFE_VMEXIT;
	bool own_fup = !pt->packet_en;
	uint8_t vector = 0;

	if (exit->flags & VPT_VMXF_INTR) {
		type = VPTI_CFE_VMEXIT_INTR;
		vector = exit->vector;
	}
	if ((exit->flags & smi) == smi) { /* [VMX-SMM-EVENT] */
		if (own_fup)
			vpti_gen_cfe_at(pt, VPTI_CFE_SMI, 0, exit->ip);
		else
			vpti_gen_cfe(pt, VPTI_CFE_SMI, 0, false);
	}
	vpti_gen_evd(pt, VPTI_EVD_VMXQ, exit->qualification);
	vpti_gen_evd(pt, VPTI_EVD_VMXR, exit->reason);
	if (own_fup)
		vpti_gen_cfe_at(pt, type, vector, exit->ip);
	else
		vpti_gen_cfe(pt, type, vector, false);
}

/* Returns true if an exit sends CFE and EVD, ContextEn permitting. */
static bool exit_is_event(const struct vpt_pt *pt)
{
	const uint32_t flags = pt->vmx.flags;

	/* [VMX-EXIT-CONCEAL VMX-FAIL-LATE] */
	if (pt->vmx.controls & VPT_VMX_EXIT_CONCEAL || flags & VPT_VMXF_ENTRY_FAIL)
		return false;
	/* [VMX-SMM-EVENT] A VMCALL that activates the monitor or calls it is none. */
	return !(flags & VPT_VMXF_SMM) || flags & VPT_VMXF_SMI;
}

uint64_t vpt_pt_vm_exit(struct vpt_pt *pt, const struct vpt_vmx_transition *exit)
{
	bool failed = exit->flags & VPT_VMXF_ENTRY_FAIL;

	begin(pt, exit, !failed);
	if (pt->vmx.was_context && vpti_gen_event_en(pt) && exit_is_event(pt))
		exit_events(pt, exit);
	/* [VMX-EXIT-SYSTEM VMX-FAIL-LATE] The binary shows where a failed entry was. */
	if (pt->packet_en && !failed)
		vpti_gen_ip(pt, VPT_OP_FUP, exit->ip);
	return pt->rtit.ctl;
}

void vpt_pt_vm_exit_host(struct vpt_pt *pt)
{
	/* [VMX-EXIT-CLEAR] */
	if (!(pt->vmx.controls & VPT_VMX_EXIT_CLEAR_CTL))
		return;
	vpti_gen_now(pt);
	vpti_gen_set_ctl(pt, 0, 0, 0);
}

/* The end of a transition, as its target sees it. */
struct arrival {
	uint64_t ip;
	bool conceal;
	bool nr;    /* of the PIP */
	bool event; /* ContextEn that rises makes it a CFE */
	enum vpti_cfe_type type;
};

/* [VMX-ENTRY-RISE VMX-EXIT-RISE] TraceEn was set on the way: the trace begins here. */
static void rise(struct vpt_pt *pt, uint64_t ip, bool rsm)
{
	struct vpt_context ctx;

	if (!vpti_gen_start(pt, &ctx))
		return;
	vpti_gen_describe(pt, &ctx, ip, true);
	/* [VMX-SMM-EVENT] */
	if (rsm && pt->context_en && vpti_gen_event_en(pt))
		vpti_gen_cfe(pt, VPTI_CFE_RSM, 0, false);
	vpti_gen_trace_from(pt, &ctx, ip);
}

static void enter(struct vpt_pt *pt, const struct vpt_pt_vmx *way, const struct arrival *to)
{
	bool rsm = to->type == VPTI_CFE_VMENTRY && way->flags & VPT_VMXF_SMM;
	struct vpt_context ctx;

	if (way->rising) {
		rise(pt, to->ip, rsm && !to->conceal);
		return;
	}
	vpti_gen_now(pt);
	if (!pt->trigger_en)
		return;
	pt->ops->context(pt->opaque, &ctx);
	vpti_gen_ip_form(pt, &ctx);
	vpti_gen_set_context(pt, &ctx);
	if (to->event && pt->context_en && !way->was_context && vpti_gen_event_en(pt)) {
		if (rsm)
			vpti_gen_cfe(pt, VPTI_CFE_RSM, 0, false);
		vpti_gen_cfe(pt, to->type, 0, false);
	}
	if (!to->conceal) {
		vpti_gen_pip_nr(pt, &ctx, to->nr);
		if (way->flags & VPT_VMXF_SMM) /* [VMX-SMM-VMCS] */
			vpti_gen_vmcs(pt);
	}
	vpti_gen_enter_target(pt, &ctx, to->ip, pt->packet_en);
}

/* [VMX-ENTRY-SYSTEM] */
void vpt_pt_vm_entered(struct vpt_pt *pt, uint64_t guest_ip)
{
	const struct vpt_pt_vmx way = pt->vmx;
	/* [VMX-SMM-ROOT] */
	bool non_root = !((way.flags & VPT_VMXF_SMM) && (way.flags & VPT_VMXF_TO_ROOT));
	struct arrival to;

	if (!way.on)
		return;
	vpt_memset(&to, 0, sizeof(to));
	to.ip = guest_ip;
	to.conceal = way.controls & VPT_VMX_ENTRY_CONCEAL;
	to.nr = non_root;
	to.event = !to.conceal;
	to.type = VPTI_CFE_VMENTRY;
	finish(pt, true, non_root, way.vmcs, non_root ? way.controls : 0);
	enter(pt, &way, &to);
	vpti_gen_psb_if_due(pt, guest_ip);
}

void vpt_pt_vm_exited(struct vpt_pt *pt, uint64_t host_ip)
{
	const struct vpt_pt_vmx way = pt->vmx;
	struct arrival to;

	if (!way.on)
		return;
	vpt_memset(&to, 0, sizeof(to));
	to.ip = host_ip;
	to.conceal = way.controls & VPT_VMX_EXIT_CONCEAL;
	/* [VMX-EXIT-EVENT] The vector that was the guest's stays there. */
	to.event = exit_is_event(pt) && !(way.flags & (VPT_VMXF_INTR | VPT_VMXF_SMI));
	to.type = VPTI_CFE_VMEXIT;
	finish(pt, true, false, way.vmcs, 0);
	enter(pt, &way, &to);
	vpti_gen_psb_if_due(pt, host_ip);
}

void vpt_pt_vmx_abort(struct vpt_pt *pt)
{
	/* [VMX-ABORT] */
	if (pt->vmx.rising)
		pt->rtit.ctl &= ~VPT_CTL_MASK(TRACE_EN);
	finish(pt, pt->vmx.on, false, pt->vmx.vmcs, 0);
	vpt_pt_flush(pt);
}
