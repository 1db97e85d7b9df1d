/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces without a flow, because DisTNT is set or BranchEn is clear. In this case perf shows the
 * packets and walks no code. The export has the first version of each code page, which perf needs
 * for names. The export names one process, the process of the first PIP.
 */
#ifndef VMM_EXPORT_BLIND_H
#define VMM_EXPORT_BLIND_H

#include "export/plan.h"

/* Returns true if a session has DisTNT, or if no session has BranchEn. */
bool export_is_blind(const struct export_lane *lane);

/* Make the plan of such a lane. Returns 0 or -ENOMEM. */
int export_plan_blind(struct export_plan *plan, const struct trace_reader *reader,
		      struct export_lane *lane);

#endif /* VMM_EXPORT_BLIND_H */
