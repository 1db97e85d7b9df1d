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

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} verbs[] = {
	{"run", vpt_cmd_run, "run a guest and record its trace"},
	{"record", vpt_cmd_record, "record this machine and its guests by its own PT"},
	{"restore", vpt_cmd_restore, "go on from a snapshot"},
	{"snapshot", vpt_cmd_snapshot, "what a snapshot holds"},
	{"caps", vpt_cmd_caps, "what this machine can do"},
	{"dump", vpt_cmd_dump, "the packets of a trace"},
	{"decode", vpt_cmd_decode, "the instructions, calls or coverage of a trace"},
	{"verify", vpt_cmd_verify, "check a trace against what really ran"},
	{"info", vpt_cmd_info, "what a trace file holds"},
	{"import", vpt_cmd_import, "a trace of perf's, or packets alone, as a .vpt file"},
	{"export", vpt_cmd_export, "a trace for other tools: perf, or RTIT as PT"},
	{"pack", vpt_cmd_pack, "a trace written anew, compressed or not"},
	{"lockstep", vpt_cmd_lockstep, "run a guest on two engines and compare each instruction"},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void help(FILE *to)
{
	size_t i;

	fputs("usage: vpt VERB [OPTION]... [FILE]...\n\n", to);
	for (i = 0; i < VERBS; i++)
		fprintf(to, "  %-8s %s\n", verbs[i].name, verbs[i].what);
	fputs("\nvpt VERB --help says more of each. Every verb takes --sandbox=MODE, which is "
	      "auto, on\n"
	      "or off.\n",
	      to);
}

static int unknown(const char *word)
{
	size_t i;

	for (i = 0; i < VERBS; i++)
		if (vpt_cli_is_near(word, verbs[i].name))
			return vpt_fail(VPT_EXIT_USAGE, "%s: no such verb: did you mean %s?", word,
					verbs[i].name);
	return vpt_fail(VPT_EXIT_USAGE, "%s: no such verb: see vpt --help", word);
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
	size_t i;

	/* vpt help VERB is vpt VERB --help. */
	if (!strcmp(argv[1], "help") && argc > 2) {
		char *swapped[] = {argv[2], (char *)"--help", NULL};

		for (i = 0; i < VERBS; i++)
			if (!strcmp(argv[2], verbs[i].name))
				return verbs[i].run(2, swapped);
		return unknown(argv[2]);
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help(stdout);
		return VPT_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("vpt " VPT_VERSION);
		return VPT_EXIT_OK;
	}
	for (i = 0; i < VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	return unknown(argv[1]);
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
