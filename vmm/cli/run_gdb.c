// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --gdb: a run that gdb controls, forwards and backwards. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/gdb_listen.h"
#include "cli/run.h"
#include "gdb/session.h"

/* Returns the option that such a run cannot have, or NULL. */
static const char *excluded(const struct cli_run_options *o)
{
	const char *name = o->replay ? NULL : cli_run_outside(o);

	if (name)
		return name;
	if (o->output && !o->replay)
		return "--output";
	if (o->verify)
		return "--verify";
	if (o->snapshot)
		return "--snapshot";
	if (o->timeout.ns)
		return "--timeout";
	if (o->usage.given)
		return "--usage";
	return cli_run_disks_written(o) ? "--disk=FILE,rw" : NULL;
}

int cli_run_gdb_open(struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;
	const char *name;

	if (!o->gdb)
		return CLI_EXIT_OK;
	if (!cli_run_counts(&m->vm))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --gdb: engine %s cannot go backwards: use --engine=soft",
				o->verb, m->vm.change.traced ? CLI_RUN_PAIR : m->vm.engine->name);
	name = excluded(o);
	if (name)
		return cli_fail(CLI_EXIT_USAGE, "%s: --gdb: not with %s%s", o->verb, name,
				name == cli_run_outside(o) ? ": record the run with it, and use "
							     "vpt gdb FILE"
							   : "");
	m->gdb = o->session;
	return m->gdb ? CLI_EXIT_OK : cli_gdb_listen(o->verb, o->gdb, &m->gdb);
}

static void flush(void *opaque)
{
	(void)opaque;
	fflush(NULL);
}

bool cli_run_gdb_begin(struct cli_run_machine *m)
{
	int status = 0, first;

	if (!m->gdb)
		return true;
	first = gdb_session_begin(m->gdb, &m->vm, flush, m, &status);
	if (!first)
		return true;
	m->gdb_status =
		first < 0 || status < 0
			? cli_fail(CLI_EXIT_HOST, "%s: --gdb: %s", m->o.verb,
				   first < 0 ? cli_reason(-first)
					     : "the process that runs the guest has crashed")
			: status;
	m->gdb_waited = true;
	return false;
}

void cli_run_gdb_close(struct cli_run_machine *m)
{
	gdb_session_destroy(m->gdb);
	m->gdb = NULL;
}
