// SPDX-License-Identifier: GPL-2.0-or-later
/* VM entries and exits of a vCPU, as PT sees them; and root operation between them. */
#include "pt/hv_system.h"

#include <string.h>

#include "trace/crc32c.h"
#include "vpt/insert.h"
#include "vpt/vmx_list.h"
#include "vpt/vmx_pt.h"

#define STATUS_WRITABLE \
	(VPT_STATUS_MASK(PACKET_BYTE_CNT) | VPT_STATUS_MASK(STOPPED) | VPT_STATUS_MASK(ERROR))

static struct vpt_pt *pt_of(struct vpt_hv *hv)
{
	return &hv->config.tracer->pt;
}

uint64_t vpt_hv_ip(const struct vpt_hv *hv)
{
	return vpt_root_ip(&hv->root);
}

void vpt_hv_context(struct vpt_context *ctx)
{
	ctx->cr3 = VPT_ROOT_CR3;
	ctx->cs_base = 0;
	ctx->cpl = 0;
	ctx->cs_l = ctx->lma = ctx->paging = true;
	ctx->cs_d = ctx->pae = ctx->intr_flag = ctx->in_tx = false;
}

/* Does the host's trace run in root operation? */
static bool traces_root(enum vpt_usage usage)
{
	return usage == VPT_USAGE_SYSTEM || usage == VPT_USAGE_HOST;
}

/* What is in the registers in root operation. */
static struct vpt_rtit root_registers(const struct vpt_hv *hv, enum vpt_usage usage)
{
	struct vpt_rtit rtit;

	vpt_rtit_reset(&rtit);
	if (usage == VPT_USAGE_OWNED)
		rtit = hv->own;
	else if (usage != VPT_USAGE_OFF)
		rtit = hv->config.trace;
	if (!traces_root(usage))
		rtit.ctl = 0;
	return rtit;
}

static enum vpt_status make_plan(const struct vpt_hv *hv, enum vpt_usage usage,
				 struct vpt_usage_plan *plan, const char **why)
{
	const struct vpt_rtit host = root_registers(hv, usage);
	const struct vpt_usage_want want = {
		.usage = usage,
		.conceal = usage == VPT_USAGE_OFF ? 0 : hv->config.conceal,
		.host = &host,
		.guest = usage == VPT_USAGE_OWNED ? &hv->own : &hv->config.trace,
	};

	return vpt_usage_make_plan(&want, &hv->config.tracer->caps, hv->config.allowed, plan, why);
}

static void use_plan(struct vpt_hv *hv)
{
	hv->vmx = (struct vpt_vmx){
		.controls = hv->plan.controls,
		.ept = true,
		.guest_ctl = hv->plan.guest_ctl,
	};
}

void vpt_hv_queue(struct vpt_hv *hv, uint32_t msr, uint64_t value)
{
	if (hv->msrs == VPT_HV_MSRS) {
		hv->error = "too many MSRs to write";
		return;
	}
	hv->msr[hv->msrs++] = (struct vpt_msr_entry){.index = msr, .value = value};
}

/* Those registers besides CTL that differ. */
static void queue_registers(struct vpt_hv *hv, const struct vpt_rtit *is, const struct vpt_rtit *to)
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
			vpt_hv_queue(hv, msr, new);
	}
}

/* The live registers, STATUS and the output's cursor brought up to date. */
static struct vpt_rtit live(struct vpt_hv *hv)
{
	uint64_t unused;

	(void)!vpt_pt_rdmsr(pt_of(hv), VPT_MSR_STATUS, &unused);
	return pt_of(hv)->rtit;
}

static void queue_switch(struct vpt_hv *hv, enum vpt_usage usage)
{
	const struct vpt_rtit is = live(hv), to = root_registers(hv, usage);

	if (VPT_CTL_GET(is.ctl, TRACE_EN))
		vpt_hv_queue(hv, VPT_MSR_CTL, 0);
	queue_registers(hv, &is, &to);
	if (to.ctl)
		vpt_hv_queue(hv, VPT_MSR_CTL, to.ctl);
}

static enum vpt_status can(const struct vpt_hv *hv, enum vpt_usage usage, const char **why)
{
	struct vpt_usage_plan unused;

	return make_plan(hv, usage, &unused, why);
}

static enum vpt_status change(struct vpt_hv *hv, enum vpt_usage usage, const char **why)
{
	struct vpt_usage_plan plan;
	enum vpt_status status;

	if (hv->usage == VPT_USAGE_OWNED) {
		uint64_t ctl = hv->own.ctl;

		hv->own = live(hv);
		hv->own.ctl = ctl;
	}
	status = make_plan(hv, usage, &plan, why);
	if (status != VPT_OK)
		return status;
	queue_switch(hv, usage);
	hv->usage = usage;
	hv->plan = plan;
	use_plan(hv);
	return VPT_OK;
}

/* An area and the PT that it is for. */
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

static void run_area(struct vpt_hv *hv, enum vpt_msr_area kind, const struct vpt_usage_list *list)
{
	static const struct vpt_msr_ops ops = {.fetch = area_fetch, .wrmsr = area_wrmsr};
	struct area area = {list, pt_of(hv)};

	if (vpt_msr_area_run(kind, list->count, &ops, &area))
		hv->error = kind == VPT_AREA_ENTRY_LOAD
				    ? "VM entry fails: an element of its MSR area is refused"
				    : "VMX abort: an element of a VM exit's MSR area is refused";
}

static const char *check(struct vpt_hv *hv)
{
	const struct vpt_caps *caps = &hv->config.tracer->caps;
	enum vpt_vmx_check result =
		vpt_vmx_check_controls(&hv->vmx, caps, hv->config.allowed, pt_of(hv)->rtit.ctl);

	if (result == VPT_VMX_OK)
		result = vpt_vmx_check_guest(&hv->vmx, caps);
	return result == VPT_VMX_OK ? NULL : vpt_vmx_check_text(result);
}

static void entry_failed(struct vpt_hv *hv, uint64_t next)
{
	vpt_pt_vm_entry_failed(pt_of(hv), next);
}

static void transition_in(struct vpt_hv *hv, const struct vpt_root_insn *insn, uint64_t guest_ip)
{
	const struct vpt_vmx_transition entry = {
		.controls = hv->vmx.controls,
		.vmcs = VPT_HV_VMCS,
		.ip = insn->ip,
		.next = insn->next,
		.guest_ctl = hv->vmx.guest_ctl,
	};
	struct vpt_tracer *t = hv->config.tracer;

	vpt_pt_vm_entry(&t->pt, &entry);
	run_area(hv, VPT_AREA_ENTRY_LOAD, &hv->plan.entry_load);
	vpt_tracer_settle(t, guest_ip);
	hv->in_root = false;
	vpt_pt_vm_entered(&t->pt, guest_ip);
	vpt_tracer_settle(t, guest_ip);
	vpt_tracer_space(t);
}

static void transition_out(struct vpt_hv *hv, const struct vpt_hv_exit *e, uint64_t host_ip)
{
	const struct vpt_vmx_transition exit = {
		.flags = e->vector ? VPT_VMXF_INTR : 0,
		.controls = hv->vmx.controls,
		.vmcs = VPT_HV_VMCS,
		.ip = e->ip,
		.reason = e->reason,
		.qualification = e->qualification,
		.vector = e->vector,
	};
	struct vpt_tracer *t = hv->config.tracer;
	uint64_t ctl = vpt_pt_vm_exit(&t->pt, &exit);

	if (hv->vmx.controls & VPT_VMX_ENTRY_LOAD_CTL)
		hv->vmx.guest_ctl = ctl;
	vpt_pt_vm_exit_host(&t->pt);
	run_area(hv, VPT_AREA_EXIT_LOAD, &hv->plan.exit_load);
	vpt_tracer_settle(t, host_ip);
	hv->in_root = true;
	vpt_pt_vm_exited(&t->pt, host_ip);
	vpt_tracer_settle(t, host_ip);
	vpt_tracer_space(t);
}

static bool is_live(const struct vpt_hv *hv)
{
	return hv->usage == VPT_USAGE_OWNED;
}

/* The guest's registers as it sees them. */
static struct vpt_rtit guest_registers(struct vpt_hv *hv)
{
	struct vpt_rtit rtit = is_live(hv) ? live(hv) : hv->own;

	if (hv->in_root || !is_live(hv))
		rtit.ctl = hv->own.ctl;
	return rtit;
}

/* Is the guest's trace in memory, so that it can be gone on with there? */
static bool in_memory(const struct vpt_hv *hv)
{
	return hv->usage == VPT_USAGE_OWNED;
}

static bool begin_in_memory(struct vpt_hv *hv, uint64_t ip)
{
	struct vpt_tracer *t = hv->config.tracer;
	struct vpt_rtit guest = guest_registers(hv);

	/* It asks for the guest's context. */
	hv->in_root = false;
	vpt_unit_act(t, &hv->insertion);
	if (vpt_insert_begin(&hv->insertion, &guest, &t->caps, vpt_tracer_ops(), t,
			     hv->vmx.controls, VPT_HV_VMCS, ip))
		return true;
	vpt_unit_act(t, &t->pt);
	hv->in_root = true;
	return false;
}

static bool insert_begin(struct vpt_hv *hv, uint64_t ip)
{
	const struct vpt_root_insn nowhere = {.kind = VPT_ROOT_ENTRY};
	struct vpt_tracer *t = hv->config.tracer;

	if (traces_root(hv->usage) || hv->usage == VPT_USAGE_OFF)
		return false;
	if (in_memory(hv)) {
		if (!begin_in_memory(hv, ip))
			return false;
		vpt_tracer_settle(t, ip);
		return true;
	}
	/* A stream is not gone on with from outside: a short stay in the guest. */
	transition_in(hv, &nowhere, ip);
	return true;
}

static void end_in_memory(struct vpt_hv *hv, uint64_t next)
{
	struct vpt_tracer *t = hv->config.tracer;
	struct vpt_rtit is = live(hv), guest;

	vpt_insert_end(&hv->insertion, next, &guest);
	vpt_tracer_settle(t, next);
	vpt_unit_act(t, &t->pt);
	hv->in_root = true;
	queue_registers(hv, &is, &guest);
}

static void insert_end(struct vpt_hv *hv, uint64_t next, const struct vpt_hv_exit *e)
{
	if (in_memory(hv))
		end_in_memory(hv, next);
	else
		transition_out(hv, e, vpt_root_ip(&hv->root));
}

static void end(struct vpt_hv *hv)
{
	if (VPT_CTL_GET(pt_of(hv)->rtit.ctl, TRACE_EN))
		vpt_hv_queue(hv, VPT_MSR_CTL, 0);
}

static const struct vpt_hv_ops pt_ops = {
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

enum vpt_status vpt_hv_can(const struct vpt_hv *hv, enum vpt_usage usage, const char **why)
{
	return hv->ops->can(hv, usage, why);
}

enum vpt_status vpt_hv_switch(struct vpt_hv *hv, enum vpt_usage usage, const char **why)
{
	return hv->ops->change(hv, usage, why);
}

enum vpt_status vpt_hv_init(struct vpt_hv *hv, const struct vpt_hv_config *config, const char **why)
{
	memset(hv, 0, sizeof(*hv));
	hv->config = *config;
	hv->ops = config->tracer->config.system == VPT_SYSTEM_RTIT ? &vpt_hv_atom : &pt_ops;
	hv->in_root = true;
	vpt_rtit_reset(&hv->own);
	vpt_root_init(&hv->root);
	return vpt_hv_switch(hv, config->usage, why);
}

static bool checks_pass(struct vpt_hv *hv)
{
	hv->error = hv->ops->check(hv);
	if (!hv->error && hv->written != hv->msrs)
		hv->error = "root operation did not write all MSRs";
	return !hv->error;
}

static void note_vmcs(struct vpt_hv *hv)
{
	struct vpt_tracer *t = hv->config.tracer;
	struct vpt_vmcs vmcs = {
		.vmcs = VPT_HV_VMCS,
		.tsc_offset = hv->config.tsc.offset,
		.tsc_multiplier = hv->config.tsc.multiplier,
	};

	if (t->config.writer && !t->error)
		t->error = vpt_writer_vmcs(t->config.writer, t->config.vcpu, &vmcs);
}

static uint8_t event_kind(enum vpt_root_kind kind)
{
	switch (kind) {
	case VPT_ROOT_JMP:
		return VPT_EV_JMP;
	case VPT_ROOT_JMP_INDIRECT:
		return VPT_EV_JMP_INDIRECT;
	case VPT_ROOT_CALL:
		return VPT_EV_CALL;
	case VPT_ROOT_CALL_INDIRECT:
		return VPT_EV_CALL_INDIRECT;
	case VPT_ROOT_RET:
		return VPT_EV_RET;
	default:
		return VPT_EV_COUNT;
	}
}

static void report_branch(struct vpt_tracer *t, const struct vpt_root_insn *insn)
{
	const struct vpt_event event = {
		.kind = event_kind(insn->kind),
		.from = insn->ip,
		.to = insn->to,
		.next = insn->next,
	};

	if (insn->kind == VPT_ROOT_COND)
		vpt_tracer_cond(t, insn->ip, insn->to, insn->next, insn->taken);
	else if (event.kind != VPT_EV_COUNT)
		vpt_tracer_event(t, &event, 0);
}

static void write_msr(struct vpt_hv *hv, const struct vpt_retired *insn)
{
	const struct vpt_msr_entry *msr = &hv->msr[hv->written++];

	if (vpt_tracer_root_wrmsr(hv->config.tracer, msr->index, msr->value, insn) !=
	    VPT_FAULT_NONE)
		hv->error = "root operation's WRMSR raises #GP";
}

static void do_vmx(struct vpt_hv *hv, const struct vpt_root_insn *insn)
{
	struct vpt_tracer *t = hv->config.tracer;

	switch (insn->kind) {
	case VPT_ROOT_VMXON:
		vpt_pt_vmxon(&t->pt, insn->next);
		break;
	case VPT_ROOT_VMCLEAR:
		vpt_pt_vmptrld(&t->pt, VPT_NO_VMCS);
		break;
	case VPT_ROOT_VMPTRLD:
		note_vmcs(hv);
		vpt_pt_vmptrld(&t->pt, VPT_HV_VMCS);
		break;
	case VPT_ROOT_VMXOFF:
		vpt_pt_vmxoff(&t->pt);
		break;
	default:
		return;
	}
	vpt_tracer_settle(t, insn->next);
}

static uint16_t flags_of(const struct vpt_hv *hv, const struct vpt_root_insn *insn)
{
	uint16_t flags = hv->arrived ? VPT_ORACLE_ARRIVED : 0;

	if (insn->kind == VPT_ROOT_COND)
		flags |= VPT_ORACLE_COND;
	if (insn->kind == VPT_ROOT_ENTRY && hv->entering)
		flags |= VPT_ORACLE_VM_ENTRY;
	return flags;
}

/* One instruction in root operation. */
static void step(struct vpt_hv *hv, struct vpt_root_insn *insn)
{
	struct vpt_tracer *t = hv->config.tracer;
	struct vpt_retired r;

	hv->input.msrs = hv->msrs - hv->written;
	vpt_root_step(&hv->root, &hv->input, insn);
	if (insn->kind == VPT_ROOT_ENTRY)
		hv->entering = checks_pass(hv);
	r = (struct vpt_retired){
		.ip = insn->ip, .next = insn->next, .to = insn->to, .flags = flags_of(hv, insn)};
	hv->arrived = insn->to != insn->next;
	if (vpt_tracer_on(t))
		vpt_tracer_host_code(t, insn->ip, (unsigned int)(insn->next - insn->ip),
				     VPT_ROOT_GPA, hv->root.page);
	if (insn->kind == VPT_ROOT_WRMSR) {
		write_msr(hv, &r);
		return;
	}
	if (vpt_tracer_on(t))
		vpt_tracer_retired(t, &r);
	report_branch(t, insn);
	do_vmx(hv, insn);
}

bool vpt_hv_enter(struct vpt_hv *hv, uint64_t guest_ip, bool inject)
{
	struct vpt_root_insn insn;

	hv->input.inject = inject;
	do {
		step(hv, &insn);
		if (insn.kind == VPT_ROOT_HLT)
			hv->error = "root operation got lost";
	} while (!hv->error && insn.kind != VPT_ROOT_ENTRY);
	hv->msrs = hv->written = 0;
	if (hv->error) {
		if (insn.kind == VPT_ROOT_ENTRY)
			hv->ops->failed(hv, insn.next);
		return false;
	}
	hv->launched = true;
	hv->ops->enter(hv, &insn, guest_ip);
	return !hv->error;
}

static void count(struct vpt_hv *hv, const struct vpt_hv_exit *e)
{
	const uint64_t what[3] = {e->reason, e->qualification, e->ip};

	hv->exits[e->reason % VPT_EXIT_REASONS]++;
	hv->digest = vpt_crc32c(hv->digest, what, sizeof(what));
}

void vpt_hv_exit(struct vpt_hv *hv, const struct vpt_hv_exit *e)
{
	vpt_tracer_vm_exit(hv->config.tracer, e->ip, e->cpl, e->flags);
	hv->ops->leave(hv, e, vpt_root_exit(&hv->root));
	hv->arrived = true;
	hv->input = (struct vpt_root_input){.reason = e->reason, .count = e->count};
	count(hv, e);
}

void vpt_hv_over(struct vpt_hv *hv)
{
	struct vpt_root_insn insn;

	if (hv->error || !hv->launched)
		return;
	hv->input.over = true;
	hv->msrs = hv->written = 0;
	hv->ops->end(hv);
	do
		step(hv, &insn);
	while (insn.kind != VPT_ROOT_HLT);
}

enum vpt_fault vpt_hv_rdmsr(struct vpt_hv *hv, uint32_t msr, uint64_t *value)
{
	struct vpt_rtit rtit;

	if (!hv->config.guest_caps)
		return VPT_FAULT_GP;
	rtit = guest_registers(hv);
	return vpt_rtit_read(&rtit, hv->config.guest_caps, msr, value);
}

/* OWNED: CTL goes to the VMCS or the areas, the others to the processor. */
static enum vpt_fault write_live(struct vpt_hv *hv, uint32_t msr, const struct vpt_rtit *to)
{
	const struct vpt_rtit is = live(hv);
	const char *why;

	if (msr != VPT_MSR_CTL) {
		queue_registers(hv, &is, to);
		return VPT_FAULT_NONE;
	}
	hv->own.ctl = to->ctl;
	if (make_plan(hv, hv->usage, &hv->plan, &why) != VPT_OK)
		hv->error = why;
	use_plan(hv);
	return VPT_FAULT_NONE;
}

enum vpt_fault vpt_hv_wrmsr(struct vpt_hv *hv, uint32_t msr, uint64_t value)
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
	hv->own = rtit;
	return VPT_FAULT_NONE;
}

bool vpt_hv_passes(const struct vpt_hv *hv)
{
	return hv->ops == &vpt_hv_atom && is_live(hv);
}

bool vpt_hv_insert_begin(struct vpt_hv *hv, uint64_t ip)
{
	return hv->ops->insert_begin && hv->ops->insert_begin(hv, ip);
}

void vpt_hv_insert_end(struct vpt_hv *hv, uint64_t next, uint8_t cpl)
{
	const struct vpt_hv_exit e = {
		.reason = VPT_EXIT_REASON_CR,
		.ip = next,
		.cpl = cpl,
	};

	vpt_tracer_vm_exit(hv->config.tracer, next, cpl, 0);
	hv->ops->insert_end(hv, next, &e);
}
