/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversion of a trace of another trace system to Intel PT, for vpt export. */
#ifndef VMM_CLI_EXPORT_PT_H
#define VMM_CLI_EXPORT_PT_H

#include "export/recast.h"

/* Write the converted trace to @out, and print a summary unless @quiet. Returns the exit status. */
int cli_export_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet);

/*
 * Convert the trace at @path to Intel PT in a temporary file beside @out, and set *pt to a reader
 * of that file. The caller closes the reader. Otherwise return an exit status after one line, with
 * *pt NULL.
 */
int cli_export_as_pt(const char *path, struct trace_reader *reader, const char *out, bool quiet,
		     struct trace_reader **pt, struct export_recast_report *report);

/*
 * Returns CLI_EXIT_OK if all of the trace was decoded. Otherwise prints one line and returns
 * CLI_EXIT_FAIL.
 */
int cli_export_pt_errors(const char *path, const struct export_recast_report *report);

#endif /* VMM_CLI_EXPORT_PT_H */
