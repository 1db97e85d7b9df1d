/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw mode of a terminal, which ends with the process in any case. A child process, the keeper,
 * restores the settings when its pipe to this process closes. So a crash, SIGKILL and the sandbox,
 * which refuses such changes, leave no raw terminal behind.
 */
#ifndef VMM_CLI_RAW_H
#define VMM_CLI_RAW_H

#include <sys/types.h>

struct cli_raw {
	pid_t keeper; /* 0 if the terminal is not raw */
	int pipe;
};

/* Make the terminal @fd raw, except for its output. Returns 0 or -errno. */
int cli_raw_begin(struct cli_raw *raw, int fd);
/* Discard what was typed and not read, and restore the terminal. */
void cli_raw_end(struct cli_raw *raw);

#endif /* VMM_CLI_RAW_H */
