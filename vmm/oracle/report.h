/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for people and for programs. */
#ifndef VMM_ORACLE_REPORT_H
#define VMM_ORACLE_REPORT_H

#include "compare.h"
#include "decode/listing.h"

/*
 * The first difference, with its context. Lines that both have come first. A line with "-" ran and
 * is not in the trace, and one with "+" is in the trace and did not run.
 */
void vpt_report_diff(struct vpt_listing *l, const struct vpt_diff *diff);

/* Loops of direct branches, if there are any. */
void vpt_report_loops(struct vpt_listing *l, const struct vpt_comparison *c);

/* Sessions of which the trace has a part only. */
void vpt_report_shortfalls(FILE *out, const struct vpt_comparison *c);

/* All of it as one JSON object on a line. */
void vpt_report_json(FILE *out, const struct vpt_comparison *c);

#endif /* VMM_ORACLE_REPORT_H */
