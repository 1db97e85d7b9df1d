// SPDX-License-Identifier: GPL-2.0-or-later
/* --sandbox, an option that every verb has. */
#include "cli/confine.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"

static unsigned int mode;

enum { WHERE_POSSIBLE, ON, OFF };

static const char *const modes[] = {[WHERE_POSSIBLE] = "auto", [ON] = "on", [OFF] = "off", NULL};

const struct vpt_option vpt_option_sandbox[] = {
	{0, "sandbox", "=MODE",
	 "give up what the verb does not need of the system: auto, on or off",
	 .take = vpt_take_word, .words = modes},
	VPT_OPTION_END,
};

static int take_mode(const char *name, char *text)
{
	const struct vpt_verb verb = {.name = name};
	const struct vpt_given g = {&verb, vpt_option_sandbox, text, NULL, &mode};

	return vpt_take_word(&g);
}

#define OPTION "--sandbox"

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
