/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sandbox, as --sandbox asks for it. */
#ifndef VMM_CLI_CONFINE_H
#define VMM_CLI_CONFINE_H

#include <stdbool.h>

#include "sandbox/sandbox.h"

/*
 * Take --sandbox=MODE out of a command line, wherever it is before "--". The last one counts.
 * Returns an exit status, after the one line about a MODE that there is not.
 */
int vpt_confine_take(int *argc, char **argv);

/*
 * Enter the sandbox, unless --sandbox=off was given. Returns an exit status: without
 * --sandbox=on, layers that the kernel lacks are no error.
 */
int vpt_confine(const char *verb, const struct vpt_sandbox_want *want);

/* The same for a verb that only reads files and prints. */
int vpt_confine_reader(const char *verb);

#endif /* VMM_CLI_CONFINE_H */
