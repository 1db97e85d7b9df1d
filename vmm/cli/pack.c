// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt pack: a trace file written anew, compressed or not. */
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

static const char help[] =
	"usage: vpt pack [OPTION]... FILE OUT\n"
	"\n"
	"Writes the .vpt trace FILE to OUT with its blocks compressed by zstd. Every verb reads\n"
	"OUT as it reads FILE. OUT has the current version of the format, also if FILE is of an\n"
	"earlier one, and a list of PSBs with the state at each.\n"
	"\n"
	"  -l, --level=N  0: not compressed; 1 to 19: as zstd has it (default 3)\n"
	"  -q, --quiet    no summary\n"
	"  -h, --help     this text\n"
	"\n"
	"The exit status is 0 if OUT was written, 2 if the command is wrong, 3 if FILE can't be\n"
	"read or is not whole, 4 if OUT cannot be written.\n";

struct options {
	const char *path, *out;
	uint64_t level;
	bool quiet, help;
};

static void say(const struct options *o, const struct vpt_repack_report *r)
{
	if (!o->quiet)
		printf("%s: %" PRIu64 " bytes of %" PRIu64 "\n", o->out, r->to, r->from);
	if (r->dropped)
		fprintf(stderr, "vpt pack: blocks of unknown types left out: %" PRIu64 "\n",
			r->dropped);
}

static int write_out(const struct options *o, const struct vpt_reader *reader)
{
	struct vpt_repack_report report;
	struct vpt_outfile output;
	int status = vpt_cli_output("pack", o->out, VPT_OUTFILE_WHOLE, &output), err;

	if (status)
		return status;
	err = vpt_repack(reader, o->path, output.fd, (int)o->level, &report);
	if (err)
		vpt_cli_drop(&output);
	if (err == -EINVAL)
		return vpt_fail(VPT_EXIT_INPUT, "pack: %s: it changes while it is read", o->path);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "pack: %s: %s", o->out, vpt_cli_reason(-err));
	status = vpt_cli_commit("pack", &output);
	if (!status)
		say(o, &report);
	return status;
}

/* Only what fits together is copied: a reader looks at all of it first. */
static int run(const struct options *o)
{
	struct vpt_reader *reader;
	int status = vpt_cli_open("pack", o->path, VPT_READER_COUNT_ORACLE, &reader);

	if (status)
		return status;
	status = vpt_cli_whole("pack", o->path, reader);
	if (!status)
		status = write_out(o, reader);
	vpt_reader_close(reader);
	return status;
}

static int take_option(struct options *o, int option)
{
	int status;

	switch (option) {
	case 'l':
		status = vpt_cli_number("pack", "level", optarg, &o->level);
		if (!status && o->level > VPT_ZSTD_LEVEL_MAX)
			return vpt_fail(VPT_EXIT_USAGE, "pack: --level=%s: use 0 to %d", optarg,
					VPT_ZSTD_LEVEL_MAX);
		return status;
	case 'q':
		o->quiet = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return VPT_EXIT_USAGE; /* The line was printed. */
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"level", required_argument, NULL, 'l'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"pack", ":l:qh", longs, help};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (optind + 2 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "pack: FILE and OUT: see vpt pack --help");
	o->path = argv[optind];
	o->out = argv[optind + 1];
	if (!strcmp(o->path, "-"))
		return vpt_fail(VPT_EXIT_USAGE, "pack: -: it is read twice: give a file");
	return VPT_EXIT_OK;
}

int vpt_cmd_pack(int argc, char **argv)
{
	struct options o = {.level = VPT_ZSTD_LEVEL};
	int status = parse(&o, argc, argv);
	const struct vpt_cli_file files[] = {
		{VPT_CLI_INPUT, "FILE", o.path},
		{VPT_CLI_OUTPUT, "OUT", o.out},
	};

	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	status = vpt_cli_files_check("pack", files, sizeof(files) / sizeof(files[0]));
	if (!status)
		status = vpt_confine("pack", &(struct vpt_sandbox_want){.output = {o.out}});
	return status ? status : run(&o);
}
