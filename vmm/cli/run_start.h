/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of a Linux guest in a snapshot: the options of vpt run, and the names of the kernel and
 * the initrd with checksums. A reset after vpt restore loads them again.
 */
#ifndef VMM_CLI_RUN_START_H
#define VMM_CLI_RUN_START_H

#include "cli/run.h"
#include "cli/run_guest.h"

/*
 * Describe the start of a guest that a reset restarts. Returns 0, or -errno: -E2BIG if the options
 * are too long. Call cli_run_start_free() after it.
 */
int cli_run_start_describe(struct cli_run_start *start, const struct cli_run_options *o,
			   const struct cli_run_guest *guest);
void cli_run_start_free(struct cli_run_start *start);

/* A start that was read from a snapshot. */
struct cli_run_restart {
	struct cli_run_options o;
	struct cli_run_replay files; /* the identities of the kernel and the initrd */
	struct trace_file_ref ref[2];
	struct cli_run_guest guest; /* valid if `opened` */
	bool opened;
	char *text, **argv;
	char name[2][TRACE_REF_NAME_MAX + 1];
};

/*
 * Read the start of a machine with the options @machine from a snapshot, which is not trusted.
 * Returns an exit status. Call cli_run_restart_close() in any case.
 */
int cli_run_restart_read(struct cli_run_restart *r, const void *bytes, size_t len,
			 const struct cli_run_options *machine, const char *path);
/* Open the files, and compare them with those of the snapshot. Returns an exit status. */
int cli_run_restart_open(struct cli_run_restart *r);
void cli_run_restart_close(struct cli_run_restart *r);

/* run.c: load the guest of a machine that was reset, and start a host's trace. */
int cli_run_load_again(struct cli_run_machine *m, const struct cli_run_guest *guest,
		       const struct cli_run_options *o);

#endif /* VMM_CLI_RUN_START_H */
