// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes the instructions of walks that are not branches; see enum walk_extras. */
#include "lib/walk_inside.h"

#include <string.h>

#include "vpt/block.h"
#include "vpt/state.h"
#include "vpt/system.h"
#include "vpt/xsave.h"

void walk_ptwrite(struct walker *w)
{
	bool wide = walk_rnd(w, 2);
	uint64_t ip = WALK_CODE_BASE + w->ip;
	struct vpt_event event = {
		.kind = VPT_EV_PTWRITE,
		.flags = wide ? VPT_EVF_WIDE : 0,
		.from = ip,
		.to = ip + w->insns[w->ip].size,
		.value = (uint64_t)walk_rnd(w, 1u << 31) << (wide ? 20 : 0),
	};

	walk_account(w, WALK_INSN);
	walk_account_value(w, event.value);
	vpt_pt_event(&w->pt, &event);
	walk_fall_through(w);
}

/* Sleep until a wake event, after which the frequency sometimes differs. */
void walk_sleep(struct walker *w)
{
	uint64_t ip = WALK_CODE_BASE + w->ip, next = ip + w->insns[w->ip].size;
	bool mwait = w->out->code[w->ip] == 0x0f;
	struct vpt_event sleep = {
		.kind = VPT_EV_SLEEP,
		.flags = mwait ? VPT_EVF_MWAIT : 0,
		.cstate = mwait ? (uint8_t)(walk_noise(w, 6) << 4) : 0,
		.from = ip,
		.to = next,
		.value = mwait ? walk_noise(w, 0x60) : 0,
		.ext = mwait ? (uint8_t)walk_noise(w, 2) : 0,
	};
	struct vpt_event wake = {
		.kind = VPT_EV_WAKE,
		.cstate = sleep.cstate,
		.deepest = sleep.cstate,
		.wake = mwait ? VPT_WAKE_STORE : VPT_WAKE_INTERRUPT,
		.from = next,
		.to = next,
	};

	if (w->ctx.cpl) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	walk_account(w, WALK_INSN);
	w->unit->event(w, &sleep);
	walk_pass(w, 1u << walk_noise(w, 16));
	w->unit->event(w, &wake);
	walk_fall_through(w);
	if (walk_noise(w, 4))
		return;
	w->ctx.cbr = w->other.cbr = (uint8_t)(8 + walk_noise(w, 40));
	walk_report(w, VPT_EV_CBR, walk_noise(w, 2) ? VPT_EVF_STOPPED : 0, w->ip);
}

void walk_flag(struct walker *w)
{
	bool set = w->out->code[w->ip] == 0xfb;
	uint32_t next = w->ip + w->insns[w->ip].size;

	walk_account(w, WALK_INSN);
	if (w->ctx.intr_flag != set) {
		w->ctx.intr_flag = set;
		walk_report(w, VPT_EV_INTR_FLAG, 0, next);
	}
	walk_fall_through(w);
}

void walk_abort(struct walker *w)
{
	walk_account(w, WALK_EVENT);
	w->ctx.in_tx = false;
	walk_report(w, VPT_EV_TSX_ABORT, 0, w->fallback);
	walk_go(w, w->fallback, true);
}

void walk_tsx(struct walker *w, const struct insn *insn)
{
	uint32_t next = w->ip + insn->size;

	if (insn->kind == I_XEND && !w->ctx.in_tx) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	walk_account(w, WALK_INSN);
	if (insn->kind == I_XBEGIN) {
		w->ctx.in_tx = true;
		w->fallback = insn->target;
		walk_report(w, VPT_EV_TSX_BEGIN, 0, next);
	} else if (insn->kind == I_XEND) {
		w->ctx.in_tx = false;
		walk_report(w, VPT_EV_TSX_COMMIT, 0, next);
	}
	walk_fall_through(w);
}

/* Does the instruction abort a transaction? */
bool walk_aborts(struct walker *w, const struct insn *insn)
{
	switch (insn->kind) {
	case I_FILL:
	case I_JCC:
	case I_JMP:
	case I_CALL:
	case I_CALL_NEXT:
	case I_JMP_IND:
	case I_CALL_IND:
	case I_RET:
	case I_PTWRITE:
	case I_XEND:
		return !walk_rnd(w, w->config->aborts ? w->config->aborts : 60);
	default:
		return true;
	}
}

/* Deliver an SMI, then RSM to the interrupted instruction. */
void walk_smi(struct walker *w)
{
	uint64_t ip = WALK_CODE_BASE + w->ip;

	walk_account(w, WALK_EVENT);
	vpt_pt_smi(&w->pt, ip);
	walk_pass(w, walk_noise(w, 5000));
	MUST(vpt_pt_rsm(&w->pt, ip, false));
	if (!w->tracing)
		return;
	w->gap = true;
	w->context = false;
	w->filter = !walk_filters(w);
	walk_go(w, w->ip, true);
}

/* ENCLU that enters or leaves an enclave. Production enclaves are not traced. */
void walk_enclu(struct walker *w)
{
	if (w->ctx.cpl != 3) {
		walk_event(w, VPT_EV_ASYNC);
		return;
	}
	walk_account(w, WALK_EVENT);
	w->enclave = !w->enclave;
	w->ctx.production_enclave = w->enclave && walk_rnd(w, 2);
	walk_transfer(w, VPT_EV_ENCLAVE, walk_start(w));
}

/* Is the instruction illegal in an enclave? */
bool walk_leaves_enclave(const struct insn *insn)
{
	switch (insn->kind) {
	case I_FILL:
	case I_JCC:
	case I_JMP:
	case I_CALL:
	case I_CALL_NEXT:
	case I_JMP_IND:
	case I_CALL_IND:
	case I_RET:
	case I_PTWRITE:
	case I_ENCLU:
		return false;
	default:
		return true;
	}
}

void walk_user_interrupt(struct walker *w)
{
	walk_account(w, WALK_EVENT);
	walk_transfer(w, VPT_EV_UINTR, walk_start(w));
}

/* Report a PEBS record as packet blocks, or a packet of the model, between two instructions. */
void walk_block(struct walker *w)
{
	struct vpt_pebs_record record = {.ip = WALK_CODE_BASE + w->ip};
	struct vpt_block_group group[VPT_PEBS_GROUPS];
	unsigned int i, count;

	if (!walk_noise(w, 3)) {
		vpt_pt_mnt(&w->pt, walk_noise(w, 1u << 31));
		return;
	}
	record.sections = walk_noise(w, 16);
	record.lbrs = walk_noise(w, VPT_PEBS_LBR_MAX + 1);
	record.address = (uint64_t)walk_noise(w, 1u << 31) << 17;
	for (i = 0; i < 16; i++)
		record.gpr[i] = (uint64_t)walk_noise(w, 1u << 31) << walk_noise(w, 32);
	for (i = 0; i < record.lbrs; i++)
		record.lbr[i].from = record.lbr[i].to = walk_noise(w, 1u << 31);
	count = vpt_pebs_groups(&record, group);
	for (i = 0; i < count; i++)
		group[i].short_items = walk_noise(w, 2);
	MUST(vpt_pt_blocks(&w->pt, group, count, WALK_CODE_BASE + w->ip) == VPT_OK);
}

/* Execute XSAVES and XRSTORS around code that is not traced. */
void walk_xsaves(struct walker *w)
{
	uint64_t ip = WALK_CODE_BASE + w->ip;
	uint8_t state[VPT_XSAVE_BYTES];

	if (!w->tracing)
		return;
	walk_account(w, WALK_OFF);
	vpt_pt_xsaves(&w->pt, state, ip, ip);
	walk_pass(w, walk_noise(w, 5000));
	MUST(vpt_pt_xrstors(&w->pt, state, ip, ip) == VPT_FAULT_NONE);
	w->gap = true;
	w->context = false;
	w->filter = !walk_filters(w);
	walk_go(w, w->ip, true);
}

/* Save the trace unit's state as plain data, and continue with a new unit that loads the state. */
void walk_save_load(struct walker *w)
{
	const struct vpt_pt_ops *ops = w->pt.ops;
	struct vpt_pt_state state;

	vpt_pt_save(&w->pt, &state);
	memset(&w->pt, 0xa5, sizeof(w->pt));
	vpt_pt_init(&w->pt, &w->caps, ops, w);
	walk_output_stream(w);
	MUST(vpt_pt_load(&w->pt, &state) == VPT_OK);
}
