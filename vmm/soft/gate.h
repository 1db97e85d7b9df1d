/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled code knows the trace unit by a few words, which are computed here. */
#ifndef VMM_SOFT_GATE_H
#define VMM_SOFT_GATE_H

#include "soft/soft.h"

/* Return the limit of out.cur for packets of SOFT_PUT bytes. */
static inline const uint8_t *soft_put_limit(const struct vpt_pt *pt)
{
	size_t room = (size_t)(pt->out.end - pt->out.cur);

	if (!(pt->gate.state & VPT_GATE_TIP) || !pt->last_ip_valid ||
	    pt->psb_bytes >= pt->psb_period)
		return NULL;
	if (room > pt->psb_period - pt->psb_bytes)
		room = pt->psb_period - pt->psb_bytes;
	return room > SOFT_PUT ? pt->out.cur + (room - SOFT_PUT) : NULL;
}

/* Whatever may open or close the gate, or change its unit, is followed by this. */
static inline __attribute__((always_inline)) void soft_look_at_gate(struct soft *c)
{
	c->open = c->gate && vpt_gate_is_open(c->gate) ? c->gate : &c->closed.gate;
	/* One more outcome at most doubles them, and adds 1. All values of tnt_full are even. */
	c->tnt_limit = c->open->tnt_full / 2;
	c->put_limit = soft_put_limit(vpt_gate_pt(c->open));
}

#endif /* VMM_SOFT_GATE_H */
