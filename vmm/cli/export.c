// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt export: converts a trace for other tools. */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/export_format.h"
#include "cli/export_pt.h"
#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/verify_perf.h"

struct options {
	struct export_options export;
	const char *path;
	uint64_t vcpu;
	struct cli_memory memory;
	uint32_t signature; /* value of --cpu; 0 if absent */
	const char *to, *time;
	const struct format_type *format; /* NULL for perf and pt */
	bool to_pt;
	struct cli_export_format of_format; /* the options of formats */
	/* The name of an option of perf alone, of formats alone, or not of pt; NULL if absent. */
	const char *perfs, *formats, *not_pt;
	bool quiet;
};

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)
#define OF_PERF	      .group = offsetof(struct options, perfs)
#define OF_FORMATS    .group = offsetof(struct options, formats)
#define NOT_OF_PT     .group = offsetof(struct options, not_pt)

#define FORMAT(name, text) #name,
/* clang-format off */
static const char *const formats[] = {
	"perf", "pt",
#include "formats/formats.def"
	NULL,
};
#undef FORMAT

#define FORMAT(name, text) "\n  " #name ": " text
static const char format_texts[] =
	"the target format; required\n  perf: a perf.data directory\n  pt: Intel PT, from RTIT"
#include "formats/formats.def"
	;
#undef FORMAT
/* clang-format on */

static const char *const times[] = {"packets", "tsc", NULL};

static int take_time(const struct cli_given *g)
{
	struct options *o = g->options;

	o->export.how = strcmp(g->value, "tsc") ? EXPORT_PACKETS : EXPORT_TSC;
	return cli_take_name(g);
}

static const struct cli_option rows[] = {
	{'t', "to", "=FORMAT", format_texts, cli_take_name, AT(to), .words = formats},
	{'c', "vcpu", "=N", "only vCPU N", cli_take_number, AT(vcpu), GIVEN(export.one_vcpu),
	 NOT_OF_PT},
	{'k', "kallsyms", "=FILE", "symbols of the guest kernel: its /proc/kallsyms or System.map",
	 cli_take_text, AT(export.kallsyms), OF_PERF},
	{'T', "time", "=HOW",
	 "packets: the timing packets of the trace, if any; tsc: only TSC packets. The default is "
	 "packets if there are TSC packets and perf can follow them, else tsc",
	 take_time, AT(time), OF_PERF, .words = times},
	{'p', "process", "=NAME[,NAME...]",
	 "only these processes or other address spaces, by name, number or CR3 (0x...)",
	 cli_take_text, AT(of_format.side.space), OF_FORMATS},
	CLI_OPTION_FROM('f', AT(of_format.cut.from), OF_FORMATS),
	CLI_OPTION_UNTIL('u', AT(of_format.cut.until), OF_FORMATS),
	CLI_OPTION_LAST('l', AT(of_format.cut.last), GIVEN(of_format.cut.has_last), OF_FORMATS),
	{0, "pti", NULL, "treat two CR3s that differ only in bit 12 as one space, for Linux' PTI",
	 cli_take_flag, AT(of_format.pti), OF_FORMATS},
	{0, "function", "=NAME",
	 "with folded and svg: only calls of this function, and their callees", cli_take_text,
	 AT(of_format.function), OF_FORMATS},
	{0, "base", "=ADDR",
	 "with bolt: subtract ADDR from all addresses, if the binary ran that far from where it is "
	 "linked; with autofdo: the address at which its first segment ran",
	 cli_take_number, AT(of_format.base), GIVEN(of_format.has_base), OF_FORMATS},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, AT(of_format.symbols), OF_FORMATS},
	{'J', "jobs", "=N",
	 "decode on N threads, 0: one for each core (default: " CLI_JOBS_DEFAULT ")",
	 cli_take_number, AT(of_format.jobs), .most = CLI_JOBS_MAX, OF_FORMATS},
	CLI_OPTION_MEMORY(AT(memory), NOT_OF_PT),
	CLI_OPTION_CPU(AT(signature), NOT_OF_PT),
	{'q', "quiet", NULL, "no summary, no progress", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_export = {
	.name = "export",
	.run = cli_cmd_export,
	.summary = "convert a trace for other tools: perf, flame graphs, ...",
	.usage = "--to perf [OPTION]... FILE DIR\n--to pt [-q] FILE OUT\n"
		 "--to FORMAT [OPTION]... FILE OUT",
	.about = "Converts a .vpt trace to DIR, a perf.data directory that stock perf (6.1 or "
		 "later) opens:\n\n"
		 "  perf script -i DIR --itrace=b       every branch\n"
		 "  perf script -i DIR --itrace=i0ns    every instruction\n"
		 "  perf report -i DIR --itrace=i1000i  where instructions went\n\n"
		 "DIR has all executed code: the kernel's as kcore, and that of processes in "
		 "DIR/code. perf therefore needs nothing of the guest, but DIR must not be moved. "
		 "A process is an address space, and its command is cr3: with the CR3.\n\n"
		 "With --to=pt, FILE is an RTIT trace. OUT is a .vpt trace with the same flow in "
		 "packets of Intel PT, for all tools that read those. RTIT traces for perf are "
		 "converted in the same way.\n\n"
		 "The other formats are made of the decoded flow of each address space on each "
		 "vCPU. OUT is a file, or - for standard output.",
	.notes = "perf does not support 16-bit code. The export of a vCPU begins at the first PSB "
		 "after its last 16-bit code, and a line on standard error reports how much is "
		 "omitted. The packets in DIR differ from those in FILE: see vpt-export(1).\n\n"
		 "The exit status is 0 if everything was exported, and 1 if parts of the trace "
		 "cannot be decoded. It is 2 for a wrong command line, 3 if FILE cannot be read or "
		 "is incomplete, and 4 if DIR or OUT cannot be written.",
	.options = rows,
	.column = 23,
	.operands = {{"FILE", AT(path)}, {"DIR or OUT", AT(export.dir)}},
};

static void say(const struct options *o, const struct export_report *r)
{
	if (!o->quiet)
		printf("%s: instructions: %" PRIu64 ", processes: %" PRIu64 ", switches: %" PRIu64
		       ", changes of code: %" PRIu64 ", time: %s\n",
		       o->export.dir, r->insns, r->processes, r->switches, r->patches + r->pokes,
		       r->timeless ? "none"
		       : r->folded ? "tsc"
				   : "packets");
	if (r->skipped)
		fprintf(stderr, CLI_EXPORT_LEFT_OUT "%" PRIu64 "%s\n", r->skipped,
			r->bits16 ? ": perf does not support 16-bit code" : "");
	if (r->blind)
		fprintf(stderr, "vpt export: DisTNT, or no BranchEn: perf can show where "
				"packets lead, and nothing in between\n");
	if (r->unordered)
		fprintf(stderr, "vpt export: without TSC packets the order of vCPUs is not known: "
				"--vcpu exports one\n");
}

static int failed(const struct options *o, const struct export_report *r, int err)
{
	if (err == -EINVAL && o->export.kallsyms && !strcmp(r->path, o->export.kallsyms))
		return cli_fail(CLI_EXIT_INPUT,
				"export: %s: not a kernel's symbols, or without their addresses",
				r->path);
	if (err == -ENOTSUP)
		return cli_fail(CLI_EXIT_FAIL,
				"export: %s: --time=packets: perf cannot follow changes of "
				"processes or code, or the time of these packets",
				o->path);
	return cli_fail(CLI_EXIT_HOST, "export: %s: %s", r->path[0] ? r->path : o->path,
			cli_reason(-err));
}

/* Check that this file can be exported to perf. Returns an exit status. */
static int check(const struct options *o, const struct trace_reader *reader)
{
	const struct trace_origin *origin = trace_reader_origin(reader);
	size_t spaces;

	trace_reader_spaces(reader, &spaces);
	if (o->export.one_vcpu && o->vcpu >= trace_reader_info(reader)->vcpus)
		return cli_fail(CLI_EXIT_USAGE, "export: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				o->vcpu, o->path, trace_reader_info(reader)->vcpus - 1);
	if (origin && origin->kind == TRACE_ORIGIN_PERF)
		return cli_fail(CLI_EXIT_INPUT,
				"export: %s: perf recorded it: give perf the recording", o->path);
	if (spaces)
		return cli_fail(CLI_EXIT_INPUT,
				"export: %s: it has a host and its guests, and perf supports only "
				"one machine",
				o->path);
	return CLI_EXIT_OK;
}

static int export_perf(struct options *o, struct trace_reader *pt, struct export_report *report)
{
	struct cli_progress progress = {0};
	int err;

	o->export.vcpu = (unsigned int)o->vcpu;
	cli_progress_begin(&progress, pt, o->export.one_vcpu ? (int)o->vcpu : -1, !o->quiet);
	err = export_to_perf(pt, &o->export, report);
	cli_progress_end(&progress);
	if (err)
		return failed(o, report, err);
	say(o, report);
	return CLI_EXIT_OK;
}

/* Return the exit status after DIR was written. Damage of FILE has priority. */
static int judge(const struct options *o, const struct trace_reader *file,
		 const struct export_recast_report *recast, const struct export_report *report)
{
	int status = cli_whole("export", o->path, file);

	if (status)
		return status;
	if (report->errors)
		return cli_fail(CLI_EXIT_FAIL,
				"export: %s: places that cannot be decoded: %" PRIu64
				"; the first: %s",
				o->path, report->errors, report->error);
	status = cli_export_pt_errors(o->path, recast);
	if (!status && *report->problem)
		return cli_fail(CLI_EXIT_INPUT, "export: %s: names are missing: %s", o->path,
				report->problem);
	return status;
}

/* perf supports only PT. */
static int run_perf(struct options *o, struct trace_reader *file)
{
	struct export_recast_report recast = {0};
	struct export_report report;
	struct trace_reader *pt = NULL;
	int status = check(o, file);

	if (!status && o->memory.n && export_recast_needed(file))
		status = cli_fail(CLI_EXIT_USAGE, "export: --memory: %s is of RTIT", o->path);
	if (!status)
		status = cli_memory_open(&o->memory, "export", file);
	if (!status)
		status = cli_memory_fill(&o->memory, "export", file);
	if (!status && export_recast_needed(file))
		status = cli_export_as_pt(o->path, file, o->export.dir, o->quiet, &pt, &recast);
	if (!status)
		status = export_perf(o, pt ? pt : file, &report);
	if (!status)
		status = judge(o, file, &recast, &report);
	if (!status)
		status = cli_memory_whole(&o->memory, "export", o->path);
	if (pt)
		trace_reader_close(pt);
	return status;
}

static int run_format(struct options *o, struct trace_reader *reader)
{
	struct cli_export_format *f = &o->of_format;

	f->verb = "export";
	f->type = o->format;
	f->path = o->path;
	f->out = o->export.dir;
	f->one_vcpu = o->export.one_vcpu;
	f->vcpu = o->vcpu;
	f->memory = &o->memory;
	f->quiet = o->quiet;
	return cli_export_format(f, reader);
}

static int run(struct options *o)
{
	const unsigned int window = o->format ? cli_open_window(o->path) : 0;
	struct trace_reader *reader;
	int status = cli_open("export", o->path, o->to_pt ? 0 : TRACE_READER_NO_ORACLE | window,
			      &reader);

	if (status)
		return status;
	cli_cpu_use(reader, o->signature);
	if (o->format)
		status = run_format(o, reader);
	else if (o->to_pt)
		status = cli_export_pt(o->path, reader, o->export.dir, o->quiet);
	else
		status = run_perf(o, reader);
	trace_reader_close(reader);
	cli_memory_close(&o->memory);
	return status;
}

static int check_files(const struct options *o)
{
	const struct cli_file files[] = {
		{CLI_INPUT, "FILE", o->path},
		{CLI_INPUT, "--kallsyms", o->export.kallsyms},
		{CLI_OUTPUT, o->to_pt || o->format ? "OUT" : "DIR", o->export.dir},
	};

	return cli_files_check("export", files, sizeof(files) / sizeof(files[0]));
}

/* Check that the options are those of the format. Returns an exit status. */
static int check_format(struct options *o)
{
	const char *wrong = NULL, *whose = NULL;

	if (!o->to)
		return cli_fail(CLI_EXIT_USAGE, "export: --to is required: --to=perf, --to=pt or "
						"another format: see vpt export --help");
	o->to_pt = !strcmp(o->to, "pt");
	o->format = format_find(o->to);
	if (o->perfs && (o->to_pt || o->format)) {
		wrong = o->perfs;
		whose = "for --to=perf";
	} else if (o->formats && !o->format) {
		wrong = o->formats;
		whose = "not for --to=perf and --to=pt";
	} else if (o->not_pt && o->to_pt) {
		wrong = o->not_pt;
		whose = "not for --to=pt";
	}
	if (wrong)
		return cli_fail(CLI_EXIT_USAGE, "export: --%s: it is %s", wrong, whose);
	if (o->format && !strcmp(o->export.dir, "-"))
		o->export.dir = "/dev/stdout";
	return CLI_EXIT_OK;
}

int cli_cmd_export(int argc, char **argv)
{
	struct options o = {.of_format.jobs = CLI_JOBS_BY_TRACE};
	int status = cli_options_parse(&cli_verb_export, argc, argv, &o);

	if (!status)
		status = check_format(&o);
	if (!status)
		status = check_files(&o);
	if (!status)
		status = cli_confine("export", &(struct sandbox_want){.output = {o.export.dir}});
	return status ? status : run(&o);
}
