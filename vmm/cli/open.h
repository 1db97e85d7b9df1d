/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verbs that read a trace file have in common. */
#ifndef VMM_CLI_OPEN_H
#define VMM_CLI_OPEN_H

#include "trace/reader.h"

/*
 * Open a trace. If there is none but its part file, as while vpt run writes it or after it was
 * killed, that is read. If there are both, a line on standard error names the part. Returns
 * CLI_EXIT_OK, or an exit status after the one line was printed. @how is of enum
 * trace_reader_how. @hint follows in that line if the file is not a trace; NULL: none.
 */
int cli_open_or(const char *verb, const char *path, unsigned int how, const char *hint,
		struct trace_reader **reader);
int cli_open(const char *verb, const char *path, unsigned int how, struct trace_reader **reader);

/*
 * The status for a file that could not be opened or read, by -errno: CLI_EXIT_HOST if there
 * was no memory, which says nothing about the file; else CLI_EXIT_INPUT.
 */
int cli_input_status(int err);

/*
 * CLI_EXIT_OK if the file is whole. CLI_EXIT_INPUT, after the one line was printed, if
 * it ends early, as when its writer was killed, or is damaged: a script that goes by the
 * exit status must not take a part for all. That comes before any other complaint about what
 * the file holds, which may be a consequence.
 */
int cli_whole(const char *verb, const char *path, const struct trace_reader *reader);

/*
 * Returns a line about a trace without a byte and without a session, of a guest that owned the
 * trace system and never enabled it. NULL: the trace is of another kind.
 */
const char *cli_empty(const struct trace_reader *reader);

#endif /* VMM_CLI_OPEN_H */
