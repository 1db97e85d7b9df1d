// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Use outcomes, and record how execution reached the position.
 *
 * FUP.PGD has the address after the instruction that left the filter, even if that instruction was
 * a branch. Therefore dec_atom_drain() follows the last waiting outcome block by block, so that
 * dec_atom_to_fup() knows the last instruction.
 */
#include "libdecode/atom_inside.h"

void dec_atom_came(struct dec_atom *r, enum dec_atom_since since)
{
	r->since = (uint8_t)since;
	r->since_insns = r->by_insns = r->flow->insns;
	r->by_kind = DEC_INSN_PLAIN;
	r->by_jump = false;
}

void dec_atom_note(struct dec_atom *r, const struct dec_block *block, bool jumped)
{
	r->by_insns = r->flow->insns;
	r->by_next = block->next;
	r->by_kind = block->insn_kind;
	r->by_jump = jumped;
}

bool dec_atom_jumped(const struct dec_atom *r)
{
	return r->by_jump && r->by_insns == r->flow->insns;
}

enum dec_insn_kind dec_atom_did(const struct dec_atom *r)
{
	/* Only the last instruction of a block can be other than plain. */
	return r->by_insns == r->flow->insns ? (enum dec_insn_kind)r->by_kind : DEC_INSN_PLAIN;
}

enum vptd_status dec_atom_drain_fast(struct dec_atom *r)
{
	enum vptd_status status = r->flow->nbits ? dec_flow_drain(r->flow) : VPTD_OK;

	/*
	 * The processor sends gathered outcomes before a TIP, so none is left at the TIP's branch.
	 */
	return status == VPTD_STUCK ? VPTD_E_NO_TARGET : status;
}

static bool jumps(const struct dec_block *block, bool taken)
{
	switch ((enum dec_end)block->end) {
	case DEC_END_COND:
		return taken;
	case DEC_END_JUMP:
	case DEC_END_CALL:
	case DEC_END_RET:
		return true;
	default:
		return false;
	}
}

static enum vptd_status follow_last(struct dec_atom *r)
{
	struct dec_flow *f = r->flow;
	struct dec_circle circle = {0};

	while (f->nbits) {
		const struct dec_block *block;
		enum vptd_status status;
		bool there, taken;

		status = dec_flow_advance(f, DEC_ATOM_NOWHERE, UINT64_MAX, &there);
		if (status)
			return status;
		if (dec_flow_circles(f, f->cur, &circle))
			return VPTD_E_LOOP;
		block = f->cur;
		taken = f->bits >> 63;
		status = dec_flow_block(f);
		if (status)
			return status == VPTD_STUCK ? VPTD_E_NO_TARGET : status;
		dec_atom_note(r, block, jumps(block, taken));
	}
	return VPTD_OK;
}

enum vptd_status dec_atom_drain(struct dec_atom *r)
{
	struct dec_flow *f = r->flow;
	enum vptd_status status;
	uint64_t last;

	if (f->nbits > 1) {
		last = f->bits & VPT_BIT64(64 - f->nbits);
		f->bits ^= last;
		f->nbits--;
		status = dec_atom_drain_fast(r);
		if (status)
			return status;
		f->bits = last ? VPT_BIT64(63) : 0;
		f->nbits = 1;
	}
	return follow_last(r);
}

enum vptd_status dec_atom_pass(struct dec_atom *r)
{
	const struct dec_block *block = r->flow->cur;
	bool direct = block->end == DEC_END_JUMP || block->end == DEC_END_CALL;
	enum vptd_status status = dec_flow_lacks(block);

	if (!status)
		status = dec_flow_through(r->flow, direct ? DEC_TAKEN : DEC_FALL);
	if (!status)
		dec_atom_note(r, block, direct);
	return status;
}
