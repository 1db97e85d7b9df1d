// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --ring: keeps the end of a trace in memory, and saves it at an event. */
#include "cli/run_ring.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "cli/run_tasks.h"
#include "core/vcpu.h"
#include "pt/tracer_ring.h"
#include "trace/writer.h"

int cli_run_take_ring(const struct cli_given *g)
{
	const uint64_t *bytes = g->field;
	const int status = cli_take_size(g);

	if (!status && *bytes < TRACE_RING_MIN)
		return cli_option_wrong(g, "at least 4K");
	return status;
}

int cli_run_check_partial(const struct cli_run_options *o, const char *option)
{
	const char *name = o->verify			 ? "verify"
			   : o->oracle			 ? "oracle"
			   : o->snapshot		 ? "snapshot"
			   : o->gdb			 ? "gdb"
			   : o->usage.given		 ? "usage"
			   : o->trace.model.buffer_bytes ? "buffer"
							 : NULL;

	if (name)
		return cli_fail(CLI_EXIT_USAGE, "run: --%s: not with --%s", option, name);
	if (o->system != TRACER_SYSTEM_PT)
		return cli_fail(CLI_EXIT_USAGE, "run: --%s: not with RTIT", option);
	return CLI_EXIT_OK;
}

int cli_run_check_ring(const struct cli_run_options *o)
{
	const int status = o->ring ? cli_run_check_partial(o, "ring") : CLI_EXIT_OK;

	if (!o->ring || status)
		return status;
	if (o->window.again)
		return cli_fail(CLI_EXIT_USAGE, "run: --ring: not with --trace-again");
	if (o->ring > o->max_bytes)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --ring: larger than --max-bytes=%" PRIu64
				", the limit of the trace file",
				o->max_bytes);
	return CLI_EXIT_OK;
}

static void full(void *opaque)
{
	struct cli_run_machine *m = opaque;

	m->ring.full = true;
	core_vm_ask(&m->vm);
}

int cli_run_ring_open(struct cli_run_machine *m, struct trace_writer **writer)
{
	const struct trace_ring_config config = {
		.info = &m->info,
		.bytes = m->o.ring,
		.full = full,
		.opaque = m,
	};
	int err;

	if (!(m->vm.engine->can & ENGINE_REPORTS) || m->vm.change.traced)
		return cli_fail(CLI_EXIT_USAGE, "run: --ring: requires --engine=soft");
	err = trace_ring_create(&config, &m->ring.ring);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: --ring: %s", cli_reason(-err));
	*writer = trace_ring_writer(m->ring.ring);
	return CLI_EXIT_OK;
}

void cli_run_ring_close(struct cli_run_machine *m)
{
	trace_ring_destroy(m->ring.ring);
	m->ring.ring = NULL;
}

static int turn(struct cli_run_machine *m)
{
	unsigned int i;
	int err;

	for (i = 0; i < m->vm.cpus; i++)
		tracer_ring_end(&m->vm.cpu[i]->tracer, m->vm.cpu[i]->regs->rip);
	err = trace_ring_turn(m->ring.ring);
	for (i = 0; !err && i < m->vm.cpus; i++) {
		struct core_vcpu *v = m->vm.cpu[i];

		err = tracer_ring_begin(&v->tracer, m->ring.ring, v->regs->rip);
		if (v->engine->report_again)
			v->engine->report_again(v->ev);
	}
	trace_ring_state(m->ring.ring, true);
	cli_run_tasks_again(m);
	trace_ring_state(m->ring.ring, false);
	trace_ring_begun(m->ring.ring);
	return err;
}

static void fail(struct cli_run_machine *m, int err)
{
	m->vm.stop.error = err;
	core_vm_stop(&m->vm, TRACE_STOP_WRITER, "%s", "");
}

void cli_run_ring_change(struct cli_run_machine *m)
{
	int err;

	if (!m->ring.full || m->ring.saved)
		return;
	m->ring.full = false;
	err = turn(m);
	if (err)
		fail(m, err);
}

static int save(struct cli_run_machine *m)
{
	struct trace_writer *file;
	int err = trace_writer_start(m->output.fd, &m->info, &file);

	if (err)
		return err;
	m->writer = file;
	err = m->verify.head(m, file);
	return err ? err : trace_ring_save(m->ring.ring, file, &m->ring.sum);
}

void cli_run_ring_save(struct cli_run_machine *m)
{
	int err;

	if (!m->ring.ring || m->ring.saved)
		return;
	m->ring.saved = true;
	err = save(m);
	if (err)
		fail(m, err);
	else if (!m->o.quiet && !m->o.json)
		fprintf(stderr,
			"vpt run: the ring is saved: the last %" PRIu64 " of %" PRIu64
			" bytes of trace\n",
			m->ring.sum.kept, m->ring.sum.kept + m->ring.sum.dropped);
}
