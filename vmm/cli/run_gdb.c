// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --gdb: a run that gdb controls, forwards and backwards. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/gdb_listen.h"
#include "cli/run.h"
#include "cli/run_guest.h"
#include "gdb/session.h"
#include "trace/writer.h"

/* Returns the option that such a run cannot have, or NULL. */
static const char *excluded(const struct cli_run_options *o)
{
	const char *name = o->replay ? NULL : cli_run_outside(o);

	if (name)
		return name;
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

/* Open the files that the run used, compare them with those of the recording, and close them. */
static int check_files(struct cli_run_machine *m)
{
	struct cli_run_guest guest = {0};
	int status = cli_run_guest_open(&guest, &m->o);

	if (!status)
		status = cli_run_check_replay(&m->o, &guest);
	if (!status)
		status = cli_run_disks_open(m);
	cli_run_disks_close(m);
	cli_run_guest_close(&guest);
	return status;
}

int cli_run_gdb_check(const struct cli_run_options *o)
{
	struct cli_run_machine *m = calloc(1, sizeof(*m));
	const char *name = excluded(o);
	int status;

	if (!m)
		return cli_fail(CLI_EXIT_HOST, "%s: no memory", o->verb);
	m->o = *o;
	status = name ? cli_fail(CLI_EXIT_INPUT, "%s: a run with %s is not repeated under gdb",
				 o->verb, name)
		      : check_files(m);
	free(m);
	return status;
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

/* The process that runs the machine writes no file. Its processors still make their trace. */
static void mute(struct cli_run_machine *m)
{
	if (!m->writer)
		return;
	trace_writer_mute(m->writer);
	m->writer = NULL;
}

/* After the session, in the first process. Returns true if it repeats the run to write the file. */
static bool repeat(struct cli_run_machine *m, int status)
{
	const uint64_t until = gdb_session_repeat_to(m->gdb);

	if (m->writer && until) {
		m->repeats = m->gdb;
		m->gdb = NULL;
		core_vm_pause(&m->vm, until);
		return true;
	}
	m->gdb_status = status < 0
				? cli_fail(CLI_EXIT_HOST,
					   "%s: --gdb: the process that runs the guest has crashed",
					   m->o.verb)
				: status;
	if (m->writer && gdb_session_changed(m->gdb))
		m->gdb_status =
			cli_fail(CLI_EXIT_FAIL,
				 "%s: --gdb: gdb has changed the guest, so that %s is not written",
				 m->o.verb, m->o.output);
	return false;
}

bool cli_run_gdb_begin(struct cli_run_machine *m)
{
	int status = 0, first;

	if (!m->gdb)
		return true;
	if (m->writer)
		gdb_session_repeats(m->gdb);
	first = gdb_session_begin(m->gdb, &m->vm, flush, m, &status);
	if (!first) {
		mute(m);
		return true;
	}
	if (first > 0 && repeat(m, status))
		return true;
	if (first < 0)
		m->gdb_status =
			cli_fail(CLI_EXIT_HOST, "%s: --gdb: %s", m->o.verb, cli_reason(-first));
	m->gdb_waited = true;
	return false;
}

uint64_t cli_run_gdb_pause(struct cli_run_machine *m)
{
	uint64_t until;

	if (m->gdb)
		return gdb_session_pause(m->gdb);
	if (!m->repeats)
		return UINT64_MAX;
	until = gdb_session_repeat_to(m->repeats);
	if (core_vm_retired(&m->vm) >= until)
		core_vm_stop(&m->vm, TRACE_STOP_INTERRUPTED, "%s", "by gdb");
	return until;
}

bool cli_run_gdb_prints(struct cli_run_machine *m)
{
	struct gdb_session *s = m->gdb ? m->gdb : m->repeats;

	return !s || gdb_session_prints(s);
}

void cli_run_gdb_close(struct cli_run_machine *m)
{
	gdb_session_destroy(m->gdb ? m->gdb : m->repeats);
	m->gdb = m->repeats = NULL;
}
