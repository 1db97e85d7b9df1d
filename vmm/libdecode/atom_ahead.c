// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Look ahead in the code. Where packets were lost, the counter of instructions is not known. It is
 * derived from the instruction that ended the session, if only one instruction of the code can have
 * done so.
 */
#include "libdecode/atom_inside.h"

/* The maximum number of instructions to search for the end of a session. */
#define END_MAX 4096u

/* A position in the search, which goes no further than code that takes no packet. */
struct ahead {
	struct dec_block *block;
	uint32_t index;
	uint64_t ip;
	uint8_t kind; /* enum dec_insn_kind of the previous instruction */
	bool direct;  /* the previous instruction was a direct branch */
};

static bool go_ahead(struct dec_flow *f, struct ahead *a)
{
	struct dec_block *block = a->block;

	if (a->index == block->insns)
		return false;
	a->ip += dec_code_lens(f->code, block)[a->index++];
	a->kind = DEC_INSN_PLAIN;
	a->direct = false;
	if (a->index < block->insns)
		return true;
	a->kind = block->insn_kind;
	switch ((enum dec_end)block->end) {
	case DEC_END_JUMP:
	case DEC_END_CALL:
		a->direct = true;
		break;
	case DEC_END_COND:
	case DEC_END_RET:
	case DEC_END_JUMP_IND:
	case DEC_END_CALL_IND:
	case DEC_END_FAR:
	case DEC_END_INTO:
		return false;
	default:
		break;
	}
	a->block = dec_flow_link(f, block, a->direct ? DEC_TAKEN : DEC_FALL);
	if (!a->block)
		return false;
	a->index = 0;
	a->ip = a->block->ip;
	return true;
}

/*
 * Returns how many instructions without packets run from the position to the range of TraceStop,
 * including the one that leads into it. Returns 0 if a packet is needed before.
 */
static unsigned int to_stop(const struct dec_atom *r, struct ahead a)
{
	unsigned int n;

	for (n = 1; n <= END_MAX; n++) {
		if (!go_ahead(r->flow, &a))
			return 0;
		if (dec_atom_stops_at(&r->regs, a.ip, a.direct))
			return n;
	}
	return 0;
}

/*
 * Returns how many instructions without packets run up to and including the next WRMSR. Returns 0
 * if a packet is needed before, or if it is not known which of several WRMSRs ended the session.
 */
static unsigned int to_wrmsr(const struct dec_atom *r, struct ahead a)
{
	unsigned int n, found = 0;

	for (n = 1; n <= END_MAX; n++) {
		if (!go_ahead(r->flow, &a))
			return found;
		if (a.kind != DEC_INSN_WRMSR)
			continue;
		if (found)
			return 0;
		found = n;
	}
	return 0;
}

enum vptd_status dec_atom_count_back(struct dec_atom *r, uint64_t insns, enum vptd_atom_end why)
{
	struct dec_flow *f = r->flow;
	unsigned int n = 0;
	struct ahead a;
	bool there;
	/* Make the code at the position current. */
	enum vptd_status status = dec_flow_advance(f, f->ip, UINT64_MAX, &there);

	if (status)
		return status;
	a = (struct ahead){.block = f->cur, .index = f->index, .ip = f->ip};
	if (why == VPTD_ATOM_STOPPED)
		n = to_stop(r, a);
	else if (r->config.guest && (why == VPTD_ATOM_CLEARED || why == VPTD_ATOM_CHANGED))
		n = to_wrmsr(r, a);
	r->counts = n && n <= insns;
	if (r->counts)
		dec_atom_set_count(r, insns - n);
	return VPTD_OK;
}
