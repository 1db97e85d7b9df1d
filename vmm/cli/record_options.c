// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: the command line. */
#include "cli/record.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "host/cpu.h"

#define DEFAULT_BUFFER (4u << 20)
#define MIN_BUFFER     (64u << 10)
#define MAX_BUFFER     (1u << 30)

static int take_buffer(const struct cli_given *g)
{
	const uint64_t *bytes = g->field;
	int status = cli_take_number(g);

	if (!status && (*bytes < MIN_BUFFER || *bytes > MAX_BUFFER || (*bytes & (*bytes - 1))))
		return cli_option_wrong(g, "a power of 2 from %u to %u bytes", MIN_BUFFER,
					MAX_BUFFER);
	return status;
}

static int take_cpus(const struct cli_given *g)
{
	struct cli_record_options *o = g->options;

	o->ncpus = host_cpu_list(g->value, o->cpus, CLI_RECORD_CPUS_MAX);
	return o->ncpus ? CLI_EXIT_OK : cli_option_wrong(g, "not a list such as 0-3,8");
}

#define AT(member) .field = offsetof(struct cli_record_options, member)

/* The order is that of enum cli_record_guest_code. */
static const char *const places[] = {"auto", "kcore", "process", "none", NULL};

static const struct cli_option rows[] = {
	{0, "system", NULL, "record the whole machine; required", cli_take_flag, AT(system)},
	{'o', "output", "=FILE", "record to this .vpt file (default trace.vpt)", cli_take_text,
	 AT(output)},
	{'c', "cpu", "=LIST", "only these CPUs, such as 0-3,8; they become vCPUs 0, 1, ... of FILE",
	 .take = take_cpus},
	{'s', "seconds", "=N", "stop after N seconds", cli_take_number, AT(seconds), .least = 1,
	 .most = 1000000},
	{0, "buffer", "=BYTES", "size of each CPU's ring, a power of 2 (default 4 MiB)",
	 take_buffer, AT(buffer)},
	{0, "guest-code", "=WHERE",
	 "where to look for the guests' code, for which the trace is decoded after the recording: "
	 "auto (default), in the machine's memory and in VMMs; kcore or process, only in one of "
	 "these; none, nowhere",
	 cli_take_word, AT(guest_code), .words = places},
	{'q', "quiet", NULL, "no summary", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_record = {
	.name = "record",
	.run = cli_cmd_record,
	.summary = "record this machine and its guests with its own PT",
	.usage = "--system [OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.about = "Records this machine with Intel PT: its kernel, its processes and its guests. "
		 "The recording ends with COMMAND, after the given time, or at Ctrl-C. It requires "
		 "root and a processor with PT.",
	.notes = "vpt decode then distinguishes the host, VMs and processes. The code of guests is "
		 "found through their page tables while the guests still run. For a guest without "
		 "code, the trace has only VM entries, VM exits and address spaces.\n\n"
		 "The exit status is 0, or 1 if part of the trace was lost. It is 2 for a wrong "
		 "command line, and 4 if this machine lacks a requirement. An incomplete trace "
		 "stays in FILE.part.\n\n"
		 "  vpt record --system --seconds=1 -o t.vpt && vpt decode t.vpt",
	.options = rows,
	.column = 23,
	.command = offsetof(struct cli_record_options, command),
};

int cli_record_parse(struct cli_record_options *o, int argc, char **argv)
{
	int status;

	memset(o, 0, sizeof(*o));
	o->output = "trace.vpt";
	o->buffer = DEFAULT_BUFFER;
	status = cli_options_parse(&cli_verb_record, argc, argv, o);
	if (!status && !o->system)
		return cli_fail(
			CLI_EXIT_USAGE,
			"record: --system is required: it records the host and all of its guests");
	return status;
}
