// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks that Intel PT traces, and the account of the items that their traces must contain. */
#include "lib/walk_inside.h"

#include <string.h>

/* The callbacks of vpt_pt. */

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct walker *)opaque)->ctx;
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	*now = ((const struct walker *)opaque)->clock;
}

static void raise_pmi(void *opaque)
{
	((struct walker *)opaque)->out->pmis++;
}

static struct vpt_pt_ops make_ops(void)
{
	return (struct vpt_pt_ops){
		.mem = walk_mem,
		.context = context,
		.pmi = raise_pmi,
		.clock = report_time,
	};
}

/* The account applies the manual's rules a second time, in the order of execution. */

static bool in_range(const struct walker *w, unsigned int cfg, uint64_t ip)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++)
		if ((w->config->ctl >> (32 + 4 * n) & 15) == cfg && ip >= w->config->addr[2 * n] &&
		    ip <= w->config->addr[2 * n + 1])
			return true;
	return false;
}

bool walk_filters(const struct walker *w)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++)
		if ((w->config->ctl >> (32 + 4 * n) & 15) == 1)
			return true;
	return false;
}

static void inspect(struct walker *w, bool cr3_written)
{
	uint64_t ip = WALK_CODE_BASE + w->ip, ctl = w->config->ctl;
	bool context = !w->ctx.production_enclave && !!(ctl & (w->ctx.cpl ? 8 : 4)) &&
		       (!(ctl & 0x80) || w->config->cr3_match >> 12 == w->ctx.cr3 >> 12);

	if (!w->tracing || w->stopped)
		return;
	if (context && (w->arrived || cr3_written) && in_range(w, 2, ip)) {
		w->stopped = true;
		return;
	}
	if (context && (w->arrived || !w->context))
		w->filter = !walk_filters(w) || in_range(w, 1, ip);
	w->context = context;
}

/* Is the code at w->ip traced, apart from branches? */
static bool watched(const struct walker *w)
{
	return w->tracing && !w->stopped && w->context && w->filter;
}

/* Does the item have a TIP, unless the trace ends there or the RET is compressed? */
static bool leads_away(const struct walker *w, enum walk_kind kind)
{
	switch (w->insns[w->ip].kind) {
	case I_JMP_IND:
	case I_CALL_IND:
	case I_RET:
	case I_SYSCALL:
	case I_SYSRET:
	case I_IRET:
	case I_VMENTER:
		return true;
	default:
		return kind == WALK_EVENT;
	}
}

static void account(struct walker *w, enum walk_kind kind)
{
	struct walk_result *out = w->out;

	if (!watched(w) || !(w->config->ctl & VPT_CTL_MASK(BRANCH_EN))) {
		w->gap = true;
		return;
	}
	if (out->count == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 65536;
		out->items = realloc(out->items, w->capacity * sizeof(*out->items));
		MUST(out->items);
	}
	out->items[out->count++] = (struct walk_item){
		.kind = kind,
		.ip = WALK_CODE_BASE + w->ip,
		.at = walk_bytes(w),
		.tsc = w->clock.tsc,
		.begins = w->gap,
		.tip = leads_away(w, kind),
	};
	w->gap = false;
}

void walk_account_value(struct walker *w, uint64_t value)
{
	struct walk_result *out = w->out;

	if (!watched(w) || !(w->config->ctl & VPT_CTL_MASK(PTW_EN)))
		return;
	if (out->value_count == w->value_capacity) {
		w->value_capacity = w->value_capacity ? 2 * w->value_capacity : 1024;
		out->values = realloc(out->values, w->value_capacity * sizeof(*out->values));
		MUST(out->values);
	}
	out->values[out->value_count++] = (struct walk_value){.value = value, .at = walk_bytes(w)};
}

static void event(struct walker *w, const struct vpt_event *event)
{
	if (event->kind == VPT_EV_COND)
		vpt_pt_cond(&w->pt, event->from, event->to, event->flags & VPT_EVF_TAKEN);
	else
		vpt_pt_event(&w->pt, event);
}

static void set_trace(struct walker *w, bool on)
{
	uint64_t ctl = w->config->ctl | walk_output_ctl(w) | (on ? VPT_CTL_MASK(TRACE_EN) : 0);
	uint64_t ip = WALK_CODE_BASE + w->ip;
	uint32_t next = w->ip + w->insns[w->ip].size;

	MUST(vpt_pt_wrmsr(&w->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, ip, WALK_CODE_BASE + next) ==
	     VPT_FAULT_NONE);
	w->tracing = on;
	w->gap = true;
	w->context = false;
	w->filter = !walk_filters(w);
	walk_go(w, next, true);
}

static void wrmsr(struct walker *w)
{
	if (w->config->toggle && walk_is_traced_side(w) && walk_rnd(w, 2)) {
		walk_account(w, w->tracing ? WALK_OFF : WALK_INSN);
		set_trace(w, !w->tracing);
	} else {
		walk_account(w, WALK_INSN);
		walk_fall_through(w);
	}
}

/* Lose packets; execution continues at a random place in a random state. */
static void lose(struct walker *w)
{
	vpt_pt_flush(&w->pt);
	if (!w->tracing || w->stopped)
		return;
	w->ctx.cpl = walk_rnd(w, 2) ? 3 : 0;
	w->enclave = w->ctx.production_enclave = false;
	w->ip = walk_start(w);
	walk_report(w, VPT_EV_OVERFLOW, 0, w->ip);
	walk_go(w, w->ip, true);
}

/* Is the STOP region full? */
static bool full(const struct walker *w)
{
	return VPT_STATUS_GET(w->pt.rtit.status, STOPPED);
}

static bool goes_on(const struct walker *w)
{
	return !w->stopped && !full(w);
}

static bool instead(struct walker *w)
{
	const struct walk_config *config = w->config;

	if (config->overflow && !walk_rnd(w, 400))
		lose(w);
	if (!(config->extras & WALK_SMI) || walk_rnd(w, 700) || w->ctx.in_tx || w->enclave)
		return false;
	walk_smi(w);
	return true;
}

static void between(struct walker *w)
{
	const uint32_t extras = w->config->extras;

	if ((extras & WALK_BLOCKS) && !walk_noise(w, 300))
		walk_block(w);
	if ((extras & WALK_XSAVES) && !walk_noise(w, 500) && !w->ctx.cpl && !w->ctx.in_tx &&
	    goes_on(w))
		walk_xsaves(w);
	if ((extras & WALK_SAVES) && !walk_noise(w, 50))
		walk_save_load(w);
	if (!walk_noise(w, 100))
		vpt_pt_tick(&w->pt, WALK_CODE_BASE + w->ip);
}

static const struct walk_unit unit = {
	.account = account,
	.event = event,
	.look = inspect,
	.wrmsr = wrmsr,
	.vm_exit = walk_vm_exit,
	.vmx_insn = walk_vmx_insn,
	.goes_on = goes_on,
	.instead = instead,
	.between = between,
};

void walk_caps(const struct walk_config *config, struct vpt_caps *caps)
{
	*caps = *vpt_caps_model(config->model);
	caps->l14_0_ebx |= config->caps_ebx;
	/* Any model can be made to send its trace to the transport. */
	caps->l14_0_ecx |= 1u << 3;
}

struct walk_result *walk_run(const struct walk_config *config)
{
	struct walker *w = calloc(1, sizeof(*w));
	const struct vpt_pt_ops ops = make_ops();
	struct walk_result *out = calloc(1, sizeof(*out));

	MUST(w && out);
	out->trace = malloc(WALK_TRACE_SIZE);
	MUST(out->trace);
	walk_caps(config, &w->caps);
	w->out = out;
	w->unit = &unit;
	walk_begin(w, config);
	vpt_pt_init(&w->pt, &w->caps, &ops, w);
	MUST(vpt_pt_set_options(&w->pt, &config->options) == VPT_OK);
	w->pt.rtit.cr3_match = config->cr3_match;
	memcpy(w->pt.rtit.addr, config->addr, sizeof(w->pt.rtit.addr));
	walk_output_init(w);
	w->guest_ctl = walk_traced_ctl(w);
	if (config->vmx)
		vpt_pt_vmxon(&w->pt, WALK_CODE_BASE + w->ip);
	set_trace(w, walk_is_traced_side(w));
	walk_execute(w);
	out->stopped = w->stopped;
	if (w->tracing)
		set_trace(w, false);
	walk_output_end(w);
	free(w);
	return out;
}

void walk_free(struct walk_result *result)
{
	free(result->trace);
	free(result->items);
	free(result->values);
	free(result);
}
