// SPDX-License-Identifier: GPL-2.0-or-later
/* Options that vpt run and vpt restore share: outputs and limits. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/run.h"
#include "trace/origin.h"
#include "trace/writer.h"

#define MAX_TIMEOUT 1000000000u /* in seconds, about 30 years */

/* Parse seconds, with an optional fraction; 0 means no limit. */
int cli_run_take_timeout(const struct cli_given *g)
{
	struct cli_run_timeout *t = g->field;
	char *end;
	double seconds = strtod(g->value, &end);

	if (end == g->value || *end || strspn(g->value, "0123456789.") != strlen(g->value))
		return cli_option_wrong(g, "not a number of seconds such as 10 or 0.5");
	if (seconds > MAX_TIMEOUT)
		return cli_option_wrong(g, "at most %u", MAX_TIMEOUT);
	t->ns = (uint64_t)(seconds * 1e9);
	t->text = g->value;
	return CLI_EXIT_OK;
}

int cli_run_take_max_bytes(const struct cli_given *g)
{
	int status = cli_take_size(g);

	if (!status && *(uint64_t *)g->field < CLI_RUN_MAX_BYTES_MIN)
		return cli_option_wrong(g, "at least 1M");
	return status;
}

int cli_run_check_files(const struct cli_run_options *o, const char *what, const char *input)
{
	const struct cli_file files[] = {
		{CLI_INPUT, what, input},
		{CLI_INPUT, "--initrd", o->initrd},
		{CLI_TRACE, "--output", o->output},
		{CLI_OUTPUT, "--snapshot", o->snapshot},
		{CLI_OUTPUT, "--console", cli_run_console_file(o)},
		{CLI_INPUT, "--input", o->input},
	};

	if (!o->snapshot && (o->has_snapshot_at || o->snapshot_every))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --snapshot-at, --snapshot-every: require --snapshot=FILE",
				o->verb);
	return cli_files_check(o->verb, files, sizeof(files) / sizeof(files[0]));
}

int cli_run_write_origin(const struct cli_run_machine *m, struct trace_writer *writer)
{
	const uint64_t low = x86_mem_low(&m->vm.mem), high = m->vm.mem.bytes - low;
	const struct trace_ram_range ram[] = {{0, low}, {X86_MEM_HIGH, high}};
	const struct trace_cpu cpu = trace_cpu_of(m->info.caps.signature);
	const struct trace_origin origin =
		trace_origin_of(TRACE_ORIGIN_RUN, m->vm.vcpu->engine->pt ? &cpu : NULL);
	const int err = trace_writer_origin(writer, &origin);

	return err ? err : trace_writer_ram(writer, ram, high ? 2 : 1);
}
