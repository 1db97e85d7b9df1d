// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt report: writes a page that shows a trace in a browser. */
#include "formats/report.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/export_format.h"
#include "cli/files.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/report_listen.h"
#include "cli/report_serve.h"
#include "formats/report_source.h"

struct options {
	const char *path;
	bool serve;
	uint64_t port; /* of --serve; 0: any that is free */
	struct cli_export_format of;
	struct cli_memory memory;
	uint32_t signature; /* value of --cpu; 0 if absent */
	bool no_source;
	struct format_source_dirs source;
};

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)

static int take_port(const struct cli_given *g)
{
	return g->value ? cli_take_number(g) : CLI_EXIT_OK;
}

static int take_source(const struct cli_given *g)
{
	struct format_source_dirs *dirs = g->field;

	if (!*g->value || *g->value == '=')
		return cli_option_wrong(g, "OLD=NEW or a directory");
	if (dirs->n == FORMAT_SOURCE_DIRS)
		return cli_option_wrong(g, "no more than %u times", FORMAT_SOURCE_DIRS);
	dirs->dir[dirs->n++] = g->value;
	return CLI_EXIT_OK;
}

static const struct cli_option rows[] = {
	{'o', "output", "=OUT", "the page; - is standard output; required without --serve",
	 cli_take_text, AT(of.out)},
	{0, "serve", "[=PORT]",
	 "serve the page at a port of 127.0.0.1 until SIGINT, and print its address; the default "
	 "is "
	 "a free port",
	 take_port, AT(port), GIVEN(serve), .most = UINT16_MAX},
	{'c', "vcpu", "=N", "only vCPU N", cli_take_number, AT(of.vcpu), GIVEN(of.one_vcpu)},
	{'p', "process", "=NAME[,NAME...]",
	 "only these processes or other address spaces, by name, number or CR3 (0x...)",
	 cli_take_text, AT(of.side.space)},
	CLI_OPTION_FROM('f', AT(of.cut.from)),
	CLI_OPTION_UNTIL('u', AT(of.cut.until)),
	CLI_OPTION_LAST('l', AT(of.cut.last), GIVEN(of.cut.has_last)),
	{0, "no-times", NULL,
	 "do not compute times: the page has no axis by time, and is made faster and with less "
	 "memory",
	 cli_take_flag, AT(of.untimed)},
	{0, "pti", NULL, "treat two CR3s that differ only in bit 12 as one space, for Linux' PTI",
	 cli_take_flag, AT(of.pti)},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, AT(of.symbols)},
	{0, "no-source", NULL,
	 "do not read source files: the page has no text of source lines; otherwise it has at most "
	 "1 MiB",
	 cli_take_flag, AT(no_source)},
	{0, "source-dir", "=OLD=NEW",
	 "source files below OLD are below NEW; with a directory alone: relative names are below "
	 "it; can be repeated",
	 take_source, AT(source)},
	{'J', "jobs", "=N",
	 "decode on N threads, 0: one for each core (default: " CLI_JOBS_DEFAULT ")",
	 cli_take_number, AT(of.jobs), .most = CLI_JOBS_MAX},
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
	.usage = "[OPTION]... FILE -o OUT\n--serve[=PORT] [OPTION]... FILE",
	.about =
		"Writes OUT, a page of HTML that shows a .vpt trace in a browser. The page has a "
		"timeline of calls and events, a flame graph, the tree of calls, a table of "
		"functions, the instructions of the hottest functions with their source lines, the "
		"facts of the run, its losses and a search. It needs no network.",
	.notes = "The exit status is 0 if everything is in the page, and 1 if parts of the trace "
		 "cannot be decoded. It is 2 for a wrong command line, 3 if FILE cannot be read or "
		 "is incomplete, and 4 if OUT cannot be written or the port cannot be used.",
	.options = rows,
	.column = 23,
	.operands = {{"FILE", AT(path)}},
};

static int run(struct options *o, int listener, const struct cli_http_server *server)
{
	const unsigned int window = cli_open_window(o->path);
	struct trace_reader *reader;
	int status = cli_open("report", o->path, TRACE_READER_NO_ORACLE | window, &reader);

	if (status)
		return status;
	/* A flow with times has the whole stream in memory, and one thread. */
	if (window)
		o->of.untimed = true;
	cli_cpu_use(reader, o->signature);
	o->of.verb = "report";
	o->of.type = &format_type_report;
	o->of.path = o->path;
	o->of.memory = &o->memory;
	o->of.source = o->no_source ? NULL : &o->source;
	status = o->serve ? cli_report_serve(&o->of, reader, listener, server)
			  : cli_export_format(&o->of, reader);
	trace_reader_close(reader);
	cli_memory_close(&o->memory);
	return status;
}

/* Write the page to a file. */
static int write_page(struct options *o)
{
	int status;

	if (!strcmp(o->of.out, "-"))
		o->of.out = "/dev/stdout";
	status = cli_files_check("report",
				 (const struct cli_file[]){
					 {CLI_INPUT, "FILE", o->path},
					 {CLI_OUTPUT, "--output", o->of.out},
				 },
				 2);
	if (!status)
		status = cli_confine("report", &(struct sandbox_want){.output = {o->of.out}});
	return status ? status : run(o, -1, NULL);
}

static int serve(struct options *o)
{
	struct cli_http_server server;
	const int listener = cli_http_listen((uint16_t)o->port, &server);
	int status;

	if (listener < 0)
		return cli_fail(CLI_EXIT_HOST, "report: --serve: port %" PRIu64 " of 127.0.0.1: %s",
				o->port, cli_reason(-listener));
	status = cli_confine("report", &(struct sandbox_want){.listener = true});
	if (!status)
		status = run(o, listener, &server);
	close(listener);
	return status;
}

int cli_cmd_report(int argc, char **argv)
{
	struct options o = {.of.jobs = CLI_JOBS_BY_TRACE};
	int status = cli_options_parse(&cli_verb_report, argc, argv, &o);

	if (status)
		return status;
	if (!o.of.out && !o.serve)
		return cli_fail(CLI_EXIT_USAGE,
				"report: --output or --serve is required: -o report.html");
	if (o.of.out && o.serve)
		return cli_fail(CLI_EXIT_USAGE, "report: --serve: not with --output");
	return o.serve ? serve(&o) : write_page(&o);
}
