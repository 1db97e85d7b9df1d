// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PT across VM entries and exits (33.5). This file has the controls and MSR areas of a usage and
 * the registers that root operation writes. It also inserts packets into the guest's trace.
 */
#include "pt/hv_system.h"

#include "vpt/insert.h"
#include "vpt/vmx_list.h"
#include "vpt/vmx_pt.h"

#define STATUS_WRITABLE \
	(VPT_STATUS_MASK(PACKET_BYTE_CNT) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(ERROR))

static struct vpt_pt *pt_of(struct tracer_hv *hv)
{
	return &hv->config.tracer->pt;
}

/* Returns true if the host's trace runs in root operation. */
static bool traces_root(enum vpt_usage usage)
{
	return usage == VPT_USAGE_SYSTEM || usage == VPT_USAGE_HOST;
}

/* Returns the registers that root operation runs with under `usage`. */
static struct vpt_rtit root_registers(const struct tracer_hv *hv, enum vpt_usage usage)
{
	struct vpt_rtit rtit;

	vpt_rtit_reset(&rtit);
	if (usage == VPT_USAGE_OWNED)
		rtit = hv->pt.own;
	else if (usage != VPT_USAGE_OFF)
		rtit = hv->config.trace;
	if (!traces_root(usage))
		rtit.ctl = 0;
	return rtit;
}

static enum vpt_status make_plan(const struct tracer_hv *hv, enum vpt_usage usage,
				 struct vpt_usage_plan *plan, const char **why)
{
	const struct vpt_rtit host = root_registers(hv, usage);
	const struct vpt_usage_want want = {
		.usage = usage,
		.conceal = usage == VPT_USAGE_OFF ? 0 : hv->config.conceal,
		.host = &host,
		.guest = usage == VPT_USAGE_OWNED ? &hv->pt.own : &hv->config.trace,
	};

	return vpt_usage_make_plan(&want, &hv->config.tracer->caps, hv->config.allowed, plan, why);
}

static void use_plan(struct tracer_hv *hv)
{
	hv->pt.vmx = (struct vpt_vmx){
		.controls = hv->pt.plan.controls,
		.ept = true,
		.guest_ctl = hv->pt.plan.guest_ctl,
	};
}

/* Queue a write to each register that changes, except for CTL. */
static void queue_registers(struct tracer_hv *hv, const struct vpt_rtit *is,
			    const struct vpt_rtit *to)
{
	const struct vpt_caps *caps = &hv->config.tracer->caps;
	uint32_t msr;

	for (msr = VPT_MSR_FIRST; msr <= VPT_MSR_LAST; msr++) {
		uint64_t old, new;

		if (msr == VPT_MSR_CTL || vpt_rtit_read(is, caps, msr, &old) != VPT_FAULT_NONE ||
		    vpt_rtit_read(to, caps, msr, &new) != VPT_FAULT_NONE)
			continue;
		if (msr == VPT_MSR_STATUS) {
			old &= STATUS_WRITABLE;
			new &= STATUS_WRITABLE;
		}
		if (old != new)
			tracer_hv_queue(hv, msr, new);
	}
}

/* Return the live registers, with STATUS and the output position up to date. */
static struct vpt_rtit live(struct tracer_hv *hv)
{
	uint64_t unused;

	(void)!vpt_pt_rdmsr(pt_of(hv), VPT_MSR_STATUS, &unused);
	return pt_of(hv)->rtit;
}

static void queue_switch(struct tracer_hv *hv, enum vpt_usage usage)
{
	const struct vpt_rtit is = live(hv), to = root_registers(hv, usage);

	if (VPT_CTL_GET(is.ctl, TRACE_EN))
		tracer_hv_queue(hv, VPT_MSR_CTL, 0);
	queue_registers(hv, &is, &to);
	if (to.ctl)
		tracer_hv_queue(hv, VPT_MSR_CTL, to.ctl);
}

static enum vpt_status can(const struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	struct vpt_usage_plan unused;

	return make_plan(hv, usage, &unused, why);
}

static enum vpt_status change(struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	struct vpt_usage_plan plan;
	enum vpt_status status;

	if (hv->usage == VPT_USAGE_OWNED) {
		uint64_t ctl = hv->pt.own.ctl;

		hv->pt.own = live(hv);
		hv->pt.own.ctl = ctl;
	}
	status = make_plan(hv, usage, &plan, why);
	if (status != VPT_OK)
		return status;
	queue_switch(hv, usage);
	hv->usage = usage;
	hv->pt.plan = plan;
	use_plan(hv);
	return VPT_OK;
}

/* An MSR area and its PT. */
struct area {
	const struct vpt_usage_list *list;
	struct vpt_pt *pt;
};

static bool area_fetch(void *opaque, uint32_t i, struct vpt_msr_entry *entry)
{
	*entry = ((struct area *)opaque)->list->entry[i];
	return true;
}

static enum vpt_fault area_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	return vpt_pt_wrmsr(((struct area *)opaque)->pt, msr, value, VPT_ACCESS_GUEST, 0, 0);
}

static void run_area(struct tracer_hv *hv, enum vpt_msr_area kind,
		     const struct vpt_usage_list *list)
{
	static const struct vpt_msr_ops ops = {.fetch = area_fetch, .wrmsr = area_wrmsr};
	struct area area = {list, pt_of(hv)};

	if (vpt_msr_area_run(kind, list->count, &ops, &area))
		hv->error = kind == VPT_AREA_ENTRY_LOAD
				    ? "VM entry fails: an element of its MSR area is refused"
				    : "VMX abort: an element of a VM exit's MSR area is refused";
}

static const char *check(struct tracer_hv *hv)
{
	const struct vpt_caps *caps = &hv->config.tracer->caps;
	enum vpt_vmx_check result =
		vpt_vmx_check_controls(&hv->pt.vmx, caps, hv->config.allowed, pt_of(hv)->rtit.ctl);

	if (result == VPT_VMX_OK)
		result = vpt_vmx_check_guest(&hv->pt.vmx, caps);
	return result == VPT_VMX_OK ? NULL : vpt_vmx_check_text(result);
}

static void entry_failed(struct tracer_hv *hv, uint64_t next)
{
	vpt_pt_vm_entry_failed(pt_of(hv), next);
}

static void transition_in(struct tracer_hv *hv, const struct tracer_root_insn *insn,
			  uint64_t guest_ip)
{
	const struct vpt_vmx_transition entry = {
		.controls = hv->pt.vmx.controls,
		.vmcs = TRACER_HV_VMCS,
		.ip = insn->ip,
		.next = insn->next,
		.guest_ctl = hv->pt.vmx.guest_ctl,
	};
	struct tracer *t = hv->config.tracer;

	vpt_pt_vm_entry(&t->pt, &entry);
	run_area(hv, VPT_AREA_ENTRY_LOAD, &hv->pt.plan.entry_load);
	tracer_complete(t, guest_ip);
	hv->state &= ~TRACER_HV_IN_ROOT;
	vpt_pt_vm_entered(&t->pt, guest_ip);
	tracer_complete(t, guest_ip);
	tracer_space(t);
}

static void transition_out(struct tracer_hv *hv, const struct tracer_hv_exit *e, uint64_t host_ip)
{
	const struct vpt_vmx_transition exit = {
		.flags = e->vector ? VPT_VMXF_INTR : 0,
		.controls = hv->pt.vmx.controls,
		.vmcs = TRACER_HV_VMCS,
		.ip = e->ip,
		.reason = e->reason,
		.qualification = e->qualification,
		.vector = e->vector,
	};
	struct tracer *t = hv->config.tracer;
	uint64_t ctl = vpt_pt_vm_exit(&t->pt, &exit);

	if (hv->pt.vmx.controls & VPT_VMX_ENTRY_LOAD_CTL)
		hv->pt.vmx.guest_ctl = ctl;
	vpt_pt_vm_exit_host(&t->pt);
	run_area(hv, VPT_AREA_EXIT_LOAD, &hv->pt.plan.exit_load);
	tracer_complete(t, host_ip);
	hv->state |= TRACER_HV_IN_ROOT;
	vpt_pt_vm_exited(&t->pt, host_ip);
	tracer_complete(t, host_ip);
	tracer_space(t);
}

static bool is_live(const struct tracer_hv *hv)
{
	return hv->usage == VPT_USAGE_OWNED;
}

/* Return the guest's registers as the guest sees them. */
static struct vpt_rtit guest_registers(struct tracer_hv *hv)
{
	struct vpt_rtit rtit = is_live(hv) ? live(hv) : hv->pt.own;

	if (hv->state & TRACER_HV_IN_ROOT || !is_live(hv))
		rtit.ctl = hv->pt.own.ctl;
	return rtit;
}

/* Returns true if the guest's trace is in its memory, so that packets can be inserted there. */
static bool in_memory(const struct tracer_hv *hv)
{
	return hv->usage == VPT_USAGE_OWNED;
}

static bool begin_in_memory(struct tracer_hv *hv, uint64_t ip)
{
	struct tracer *t = hv->config.tracer;
	struct vpt_rtit guest = guest_registers(hv);

	/* vpt_insert_begin() asks for the guest's context. */
	hv->state &= ~TRACER_HV_IN_ROOT;
	tracer_unit_act(t, &hv->pt.insertion);
	if (vpt_insert_begin(&hv->pt.insertion, &guest, &t->caps, tracer_ops(), t,
			     hv->pt.vmx.controls, TRACER_HV_VMCS, ip))
		return true;
	tracer_unit_act(t, &t->pt);
	hv->state |= TRACER_HV_IN_ROOT;
	return false;
}

static bool insert_begin(struct tracer_hv *hv, uint64_t ip)
{
	const struct tracer_root_insn nowhere = {.kind = TRACER_ROOT_ENTRY};
	struct tracer *t = hv->config.tracer;

	if (traces_root(hv->usage) || hv->usage == VPT_USAGE_OFF)
		return false;
	if (in_memory(hv)) {
		if (!begin_in_memory(hv, ip))
			return false;
		tracer_complete(t, ip);
		return true;
	}
	/* Packets cannot be inserted into a stream. Enter the guest for this event alone. */
	transition_in(hv, &nowhere, ip);
	return true;
}

static void end_in_memory(struct tracer_hv *hv, uint64_t next)
{
	struct tracer *t = hv->config.tracer;
	struct vpt_rtit is = live(hv), guest;

	vpt_insert_end(&hv->pt.insertion, next, &guest);
	tracer_complete(t, next);
	tracer_unit_act(t, &t->pt);
	hv->state |= TRACER_HV_IN_ROOT;
	queue_registers(hv, &is, &guest);
}

static void insert_end(struct tracer_hv *hv, uint64_t next, const struct tracer_hv_exit *e)
{
	if (in_memory(hv))
		end_in_memory(hv, next);
	else
		transition_out(hv, e, tracer_root_ip(&hv->root));
}

static void end(struct tracer_hv *hv)
{
	if (VPT_CTL_GET(pt_of(hv)->rtit.ctl, TRACE_EN))
		tracer_hv_queue(hv, VPT_MSR_CTL, 0);
}

const struct tracer_hv_ops tracer_hv_pt = {
	.can = can,
	.change = change,
	.check = check,
	.failed = entry_failed,
	.enter = transition_in,
	.leave = transition_out,
	.end = end,
	.insert_begin = insert_begin,
	.insert_end = insert_end,
};

static void note_vmcs(struct tracer_hv *hv)
{
	struct trace_vmcs vmcs = {
		.vmcs = TRACER_HV_VMCS,
		.tsc_offset = hv->config.tsc.offset,
		.tsc_multiplier = hv->config.tsc.multiplier,
	};

	tracer_recorder_vmcs(&hv->config.tracer->recorder, &vmcs);
}

void tracer_hv_vmx_insn(struct tracer_hv *hv, const struct tracer_root_insn *insn)
{
	struct tracer *t = hv->config.tracer;

	switch (insn->kind) {
	case TRACER_ROOT_VMXON:
		vpt_pt_vmxon(&t->pt, insn->next);
		break;
	case TRACER_ROOT_VMCLEAR:
		vpt_pt_vmptrld(&t->pt, VPT_NO_VMCS);
		break;
	case TRACER_ROOT_VMPTRLD:
		note_vmcs(hv);
		vpt_pt_vmptrld(&t->pt, TRACER_HV_VMCS);
		break;
	case TRACER_ROOT_VMXOFF:
		vpt_pt_vmxoff(&t->pt);
		break;
	default:
		return;
	}
	tracer_complete(t, insn->next);
}

enum vpt_fault tracer_hv_rdmsr(struct tracer_hv *hv, uint32_t msr, uint64_t *value)
{
	struct vpt_rtit rtit;

	if (!hv->config.guest_caps)
		return VPT_FAULT_GP;
	rtit = guest_registers(hv);
	return vpt_rtit_read(&rtit, hv->config.guest_caps, msr, value);
}

/* OWNED: write CTL to the VMCS or the areas, and the other registers to the processor. */
static enum vpt_fault write_live(struct tracer_hv *hv, uint32_t msr, const struct vpt_rtit *to)
{
	const struct vpt_rtit is = live(hv);
	const char *why;

	if (msr != VPT_MSR_CTL) {
		queue_registers(hv, &is, to);
		return VPT_FAULT_NONE;
	}
	hv->pt.own.ctl = to->ctl;
	if (make_plan(hv, hv->usage, &hv->pt.plan, &why) != VPT_OK)
		hv->error = why;
	use_plan(hv);
	return VPT_FAULT_NONE;
}

enum vpt_fault tracer_hv_wrmsr(struct tracer_hv *hv, uint32_t msr, uint64_t value)
{
	struct vpt_rtit rtit;
	enum vpt_fault fault;

	if (!hv->config.guest_caps)
		return VPT_FAULT_GP;
	rtit = guest_registers(hv);
	fault = vpt_rtit_write(&rtit, hv->config.guest_caps, msr, value, VPT_ACCESS_GUEST);
	if (fault != VPT_FAULT_NONE)
		return fault;
	if (is_live(hv))
		return write_live(hv, msr, &rtit);
	hv->pt.own = rtit;
	return VPT_FAULT_NONE;
}
