// SPDX-License-Identifier: GPL-2.0-or-later
/* --sandbox, an option that every verb has. */
#include "cli/confine.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/old_option.h"

#define OPTION "--sandbox"

static enum { WHERE_POSSIBLE, ON, OFF } mode;

static int take_mode(const char *verb, const char *text)
{
	static const char *const words[] = {"auto", "on", "off", NULL};
	unsigned int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i])) {
			mode = i;
			return VPT_EXIT_OK;
		}
	return vpt_cli_no_word(verb, "sandbox", text, words);
}

int vpt_confine_take(int *argc, char **argv)
{
	const char *verb = "--help";
	int from, to = 1, status = VPT_EXIT_OK;
	bool ended = false;

	for (from = *argc - 1; from > 0; from--)
		if (argv[from][0] != '-')
			verb = argv[from];
	for (from = 1; from < *argc; from++) {
		ended |= !strcmp(argv[from], "--");
		if (!ended && !strcmp(argv[from], OPTION))
			status = vpt_fail(VPT_EXIT_USAGE,
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

int vpt_confine(const char *verb, const struct vpt_sandbox_want *want)
{
	static const char *const names[] = {"capabilities", "seccomp", "Landlock"};
	unsigned int layers, i;
	int error;

	if (mode == OFF)
		return VPT_EXIT_OK;
	layers = vpt_sandbox_enter(want, &error);
	if (mode != ON || layers == VPT_SANDBOX_ALL)
		return VPT_EXIT_OK;
	for (i = 0; layers & 1u << i; i++)
		;
	return vpt_fail(VPT_EXIT_HOST, "%s: --sandbox=on: %s: %s: without it, use --sandbox=auto",
			verb, names[i], strerror(-error));
}

int vpt_confine_reader(const char *verb)
{
	static const struct vpt_sandbox_want nothing = {.output = {NULL}};

	return vpt_confine(verb, &nothing);
}
