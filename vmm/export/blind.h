/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces from which the flow cannot be worked out, because of DisTNT or without BranchEn:
 * perf shows what packets tell, and walks no code. It gets the code all the same, as it was
 * first, for the names; and it is told of one process, the first that a PIP shows.
 */
#ifndef VMM_EXPORT_BLIND_H
#define VMM_EXPORT_BLIND_H

#include "export/plan.h"

/* Has a session DisTNT, or none BranchEn? */
bool export_is_blind(const struct export_lane *lane);

/* What the plan has of such a lane. 0 or -ENOMEM. */
int export_plan_blind(struct export_plan *plan, const struct trace_reader *reader,
		      struct export_lane *lane);

#endif /* VMM_EXPORT_BLIND_H */
