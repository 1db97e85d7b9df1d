// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: writes the trace of one input to a .vpt file. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/fuzz.h"
#include "trace/writer.h"

static int write_head(struct cli_fuzz *f)
{
	const char *slash = strrchr(f->m.o.guest, '/');
	struct trace_elf_image image = {.bias = 0};
	int error = cli_run_write_origin(&f->m, f->m.writer);

	snprintf(image.name, sizeof(image.name), "%s", slash ? slash + 1 : f->m.o.guest);
	if (!error && f->guest.kind == CLI_RUN_PAYLOAD)
		error = trace_writer_elf(f->m.writer, &image, f->guest.file.bytes,
					 f->guest.file.size);
	return error;
}

int cli_fuzz_output_open(struct cli_fuzz *f)
{
	const struct vpt_caps caps = cli_run_host_caps(&f->m.o);
	struct cli_run_machine *m = &f->m;
	int status, error;

	m->info = (struct trace_file_info){
		.caps = caps,
		.owner = TRACE_OWNER_HOST,
		.vcpus = 1,
		.tsc_multiplier = 1ull << 48,
		.tsc_hz = core_clock_tsc_hz(&m->o.caps),
		.seed = m->o.seed,
	};
	snprintf(m->info.model, sizeof(m->info.model), "%s", m->o.model);
	snprintf(m->info.engine, sizeof(m->info.engine), "%s", m->vm.engine->name);
	if (m->o.output) {
		status = cli_output("fuzz-server", m->o.output, TRACE_OUTFILE_TRACE, &m->output);
		if (status)
			return status;
		error = trace_writer_start(m->output.fd, &m->info, &m->writer);
		if (!error)
			error = write_head(f);
		if (error)
			return cli_fail(CLI_EXIT_HOST, "fuzz-server: %s: %s", m->o.output,
					cli_reason(-error));
		trace_writer_limit(m->writer, CLI_RUN_MAX_BYTES);
	}
	if (core_vcpu_record(m->vm.vcpu, m->writer, 0, &caps))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
	return cli_run_set_model(&m->o, m->vm.vcpu);
}

int cli_fuzz_output_close(struct cli_fuzz *f, int status)
{
	struct cli_run_machine *m = &f->m;
	int error, failed = CLI_EXIT_OK;

	if (m->writer) {
		error = trace_writer_close(m->writer, 0);
		m->writer = NULL;
		if (error)
			failed = cli_fail(CLI_EXIT_HOST, "fuzz-server: %s: %s", m->o.output,
					  cli_reason(-error));
	}
	/* The result of an input is no failure of the trace. */
	if (!failed && status <= CLI_EXIT_FAIL)
		failed = cli_commit("fuzz-server", &m->output);
	else
		cli_drop(&m->output);
	trace_outfile_free(&m->output);
	return failed ? failed : status;
}
