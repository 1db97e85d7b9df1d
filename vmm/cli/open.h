/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common functions of the verbs that read a trace file. */
#ifndef VMM_CLI_OPEN_H
#define VMM_CLI_OPEN_H

#include "trace/reader.h"

/*
 * Open a trace. If only its part file exists, open that; vpt run is still writing it or was killed.
 * If both exist, one line on standard error names the part file. Returns CLI_EXIT_OK, or an exit
 * status after one line. @how is of enum trace_reader_how. @hint follows in that line if the file
 * is not a trace; it may be NULL.
 */
int cli_open_or(const char *verb, const char *path, unsigned int how, const char *hint,
		struct trace_reader **reader);
int cli_open(const char *verb, const char *path, unsigned int how, struct trace_reader **reader);

/*
 * Returns TRACE_READER_WINDOW for a large file, whose streams would take much memory, or else 0. Reading
 * in windows takes longer, because each byte is read twice.
 */
unsigned int cli_open_window(const char *path);

/*
 * Return the path of the file that grows: the part file if a run is writing it or if it is alone,
 * or else @path. The caller frees it. Returns NULL if there is no memory.
 */
char *cli_growing_name(const char *path);

/*
 * Return the status for a file that could not be opened or read, by -errno. The status is
 * CLI_EXIT_HOST if there was no memory, which does not depend on the file. Otherwise it is
 * CLI_EXIT_INPUT.
 */
int cli_input_status(int err);

/*
 * Returns CLI_EXIT_OK if the file is complete. Returns CLI_EXIT_INPUT, after one line, if the file
 * ends early or is damaged. A script that checks the exit status must not mistake a part for the
 * whole. Report this before any other error in the contents, which may be a consequence.
 */
int cli_whole(const char *verb, const char *path, const struct trace_reader *reader);

/*
 * Returns a line about a trace without a byte and without a session, if the guest owned the trace
 * system and never enabled it. Returns NULL for every other trace.
 */
const char *cli_empty(const struct trace_reader *reader);

#endif /* VMM_CLI_OPEN_H */
