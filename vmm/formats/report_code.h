/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the report: functions with their instructions, counts and branches, as JSON. */
#ifndef VMM_FORMATS_REPORT_CODE_H
#define VMM_FORMATS_REPORT_CODE_H

#include "formats/walk.h"

struct format_report_code;

/*
 * Count the part of a trace that @walk selects, and open its code as of the end of the trace. The
 * reader and the symbols of @walk must outlive *code. Returns 0 or -errno.
 */
int format_report_code_open(const struct format_walk *walk, struct format_report_code **code);
void format_report_code_close(struct format_report_code *code);

struct format_report_source;

/*
 * Write the function at @start as members of a JSON object. It ends with its symbol. Without a
 * symbol it ends before @limit. At most @rows rows are written, and *wrote is their number. Source
 * lines are noted in @source, or NULL. Returns 0 or -ENOMEM.
 */
int format_report_code_write(struct format_report_code *code, struct format_report_source *source,
			     FILE *out, uint64_t start, uint64_t limit, unsigned int rows,
			     unsigned int *wrote);

#endif /* VMM_FORMATS_REPORT_CODE_H */
