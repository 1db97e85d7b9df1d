// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions, and the packets that are theirs (RTIT tables 1, 2 and 19). */
#include <string.h>

#include "atom_inside.h"

/* Instructions without a packet being read: straight code has an end, and a loop of direct
 * jumps has none. */
#define STALL_LIMIT (1u << 22)

/* How far the end of a session is looked for. */
#define END_LIMIT 4096

/* The instruction retires: `item` tells it. */
static void retire(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in,
		   struct vpt_item *item)
{
	item->kind = VPT_ITEM_INSN;
	item->class = in->class;
	item->mode = in->mode;
	item->size = in->size;
	memcpy(item->raw, in->raw, sizeof(item->raw));
	item->insns = 1;
	item->session = (uint32_t)a->stream.session;
	item->ip = in->ip;
	item->last = in->ip;
	item->has_to = false;
	item->offset = a->has_next ? a->next.at : a->stream.at;
	a->insns++;
	a->ran = true;
	a->will_run = false;
	a->may_leave = false;
	a->jumped = false;
	a->did = in->goes;
}

static void go_to(struct vpt_atom_decoder *a, uint64_t to, struct vpt_item *item)
{
	a->ip = to;
	item->has_to = true;
	item->to = to;
}

static bool go_on(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in, struct vpt_item *item)
{
	retire(a, in, item);
	go_to(a, in->next, item);
	a->may_leave = in->goes == VPT_GOES_CR3 || in->goes == VPT_GOES_WRMSR ||
		       vpt_atomd_ends_filter(&a->stream.regs, in->next);
	return true;
}

/* A near branch that is taken. FUP.PGD has what comes behind it [ATOM-PGD-IP]. */
static bool jump(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in, uint64_t to,
		 struct vpt_item *item)
{
	retire(a, in, item);
	/* [ATOM-CALL-NLIP] */
	if (in->class == VPT_INSN_CALL) {
		a->call_next = in->next;
		a->call_known = true;
	}
	go_to(a, to, item);
	a->jumped = true;
	a->jumped_next = in->next;
	return true;
}

static bool misfit(struct vpt_atom_decoder *a, struct vpt_item *item, const char *text)
{
	vpt_atomd_fail(a, item, text);
	return true;
}

static bool next_outcome(struct vpt_atom_decoder *a)
{
	return a->outcomes >> --a->noutcomes & 1;
}

/* [ATOM-COND] */
static bool cond(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in, struct vpt_item *item)
{
	if (!a->noutcomes)
		return misfit(a, item, "a conditional branch has no outcome");
	if (next_outcome(a))
		return jump(a, in, in->target, item);
	return go_on(a, in, item);
}

/* [ATOM-INDIRECT] Near indirect JMP and CALL, RET that is not compressed. */
static bool indirect(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in,
		     struct vpt_item *item)
{
	uint64_t to = a->next.lip;

	if (a->noutcomes)
		return misfit(a, item, "an outcome is left at an indirect branch");
	if (!vpt_atomd_next_is(a, VPT_ATOM_PKT_TIP))
		return misfit(a, item, "an indirect branch has no TIP");
	vpt_atomd_use(a);
	return jump(a, in, to, item);
}

/* The RET returns from a CALL that retired where packets were lost. */
static bool lose_at_ret(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	vpt_atomd_event_item(a, item, VPT_FLOW_OVERFLOW);
	vpt_atomd_lose(a);
	return true;
}

/*
 * [ATOM-RET] An outcome is the RET's own: outcomes gathered go out before a TIP, so that none
 * would be left.
 */
static bool ret(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in, struct vpt_item *item)
{
	if (!a->noutcomes)
		return indirect(a, in, item);
	if (!VPT_ATOM_GET(CTL, CMPRS_RET, a->stream.regs.ctl))
		return misfit(a, item, "an outcome is left at a RET that is not compressed");
	if (!a->call_known && a->call_lost)
		return lose_at_ret(a, item);
	if (!a->call_known)
		return misfit(a, item, "a compressed RET returns from a call that was not seen");
	if (!next_outcome(a))
		return misfit(a, item, "a RET is not taken");
	return jump(a, in, a->call_next, item);
}

/*
 * Is the packet that comes next this far transfer's? [ATOM-FAR-IP] It has what comes behind
 * the instruction; [ATOM-E1] or an address inside of it.
 */
static bool is_far(const struct vpt_atom_decoder *a, const struct vpt_atom_insn *in)
{
	if (a->noutcomes ||
	    (!vpt_atomd_next_is(a, VPT_ATOM_PKT_FAR) && !vpt_atomd_next_is(a, VPT_ATOM_PKT_PGD)))
		return false;
	return a->next.lip - in->ip - 1 < in->next - in->ip;
}

/* [ATOM-FAR ATOM-FAR-LEAVES] INT n, INT3, INT1 and INTO are told as events. */
static bool far_transfer(struct vpt_atom_decoder *a, const struct vpt_atom_insn *in,
			 struct vpt_item *item)
{
	bool leaves = vpt_atomd_next_is(a, VPT_ATOM_PKT_PGD);
	bool soft = in->goes != VPT_GOES_FAR;

	vpt_atomd_use(a);
	a->from = in->ip;
	a->soft_int = soft;
	a->by_insn = !soft;
	a->jumped = false;
	if (leaves)
		a->wait = VPT_ATOM_WAIT_LEFT;
	else
		a->wait = soft ? VPT_ATOM_WAIT_EVENT : VPT_ATOM_WAIT_FAR;
	if (!soft) {
		retire(a, in, item);
		return true;
	}
	a->insns++;
	return false;
}

static bool stalls(struct vpt_atom_decoder *a)
{
	return ++a->stall >= STALL_LIMIT;
}

bool vpt_atomd_walk(struct vpt_atom_decoder *a, struct vpt_item *item)
{
	const struct vpt_atom_insn *in;
	enum vpt_atom_code_result result = vpt_atom_code_at(a->code, a->ip, &in);

	if (result != VPT_ATOM_CODE_OK) {
		a->no_code = result == VPT_ATOM_CODE_NONE;
		return misfit(a, item,
			      a->no_code ? "there is no code here" : "this is no instruction");
	}
	if (stalls(a))
		return misfit(a, item, VPT_ITEM_STALL);
	switch (in->goes) {
	case VPT_GOES_COND:
		return cond(a, in, item);
	case VPT_GOES_DIRECT:
		return jump(a, in, in->target, item);
	case VPT_GOES_INDIRECT:
		return indirect(a, in, item);
	case VPT_GOES_RETURN:
		return ret(a, in, item);
	case VPT_GOES_INTO:
		return is_far(a, in) ? far_transfer(a, in, item) : go_on(a, in, item);
	case VPT_GOES_FAR:
	case VPT_GOES_SOFT_INT:
		if (!is_far(a, in))
			return misfit(a, item, "a far transfer has no packet of its own");
		return far_transfer(a, in, item);
	default:
		return go_on(a, in, item);
	}
}

/* Where execution goes without a packet; false: that takes one. */
static bool goes_alone(const struct vpt_atom_insn *in, uint64_t *to)
{
	switch (in->goes) {
	case VPT_GOES_ON:
	case VPT_GOES_CR3:
	case VPT_GOES_CR0:
	case VPT_GOES_WRMSR:
		*to = in->next;
		return true;
	case VPT_GOES_DIRECT:
		*to = in->target;
		return true;
	default:
		return false;
	}
}

unsigned int vpt_atomd_to_stop(struct vpt_atom_decoder *a)
{
	const struct vpt_atom_regs *regs = &a->stream.regs;
	const struct vpt_atom_insn *in;
	uint64_t ip = a->ip;
	unsigned int n;

	for (n = 1; n <= END_LIMIT; n++) {
		if (vpt_atom_code_at(a->code, ip, &in) != VPT_ATOM_CODE_OK || !goes_alone(in, &ip))
			return 0;
		if (vpt_atomd_stops_at(regs, ip, in->goes == VPT_GOES_DIRECT))
			return n;
	}
	return 0;
}

unsigned int vpt_atomd_to_wrmsr(struct vpt_atom_decoder *a)
{
	const struct vpt_atom_insn *in;
	unsigned int n, found = 0;
	uint64_t ip = a->ip;

	for (n = 1; n <= END_LIMIT; n++) {
		if (vpt_atom_code_at(a->code, ip, &in) != VPT_ATOM_CODE_OK || !goes_alone(in, &ip))
			return found;
		if (in->goes != VPT_GOES_WRMSR)
			continue;
		if (found)
			return 0;
		found = n;
	}
	return 0;
}
