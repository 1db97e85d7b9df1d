/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of the vpt command. Each verb receives argv from its own name on. */
#ifndef VMM_CLI_CLI_H
#define VMM_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses. */
enum cli_exit_status {
	CLI_EXIT_DONE = -1, /* 0, and the command is complete: --help was printed */
	CLI_EXIT_OK = 0,
	CLI_EXIT_FAIL = 1,    /* the work was done and its result is negative */
	CLI_EXIT_USAGE = 2,   /* the command line is wrong */
	CLI_EXIT_INPUT = 3,   /* a file or guest is invalid */
	CLI_EXIT_HOST = 4,    /* this machine lacks a resource: KVM, space, ... */
	CLI_EXIT_PARTIAL = 5, /* the result is positive as far as this machine could check */
	CLI_EXIT_FORMAT = 6,  /* the result is positive as far as the trace's format can show */
};

int cli_cmd_run(int argc, char **argv);
int cli_cmd_caps(int argc, char **argv);
int cli_cmd_dump(int argc, char **argv);
int cli_cmd_decode(int argc, char **argv);
int cli_cmd_verify(int argc, char **argv);
int cli_cmd_info(int argc, char **argv);
int cli_cmd_lockstep(int argc, char **argv);
int cli_cmd_record(int argc, char **argv);
int cli_cmd_restore(int argc, char **argv);
int cli_cmd_replay(int argc, char **argv);
int cli_cmd_gdb(int argc, char **argv);
int cli_cmd_import(int argc, char **argv);
int cli_cmd_export(int argc, char **argv);
int cli_cmd_report(int argc, char **argv);
int cli_cmd_diff(int argc, char **argv);
int cli_cmd_snapshot(int argc, char **argv);
int cli_cmd_pack(int argc, char **argv);
int cli_cmd_refine(int argc, char **argv);
int cli_cmd_shard(int argc, char **argv);
int cli_cmd_monitor(int argc, char **argv);
int cli_cmd_top(int argc, char **argv);
int cli_cmd_fuzz_server(int argc, char **argv);

/*
 * Print the one line for an error on stderr: "vpt VERB: what: where: what to do". Returns @status,
 * so that a verb can end with `return cli_fail(...)`.
 */
int cli_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write the lines of errors to @text of @size bytes instead of stderr, without "vpt ". The last one
 * counts. NULL ends this.
 */
void cli_fail_keep(char *text, size_t size);

/*
 * Return the text of an errno. For a file that is too large, the text has the limit as the shell's
 * ulimit -f shows it. Valid until the next call.
 */
const char *cli_reason(int error);

#endif /* VMM_CLI_CLI_H */
