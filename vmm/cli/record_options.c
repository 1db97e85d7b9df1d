// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: the command line. */
#include "cli/record.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open.h"
#include "cli/old_option.h"
#include "host/cpu.h"

#define DEFAULT_BUFFER (4u << 20)
#define MIN_BUFFER     (64u << 10)
#define MAX_BUFFER     (1u << 30)

static const char help[] =
	"usage: vpt record --system [OPTION]... [--] [COMMAND [ARGUMENT]...]\n"
	"\n"
	"Records with Intel PT what this machine runs, its kernel, its processes and its guests,\n"
	"until COMMAND ends, the time is over, or Ctrl-C. Takes root and a processor with PT.\n"
	"\n"
	"      --system         the whole machine: it is the only choice there is\n"
	"  -o, --output=FILE    record to this .vpt file (trace.vpt)\n"
	"  -c, --cpu=LIST       only these CPUs, such as 0-3,8; they are vCPUs 0, 1, ... of FILE\n"
	"  -s, --seconds=N      end after N seconds\n"
	"      --buffer=BYTES   of each CPU's ring, a power of 2 (4 MiB)\n"
	"      --guest-code=auto  look for the guests' code, for which the trace is decoded when\n"
	"                       recording has ended: in the machine's memory and in VMMs\n"
	"      --guest-code=kcore, process, none  only in one of these, or nowhere\n"
	"  -q, --quiet          no summary\n"
	"  -h, --help           this text\n"
	"\n"
	"vpt decode then tells host, VMs, and processes apart. Code of guests is found by their\n"
	"page tables while they still run. Where it is not, there are VM entries and exits and\n"
	"address spaces.\n"
	"\n"
	"The exit status is 0; 1 if some of the trace was lost; 2 if the command is wrong; 4 if\n"
	"this machine lacks something. A trace that was not completed stays in FILE.part.\n"
	"\n"
	"  vpt record --system --seconds=1 -o t.vpt && vpt decode t.vpt\n";

enum { OPT_SYSTEM = 256, OPT_BUFFER, OPT_GUEST_CODE };

void vpt_record_help(void)
{
	fputs(help, stdout);
}

static int take_buffer(struct vpt_record_options *o, const char *text)
{
	if (vpt_cli_number("record", "buffer", text, &o->buffer))
		return VPT_EXIT_USAGE;
	if (o->buffer < MIN_BUFFER || o->buffer > MAX_BUFFER || (o->buffer & (o->buffer - 1)))
		return vpt_fail(VPT_EXIT_USAGE,
				"record: --buffer=%s: a power of 2 from %u to %u bytes", text,
				MIN_BUFFER, MAX_BUFFER);
	return VPT_EXIT_OK;
}

static int take_guest_code(struct vpt_record_options *o, const char *text)
{
	static const char *const words[] = {"auto", "kcore", "process", "none", NULL};

	for (o->guest_code = 0; words[o->guest_code]; o->guest_code++) {
		if (!strcmp(text, words[o->guest_code]))
			return VPT_EXIT_OK;
	}
	return vpt_cli_no_word("record", "guest-code", text, words);
}

static int take_option(struct vpt_record_options *o, int option)
{
	switch (option) {
	case OPT_SYSTEM:
		o->system = true;
		return VPT_EXIT_OK;
	case OPT_GUEST_CODE:
		return take_guest_code(o, optarg);
	case OPT_BUFFER:
		return take_buffer(o, optarg);
	case 'o':
		o->output = optarg;
		return VPT_EXIT_OK;
	case 'c':
		o->ncpus = vpt_host_cpu_list(optarg, o->cpus, VPT_RECORD_CPUS_MAX);
		if (o->ncpus)
			return VPT_EXIT_OK;
		return vpt_fail(VPT_EXIT_USAGE, "record: --cpu=%s: not a list such as 0-3,8",
				optarg);
	case 's':
		if (vpt_cli_number("record", "seconds", optarg, &o->seconds))
			return VPT_EXIT_USAGE;
		if (o->seconds && o->seconds <= 1000000)
			return VPT_EXIT_OK;
		return vpt_fail(VPT_EXIT_USAGE, "record: --seconds=%s: 1 to 1000000", optarg);
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

int vpt_record_parse(struct vpt_record_options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"system", no_argument, NULL, OPT_SYSTEM},
		{"output", required_argument, NULL, 'o'},
		{"cpu", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 's'},
		{"buffer", required_argument, NULL, OPT_BUFFER},
		{"guest-code", required_argument, NULL, OPT_GUEST_CODE},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"record", "+:o:c:s:qh", longs, help};
	int option, status = VPT_EXIT_OK;

	memset(o, 0, sizeof(*o));
	o->output = "trace.vpt";
	o->buffer = DEFAULT_BUFFER;
	optind = 0;
	/* "+": options after COMMAND are its own. */
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (!o->system)
		return vpt_fail(VPT_EXIT_USAGE,
				"record: say what: --system is the host and all of its guests");
	if (optind < argc)
		o->command = argv + optind;
	return VPT_EXIT_OK;
}
