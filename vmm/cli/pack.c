// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt pack: rewrites a trace file, compressed or uncompressed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/option.h"
#include "trace/repack.h"
#include "trace/zstd.h"

struct options {
	const char *path, *out;
	uint64_t level;
	bool quiet;
};

#define AT(member) .field = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'l', "level", "=N", "0: uncompressed; 1 to 19: the level of zstd (default 3)",
	 cli_take_number, AT(level), .most = TRACE_ZSTD_LEVEL_MAX},
	{'q', "quiet", NULL, "no summary", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_pack = {
	.name = "pack",
	.run = cli_cmd_pack,
	.summary = "rewrite a trace, compressed or uncompressed",
	.usage = "[OPTION]... FILE OUT",
	.about = "Writes the .vpt trace FILE to OUT, with its blocks compressed by zstd. Every "
		 "verb reads OUT like FILE. OUT has the current version of the format, and a list "
		 "of PSBs with the state at each.",
	.notes = "The exit status is 0 if OUT was written, and 2 for a wrong command line. It is 3 "
		 "if FILE cannot be read or is incomplete, and 4 if OUT cannot be written.",
	.options = rows,
	.column = 17,
	.operands = {{"FILE", AT(path)}, {"OUT", AT(out)}},
};

static void say(const struct options *o, const struct trace_repack_report *r)
{
	if (!o->quiet)
		printf("%s: %" PRIu64 " bytes of %" PRIu64 "\n", o->out, r->to, r->from);
	if (r->dropped)
		fprintf(stderr, "vpt pack: blocks of unknown types left out: %" PRIu64 "\n",
			r->dropped);
}

static int write_out(const struct options *o, const struct trace_reader *reader)
{
	struct trace_repack_report report;
	struct trace_outfile output;
	int status = cli_output("pack", o->out, TRACE_OUTFILE_WHOLE, &output), err;

	if (status)
		return status;
	err = trace_repack(reader, o->path, output.fd, (int)o->level, NULL, &report);
	if (err)
		cli_drop(&output);
	if (err == -EINVAL)
		return cli_fail(CLI_EXIT_INPUT, "pack: %s: it changes while it is read", o->path);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "pack: %s: %s", o->out, cli_reason(-err));
	status = cli_commit("pack", &output);
	if (!status)
		say(o, &report);
	return status;
}

/* The reader checks the whole file first, so that only a consistent trace is copied. */
static int run(const struct options *o)
{
	struct trace_reader *reader;
	int status = cli_open("pack", o->path, TRACE_READER_COUNT_ORACLE, &reader);

	if (status)
		return status;
	status = cli_whole("pack", o->path, reader);
	if (!status)
		status = write_out(o, reader);
	trace_reader_close(reader);
	return status;
}

int cli_cmd_pack(int argc, char **argv)
{
	struct options o = {.level = TRACE_ZSTD_LEVEL};
	int status = cli_options_parse(&cli_verb_pack, argc, argv, &o);
	const struct cli_file files[] = {
		{CLI_INPUT, "FILE", o.path},
		{CLI_OUTPUT, "OUT", o.out},
	};

	if (status)
		return status;
	if (!strcmp(o.path, "-"))
		return cli_fail(CLI_EXIT_USAGE, "pack: -: it is read twice: give a file");
	status = cli_files_check("pack", files, sizeof(files) / sizeof(files[0]));
	if (!status)
		status = cli_confine("pack", &(struct sandbox_want){.output = {o.out}});
	return status ? status : run(&o);
}
