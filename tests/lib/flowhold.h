/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items of a flow without the instructions that its events stand for: a walk (walk.h) has events
 * alone, since packets do not tell an INT n that ran from one that was interrupted.
 */
#ifndef TESTS_LIB_FLOWHOLD_H
#define TESTS_LIB_FLOWHOLD_H

#include "decode/flow.h"

/* All zero at first. */
struct flowhold {
	struct vpt_item held;
	bool holds;
};

/* As vpt_flow_next(). An instruction waits for what follows it; CFEs between the two go first. */
static inline int flowhold_next(struct flowhold *h, struct vpt_flow *flow, struct vpt_item *item)
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

#endif /* TESTS_LIB_FLOWHOLD_H */
