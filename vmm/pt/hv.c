// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The emulation of a hypervisor with VMX: VM exits, root operation until the next VM entry, and the
 * MSRs that root code writes. The effects on a trace are in hv_pt.c and hv_atom.c.
 */
#include "pt/hv_system.h"

#include <string.h>

#include "trace/crc32c.h"

uint64_t tracer_hv_ip(const struct tracer_hv *hv)
{
	return tracer_root_ip(&hv->root);
}

void tracer_hv_context(struct vpt_context *ctx)
{
	ctx->cr3 = TRACER_ROOT_CR3;
	ctx->cs_base = 0;
	ctx->cpl = 0;
	ctx->cs_l = ctx->lma = ctx->paging = true;
	ctx->cs_d = ctx->pae = ctx->intr_flag = ctx->in_tx = false;
}

void tracer_hv_queue(struct tracer_hv *hv, uint32_t msr, uint64_t value)
{
	if (hv->msrs == TRACER_HV_MSRS) {
		hv->error = "too many MSRs to write";
		return;
	}
	hv->msr[hv->msrs++] = (struct vpt_msr_entry){.index = msr, .value = value};
}

enum vpt_status tracer_hv_can(const struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	return hv->ops->can(hv, usage, why);
}

enum vpt_status tracer_hv_switch(struct tracer_hv *hv, enum vpt_usage usage, const char **why)
{
	return hv->ops->change(hv, usage, why);
}

enum vpt_status tracer_hv_init(struct tracer_hv *hv, const struct tracer_hv_config *config,
			       const char **why)
{
	memset(hv, 0, sizeof(*hv));
	hv->config = *config;
	hv->ops = config->tracer->config.system == TRACER_SYSTEM_ATOM ? &tracer_hv_atom
								      : &tracer_hv_pt;
	hv->state |= TRACER_HV_IN_ROOT;
	vpt_rtit_reset(&hv->pt.own);
	tracer_root_init(&hv->root);
	return tracer_hv_switch(hv, config->usage, why);
}

static void put(struct tracer_hv *hv, uint32_t bit, bool on)
{
	hv->state = on ? hv->state | bit : hv->state & ~bit;
}

static bool checks_pass(struct tracer_hv *hv)
{
	hv->error = hv->ops->check(hv);
	if (!hv->error && hv->written != hv->msrs)
		hv->error = "root operation did not write all MSRs";
	return !hv->error;
}

static uint8_t event_kind(enum tracer_root_kind kind)
{
	switch (kind) {
	case TRACER_ROOT_COND:
		return VPT_EV_COND;
	case TRACER_ROOT_JMP:
		return VPT_EV_JMP;
	case TRACER_ROOT_JMP_INDIRECT:
		return VPT_EV_JMP_INDIRECT;
	case TRACER_ROOT_CALL:
		return VPT_EV_CALL;
	case TRACER_ROOT_CALL_INDIRECT:
		return VPT_EV_CALL_INDIRECT;
	case TRACER_ROOT_RET:
		return VPT_EV_RET;
	default:
		return VPT_EV_COUNT;
	}
}

static void write_msr(struct tracer_hv *hv, struct engine_report *r)
{
	const struct vpt_msr_entry *msr = &hv->msr[hv->written++];

	if (tracer_root_wrmsr(hv->config.tracer, msr->index, msr->value, r) != VPT_FAULT_NONE)
		hv->error = "root operation's WRMSR raises #GP";
}

static uint16_t flags_of(const struct tracer_hv *hv, const struct tracer_root_insn *insn)
{
	uint16_t flags = hv->state & TRACER_HV_ARRIVED ? TRACE_ORACLE_ARRIVED : 0;

	if (insn->kind == TRACER_ROOT_COND)
		flags |= TRACE_ORACLE_COND;
	if (insn->kind == TRACER_ROOT_ENTRY && hv->state & TRACER_HV_ENTERING)
		flags |= TRACE_ORACLE_VM_ENTRY;
	return flags;
}

static struct engine_report report_of(const struct tracer_hv *hv,
				      const struct tracer_root_insn *insn)
{
	return (struct engine_report){
		.event =
			{
				.kind = event_kind(insn->kind),
				.flags = insn->kind == TRACER_ROOT_COND && insn->taken
						 ? VPT_EVF_TAKEN
						 : 0,
				.from = insn->ip,
				.to = insn->to,
				.next = insn->next,
			},
		.next = insn->next,
		.insns = 1,
		.about = flags_of(hv, insn),
		.flags = ENGINE_REPORT_INSN,
	};
}

/* Execute one instruction in root operation. */
static void step(struct tracer_hv *hv, struct tracer_root_insn *insn)
{
	struct tracer *t = hv->config.tracer;
	struct engine_report r;

	hv->input.msrs = hv->msrs - hv->written;
	tracer_root_step(&hv->root, &hv->input, insn);
	if (insn->kind == TRACER_ROOT_ENTRY)
		put(hv, TRACER_HV_ENTERING, checks_pass(hv));
	r = report_of(hv, insn);
	put(hv, TRACER_HV_ARRIVED, insn->to != insn->next);
	if (tracer_on(t))
		tracer_host_code(t, insn->ip, (unsigned int)(insn->next - insn->ip),
				 TRACER_ROOT_GPA, hv->root.page);
	if (insn->kind == TRACER_ROOT_WRMSR)
		write_msr(hv, &r);
	tracer_report(t, &r);
	tracer_hv_vmx_insn(hv, insn);
}

bool tracer_hv_enter(struct tracer_hv *hv, uint64_t guest_ip, bool inject)
{
	struct tracer_root_insn insn;

	hv->input.flags = inject ? hv->input.flags | TRACER_ROOT_INJECT
				 : hv->input.flags & ~TRACER_ROOT_INJECT;
	do {
		step(hv, &insn);
		if (insn.kind == TRACER_ROOT_HLT)
			hv->error = "root operation got lost";
	} while (!hv->error && insn.kind != TRACER_ROOT_ENTRY);
	hv->msrs = hv->written = 0;
	if (hv->error) {
		if (insn.kind == TRACER_ROOT_ENTRY)
			hv->ops->failed(hv, insn.next);
		return false;
	}
	hv->state |= TRACER_HV_LAUNCHED;
	hv->ops->enter(hv, &insn, guest_ip);
	return !hv->error;
}

static void count(struct tracer_hv *hv, const struct tracer_hv_exit *e)
{
	const uint64_t what[3] = {e->reason, e->qualification, e->ip};

	hv->exits[e->reason % TRACER_EXIT_REASONS]++;
	hv->digest = trace_crc32c(hv->digest, what, sizeof(what));
}

void tracer_hv_exit(struct tracer_hv *hv, const struct tracer_hv_exit *e)
{
	tracer_vm_exit(hv->config.tracer, e->ip, e->cpl, e->flags);
	hv->ops->leave(hv, e, tracer_root_exit(&hv->root));
	hv->state |= TRACER_HV_ARRIVED;
	hv->input = (struct tracer_root_input){.reason = e->reason, .count = e->count};
	count(hv, e);
}

void tracer_hv_over(struct tracer_hv *hv)
{
	struct tracer_root_insn insn;

	if (hv->error || !(hv->state & TRACER_HV_LAUNCHED))
		return;
	hv->input.flags |= TRACER_ROOT_OVER;
	hv->msrs = hv->written = 0;
	hv->ops->end(hv);
	do
		step(hv, &insn);
	while (insn.kind != TRACER_ROOT_HLT);
}

bool tracer_hv_passes(const struct tracer_hv *hv)
{
	return hv->ops->passes && hv->ops->passes(hv);
}

bool tracer_hv_insert_begin(struct tracer_hv *hv, uint64_t ip)
{
	return hv->ops->insert_begin && hv->ops->insert_begin(hv, ip);
}

void tracer_hv_insert_end(struct tracer_hv *hv, uint64_t next, uint8_t cpl)
{
	const struct tracer_hv_exit e = {
		.reason = TRACER_EXIT_REASON_CR,
		.ip = next,
		.cpl = cpl,
	};

	tracer_vm_exit(hv->config.tracer, next, cpl, 0);
	hv->ops->insert_end(hv, next, &e);
}
