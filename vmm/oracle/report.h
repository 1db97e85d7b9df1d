/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for people and for programs. */
#ifndef VMM_ORACLE_REPORT_H
#define VMM_ORACLE_REPORT_H

#include "oracle/compare.h"
#include "decode/listing.h"

/*
 * The first difference, with its context. Lines that both have come first. A line with "-" ran and
 * is not in the trace, and one with "+" is in the trace and did not run.
 */
void oracle_report_diff(struct decode_listing *l, const struct oracle_diff *diff);

/* Loops of direct branches, if there are any. */
void oracle_report_loops(struct decode_listing *l, const struct oracle_comparison *c);

/* Sessions of which the trace has a part only. */
void oracle_report_shortfalls(FILE *out, const struct oracle_comparison *c);

/* All of it as one JSON object on a line. */
void oracle_report_json(FILE *out, const struct oracle_comparison *c);

#endif /* VMM_ORACLE_REPORT_H */
