// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: the command line. */
#include "cli/record.h"

#include <getopt.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open.h"
#include "host/cpu.h"

#define DEFAULT_BUFFER (4u << 20)
#define MIN_BUFFER     (64u << 10)
#define MAX_BUFFER     (1u << 30)

enum { OPT_SYSTEM = 256, OPT_BUFFER };

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

static int take_option(struct vpt_record_options *o, int option, const char *word)
{
	switch (option) {
	case OPT_SYSTEM:
		o->system = true;
		return VPT_EXIT_OK;
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
		return vpt_fail(VPT_EXIT_USAGE,
				"record: %s: unknown, or without its value: see vpt record --help",
				word);
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
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = VPT_EXIT_OK;

	memset(o, 0, sizeof(*o));
	o->output = "trace.vpt";
	o->buffer = DEFAULT_BUFFER;
	optind = 0;
	opterr = 0;
	/* "+": options after COMMAND are its own. */
	while (!status && (option = getopt_long(argc, argv, "+o:c:s:qh", longs, NULL)) != -1)
		status = take_option(o, option, argv[optind - 1]);
	if (status || o->help)
		return status;
	if (!o->system)
		return vpt_fail(VPT_EXIT_USAGE,
				"record: say what: --system is the host and all of its guests");
	if (optind < argc)
		o->command = argv + optind;
	return VPT_EXIT_OK;
}
