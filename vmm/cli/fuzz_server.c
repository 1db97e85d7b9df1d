// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: runs a guest's code on many inputs, and gives a fuzzer the edges of each trace. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/fuzz.h"

#define DEFAULT_MEM   (64ull << 20)
#define MIN_MEM	      (1ull << 20)
#define MAX_MEM	      (1ull << 35)
#define DEFAULT_LIMIT 10000000u
#define DEFAULT_INPUT 4096u
/* The fuzzer's loop must not see a sum that overflows. */
#define MAX_LIMIT (1ull << 40)

static int take_mem(const struct cli_given *g)
{
	const uint64_t *mem = g->field;
	int status = cli_take_size(g);

	if (!status && (*mem < MIN_MEM || *mem > MAX_MEM || *mem % X86_PAGE_SIZE))
		return cli_option_wrong(g, "from 1M to 32G, in whole pages of 4K");
	return status;
}

static int take_input_max(const struct cli_given *g)
{
	const uint64_t *most = g->field;
	int status = cli_take_size(g);

	if (!status && (!*most || *most > CLI_FUZZ_INPUT_MAX))
		return cli_option_wrong(g, "from 1 byte to 1M");
	return status;
}

static int take_filter(const struct cli_given *g)
{
	struct cli_run_options *o = &((struct cli_fuzz_options *)g->options)->run;

	if (o->ranges == VPT_MAX_RANGES)
		return cli_option_wrong(g, "no processor has more than %d ranges", VPT_MAX_RANGES);
	o->range[o->ranges++] = (struct cli_run_range){.text = g->value};
	return CLI_EXIT_OK;
}

static int take_once(const struct cli_given *g)
{
	struct cli_fuzz_options *o = g->options;

	if (o->once.n == CLI_FUZZ_FILES)
		return cli_option_wrong(g, "at most %u files", CLI_FUZZ_FILES);
	o->once.at[o->once.n++] = g->value;
	return CLI_EXIT_OK;
}

static const char *model_name(unsigned int i)
{
	return vpt_caps_model_name(i);
}

#define AT(member)  .field = offsetof(struct cli_fuzz_options, member)
#define RUN(member) AT(run.member)

static const struct cli_option rows[] = {
	{.text = "Where an execution begins and ends, each a SYMBOL or an address:"},
	{0, "start", "=PLACE", "run to this place once; each execution begins here", cli_take_text,
	 AT(start)},
	{0, "until", "=PLACE[,PLACE]...", "an execution ends well when it reaches such a place",
	 cli_take_text, AT(until)},
	{0, "crash", "=PLACE[,PLACE]...",
	 "an execution that reaches such a place has crashed, like one that ends the guest",
	 cli_take_text, AT(crash)},
	{0, "limit", "=N", "an execution of N instructions hangs (default 10000000)",
	 cli_take_number, AT(limit), .least = 1, .most = MAX_LIMIT},
	{.text = "The input of an execution:"},
	{0, "input", "=PLACE|REGISTER",
	 "write the input to this place, or to the address in a register such as rdi",
	 cli_take_text, AT(input)},
	{0, "input-size", "=PLACE|REGISTER",
	 "write its size to the 8 bytes at this place, or to a register", cli_take_text, AT(size)},
	{0, "input-max", "=SIZE", "cut an input to SIZE bytes (default 4096, at most 1M)",
	 take_input_max, AT(input_max)},
	{.text = "The code whose edges count:"},
	{0, "filter", "=RANGE", "only this code; can be repeated for several filters",
	 .take = take_filter},
	{0, "process", NULL, "only user code of the process that is at the start", cli_take_flag,
	 AT(process)},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, RUN(symbols)},
	{.text = "The machine:"},
	{'M', "model", "=NAME", "bdw, skl (default), icx or spr", cli_take_name, RUN(model),
	 .word_at = model_name},
	{'m', "mem", "=SIZE", "guest memory, such as 64M (default) or 1G", take_mem, RUN(mem)},
	{0, "seed", "=N", "the seed of the guest's random numbers", cli_take_number, RUN(seed)},
	{0, "arg", "=N", "the next argument in the boot information; at most four", cli_take_arg,
	 RUN(args)},
	{0, "initrd", "=FILE", "load FILE into memory; for Linux, the initial RAM disk",
	 cli_take_text, RUN(initrd)},
	{0, "append", "=TEXT", "the command line of a Linux kernel (default: console=ttyS0)",
	 cli_take_text, RUN(append)},
	{.text = "Without a fuzzer:"},
	{0, "once", "=FILE", "run the input in FILE, and print its result; can be repeated",
	 .take = take_once},
	{0, "map", "=FILE", "with --once, write the map of each input, 65536 bytes, to FILE",
	 cli_take_text, AT(map)},
	{'o', "output", "=FILE", "with one --once, write the trace to this .vpt file",
	 cli_take_text, RUN(output)},
	{0, "check", NULL, "with --once, compare the machine with the start after each input; slow",
	 cli_take_flag, AT(check)},
	{'q', "quiet", NULL, "print no results; the exit status has them", cli_take_flag,
	 RUN(quiet)},
	{'j', "json", NULL, "print each result as a line of JSON", cli_take_flag, RUN(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_fuzz_server = {
	.name = "fuzz-server",
	.run = cli_cmd_fuzz_server,
	.summary = "run code of a guest on a fuzzer's inputs, and report the edges",
	.usage = "--start=PLACE --input=PLACE [OPTION]... GUEST",
	.about =
		"Runs a guest, as vpt run does, to the start of the code under test, and keeps the "
		"machine there. Each execution begins at this state with another input in the "
		"guest's memory. Its trace of Intel PT is decoded into a map of edges. afl-fuzz "
		"starts vpt as its fork server and reads the map.",
	.notes =
		"RANGE is SYMBOL, SYMBOL..SYMBOL (first byte to last), or FIRST-LAST (addresses, "
		"inclusive). An execution that neither ends nor reaches --limit is stopped by the "
		"fuzzer's own time limit. afl-fuzz takes this command line, without --once, behind "
		"its --.\n\n"
		"The exit status is 0, or 1 if an input of --once crashed or hung. It is 2 for a "
		"wrong command line, 3 if a file cannot be used, and 4 if this machine lacks a "
		"requirement.\n\n"
		"  vpt fuzz-server --start=parser_parse --input=rdi --input-size=rsi "
		"--input-max=1024 --until=parser_done --crash=parser_crashed --once=text "
		"parser.elf",
	.options = rows,
	.column = 23,
	.operands = {{"GUEST", RUN(guest)}},
};

static int check_options(const struct cli_fuzz_options *o)
{
	const struct cli_file files[] = {
		{CLI_INPUT, "GUEST", o->run.guest},
		{CLI_INPUT, "--initrd", o->run.initrd},
		{CLI_INPUT, "--once", o->once.n ? o->once.at[0] : NULL},
		{CLI_TRACE, "--output", o->run.output},
		{CLI_OUTPUT, "--map", o->map},
	};

	if (!o->start || !o->input)
		return cli_fail(CLI_EXIT_USAGE, "fuzz-server: --start and --input are required");
	if (o->run.output && o->once.n != 1)
		return cli_fail(CLI_EXIT_USAGE,
				"fuzz-server: --output: requires exactly one --once=FILE");
	if ((o->map || o->check) && !o->once.n)
		return cli_fail(CLI_EXIT_USAGE, "fuzz-server: --%s: requires --once=FILE",
				o->map ? "map" : "check");
	return cli_files_check("fuzz-server", files, sizeof(files) / sizeof(files[0]));
}

int cli_fuzz_parse(struct cli_fuzz_options *o, int argc, char **argv)
{
	const struct vpt_caps *caps;
	int status;

	memset(o, 0, sizeof(*o));
	o->run.verb = "fuzz-server";
	o->run.engine = "soft";
	o->run.model = "skl";
	o->run.owner = TRACE_OWNER_HOST;
	o->run.mem = DEFAULT_MEM;
	o->run.symbols_elsewhere = true;
	o->run.max_bytes = CLI_RUN_MAX_BYTES;
	o->input_max = DEFAULT_INPUT;
	o->limit = DEFAULT_LIMIT;
	status = cli_options_parse(&cli_verb_fuzz_server, argc, argv, o);
	if (status)
		return status;
	caps = vpt_caps_model(o->run.model);
	o->run.caps = *caps;
	return check_options(o);
}

/* Run the inputs of the options, or those of the fuzzer. */
static int run(struct cli_fuzz *f, struct cli_fuzz_afl *afl)
{
	int status = cli_fuzz_reach_start(f);

	if (!status)
		status = cli_fuzz_keep(f);
	if (status)
		return status;
	return afl ? cli_fuzz_afl_serve(afl, f) : cli_fuzz_once(f);
}

static int fuzz(struct cli_fuzz *f)
{
	const struct sandbox_want want = {.output = {f->o.run.output}};
	struct cli_fuzz_afl *afl = NULL;
	int status = CLI_EXIT_OK;

	if (!f->o.once.n && !cli_fuzz_afl_asks())
		return cli_fail(CLI_EXIT_USAGE, "fuzz-server: no fuzzer has started this process: "
						"start it by afl-fuzz, or give --once=FILE");
	/* The processes of the fork server are small if they are started first. */
	if (!f->o.once.n)
		status = cli_fuzz_afl_open(&afl);
	if (!status)
		status = cli_fuzz_once_open(f);
	if (!status)
		status = cli_fuzz_open(f);
	if (!status)
		status = cli_fuzz_output_open(f);
	if (!status)
		status = cli_confine("fuzz-server", &want);
	if (!status)
		status = run(f, afl);
	status = cli_fuzz_output_close(f, status);
	cli_fuzz_once_close(f);
	cli_fuzz_afl_close(afl);
	cli_fuzz_close(f);
	return status;
}

int cli_cmd_fuzz_server(int argc, char **argv)
{
	struct cli_fuzz *f = calloc(1, sizeof(*f));
	int status;

	if (!f)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
	status = cli_fuzz_parse(&f->o, argc, argv);
	f->m.o = f->o.run;
	f->m.input.fd = -1;
	if (!status)
		status = fuzz(f);
	free(f);
	return status;
}
