/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a command line: which it reads, which it writes, and that none is both. */
#ifndef VMM_CLI_FILES_H
#define VMM_CLI_FILES_H

#include <stddef.h>

#include "trace/outfile.h"

enum vpt_cli_role {
	VPT_CLI_INPUT,
	VPT_CLI_OUTPUT, /* written beside or in place, or a directory */
	VPT_CLI_TRACE,	/* an output with a part file */
};

struct vpt_cli_file {
	enum vpt_cli_role role;
	const char *name; /* of the option or operand: "--output", "GUEST" */
	const char *path; /* NULL: not given */
};

/*
 * Refuse an output that is an input, or another output, under whatever name. Devices and pipes
 * may be given twice. To be called before any file is opened for writing. Returns VPT_EXIT_OK,
 * or VPT_EXIT_USAGE after the one line was printed.
 */
int vpt_cli_files_check(const char *verb, const struct vpt_cli_file *files, size_t count);

/*
 * Begin to write an output, and report where the part file of an earlier run is now. Returns
 * VPT_EXIT_OK, or VPT_EXIT_HOST after the one line was printed.
 */
int vpt_cli_output(const char *verb, const char *path, enum vpt_outfile_kind kind,
		   struct vpt_outfile *o);

/*
 * End it. vpt_cli_commit() gives it its name: VPT_EXIT_OK, or VPT_EXIT_HOST after the one line
 * was printed, which says where the output is now. vpt_cli_keep() leaves a part file,
 * vpt_cli_drop() nothing. All do nothing to an output that is all zero or was ended.
 */
int vpt_cli_commit(const char *verb, struct vpt_outfile *o);
void vpt_cli_keep(struct vpt_outfile *o);
void vpt_cli_drop(struct vpt_outfile *o);

#endif /* VMM_CLI_FILES_H */
