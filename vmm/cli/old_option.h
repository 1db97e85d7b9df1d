/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the options of a verb, with messages about wrong ones. */
#ifndef VMM_CLI_OLD_OPTION_H
#define VMM_CLI_OLD_OPTION_H

#include <getopt.h>
#include <stdbool.h>

#include "cli/option.h"

struct vpt_cli_options {
	const char *verb;
	const char *shorts; /* as for getopt_long(), with ':' before the first letter */
	const struct option *longs;
	const char *help; /* of the verb; has a line "--NAME=WORD  text" for each value */
};

/*
 * Return the next option, as getopt_long() does: -1 behind the last one. Returns '?' after the
 * one line about an option that is unknown, abbreviates several, lacks its value, or has one and
 * takes none. The caller sets optind to 0 before the first call.
 */
int vpt_cli_option(const struct vpt_cli_options *o, int argc, char **argv);

/*
 * Print one line about a value of --@option that is none of @words, a list that NULL ends. The line
 * names the word that is near, or else all of them. Returns VPT_EXIT_USAGE.
 */
int vpt_cli_no_word(const char *verb, const char *option, const char *value,
		    const char *const *words);

#endif /* VMM_CLI_OLD_OPTION_H */
