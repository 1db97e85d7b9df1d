// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --slow-reader=drop: a slow reader loses trace, which is counted, and the guest goes on. */
#include "cli/run_drop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/pump.h"
#include "cli/run.h"
#include "core/vcpu.h"
#include "pt/tracer_drop.h"

#define DEFAULT_BYTES ((uint64_t)64 << 20)
#define LEAST_BYTES   ((uint64_t)64 << 10)
/* How often the queue is looked at. So many instructions rarely have more than 100 KiB of trace. */
#define LOOK_INSNS 100000u

int cli_run_take_drop(const struct cli_given *g)
{
	const char *size = strchr(g->value, ':');
	const struct cli_given of_size = {g->verb, g->option, size ? (char *)size + 1 : NULL,
					  g->options, g->field};
	uint64_t *bytes = g->field;
	int status;

	if (strncmp(g->value, "drop", 4) || (g->value[4] && g->value[4] != ':'))
		return cli_option_wrong(g, "use drop, or drop:SIZE");
	*bytes = DEFAULT_BYTES;
	if (!size)
		return CLI_EXIT_OK;
	status = cli_take_size(&of_size);
	if (!status && *bytes < LEAST_BYTES)
		return cli_option_wrong(g, "at least 64K");
	return status;
}

int cli_run_check_drop(const struct cli_run_options *o)
{
	const int status = o->drop ? cli_run_check_partial(o, "slow-reader") : CLI_EXIT_OK;

	if (!o->drop || status)
		return status;
	if (o->ring)
		return cli_fail(CLI_EXIT_USAGE, "run: --slow-reader: not with --ring");
	if (!o->output)
		return cli_fail(CLI_EXIT_USAGE, "run: --slow-reader: requires --output: -o -");
	return CLI_EXIT_OK;
}

int cli_run_drop_open(struct cli_run_machine *m, int *fd)
{
	struct stat st;
	int err;

	if (!(m->vm.engine->can & ENGINE_REPORTS) || m->vm.change.traced)
		return cli_fail(CLI_EXIT_USAGE, "run: --slow-reader: requires --engine=soft");
	if (fstat(*fd, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return cli_fail(CLI_EXIT_USAGE,
				"run: --slow-reader: %s is no pipe, and has no reader",
				m->o.output);
	err = cli_pump_begin(*fd, m->o.drop, &m->drop.pump, fd);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: --slow-reader: %s", cli_reason(-err));
	return CLI_EXIT_OK;
}

/* The queue keeps room for code, which is never left out. */
uint64_t cli_run_drop_pause(struct cli_run_machine *m)
{
	struct cli_run_drop *d = &m->drop;
	const uint64_t retired = core_vm_retired(&m->vm);
	size_t used;

	if (!d->pump)
		return UINT64_MAX;
	if (retired < d->next)
		return d->next;
	used = cli_pump_used(d->pump);
	d->wanted = d->drops ? used > m->o.drop / 4 : used > m->o.drop / 4 * 3;
	if (d->wanted != d->drops)
		core_vm_ask(&m->vm);
	d->next = retired + LOOK_INSNS;
	return d->next;
}

void cli_run_drop_change(struct cli_run_machine *m)
{
	struct cli_run_drop *d = &m->drop;
	unsigned int i;

	if (d->wanted == d->drops)
		return;
	for (i = 0; i < m->vm.cpus; i++) {
		struct core_vcpu *v = m->vm.cpu[i];

		/* The trace has ended at the limit of the file. */
		if (tracer_is_full(&v->tracer))
			return;
		if (d->wanted)
			tracer_drop_begin(&v->tracer, v->regs->rip);
		else
			tracer_drop_end(&v->tracer, v->regs->rip);
	}
	d->drops = d->wanted;
	d->gaps += d->drops;
}

static void report(const struct cli_run_machine *m)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < m->vm.cpus; i++)
		bytes += tracer_drop_bytes(&m->vm.cpu[i]->tracer);
	if (m->drop.gaps)
		fprintf(stderr,
			"vpt run: the reader was too slow: %" PRIu64
			" bytes of trace are missing, in %" PRIu64 " places\n",
			bytes, m->drop.gaps);
}

int cli_run_drop_close(struct cli_run_machine *m)
{
	int err = 0;

	if (!m->drop.pump)
		return 0;
	err = cli_pump_end(m->drop.pump);
	m->drop.pump = NULL;
	report(m);
	return err;
}
