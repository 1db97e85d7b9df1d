// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: the command line. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lockstep.h"
#include "cli/option.h"

#define DEFAULT_MEM_MIB	  64u
#define MAX_MEM_MIB	  32768u
#define DEFAULT_EVERY_ALL 4096u

/* Print the list of known differences instead of a run. */
static int take_list(const struct cli_given *g)
{
	const struct core_lockstep_override *row;
	size_t count, i;

	(void)g;
	row = core_lockstep_overrides(&count);
	puts("Taken over from the first engine:");
	for (i = 0; i < count; i++)
		printf("  %-12s %s\n", row[i].name, row[i].reason);
	puts("Not compared: registers of x87, SSE and AVX, but for what they do to memory and to\n"
	     "others; devices, likewise; the TSC.");
	return CLI_EXIT_DONE;
}

static int take_engines(const struct cli_given *g)
{
	struct cli_lockstep_options *o = g->options;
	char *comma, *name[2];
	unsigned int i;

	snprintf(o->engines, sizeof(o->engines), "%s", g->value);
	comma = strchr(o->engines, ',');
	if (!comma)
		return cli_option_wrong(g, "not two, as in soft,kvm");
	*comma = 0;
	name[0] = o->engines;
	name[1] = comma + 1;
	for (i = 0; i < 2; i++) {
		o->engine[i] = engine_find(name[i]);
		if (!o->engine[i])
			return cli_option_no_word(g, name[i]);
	}
	*comma = ',';
	return CLI_EXIT_OK;
}

/* Parse a size like vpt run; a number without a unit is MiB. */
static int take_mem(const struct cli_given *g)
{
	uint64_t *mem = g->field;
	const char *end = cli_read_number(g->value, mem);
	int status = end && !*end ? CLI_EXIT_OK : cli_take_size(g);

	if (status)
		return status;
	if (!*end && *mem <= MAX_MEM_MIB)
		*mem <<= 20;
	if (!*mem || *mem % (1u << 20) || *mem >> 20 > MAX_MEM_MIB)
		return cli_option_wrong(g, "whole MiB, from 1M to %uM", MAX_MEM_MIB);
	return CLI_EXIT_OK;
}

#define AT(member) .field = offsetof(struct cli_lockstep_options, member)

static const char *const engines[] = {"soft", "kvm", NULL};
static const char *const owners[] = {"guest", "off", NULL};

static const struct cli_option rows[] = {
	{'e', "engines", "=A,B", "the two engines, such as kvm,kvm (default soft,kvm)",
	 take_engines, .words = engines},
	{'n', "every", "=N", "compare after every N instructions instead of each", cli_take_number,
	 AT(every), .least = 1, .most = UINT32_MAX},
	{0, "memory", "=N",
	 "compare RAM, MSRs and debug registers after every N instructions (default 4096)",
	 cli_take_number, AT(every_all), .least = 1, .most = UINT32_MAX},
	{'p', "pt", "=OWNER", "owner of PT: guest (default) or off", cli_take_owner, AT(owner),
	 .words = owners},
	{'M', "model", "=NAME", "bdw, skl (default), icx or spr", cli_take_name, AT(model),
	 .word_at = vpt_caps_model_name},
	{'m', "mem", "=SIZE", "guest memory, such as 64M (default), or a number of MiB", take_mem,
	 AT(mem)},
	{0, "seed", "=N", "the seed in the boot information", cli_take_number, AT(seed)},
	{0, "arg", "=N", "the next argument in the boot information; at most four", cli_take_arg,
	 AT(args)},
	{0, "max-insns", "=N", "stop after N instructions", cli_take_number, AT(max_insns),
	 .least = 1, .most = UINT64_MAX},
	{0, "list-overrides", NULL, "print the results that are not compared, with reasons",
	 .take = take_list},
	{'q', "quiet", NULL, "do not print the guest's output", cli_take_flag, AT(quiet)},
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_lockstep = {
	.name = "lockstep",
	.run = cli_cmd_lockstep,
	.summary = "run a guest on two engines and compare each instruction",
	.usage = "[OPTION]... GUEST",
	.about = "Runs a guest on two engines at once, one instruction at a time, and compares "
		 "their architectural state. It compares all registers, segments, MSRs, the state "
		 "of PT, delivered events, and all of RAM. The first difference is shown with its "
		 "instruction.",
	.notes = "A difference that is detected late is located in a second run. The report is "
		 "therefore always about the first difference, also with --every and in memory.\n\n"
		 "The last line is\n\n"
		 "  lockstep: N instructions, K divergences\n\n"
		 "The exit status is 0 if K is 0, 1 if K is not 0, and 2 for a wrong command line. "
		 "It is 3 if GUEST is not a guest, and 4 if this machine lacks a requirement. It "
		 "is 5 if an engine could not continue before the guest ended; up to there the "
		 "engines agreed.\n\n"
		 "  vpt lockstep --engines=soft,kvm demo.elf",
	.options = rows,
	.column = 23,
	.operands = {{"GUEST", AT(guest)}},
};

int cli_lockstep_parse(struct cli_lockstep_options *o, int argc, char **argv)
{
	*o = (struct cli_lockstep_options){
		.engines = "soft,kvm",
		.engine = {engine_find("soft"), engine_find("kvm")},
		.model = "skl",
		.owner = TRACE_OWNER_GUEST,
		.mem = (uint64_t)DEFAULT_MEM_MIB << 20,
		.every = 1,
		.every_all = DEFAULT_EVERY_ALL,
	};
	return cli_options_parse(&cli_verb_lockstep, argc, argv, o);
}
