/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison, as text and as JSON. */
#ifndef VMM_ORACLE_REPORT_H
#define VMM_ORACLE_REPORT_H

#include "oracle/compare.h"
#include "decode/listing.h"

/*
 * Print the first difference, with its context. Common lines come first. A line with "-" ran and is
 * not in the trace, and one with "+" is in the trace and did not run.
 */
void oracle_report_diff(struct decode_listing *l, const struct oracle_diff *diff);

/* Print the loops of direct branches, if there are any. */
void oracle_report_loops(struct decode_listing *l, const struct oracle_comparison *c);

/* Print the sessions that are only partly in the trace. */
void oracle_report_shortfalls(FILE *out, const struct oracle_comparison *c);

/* Print everything as one line of JSON. */
void oracle_report_json(FILE *out, const struct oracle_comparison *c);

#endif /* VMM_ORACLE_REPORT_H */
