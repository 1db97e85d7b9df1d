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
	const struct cli_verb *const *verb;

	fputs("usage: vpt VERB [OPTION]... [FILE]...\n\n", to);
	for (verb = cli_verbs; *verb; verb++)
		fprintf(to, "  %-8s %s\n", (*verb)->name, (*verb)->summary);
	fputs("\n"
	      "vpt VERB --help describes a verb. Every verb accepts --sandbox=MODE, which is auto\n"
	      "(default), on or off.\n",
	      to);
}

/* Returns NULL after one line if there is no such verb. */
static const struct cli_verb *find(const char *name)
{
	const struct cli_verb *const *verb;

	for (verb = cli_verbs; *verb; verb++)
		if (!strcmp(name, (*verb)->name))
			return *verb;
	for (verb = cli_verbs; *verb; verb++)
		if (cli_is_near(name, (*verb)->name))
			break;
	if (*verb)
		cli_fail(CLI_EXIT_USAGE, "%s: no such verb: did you mean %s?", name, (*verb)->name);
	else
		cli_fail(CLI_EXIT_USAGE, "%s: no such verb: see vpt --help", name);
	return NULL;
}

/* For the build: the shell @name completes command lines of vpt by what is printed. */
static int complete(const char *name)
{
	if (cli_complete(name))
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_USAGE, COMPLETION "%s: not bash or zsh", name);
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
	if (status == CLI_EXIT_HOST)
		return status;
	return cli_fail(CLI_EXIT_HOST, "%s: standard output cannot be written%s%s", verb,
			errno ? ": " : "", errno ? cli_reason(errno) : "");
}

static int run(int argc, char **argv)
{
	const struct cli_verb *verb;

	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		help(stdout);
		return CLI_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("vpt " VPT_VERSION);
		return CLI_EXIT_OK;
	}
	if (!strncmp(argv[1], COMPLETION, strlen(COMPLETION)))
		return complete(argv[1] + strlen(COMPLETION));
	/* vpt help VERB is vpt VERB --help. */
	verb = find(strcmp(argv[1], "help") ? argv[1] : argv[2]);
	if (!verb)
		return CLI_EXIT_USAGE;
	if (strcmp(argv[1], "help"))
		return verb->run(argc - 1, argv + 1);
	cli_verb_help(verb);
	return CLI_EXIT_OK;
}

int main(int argc, char **argv)
{
	int status;

	/* A file that may not grow further is an error like a full disk, not a death. */
	signal(SIGXFSZ, SIG_IGN);
	status = cli_confine_take(&argc, argv);
	if (status)
		return status;
	if (argc < 2) {
		help(stderr);
		return CLI_EXIT_USAGE;
	}
	status = run(argc, argv);
	return check_output(argv[1], status == CLI_EXIT_DONE ? CLI_EXIT_OK : status);
}
