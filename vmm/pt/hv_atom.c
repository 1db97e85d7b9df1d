// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RTIT across VM entries and exits (2.6.2). It is off in root operation, and no field of a VMCS
 * controls it. So a host that traces its guest sets RTIT up once, and a guest that owns RTIT uses
 * the processor's. [ATOM-VMX]
 */
#include "pt/hv_system.h"

static const char *wrong(const struct tracer_hv *hv, enum vpt_usage usage)
{
	bool host = hv->config.tracer->config.owner == TRACE_OWNER_HOST;

	switch (usage) {
	case VPT_USAGE_OFF:
		return NULL;
	case VPT_USAGE_GUEST:
		return host ? NULL : "RTIT is the guest's or the host's, not both in turn";
	case VPT_USAGE_OWNED:
		return host ? "RTIT is the guest's or the host's, not both in turn" : NULL;
	default:
		return "RTIT never traces root operation";
	}
}

static enum vpt_status can(const struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	*why = wrong(hv, usage);
	return *why ? VPT_E_CAPS : VPT_OK;
}

static void queue_trace(struct tracer_hv *hv)
{
	const struct vpt_atom_regs *r = &hv->config.atom;
	const uint64_t on = r->ctl | VPT_ATOM_MASK(CTL, TRACE_EN);
	uint32_t i;

	for (i = 0; i < 2 * VPT_ATOM_RANGES; i++)
		tracer_hv_queue(hv, VPT_ATOM_MSR_LIP0 + i, r->lip[i]);
	tracer_hv_queue(hv, VPT_ATOM_MSR_EVENTS, r->events);
	tracer_hv_queue(hv, VPT_ATOM_MSR_CR3_MATCH, r->cr3_match);
	tracer_hv_queue(hv, VPT_ATOM_MSR_PKT_CNT, r->pkt_cnt);
	tracer_hv_queue(hv, VPT_ATOM_MSR_STATUS, r->status);
	tracer_hv_queue(hv, VPT_ATOM_MSR_CTL, on);
	tracer_hv_queue(hv, VPT_ATOM_MSR_CTL, on | VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
}

static void end(struct tracer_hv *hv)
{
	const struct vpt_atom *a = &hv->config.tracer->atom;

	if (a->trigger_en)
		tracer_hv_queue(hv, VPT_ATOM_MSR_CTL,
				a->regs.ctl & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
}

static enum vpt_status change(struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	struct vpt_atom *a = &hv->config.tracer->atom;
	enum vpt_status status = can(hv, usage, why);
	uint64_t unused;

	if (status != VPT_OK)
		return status;
	/* All root code runs after VMXON. */
	a->in_root = true;
	if (usage == VPT_USAGE_GUEST) {
		(void)!vpt_atom_rdmsr(a, VPT_ATOM_MSR_CTL, &unused);
		queue_trace(hv);
	} else if (usage == VPT_USAGE_OFF) {
		end(hv);
	}
	hv->usage = usage;
	return VPT_OK;
}

static const char *check(struct tracer_hv *hv)
{
	(void)hv;
	return NULL;
}

static void failed(struct tracer_hv *hv, uint64_t next)
{
	(void)hv;
	(void)next;
}

/* Enter the guest. PT is idle, but keeps the current VMCS (spaces.h). */
static void enter(struct tracer_hv *hv, const struct tracer_root_insn *insn, uint64_t guest_ip)
{
	struct tracer *t = hv->config.tracer;

	(void)insn;
	hv->state &= ~TRACER_HV_IN_ROOT;
	t->pt.vmx.non_root = true;
	vpt_atom_vm_entry(&t->atom, guest_ip);
	tracer_complete(t, guest_ip);
	tracer_space(t);
}

static void leave(struct tracer_hv *hv, const struct tracer_hv_exit *e, uint64_t host_ip)
{
	struct tracer *t = hv->config.tracer;

	vpt_atom_vm_exit(&t->atom, e->ip);
	hv->state |= TRACER_HV_IN_ROOT;
	t->pt.vmx.non_root = false;
	tracer_complete(t, host_ip);
	tracer_space(t);
}

static bool passes(const struct tracer_hv *hv)
{
	return hv->usage == VPT_USAGE_OWNED;
}

const struct tracer_hv_ops tracer_hv_atom = {
	.can = can,
	.change = change,
	.check = check,
	.failed = failed,
	.enter = enter,
	.leave = leave,
	.end = end,
	.passes = passes,
};
