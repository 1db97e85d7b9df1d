// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Set up the decoder of RTIT, and use the packets that were read. */
#include "libdecode/atom.h"

#include <string.h>

#include "libdecode/atom_inside.h"

void dec_atom_init(struct dec_atom *r, struct dec_flow *flow, const struct dec_atom_config *config,
		   const struct dec_atom_ops *ops, void *context)
{
	memset(r, 0, sizeof(*r));
	r->flow = flow;
	r->config = *config;
	r->ops = ops;
	r->context = context;
	flow->last_call = true;
	flow->pops = false;
	r->added = flow->insns;
	dec_atom_reset(r);
}

enum vptd_status dec_atom_use_space(struct dec_atom *r, uint64_t key, uint64_t cr3,
				    unsigned int mode)
{
	r->cr3 = cr3;
	r->flow->mode = (uint8_t)mode;
	return dec_code_select(r->flow->code, key) ? VPTD_E_MEMORY : VPTD_OK;
}

/* Returns true if a position is known and execution can continue from its block of code. */
static bool has_position(const struct dec_atom *r)
{
	return r->enabled && r->flow->cur && (r->waits == R_NONE || r->waits == R_STOP);
}

void dec_atom_catch_up(struct dec_atom *r)
{
	enum vptd_status status = has_position(r) ? dec_atom_drain(r) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}

void dec_atom_refetch(struct dec_atom *r)
{
	enum vptd_status status = has_position(r) ? dec_flow_jump(r->flow, r->flow->ip) : VPTD_OK;

	if (status)
		dec_atom_failed(r, status);
}

void dec_atom_packet(struct dec_atom *r, const struct dec_atom_said *said)
{
	switch (said->packet.kind) {
	case VPT_ATOM_PKT_PSB:
		/* [ATOM-DEC-PSB] A synchronised decoder ignores the PSB. */
		dec_atom_use_outcomes(r);
		r->joins = r->lost;
		break;
	case VPT_ATOM_PKT_MTC:
	case VPT_ATOM_PKT_PCC:
		r->spurious = false;
		break;
	default:
		dec_atom_take(r, said);
	}
}

void dec_atom_bad(struct dec_atom *r)
{
	dec_atom_decide_at_end(r, NULL, VPTD_ATOM_ENDED, 0);
	dec_atom_use_outcomes(r);
	dec_atom_failed(r, VPTD_E_PACKET);
	dec_atom_release(r);
	r->last_known = false;
}
