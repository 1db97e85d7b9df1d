/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input and output files of a command line. No file may be both. */
#ifndef VMM_CLI_FILES_H
#define VMM_CLI_FILES_H

#include <stddef.h>

#include "trace/outfile.h"

enum cli_role {
	CLI_INPUT,
	CLI_OUTPUT, /* written beside the old file or in place, or a directory */
	CLI_TRACE,  /* an output with a part file */
};

struct cli_file {
	enum cli_role role;
	const char *name; /* name of the option or operand: "--output", "GUEST" */
	const char *path; /* NULL if not given */
};

/*
 * Refuse an output that is also an input or another output, under any name. Devices and pipes may
 * be given twice. Call this before any file is opened for writing. Returns CLI_EXIT_OK, or
 * CLI_EXIT_USAGE after one line.
 */
int cli_files_check(const char *verb, const struct cli_file *files, size_t count);

/*
 * Begin to write an output, and report the new name of the part file of an earlier run. Returns
 * CLI_EXIT_OK, or CLI_EXIT_HOST after one line.
 */
int cli_output(const char *verb, const char *path, enum trace_outfile_kind kind,
	       struct trace_outfile *o);

/*
 * End an output. cli_commit() gives it its name, and returns CLI_EXIT_OK. Otherwise it returns
 * CLI_EXIT_HOST after one line that says where the output is now. cli_keep() leaves a part file,
 * and cli_drop() leaves nothing. None of them changes an output that is all zero or has ended.
 */
int cli_commit(const char *verb, struct trace_outfile *o);
void cli_keep(struct trace_outfile *o);
void cli_drop(struct trace_outfile *o);

#endif /* VMM_CLI_FILES_H */
