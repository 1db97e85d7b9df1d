// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of files, and which verbs read them with which options. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "fuzz/forged/forged.h"

/* Choose one of several options by the seed. */
#define ONE_OF(input, options) \
	(options)[change_below(&(input)->change, sizeof(options) / sizeof((options)[0]))]

/* Was something read and shown? */
static bool shown(int status, uint64_t printed)
{
	return printed &&
	       (status == CLI_EXIT_OK || status == CLI_EXIT_FAIL || status >= CLI_EXIT_PARTIAL);
}

static void call(struct forged_input *input, enum forged_verb verb, const char *option,
		 const char *rest)
{
	uint64_t printed;
	char words[128];

	snprintf(words, sizeof(words), "%s %s", option, rest);
	forged_call(input, verb, words, &printed);
}

static void use_vpt(struct forged_input *input)
{
	static const char *const infos[] = {"", "-j", "-n 3"};
	static const char *const dumps[] = {"", "-j", "-s", "-s -j", "-o 0x40 -n 50"};
	/* Limit the output, since loops without packets would print millions of lines. */
	static const char *const decodes[] = {
		"",	     "-i -n 3000",    "-b -n 3000",	  "-t",	   "-g",
		"-T",	     "-i -l -n 3000", "-i -T -j -n 3000", "-t -a", "-a --pti",
		"-j -n 500", "-b -j -n 3000", "-t -T -j",	  "-q"};
	static const char *const verifies[] = {"", "-j", "-q", "-e"};
	static const char *const exports[] = {"--to=perf", "--to=perf", "--to=perf -T tsc",
					      "--to=pt"};
	static const char *const packs[] = {"", "-l 0", "-l 19"};
	uint64_t printed;
	char words[64];
	int status;

	/* A verb shows as much of a damaged file as it could read, and ends with status 3. */
	forged_call(input, FORGED_INFO, "-j in", &printed);
	input->accepted = printed > 0;
	call(input, FORGED_INFO, ONE_OF(input, infos), "in");
	call(input, FORGED_DUMP, ONE_OF(input, dumps), "in");
	snprintf(words, sizeof(words), "%s in", ONE_OF(input, decodes));
	status = forged_call(input, FORGED_DECODE, words, &printed);
	input->decoded = input->accepted && (printed > 0 || status == CLI_EXIT_OK);
	call(input, FORGED_VERIFY, ONE_OF(input, verifies), "in");
	call(input, FORGED_EXPORT, ONE_OF(input, exports), "-q in out");
	call(input, FORGED_PACK, ONE_OF(input, packs), "-q in again");
	call(input, FORGED_REFINE, "", "-q in refined");
}

static void use_vps(struct forged_input *input)
{
	static const char *const shows[] = {"", "-j"};
	static const char *const restores[] = {"-q -o out",
					       "-q",
					       "-q -o out --snapshot=again --snapshot-at=24000",
					       "-q --snapshot=again --snapshot-at=23000",
					       "-q -o out --max-bytes=1M",
					       "-q -o out --pt=host --oracle"};
	uint64_t printed;
	char words[128];
	int status;

	status = forged_call(input, FORGED_SNAPSHOT, "-j in", &printed);
	input->accepted = status == CLI_EXIT_OK;
	call(input, FORGED_SNAPSHOT, ONE_OF(input, shows), "in");
	snprintf(words, sizeof(words),
		 "%s --max-mem=64M --timeout=0.1 --max-insns=6000 --console=console in",
		 ONE_OF(input, restores));
	status = forged_call(input, FORGED_RESTORE, words, &printed);
	/* The guest ran: its end is the answer. */
	input->decoded = status == CLI_EXIT_OK || status == CLI_EXIT_FAIL;
}

static void use_elf(struct forged_input *input)
{
	static const char *const decodes[] = {"-g", "-i -l -n 40", "-t", "-b -l -j", ""};
	uint64_t printed;
	char words[128];
	int status;

	status = forged_call(input, FORGED_RUN,
			     "-q --engine=soft --pt=host -m 4M --timeout=0.1 --max-insns=300 "
			     "--console=console -o ran in",
			     &printed);
	input->accepted = status != CLI_EXIT_INPUT;
	/* The trace has the file, and the decoder its symbols and lines. */
	if (input->accepted)
		snprintf(words, sizeof(words), "%s ran", ONE_OF(input, decodes));
	else
		snprintf(words, sizeof(words), "%s --symbols=in base.vpt", ONE_OF(input, decodes));
	status = forged_call(input, FORGED_DECODE, words, &printed);
	input->decoded = printed > 0;
}

static void use_map(struct forged_input *input)
{
	static const char *const decodes[] = {"-i -n 40", "-t", "-b -j", "", "-g"};
	uint64_t printed;
	char words[128];
	int status;

	snprintf(words, sizeof(words), "%s --symbols=in%s base.vpt", ONE_OF(input, decodes),
		 change_below(&input->change, 4) ? "" : "@0x1000");
	status = forged_call(input, FORGED_DECODE, words, &printed);
	input->decoded = shown(status, printed);
	input->accepted = status != CLI_EXIT_INPUT;
	if (!change_below(&input->change, 4))
		call(input, FORGED_EXPORT, "--to=perf -q --kallsyms=in", "base.vpt out");
}

const struct forged_kind forged_kinds[FORGED_KINDS] = {
	{"vpt", "decoded", change_blocks, use_vpt},
	{"vps", "ran", change_blocks, use_vps},
	{"elf", "named", change_elf, use_elf},
	{"map", "named", change_map, use_map},
};
