/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sandbox as selected by --sandbox. */
#ifndef VMM_CLI_CONFINE_H
#define VMM_CLI_CONFINE_H

#include <stdbool.h>

#include "sandbox/sandbox.h"

/*
 * Remove each --sandbox=MODE before "--" from a command line. The last one takes effect. Returns an
 * exit status, after one line if MODE is unknown.
 */
int cli_confine_take(int *argc, char **argv);

/*
 * Enter the sandbox, unless --sandbox=off was given. Returns an exit status. A layer that the
 * kernel lacks is an error only with --sandbox=on.
 */
int cli_confine(const char *verb, const struct sandbox_want *want);

/* Enter the sandbox of a verb that only reads files and prints. */
int cli_confine_reader(const char *verb);

#endif /* VMM_CLI_CONFINE_H */
