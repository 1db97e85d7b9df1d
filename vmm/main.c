// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt VERB ...: chooses the verb. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/option.h"

#define COMPLETION "--completion="

static void help(FILE *to)
{
	const struct vpt_verb *const *verb;

	fputs("usage: vpt VERB [OPTION]... [FILE]...\n\n", to);
	for (verb = vpt_verbs; *verb; verb++)
		fprintf(to, "  %-8s %s\n", (*verb)->name, (*verb)->summary);
	fputs("\nvpt VERB --help says more of each. Every verb takes --sandbox=MODE, which is "
	      "auto, on\n"
	      "or off.\n",
	      to);
}

/* Returns NULL after one line if there is no such verb. */
static const struct vpt_verb *find(const char *name)
{
	const struct vpt_verb *const *verb;

	for (verb = vpt_verbs; *verb; verb++)
		if (!strcmp(name, (*verb)->name))
			return *verb;
	for (verb = vpt_verbs; *verb; verb++)
		if (vpt_cli_is_near(name, (*verb)->name))
			break;
	if (*verb)
		vpt_fail(VPT_EXIT_USAGE, "%s: no such verb: did you mean %s?", name, (*verb)->name);
	else
		vpt_fail(VPT_EXIT_USAGE, "%s: no such verb: see vpt --help", name);
	return NULL;
}

/* For the build: the shell @name completes command lines of vpt by what is printed. */
static int complete(const char *name)
{
	if (vpt_complete(name))
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE, COMPLETION "%s: not bash or zsh", name);
}

/*
 * Nothing is missing on standard output in silence, whichever verb wrote to it: a write that
 * failed is status 4. Some verbs have said so themselves.
 */
static int check_output(const char *verb, int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (status == VPT_EXIT_HOST)
		return status;
	return vpt_fail(VPT_EXIT_HOST, "%s: standard output cannot be written%s%s", verb,
			errno ? ": " : "", errno ? vpt_cli_reason(errno) : "");
}

static int run(int argc, char **argv)
{
	const struct vpt_verb *verb;

	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		help(stdout);
		return VPT_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("vpt " VPT_VERSION);
		return VPT_EXIT_OK;
	}
	if (!strncmp(argv[1], COMPLETION, strlen(COMPLETION)))
		return complete(argv[1] + strlen(COMPLETION));
	/* vpt help VERB is vpt VERB --help. */
	verb = find(strcmp(argv[1], "help") ? argv[1] : argv[2]);
	if (!verb)
		return VPT_EXIT_USAGE;
	if (strcmp(argv[1], "help"))
		return verb->run(argc - 1, argv + 1);
	vpt_verb_help(verb);
	return VPT_EXIT_OK;
}

int main(int argc, char **argv)
{
	int status;

	/* A file that may not grow further is an error like a full disk, not a death. */
	signal(SIGXFSZ, SIG_IGN);
	status = vpt_confine_take(&argc, argv);
	if (status)
		return status;
	if (argc < 2) {
		help(stderr);
		return VPT_EXIT_USAGE;
	}
	status = run(argc, argv);
	return check_output(argv[1], status == VPT_EXIT_DONE ? VPT_EXIT_OK : status);
}
