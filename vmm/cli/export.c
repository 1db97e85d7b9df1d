// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt export: a trace for other tools. */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/export_pt.h"
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/old_option.h"
#include "cli/progress.h"

static const char help[] =
	"usage: vpt export --to perf [OPTION]... FILE DIR\n"
	"       vpt export --to pt [-q] FILE OUT\n"
	"\n"
	"Makes DIR of a .vpt trace, a perf.data directory that stock perf (6.1 or later) opens:\n"
	"\n"
	"  perf script -i DIR --itrace=b       every branch\n"
	"  perf script -i DIR --itrace=i0ns    every instruction\n"
	"  perf report -i DIR --itrace=i1000i  where instructions went\n"
	"\n"
	"All code that ran is in DIR, the kernel's as kcore, that of processes in DIR/code, so\n"
	"nothing of the guest is needed, and DIR must stay where it is. A process is an address\n"
	"space; its command is cr3: and its CR3.\n"
	"\n"
	"With --to=pt FILE is of RTIT, and OUT is a .vpt trace that tells the same flow in "
	"packets\n"
	"of Intel PT, for everything that reads those. perf gets RTIT in the same way.\n"
	"\n"
	"  -t, --to=FORMAT      perf or pt\n"
	"  -c, --vcpu=N         only vCPU N\n"
	"  -k, --kallsyms=FILE  names of the guest kernel: its /proc/kallsyms or System.map\n"
	"  -T, --time=HOW       packets: as the trace tells it, if at all; tsc: in TSC packets\n"
	"                       alone. Else packets where there are some and perf can follow\n"
	"  -M, --memory=FILE[@BASE][,WORD]...  code that the trace lacks, from an image of\n"
	"                       memory: see MEMORY IMAGES in vpt-decode(1)\n" VPT_CLI_CPU_HELP
	"  -q, --quiet          no summary, no progress\n"
	"  -h, --help           this text\n"
	"\n"
	"perf knows no 16-bit code: the export of a vCPU begins at the first PSB after the last\n"
	"of it, and a line on stderr tells how much is left out. The packets in DIR are not\n"
	"those of FILE: see vpt-export(1).\n"
	"\n"
	"The exit status is 0 if all was exported, 1 if places in the trace cannot be decoded,\n"
	"2 if the command is wrong, 3 if FILE can't be read or is not whole, 4 if DIR or OUT\n"
	"cannot be written.\n";

enum { CPU = 256 }; /* an option without a letter */

struct options {
	struct vpt_export_options export;
	const char *path;
	uint64_t vcpu;
	struct vpt_cli_memory memory;
	bool to_perf;
	uint32_t signature; /* of --cpu, 0: it was not given */
	bool to_pt;
	bool perfs; /* an option that is of --to=perf */
	bool quiet;
	bool help;
};

static void say(const struct options *o, const struct vpt_export_report *r)
{
	if (!o->quiet)
		printf("%s: instructions: %" PRIu64 ", processes: %" PRIu64 ", switches: %" PRIu64
		       ", changes of code: %" PRIu64 ", time: %s\n",
		       o->export.dir, r->insns, r->processes, r->switches, r->patches + r->pokes,
		       r->timeless ? "none"
		       : r->folded ? "tsc"
				   : "packets");
	if (r->skipped)
		fprintf(stderr,
			"vpt export: instructions left out at the beginning: %" PRIu64 "%s\n",
			r->skipped, r->bits16 ? ": perf knows no 16-bit code" : "");
	if (r->blind)
		fprintf(stderr, "vpt export: DisTNT, or no BranchEn: perf can show where "
				"packets lead, and nothing in between\n");
	if (r->unordered)
		fprintf(stderr, "vpt export: without TSC packets the order of vCPUs is not known: "
				"--vcpu exports one\n");
}

static int failed(const struct options *o, const struct vpt_export_report *r, int err)
{
	if (err == -EINVAL && o->export.kallsyms && !strcmp(r->path, o->export.kallsyms))
		return vpt_fail(VPT_EXIT_INPUT,
				"export: %s: not a kernel's symbols, or without their addresses",
				r->path);
	if (err == -ENOTSUP)
		return vpt_fail(
			VPT_EXIT_FAIL,
			"export: %s: --time=packets: perf cannot follow processes or code that "
			"change, or the time as it is told",
			o->path);
	return vpt_fail(VPT_EXIT_HOST, "export: %s: %s", r->path[0] ? r->path : o->path,
			vpt_cli_reason(-err));
}

/* Why this file cannot be for perf. */
static int check(const struct options *o, const struct vpt_reader *reader)
{
	const struct vpt_origin *origin = vpt_reader_origin(reader);
	size_t spaces;

	vpt_reader_spaces(reader, &spaces);
	if (o->export.one_vcpu && o->vcpu >= vpt_reader_info(reader)->vcpus)
		return vpt_fail(VPT_EXIT_USAGE, "export: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				o->vcpu, o->path, vpt_reader_info(reader)->vcpus - 1);
	if (origin && origin->kind == VPT_ORIGIN_PERF)
		return vpt_fail(VPT_EXIT_INPUT,
				"export: %s: perf recorded it: give perf the recording", o->path);
	if (spaces)
		return vpt_fail(VPT_EXIT_INPUT,
				"export: %s: it spans a host and its guests, and perf knows one "
				"machine",
				o->path);
	return VPT_EXIT_OK;
}

static int export_perf(struct options *o, struct vpt_reader *pt, struct vpt_export_report *report)
{
	struct vpt_cli_progress progress = {0};
	int err;

	o->export.vcpu = (unsigned int)o->vcpu;
	vpt_cli_progress_begin(&progress, pt, o->export.one_vcpu ? (int)o->vcpu : -1, !o->quiet);
	err = vpt_export_perf(pt, &o->export, report);
	vpt_cli_progress_end(&progress);
	if (err)
		return failed(o, report, err);
	say(o, report);
	return VPT_EXIT_OK;
}

/* Return the exit status after DIR was written. What is wrong with FILE itself comes first. */
static int judge(const struct options *o, const struct vpt_reader *file,
		 const struct vpt_recast_report *recast, const struct vpt_export_report *report)
{
	int status = vpt_cli_whole("export", o->path, file);

	if (status)
		return status;
	if (report->errors)
		return vpt_fail(VPT_EXIT_FAIL,
				"export: %s: places that cannot be decoded: %" PRIu64
				"; the first: %s",
				o->path, report->errors, report->error);
	status = vpt_export_pt_errors(o->path, recast);
	if (!status && *report->problem)
		return vpt_fail(VPT_EXIT_INPUT, "export: %s: names are missing: %s", o->path,
				report->problem);
	return status;
}

/* perf knows PT alone. */
static int run_perf(struct options *o, struct vpt_reader *file)
{
	struct vpt_recast_report recast = {0};
	struct vpt_export_report report;
	struct vpt_reader *pt = NULL;
	int status = check(o, file);

	if (!status && o->memory.n && vpt_recast_needed(file))
		status = vpt_fail(VPT_EXIT_USAGE, "export: --memory: %s is of RTIT", o->path);
	if (!status)
		status = vpt_cli_memory_open(&o->memory, "export", file);
	if (!status)
		status = vpt_cli_memory_fill(&o->memory, "export", file);
	if (!status && vpt_recast_needed(file))
		status = vpt_export_as_pt(o->path, file, o->export.dir, o->quiet, &pt, &recast);
	if (!status)
		status = export_perf(o, pt ? pt : file, &report);
	if (!status)
		status = judge(o, file, &recast, &report);
	if (!status)
		status = vpt_cli_memory_whole(&o->memory, "export", o->path);
	if (pt)
		vpt_reader_close(pt);
	return status;
}

static int run(struct options *o)
{
	struct vpt_reader *reader;
	int status = vpt_cli_open("export", o->path, o->to_pt ? 0 : VPT_READER_NO_ORACLE, &reader);

	if (status)
		return status;
	vpt_cli_cpu_use(reader, o->signature);
	if (o->to_pt)
		status = vpt_export_pt(o->path, reader, o->export.dir, o->quiet);
	else
		status = run_perf(o, reader);
	vpt_reader_close(reader);
	vpt_cli_memory_close(&o->memory);
	return status;
}

static int take_option(struct options *o, int option)
{
	static const char *const formats[] = {"perf", "pt", NULL};
	static const char *const times[] = {"packets", "tsc", NULL};

	o->perfs |=
		option == 'c' || option == 'k' || option == 'T' || option == 'M' || option == CPU;
	switch (option) {
	case 't':
		o->to_perf = !strcmp(optarg, "perf");
		o->to_pt = !strcmp(optarg, "pt");
		if (o->to_perf || o->to_pt)
			return VPT_EXIT_OK;
		return vpt_cli_no_word("export", "to", optarg, formats);
	case 'c':
		o->export.one_vcpu = true;
		return vpt_cli_number("export", "vcpu", optarg, &o->vcpu);
	case 'k':
		o->export.kallsyms = optarg;
		return VPT_EXIT_OK;
	case 'T':
		o->export.how = !strcmp(optarg, "tsc") ? VPT_EXPORT_TSC : VPT_EXPORT_PACKETS;
		if (o->export.how == VPT_EXPORT_TSC || !strcmp(optarg, "packets"))
			return VPT_EXIT_OK;
		return vpt_cli_no_word("export", "time", optarg, times);
	case CPU:
		return vpt_cli_cpu_take("export", optarg, &o->signature);
	case 'M':
		return vpt_cli_memory_take(&o->memory, "export", optarg);
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
		{"to", required_argument, NULL, 't'},
		{"vcpu", required_argument, NULL, 'c'},
		{"kallsyms", required_argument, NULL, 'k'},
		{"time", required_argument, NULL, 'T'},
		{"memory", required_argument, NULL, 'M'},
		{"cpu", required_argument, NULL, CPU},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"export", ":t:c:k:T:M:qh", longs, help};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (!o->to_perf && !o->to_pt)
		return vpt_fail(VPT_EXIT_USAGE, "export: --to=perf, --to=pt: it has to be said");
	if (o->to_pt && o->perfs)
		return vpt_fail(
			VPT_EXIT_USAGE,
			"export: --vcpu, --kallsyms, --time, --memory and --cpu are for --to=perf");
	if (optind + 2 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "export: FILE and %s: see vpt export --help",
				o->to_pt ? "OUT" : "DIR");
	o->path = argv[optind];
	o->export.dir = argv[optind + 1];
	return VPT_EXIT_OK;
}

static int check_files(const struct options *o)
{
	const struct vpt_cli_file files[] = {
		{VPT_CLI_INPUT, "FILE", o->path},
		{VPT_CLI_INPUT, "--kallsyms", o->export.kallsyms},
		{VPT_CLI_OUTPUT, o->to_pt ? "OUT" : "DIR", o->export.dir},
	};

	return vpt_cli_files_check("export", files, sizeof(files) / sizeof(files[0]));
}

int vpt_cmd_export(int argc, char **argv)
{
	struct options o = {0};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	status = check_files(&o);
	if (!status)
		status =
			vpt_confine("export", &(struct vpt_sandbox_want){.output = {o.export.dir}});
	return status ? status : run(&o);
}
