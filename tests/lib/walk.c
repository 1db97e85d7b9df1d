// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/walk_inside.h"

#include <string.h>

/* What vpt_pt asks. */

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct walker *)opaque)->ctx;
}

static void tell_time(void *opaque, struct vpt_clock *now)
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
		.clock = tell_time,
	};
}

/* Time: from a sequence of its own, so that it does not change where a walk goes. */

uint32_t walk_noise(struct walker *w, uint32_t below)
{
	w->noise = w->noise * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->noise >> 33) % below;
}

void walk_pass(struct walker *w, uint64_t clocks)
{
	uint64_t ticks = clocks * w->caps.max_nonturbo + w->tsc_left;

	w->clock.cycles += clocks;
	w->clock.tsc += ticks / w->ctx.cbr;
	w->tsc_left = ticks % w->ctx.cbr;
	w->ctx.tsc = w->other.tsc = w->clock.tsc;
}

static void pass_some(struct walker *w)
{
	walk_pass(w, walk_noise(w, 4));
	if (!walk_noise(w, 500))
		walk_pass(w, walk_noise(w, 1u << walk_noise(w, 20)));
}

/* The account: the manual's rules once more, in the order things happen. */

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

void walk_look(struct walker *w, bool cr3_written)
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

/* Is what is at w->ip in the trace, but for branches? */
static bool watched(const struct walker *w)
{
	return w->tracing && !w->stopped && w->context && w->filter;
}

/* Is there a TIP for it, unless the trace ends or is compressed there? */
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

void walk_account(struct walker *w, enum walk_kind kind)
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

/* Execution. */

void walk_report(struct walker *w, enum vpt_event_kind kind, unsigned int flags, uint32_t to)
{
	struct vpt_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = WALK_CODE_BASE + w->ip,
		.to = WALK_CODE_BASE + to,
		.next = WALK_CODE_BASE + w->ip + w->insns[w->ip].size,
	};

	if (kind == VPT_EV_COND)
		vpt_pt_cond(&w->pt, event.from, event.to, flags & VPT_EVF_TAKEN);
	else
		vpt_pt_event(&w->pt, &event);
}

void walk_go(struct walker *w, uint32_t to, bool arrived)
{
	w->ip = to;
	w->arrived = arrived;
	walk_look(w, false);
}

void walk_fall_through(struct walker *w)
{
	walk_go(w, w->ip + w->insns[w->ip].size, false);
}

void walk_transfer(struct walker *w, enum vpt_event_kind kind, uint32_t to)
{
	bool far = kind == VPT_EV_FAR || kind == VPT_EV_SOFT_INT || kind == VPT_EV_ASYNC ||
		   kind == VPT_EV_AEX;

	/* Any branch may, as far as a trace without events has to do with it. */
	if (far || !(w->config->ctl & VPT_CTL_MASK(EVENT_EN)))
		w->ctx.intr_flag = walk_rnd(w, 2);
	walk_report(w, kind, VPT_EVF_TAKEN, to);
	walk_go(w, to, true);
}

/* An interrupt before the instruction, or a fault of it. */
void walk_event(struct walker *w, enum vpt_event_kind kind)
{
	walk_account(w, WALK_EVENT);
	w->ctx.cpl = 0;
	if (w->enclave)
		kind = VPT_EV_AEX;
	w->enclave = w->ctx.production_enclave = false;
	walk_transfer(w, kind, walk_start(w));
}

static void push(struct walker *w)
{
	if (w->depth == STACK_MAX) {
		memmove(w->stack, w->stack + 1, sizeof(w->stack) - sizeof(w->stack[0]));
		w->depth--;
	}
	w->stack[w->depth++] = w->ip + w->insns[w->ip].size;
}

static void do_ret(struct walker *w)
{
	uint32_t to = walk_start(w);

	if (w->depth && walk_rnd(w, 12)) {
		to = (uint32_t)w->stack[--w->depth];
		if (!walk_rnd(w, 20) && w->depth)
			to = (uint32_t)w->stack[--w->depth];
	}
	walk_transfer(w, VPT_EV_RET, to);
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

static void do_wrmsr(struct walker *w)
{
	if (w->ctx.cpl) {
		walk_event(w, VPT_EV_ASYNC);
	} else if (w->config->toggle && (w->guest || w->config->vmx <= WALK_SYSTEM) &&
		   walk_rnd(w, 2)) {
		walk_account(w, w->tracing ? WALK_OFF : WALK_INSN);
		set_trace(w, !w->tracing);
	} else {
		walk_account(w, WALK_INSN);
		walk_fall_through(w);
	}
}

static void do_mov_cr3(struct walker *w)
{
	uint32_t next = w->ip + w->insns[w->ip].size;

	if (w->ctx.cpl) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	walk_account(w, WALK_INSN);
	w->ctx.cr3 = walk_rnd(w, 2) ? CR3_A : CR3_B;
	walk_report(w, VPT_EV_CR3, 0, next);
	w->ip = next;
	w->arrived = false;
	walk_look(w, true);
}

static void do_far(struct walker *w, enum insn_kind kind)
{
	if (kind == I_SYSRET && w->ctx.cpl) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	walk_account(w, WALK_INSN);
	if (kind == I_SYSCALL)
		w->ctx.cpl = 0;
	else if (kind == I_SYSRET)
		w->ctx.cpl = 3;
	else if (!w->ctx.cpl)
		w->ctx.cpl = walk_rnd(w, 2) ? 3 : 0;
	walk_transfer(w, VPT_EV_FAR, walk_start(w));
}

static void do_near(struct walker *w, const struct insn *insn)
{
	uint32_t next = w->ip + insn->size;

	walk_account(w, WALK_INSN);
	switch (insn->kind) {
	case I_JCC:
		if (walk_rnd(w, 2)) {
			walk_transfer(w, VPT_EV_COND, insn->target);
		} else {
			walk_report(w, VPT_EV_COND, 0, next);
			walk_go(w, next, false);
		}
		break;
	case I_JMP:
		walk_transfer(w, VPT_EV_JMP, insn->target);
		break;
	case I_CALL:
	case I_CALL_NEXT:
		push(w);
		walk_transfer(w, VPT_EV_CALL, insn->target);
		break;
	case I_CALL_IND:
		push(w);
		walk_transfer(w, VPT_EV_CALL_INDIRECT, walk_start(w));
		break;
	case I_JMP_IND:
		walk_transfer(w, VPT_EV_JMP_INDIRECT, walk_start(w));
		break;
	case I_RET:
		do_ret(w);
		break;
	default:
		walk_go(w, next, false);
		break;
	}
}

static void execute(struct walker *w)
{
	const struct insn *insn = &w->insns[w->ip];

	pass_some(w);
	if (w->ctx.in_tx && walk_aborts(w, insn)) {
		walk_abort(w);
		return;
	}
	if (!w->ctx.in_tx && !walk_rnd(w, 150)) {
		if (w->guest && walk_rnd(w, 2))
			walk_vm_exit(w);
		else
			walk_event(w, VPT_EV_ASYNC);
		return;
	}
	if (w->enclave && walk_leaves_enclave(insn)) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	if ((w->config->extras & WALK_UINTR) && w->ctx.cpl == 3 && !w->ctx.in_tx && !w->enclave &&
	    !walk_rnd(w, 200)) {
		walk_user_interrupt(w);
		return;
	}
	switch (insn->kind) {
	case I_SYSCALL:
	case I_SYSRET:
	case I_IRET:
		do_far(w, (enum insn_kind)insn->kind);
		break;
	case I_INT:
		walk_event(w, VPT_EV_SOFT_INT);
		break;
	case I_MOV_CR3:
		do_mov_cr3(w);
		break;
	case I_WRMSR:
		do_wrmsr(w);
		break;
	case I_VMENTER:
	case I_VMPTRLD:
	case I_VMCALL:
	case I_CPUID:
		walk_vmx_insn(w, (enum insn_kind)insn->kind);
		break;
	case I_PTWRITE:
		walk_ptwrite(w);
		break;
	case I_SLEEP:
		walk_sleep(w);
		break;
	case I_FLAG:
		walk_flag(w);
		break;
	case I_XBEGIN:
	case I_XEND:
	case I_XABORT:
		walk_tsx(w, insn);
		break;
	case I_ENCLU:
		walk_enclu(w);
		break;
	default:
		do_near(w, insn);
		break;
	}
}

/* Packets are lost; the processor ends up somewhere in some state. */
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

/* A STOP region is full. */
static bool full(const struct walker *w)
{
	return VPT_STATUS_GET(w->pt.rtit.status, STOPPED);
}

static void walk(struct walker *w)
{
	const struct walk_config *config = w->config;
	unsigned int i;

	do {
		w->ip = walk_start(w);
	} while (!w->insns[w->ip + w->insns[w->ip].size].size);
	w->other = w->ctx;
	w->other.cr3 = CR3_B;
	w->guest_ctl = walk_traced_ctl(w);
	if (config->vmx)
		vpt_pt_vmxon(&w->pt, WALK_CODE_BASE + w->ip);
	set_trace(w, config->vmx <= WALK_SYSTEM);
	for (i = 0; i < config->insns && !w->stopped && !full(w); i++) {
		if (config->overflow && !walk_rnd(w, 400))
			lose(w);
		if ((config->extras & WALK_SMI) && !walk_rnd(w, 700) && !w->ctx.in_tx &&
		    !w->enclave)
			walk_smi(w);
		else
			execute(w);
		if ((config->extras & WALK_BLOCKS) && !walk_noise(w, 300))
			walk_block(w);
		if ((config->extras & WALK_XSAVES) && !walk_noise(w, 500) && !w->ctx.cpl &&
		    !w->ctx.in_tx && !full(w) && !w->stopped)
			walk_xsaves(w);
		if ((config->extras & WALK_SAVES) && !walk_noise(w, 50))
			walk_save_load(w);
		if (!walk_noise(w, 100))
			vpt_pt_tick(&w->pt, WALK_CODE_BASE + w->ip);
	}
	w->out->stopped = w->stopped;
	if (w->tracing)
		set_trace(w, false);
}

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
	w->config = config;
	w->out = out;
	w->random = config->seed * 0x9e3779b97f4a7c15ull + 1;
	w->noise = config->seed;
	walk_make_code(w);

	w->ctx = (struct vpt_context){
		.cr3 = CR3_A, .cs_l = true, .lma = true, .cbr = w->caps.max_nonturbo};
	walk_pass(w, 1000);
	vpt_pt_init(&w->pt, &w->caps, &ops, w);
	MUST(vpt_pt_set_options(&w->pt, &config->options) == VPT_OK);
	w->pt.rtit.cr3_match = config->cr3_match;
	memcpy(w->pt.rtit.addr, config->addr, sizeof(w->pt.rtit.addr));
	walk_output_init(w);
	walk(w);
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
