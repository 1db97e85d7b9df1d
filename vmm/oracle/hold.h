/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Items of a flow without the instructions that its events stand for, as libipt and perf show them.
 * For these, an INT n, or a WRMSR that clears TraceEn, is an event alone.
 */
#ifndef VMM_ORACLE_HOLD_H
#define VMM_ORACLE_HOLD_H

#include "decode/flow.h"

/* All zero at first. */
struct oracle_hold {
	struct decode_item held;
	bool holds;
};

/*
 * The same as decode_flow_next(), but an instruction waits for the item behind it, and CFEs between
 * the two go first.
 */
int oracle_hold_next(struct oracle_hold *h, struct decode_flow *flow, struct decode_item *item);

#endif /* VMM_ORACLE_HOLD_H */
