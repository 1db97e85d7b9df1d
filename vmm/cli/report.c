// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt report: writes a page that shows a trace in a browser. */
#include "formats/report.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/export_format.h"
#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/option.h"

struct options {
	const char *path;
	struct cli_export_format of;
	struct cli_memory memory;
	uint32_t signature; /* value of --cpu; 0 if absent */
};

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'o', "output", "=OUT", "the page; required; - is standard output", cli_take_text,
	 AT(of.out)},
	{'c', "vcpu", "=N", "only vCPU N", cli_take_number, AT(of.vcpu), GIVEN(of.one_vcpu)},
	{'p', "process", "=NAME[,NAME...]",
	 "only these processes or other address spaces, by name, number or CR3 (0x...)",
	 cli_take_text, AT(of.side.space)},
	CLI_OPTION_FROM('f', AT(of.cut.from)),
	CLI_OPTION_UNTIL('u', AT(of.cut.until)),
	CLI_OPTION_LAST('l', AT(of.cut.last), GIVEN(of.cut.has_last)),
	{0, "pti", NULL, "treat two CR3s that differ only in bit 12 as one space, for Linux' PTI",
	 cli_take_flag, AT(of.pti)},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, AT(of.symbols)},
	{'J', "jobs", "=N", "decode on N threads (default: 1; 0: one for each core)",
	 cli_take_number, AT(of.jobs)},
	CLI_OPTION_MEMORY(AT(memory), 0),
	CLI_OPTION_CPU(AT(signature), 0),
	{'q', "quiet", NULL, "no summary, no progress", cli_take_flag, AT(of.quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_report = {
	.name = "report",
	.run = cli_cmd_report,
	.summary = "show a trace in a browser",
	.usage = "[OPTION]... FILE -o OUT",
	.about = "Writes OUT, a page of HTML that shows a .vpt trace in a browser. The page has a "
		 "timeline of calls and events, a flame graph, the tree of calls, a table of "
		 "functions, the instructions of the hottest functions, the facts of the run, its "
		 "losses and a search. It needs no network.",
	.notes = "The exit status is 0 if everything is in the page, and 1 if parts of the trace "
		 "cannot be decoded. It is 2 for a wrong command line, 3 if FILE cannot be read or "
		 "is incomplete, and 4 if OUT cannot be written.",
	.options = rows,
	.column = 23,
	.operands = {{"FILE", AT(path)}},
};

static int run(struct options *o)
{
	struct trace_reader *reader;
	int status = cli_open("report", o->path, TRACE_READER_NO_ORACLE, &reader);

	if (status)
		return status;
	cli_cpu_use(reader, o->signature);
	o->of.verb = "report";
	o->of.type = &format_type_report;
	o->of.path = o->path;
	o->of.memory = &o->memory;
	status = cli_export_format(&o->of, reader);
	trace_reader_close(reader);
	cli_memory_close(&o->memory);
	return status;
}

int cli_cmd_report(int argc, char **argv)
{
	struct options o = {.of.jobs = 1};
	int status = cli_options_parse(&cli_verb_report, argc, argv, &o);

	if (!status)
		status = cli_jobs("report", &o.of.jobs);
	if (!status && !o.of.out)
		status = cli_fail(CLI_EXIT_USAGE, "report: --output is required: -o report.html");
	if (!status && !strcmp(o.of.out, "-"))
		o.of.out = "/dev/stdout";
	if (!status)
		status = cli_files_check("report",
					 (const struct cli_file[]){
						 {CLI_INPUT, "FILE", o.path},
						 {CLI_OUTPUT, "--output", o.of.out},
					 },
					 2);
	if (!status)
		status = cli_confine("report", &(struct sandbox_want){.output = {o.of.out}});
	return status ? status : run(&o);
}
