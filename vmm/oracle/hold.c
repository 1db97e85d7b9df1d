// SPDX-License-Identifier: GPL-2.0-or-later
/* Holds an instruction back until it is known whether the next event implies it. */
#include "oracle/hold.h"

int oracle_hold_next(struct oracle_hold *h, struct decode_flow *flow, struct decode_item *item)
{
	for (;;) {
		int err;

		if (h->holds && h->held.kind != DECODE_ITEM_INSN) {
			*item = h->held;
			h->holds = false;
			return 0;
		}
		err = decode_flow_next(flow, item);
		if (err)
			return err;
		if (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_CFE)
			return 0;
		if (h->holds && item->kind == DECODE_ITEM_EVENT && item->shown)
			h->holds = false;
		if (h->holds) {
			struct decode_item next = *item;

			*item = h->held;
			h->held = next;
			return 0;
		}
		if (item->kind != DECODE_ITEM_INSN)
			return 0;
		h->held = *item;
		h->holds = true;
	}
}
