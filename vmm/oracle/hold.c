// SPDX-License-Identifier: GPL-2.0-or-later
/* Hold an instruction back until it is known whether an event stands for it. */
#include "hold.h"

int vpt_hold_next(struct vpt_hold *h, struct vpt_flow *flow, struct vpt_item *item)
{
	for (;;) {
		int err;

		if (h->holds && h->held.kind != VPT_ITEM_INSN) {
			*item = h->held;
			h->holds = false;
			return 0;
		}
		err = vpt_flow_next(flow, item);
		if (err)
			return err;
		if (item->kind == VPT_ITEM_EVENT && item->event == VPT_FLOW_CFE)
			return 0;
		if (h->holds && item->kind == VPT_ITEM_EVENT && item->shown)
			h->holds = false;
		if (h->holds) {
			struct vpt_item next = *item;

			*item = h->held;
			h->held = next;
			return 0;
		}
		if (item->kind != VPT_ITEM_INSN)
			return 0;
		h->held = *item;
		h->holds = true;
	}
}
