/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of the registers of Atom's RTIT in a SESSION block. */
#ifndef VMM_TRACE_ATOM_SESSION_H
#define VMM_TRACE_ATOM_SESSION_H

#include "trace/format.h"
#include "vpt/atom_msr.h"

VPT_STATIC_ASSERT(2 * VPT_MAX_RANGES >= 8, "the registers have room");

static inline void trace_atom_session_set(struct trace_session *s, const struct vpt_atom_regs *r)
{
	unsigned int i;

	s->ctl = r->ctl;
	s->status = r->status;
	s->output_base = r->base_addr;
	s->output_mask_ptrs = r->limit_mask | (uint64_t)r->offset << 32;
	s->cr3_match = r->cr3_match;
	for (i = 0; i < 4; i++)
		s->addr[i] = r->lip[i];
	s->addr[4] = r->events | (uint64_t)r->tnt_buff << 32;
	s->addr[5] = r->last_lip;
	s->addr[6] = r->last_call_nlip;
	s->addr[7] = r->cntp | (uint64_t)r->pkt_cnt << 32;
}

/* Return the recorded registers without any check. */
static inline void trace_atom_session_get(const struct trace_session *s, struct vpt_atom_regs *r)
{
	unsigned int i;

	vpt_atom_regs_reset(r);
	r->ctl = (uint32_t)s->ctl;
	r->status = (uint32_t)s->status;
	r->base_addr = s->output_base;
	r->limit_mask = (uint32_t)s->output_mask_ptrs;
	r->offset = (uint32_t)(s->output_mask_ptrs >> 32);
	r->cr3_match = s->cr3_match;
	for (i = 0; i < 4; i++)
		r->lip[i] = s->addr[i];
	r->events = (uint32_t)s->addr[4];
	r->tnt_buff = (uint32_t)(s->addr[4] >> 32);
	r->last_lip = s->addr[5];
	r->last_call_nlip = s->addr[6];
	r->cntp = (uint32_t)s->addr[7];
	r->pkt_cnt = (uint32_t)(s->addr[7] >> 32);
}

#endif /* VMM_TRACE_ATOM_SESSION_H */
