/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a command line: which it reads, which it writes, and that none is both. */
#ifndef VMM_CLI_FILES_H
#define VMM_CLI_FILES_H

#include <stddef.h>

#include "trace/outfile.h"

enum cli_role {
	CLI_INPUT,
	CLI_OUTPUT, /* written beside or in place, or a directory */
	CLI_TRACE,  /* an output with a part file */
};

struct cli_file {
	enum cli_role role;
	const char *name; /* of the option or operand: "--output", "GUEST" */
	const char *path; /* NULL: not given */
};

/*
 * Refuse an output that is an input, or another output, under whatever name. Devices and pipes
 * may be given twice. To be called before any file is opened for writing. Returns CLI_EXIT_OK,
 * or CLI_EXIT_USAGE after the one line was printed.
 */
int cli_files_check(const char *verb, const struct cli_file *files, size_t count);

/*
 * Begin to write an output, and report where the part file of an earlier run is now. Returns
 * CLI_EXIT_OK, or CLI_EXIT_HOST after the one line was printed.
 */
int cli_output(const char *verb, const char *path, enum trace_outfile_kind kind,
	       struct trace_outfile *o);

/*
 * End it. cli_commit() gives it its name: CLI_EXIT_OK, or CLI_EXIT_HOST after the one line
 * was printed, which says where the output is now. cli_keep() leaves a part file,
 * cli_drop() nothing. All do nothing to an output that is all zero or was ended.
 */
int cli_commit(const char *verb, struct trace_outfile *o);
void cli_keep(struct trace_outfile *o);
void cli_drop(struct trace_outfile *o);

#endif /* VMM_CLI_FILES_H */
