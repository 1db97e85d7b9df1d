/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items of a flow without the instructions that its events stand for, as libipt and perf show them.
 * For these, an INT n, or a WRMSR that clears TraceEn, is an event alone.
 */
#ifndef VMM_ORACLE_HOLD_H
#define VMM_ORACLE_HOLD_H

#include "decode/flow.h"

/* All zero at first. */
struct vpt_hold {
	struct vpt_item held;
	bool holds;
};

/*
 * The same as vpt_flow_next(), but an instruction waits for the item behind it, and CFEs between
 * the two go first.
 */
int vpt_hold_next(struct vpt_hold *h, struct vpt_flow *flow, struct vpt_item *item);

#endif /* VMM_ORACLE_HOLD_H */
