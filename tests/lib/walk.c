// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/walk_inside.h"

#include <string.h>

/* Times come from a random sequence of their own, so that they do not change the path of a walk. */

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

/* Execution. */

void walk_report(struct walker *w, enum vpt_event_kind kind, unsigned int flags, uint32_t to)
{
	const struct vpt_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = WALK_CODE_BASE + w->ip,
		.to = WALK_CODE_BASE + to,
		.next = WALK_CODE_BASE + w->ip + w->insns[w->ip].size,
	};

	w->unit->event(w, &event);
}

void walk_account(struct walker *w, enum walk_kind kind)
{
	w->unit->account(w, kind);
}

void walk_go(struct walker *w, uint32_t to, bool arrived)
{
	w->ip = to;
	w->arrived = arrived;
	w->unit->look(w, false);
}

void walk_fall_through(struct walker *w)
{
	walk_go(w, w->ip + w->insns[w->ip].size, false);
}

void walk_transfer(struct walker *w, enum vpt_event_kind kind, uint32_t to)
{
	bool far = kind == VPT_EV_FAR || kind == VPT_EV_SOFT_INT || kind == VPT_EV_ASYNC ||
		   kind == VPT_EV_AEX;

	/* Without EventEn the trace does not show IF, so any branch may change IF. */
	if (far || !(w->config->ctl & VPT_CTL_MASK(EVENT_EN)))
		w->ctx.intr_flag = walk_rnd(w, 2);
	walk_report(w, kind, VPT_EVF_TAKEN, to);
	walk_go(w, to, true);
}

/* Deliver an interrupt before the instruction, or a fault of the instruction. */
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

static void do_wrmsr(struct walker *w)
{
	if (w->ctx.cpl)
		walk_event(w, VPT_EV_ASYNC);
	else
		w->unit->wrmsr(w);
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
	w->unit->look(w, true);
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
			w->unit->vm_exit(w);
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
		w->unit->vmx_insn(w, (enum insn_kind)insn->kind);
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

void walk_begin(struct walker *w, const struct walk_config *config)
{
	w->config = config;
	w->random = config->seed * 0x9e3779b97f4a7c15ull + 1;
	w->noise = config->seed;
	walk_make_code(w);
	w->ctx = (struct vpt_context){.cr3 = CR3_A,
				      .cs_l = true,
				      .lma = true,
				      .paging = true,
				      .cbr = w->caps.max_nonturbo};
	walk_pass(w, 1000);
	do {
		w->ip = walk_start(w);
	} while (!w->insns[w->ip + w->insns[w->ip].size].size);
	w->other = w->ctx;
	w->other.cr3 = CR3_B;
}

void walk_execute(struct walker *w)
{
	unsigned int i;

	for (i = 0; i < w->config->insns && w->unit->goes_on(w); i++) {
		if (!w->unit->instead(w))
			execute(w);
		w->unit->between(w);
	}
}
