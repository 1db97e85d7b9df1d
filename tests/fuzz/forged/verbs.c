// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls a verb of vpt in this process and judges its answer. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "fuzz/forged/forged.h"

#define WORDS_MAX 24

const char *const forged_names[FORGED_VERBS] = {"info", "dump",	  "decode",   "verify",	 "export",
						"pack", "refine", "snapshot", "restore", "run"};

static const struct {
	int (*run)(int argc, char **argv);
	unsigned int statuses; /* that a bad file can have: a bit for each */
} verbs[FORGED_VERBS] = {
	[FORGED_INFO] = {cli_cmd_info, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_INPUT},
	[FORGED_DUMP] = {cli_cmd_dump, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL | 1 << CLI_EXIT_INPUT},
	/* Some options do not fit every file, such as --pti and --to=pt: status 2. */
	[FORGED_DECODE] = {cli_cmd_decode, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL |
						   1 << CLI_EXIT_USAGE | 1 << CLI_EXIT_INPUT},
	[FORGED_VERIFY] = {cli_cmd_verify, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL |
						   1 << CLI_EXIT_INPUT | 1 << CLI_EXIT_PARTIAL |
						   1 << CLI_EXIT_FORMAT},
	[FORGED_EXPORT] = {cli_cmd_export, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL |
						   1 << CLI_EXIT_USAGE | 1 << CLI_EXIT_INPUT},
	[FORGED_PACK] = {cli_cmd_pack, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_INPUT},
	/* No file is written where nothing better was found: status 1. */
	[FORGED_REFINE] = {cli_cmd_refine,
			   1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL | 1 << CLI_EXIT_INPUT},
	[FORGED_SNAPSHOT] = {cli_cmd_snapshot, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_INPUT},
	/* A forged count of instructions can be above that of --snapshot-at: status 2. */
	[FORGED_RESTORE] = {cli_cmd_restore, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL |
						     1 << CLI_EXIT_USAGE | 1 << CLI_EXIT_INPUT},
	[FORGED_RUN] = {cli_cmd_run, 1 << CLI_EXIT_OK | 1 << CLI_EXIT_FAIL | 1 << CLI_EXIT_INPUT},
};

/* Standard output and standard error of the verbs. */
static struct {
	int fd;
	char *text;
	size_t len, room;
} printed[2];

void forged_wrong(struct forged_slot *slot, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(slot->why, sizeof(slot->why), fmt, args);
	va_end(args);
	_exit(FORGED_WRONG);
}

static void clear(struct forged_slot *slot, unsigned int i)
{
	if (!printed[i].fd) {
		/* A sanitizer writes to standard error, too: forged.c reads it there. */
		printed[i].fd = i ? open("log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
				  : memfd_create("printed", MFD_CLOEXEC);
		if (printed[i].fd < 0 || dup2(printed[i].fd, 1 + (int)i) < 0)
			forged_wrong(slot, "no file for the output");
	}
	if (ftruncate(printed[i].fd, 0) || lseek(printed[i].fd, 0, SEEK_SET))
		forged_wrong(slot, "the output cannot be truncated");
}

static void take(struct forged_slot *slot, unsigned int i)
{
	off_t end = lseek(printed[i].fd, 0, SEEK_END);

	printed[i].len = (size_t)end;
	if (printed[i].room <= printed[i].len) {
		printed[i].room = 2 * printed[i].len + 4096;
		free(printed[i].text);
		printed[i].text = malloc(printed[i].room);
	}
	if (end < 0 || !printed[i].text ||
	    pread(printed[i].fd, printed[i].text, printed[i].len, 0) != end)
		forged_wrong(slot, "the output cannot be read");
	printed[i].text[printed[i].len] = 0;
}

/* A byte that a terminal could take for a command. NULL: there is none. */
static const char *control(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte == 0x7f)
			return text + i;
	}
	return NULL;
}

static void judge(struct forged_slot *slot, enum forged_verb verb, int status)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "vpt %s: ", forged_names[verb]);
	if (strstr(printed[1].text, "runtime error:") || strstr(printed[1].text, "Sanitizer"))
		forged_wrong(slot, "a sanitizer in a child process: %.160s", printed[1].text);
	if (status < 0 || status >= FORGED_STATUSES || !(verbs[verb].statuses >> status & 1))
		forged_wrong(slot, "status %d: %.160s", status, printed[1].text);
	if (status >= CLI_EXIT_USAGE && status <= CLI_EXIT_HOST && !strstr(printed[1].text, begin))
		forged_wrong(slot, "status %d without a line that says why", status);
	if (control(printed[1].text, printed[1].len))
		forged_wrong(slot, "a control character on standard error");
	/* A guest may print control characters: only vpt's own output is checked. */
	if (verb < FORGED_RESTORE && control(printed[0].text, printed[0].len))
		forged_wrong(slot, "a control character on standard output");
}

int forged_call(struct forged_input *input, enum forged_verb verb, const char *words,
		uint64_t *bytes)
{
	struct forged_slot *slot = input->slot;
	char copy[160], *argv[WORDS_MAX], *word;
	int argc = 0, status;

	snprintf(slot->doing, sizeof(slot->doing), "vpt %s %s", forged_names[verb], words);
	snprintf(copy, sizeof(copy), "%s %s", forged_names[verb], words);
	for (word = strtok(copy, " "); word && argc < WORDS_MAX - 1; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	if (input->show)
		dprintf(STDERR_FILENO, "\n$ %s\n", slot->doing);
	else
		for (unsigned int i = 0; i < 2; i++)
			clear(slot, i);
	status = verbs[verb].run(argc, argv);
	fflush(stdout);
	*bytes = 0;
	if (input->show) {
		dprintf(STDERR_FILENO, "status: %d\n", status);
		return status;
	}
	for (unsigned int i = 0; i < 2; i++)
		take(slot, i);
	judge(slot, verb, status);
	slot->sums.status[verb][status]++;
	*bytes = printed[0].len;
	return status;
}
