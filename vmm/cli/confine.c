// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --sandbox of every verb. */
#include "cli/confine.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"

static unsigned int mode;

enum { WHERE_POSSIBLE, ON, OFF };

static const char *const modes[] = {[WHERE_POSSIBLE] = "auto", [ON] = "on", [OFF] = "off", NULL};

const struct cli_option cli_option_sandbox[] = {
	{0, "sandbox", "=MODE", "drop privileges that the verb does not need: auto, on or off",
	 .take = cli_take_word, .words = modes},
	CLI_OPTION_END,
};

static int take_mode(const char *name, char *text)
{
	const struct cli_verb verb = {.name = name};
	const struct cli_given g = {&verb, cli_option_sandbox, text, NULL, &mode};

	return cli_take_word(&g);
}

#define OPTION "--sandbox"

int cli_confine_take(int *argc, char **argv)
{
	const char *verb = "--help";
	int from, to = 1, status = CLI_EXIT_OK;
	bool ended = false;

	for (from = *argc - 1; from > 0; from--)
		if (argv[from][0] != '-')
			verb = argv[from];
	for (from = 1; from < *argc; from++) {
		ended |= !strcmp(argv[from], "--");
		if (!ended && !strcmp(argv[from], OPTION))
			status = cli_fail(CLI_EXIT_USAGE,
					  "%s: " OPTION ": give a mode: " OPTION "=auto, on or off",
					  verb);
		if (!ended && !strncmp(argv[from], OPTION "=", sizeof(OPTION))) {
			if (!status)
				status = take_mode(verb, argv[from] + sizeof(OPTION));
			continue;
		}
		argv[to++] = argv[from];
	}
	argv[to] = NULL;
	*argc = to;
	return status;
}

int cli_confine(const char *verb, const struct sandbox_want *want)
{
	static const char *const names[] = {"capabilities", "seccomp", "Landlock"};
	unsigned int layers, i;
	int error;

	if (mode == OFF)
		return CLI_EXIT_OK;
	layers = sandbox_enter(want, &error);
	if (mode != ON || layers == SANDBOX_ALL)
		return CLI_EXIT_OK;
	for (i = 0; layers & 1u << i; i++)
		;
	return cli_fail(CLI_EXIT_HOST, "%s: --sandbox=on: %s: %s: without it, use --sandbox=auto",
			verb, names[i], strerror(-error));
}

int cli_confine_reader(const char *verb)
{
	static const struct sandbox_want nothing = {.output = {NULL}};

	return cli_confine(verb, &nothing);
}
