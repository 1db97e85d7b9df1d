/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces without a flow, because of DisTNT or without BranchEn. perf shows the packets and walks no
 * code. It gets the code as it was first, for the names. It is told of one process, that of the
 * first PIP.
 */
#ifndef VMM_EXPORT_BLIND_H
#define VMM_EXPORT_BLIND_H

#include "export/plan.h"

/* Has a session DisTNT, or none BranchEn? */
bool export_is_blind(const struct export_lane *lane);

/* Make the plan of such a lane. Returns 0 or -ENOMEM. */
int export_plan_blind(struct export_plan *plan, const struct trace_reader *reader,
		      struct export_lane *lane);

#endif /* VMM_EXPORT_BLIND_H */
