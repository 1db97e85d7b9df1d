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

/* Print one line about a name that is no verb of this build. Returns the exit status. */
static int fail_verb(const char *name)
{
	const struct cli_verb *const *verb;
	const char *const *absent;

	for (absent = cli_verbs_absent; *absent; absent++)
		if (!strcmp(name, *absent))
			return cli_fail(CLI_EXIT_HOST,
					"%s: this build has no software CPU, no KVM and no PT "
					"hardware: use vpt on x86-64",
					name);
	for (verb = cli_verbs; *verb; verb++)
		if (cli_is_near(name, (*verb)->name))
			break;
	if (*verb)
		return cli_fail(CLI_EXIT_USAGE, "%s: no such verb: did you mean %s?", name,
				(*verb)->name);
	return cli_fail(CLI_EXIT_USAGE, "%s: no such verb: see vpt --help", name);
}

/* Returns NULL if this build has no such verb. */
static const struct cli_verb *find(const char *name)
{
	const struct cli_verb *const *verb;

	for (verb = cli_verbs; *verb; verb++)
		if (!strcmp(name, (*verb)->name))
			return *verb;
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
	const char *name;

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
	name = strcmp(argv[1], "help") ? argv[1] : argv[2];
	verb = find(name);
	if (!verb)
		return fail_verb(name);
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
