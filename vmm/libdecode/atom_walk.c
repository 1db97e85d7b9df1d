// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Walk to the instructions that packets belong to (tables 1, 2 and 19). */
#include "libdecode/atom_inside.h"

/*
 * The maximum number of instructions after the last packet of a session. A loop of direct jumps
 * sends no packets.
 */
#define TAIL_MAX (1u << 22)

#define BIT(end) (1u << DEC_END_##end)

/* [ATOM-INDIRECT ATOM-RET] The next near indirect branch leads to @lip. */
enum vptd_status dec_atom_to_tip(struct dec_atom *r, uint64_t lip)
{
	enum vptd_status status = dec_atom_drain_fast(r);
	struct dec_block *by;

	if (!status)
		status = dec_flow_seek(r->flow, BIT(RET) | BIT(JUMP_IND) | BIT(CALL_IND), &by);
	if (!status)
		status = dec_flow_branch(r->flow, &by);
	if (!status)
		status = dec_flow_enter(r->flow, by, lip);
	if (!status)
		dec_atom_note(r, by, true);
	return status;
}

/*
 * Returns true if the far transfer that ends @block sent the FUP with @lip. [ATOM-FAR-IP] @lip is
 * the address after the transfer or, with [ATOM-E1], an address inside it.
 */
static bool transfers(const struct dec_block *block, uint64_t lip)
{
	return (block->end == DEC_END_FAR || block->end == DEC_END_INTO) &&
	       lip - block->last - 1 < block->next - block->last;
}

/* [ATOM-FAR ATOM-FAR-LEAVES] Execute the far transfer. Its TIP, if there is one, has the target. */
static enum vptd_status transfer(struct dec_atom *r, bool leaves)
{
	const struct dec_block *block = r->flow->cur;
	bool soft = block->insn_kind == DEC_INSN_SOFT_INT || block->insn_kind == DEC_INSN_INTO;
	enum vptd_status status = dec_flow_finish(r->flow);

	if (status)
		return status;
	dec_atom_note(r, block, false);
	r->from = block->last;
	r->soft_int = soft;
	r->by_insn = !soft;
	r->event_offset = r->offset;
	if (leaves)
		r->waits = R_LEFT;
	else
		r->waits = soft ? R_EVENT : R_FAR;
	return VPTD_OK;
}

/*
 * Returns true if the instruction before the position can have cleared ContextEn or FilterEn by
 * falling through.
 */
static bool may_have_left(const struct dec_atom *r)
{
	if (!dec_atom_ran(r) || dec_atom_jumped(r))
		return false;
	switch (dec_atom_did(r)) {
	case DEC_INSN_CR3:
	case DEC_INSN_WRMSR:
		return true;
	case DEC_INSN_FAR_JUMP:
	case DEC_INSN_FAR_CALL:
	case DEC_INSN_FAR_RETURN:
		return false;
	default:
		return dec_atom_ends_filter(&r->regs, r->flow->ip);
	}
}

/* [ATOM-PGD-IP ATOM-NEAR-LEAVES] Returns true if a near branch before @lip has left the filter. */
static bool branched_out(const struct dec_atom *r, uint64_t lip)
{
	return r->flow->ip != lip && dec_atom_jumped(r) && r->by_next == lip &&
	       !dec_atom_in_filter(&r->regs, r->flow->ip);
}

enum vptd_status dec_atom_to_fup(struct dec_atom *r, uint64_t lip, bool leaves)
{
	enum vptd_status status = leaves ? dec_atom_drain(r) : dec_atom_drain_fast(r);
	struct dec_circle circle = {0};
	bool there;

	while (!status) {
		if (leaves && branched_out(r, lip)) {
			const struct vptd_event event = {.kind = VPTD_EVENT_DISABLED,
							 .flags = VPTD_EV_TO,
							 .to = r->flow->ip};

			dec_atom_disabled(r, event, r->offset);
			break;
		}
		status = dec_flow_advance(r->flow, lip, UINT64_MAX, &there);
		if (status)
			break;
		if (there) {
			r->from = lip;
			r->by_insn = may_have_left(r);
			r->soft_int = false;
			r->event_offset = r->offset;
			r->waits = leaves ? R_LEFT : R_EVENT;
			break;
		}
		if (transfers(r->flow->cur, lip))
			return transfer(r, leaves);
		if (dec_flow_circles(r->flow, r->flow->cur, &circle))
			return VPTD_E_LOOP;
		status = dec_atom_pass(r);
	}
	return status;
}

/* Returns true if a MOV to CR0 changed paging as the PIP says. 64-bit code cannot do so. */
static bool changes_paging(const struct dec_atom *r, const struct vpt_atom_packet *pip)
{
	if (r->flow->mode == 64)
		return false;
	if (r->paging != DEC_ATOM_UNKNOWN)
		return pip->flag != r->paging;
	/* If CR3 is the same, the PIP is that of a MOV to CR0. */
	return !((pip->value ^ r->cr3) & ~UINT64_C(0xfff));
}

/* [ATOM-PIP ATOM-CR3-ORDER] Run up to the MOV that sent the PIP, and execute it. */
enum vptd_status dec_atom_to_pip(struct dec_atom *r, const struct vpt_atom_packet *pip)
{
	enum vptd_status status = dec_atom_drain_fast(r);
	struct dec_circle circle = {0};
	bool there, found = false;

	while (!status && !found) {
		status = dec_flow_advance(r->flow, DEC_ATOM_NOWHERE, UINT64_MAX, &there);
		if (status)
			return status;
		if (dec_flow_circles(r->flow, r->flow->cur, &circle))
			return VPTD_E_LOOP;
		found = r->flow->cur->end == DEC_END_CR3 ||
			(r->flow->cur->end == DEC_END_CR0 && changes_paging(r, pip));
		status = dec_atom_pass(r);
	}
	return status;
}

enum vptd_status dec_atom_to_count(struct dec_atom *r, uint64_t insns)
{
	uint64_t most = r->flow->insns + TAIL_MAX;

	while (r->flow->insns < insns) {
		enum vptd_status status;
		bool there;

		status = dec_flow_advance(r->flow, DEC_ATOM_NOWHERE, insns, &there);
		if (status)
			return status;
		if (there)
			break;
		if (r->flow->insns >= most)
			return VPTD_E_LOOP;
		status = dec_atom_pass(r);
		if (status)
			return status;
	}
	return VPTD_OK;
}
