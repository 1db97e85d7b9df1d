/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt export of a trace that is not Intel PT's, as one that is. */
#ifndef VMM_CLI_EXPORT_PT_H
#define VMM_CLI_EXPORT_PT_H

#include "export/recast.h"

/* Write it to `out`, and say what it is unless `quiet`. Returns the exit status. */
int cli_export_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet);

/*
 * Convert the trace at @path to Intel PT in a temporary file beside @out, and set *pt to a reader
 * of that file, which the caller closes. Returns CLI_EXIT_OK; or an exit status, after one line,
 * with *pt NULL.
 */
int cli_export_as_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet,
		     struct trace_reader **pt, struct export_recast_report *report);

/* Could all of it be decoded? Else one line, and CLI_EXIT_FAIL. */
int cli_export_pt_errors(const char *path, const struct export_recast_report *report);

#endif /* VMM_CLI_EXPORT_PT_H */
