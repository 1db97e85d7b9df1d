/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The items of a flow as libipt and perf show them, without the instructions that an event implies.
 * In these decoders, an INT n, or a WRMSR that clears TraceEn, is only an event.
 */
#ifndef VMM_ORACLE_HOLD_H
#define VMM_ORACLE_HOLD_H

#include "decode/flow.h"

/* Zero-initialise it. */
struct oracle_hold {
	struct decode_item held;
	bool holds;
};

/*
 * Return the next item like decode_flow_next(). An instruction waits for the item behind it, and
 * CFEs between the two come first.
 */
int oracle_hold_next(struct oracle_hold *h, struct decode_flow *flow, struct decode_item *item);

#endif /* VMM_ORACLE_HOLD_H */
