// SPDX-License-Identifier: GPL-2.0-or-later
/* What vpt run and vpt restore are both told: where to write, when to stop. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/run.h"

#define MAX_TIMEOUT 1000000000u /* seconds: some 30 years */

bool vpt_run_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

int vpt_run_take_number(const struct vpt_run_options *o, const char *name, uint64_t *value)
{
	if (vpt_run_number(optarg, value))
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: not a number", o->verb, name, optarg);
}

/* Seconds, which may have a fraction; 0: no limit. */
static int take_timeout(struct vpt_run_options *o)
{
	char *end;
	double seconds = strtod(optarg, &end);

	if (end == optarg || *end || strspn(optarg, "0123456789.") != strlen(optarg))
		return vpt_fail(VPT_EXIT_USAGE,
				"%s: --timeout=%s: not a number of seconds such as 10 or 0.5",
				o->verb, optarg);
	if (seconds > MAX_TIMEOUT)
		return vpt_fail(VPT_EXIT_USAGE, "%s: --timeout=%s: at most %u", o->verb, optarg,
				MAX_TIMEOUT);
	o->timeout_ns = (uint64_t)(seconds * 1e9);
	o->timeout_text = optarg;
	return VPT_EXIT_OK;
}

static int take_max_bytes(struct vpt_run_options *o)
{
	int status = vpt_cli_size(o->verb, "max-bytes", optarg, &o->max_bytes);

	if (!status && o->max_bytes < VPT_RUN_MAX_BYTES_MIN)
		return vpt_fail(VPT_EXIT_USAGE, "%s: --max-bytes=%s: at least 1M", o->verb, optarg);
	return status;
}

int vpt_run_take_common(struct vpt_run_options *o, int option)
{
	switch (option) {
	case 'o':
		o->output = optarg;
		return VPT_EXIT_OK;
	case VPT_OPT_MAX_INSNS:
		return vpt_run_take_number(o, "max-insns", &o->max_insns);
	case VPT_OPT_TIMEOUT:
		return take_timeout(o);
	case VPT_OPT_MAX_BYTES:
		return take_max_bytes(o);
	case VPT_OPT_CONSOLE:
		o->console = optarg;
		return VPT_EXIT_OK;
	case VPT_OPT_SNAPSHOT:
		o->snapshot = optarg;
		return VPT_EXIT_OK;
	case VPT_OPT_SNAPSHOT_AT:
		o->has_snapshot_at = true;
		return vpt_run_take_number(o, "snapshot-at", &o->snapshot_at);
	case VPT_OPT_SNAPSHOT_EVERY:
		return vpt_run_take_number(o, "snapshot-every", &o->snapshot_every);
	case 'q':
		o->quiet = true;
		return VPT_EXIT_OK;
	case 'j':
		o->json = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return VPT_EXIT_USAGE; /* The line was printed. */
	}
}

int vpt_run_check_files(const struct vpt_run_options *o, const char *what, const char *input)
{
	const struct vpt_cli_file files[] = {
		{VPT_CLI_INPUT, what, input},
		{VPT_CLI_INPUT, "--initrd", o->initrd},
		{VPT_CLI_TRACE, "--output", o->output},
		{VPT_CLI_OUTPUT, "--snapshot", o->snapshot},
		{VPT_CLI_OUTPUT, "--console", o->console},
	};

	return vpt_cli_files_check(o->verb, files, sizeof(files) / sizeof(files[0]));
}
