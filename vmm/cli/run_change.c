// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The monitor starts and stops the host's trace, on all vCPUs or on one. If each vCPU has a thread,
 * that thread makes the change when its vCPU has left the guest.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/monitor_request.h"
#include "cli/run.h"
#include "core/vcpu.h"

/* The text of a range whose name was resolved. */
#define RESOLVED "range of the monitor"

_Static_assert(sizeof(((struct cli_run_change *)NULL)->why) == CLI_MONITOR_WHY,
	       "one size of texts");
_Static_assert(DEV_PLATFORM_CPUS <= 64, "a bit for each vCPU");

static uint64_t all(const struct cli_run_machine *m)
{
	return UINT64_MAX >> (64 - m->vm.cpus);
}

void cli_run_change_options(struct cli_run_options *o, const struct cli_monitor_request *r)
{
	size_t i;

	/* Without arguments the trace is that of the command line, or of the last trace-start. */
	if (!r->has_arguments)
		return;
	o->user = r->user;
	o->kernel = r->kernel;
	o->has_cr3 = r->has_cr3;
	o->cr3 = r->cr3;
	o->ranges = r->ranges;
	for (i = 0; i < r->ranges; i++)
		o->range[i] = (struct cli_run_range){
			.text = r->range[i].text,
			.stop = r->range[i].stop,
		};
}

bool cli_run_change_is_on(const struct cli_run_machine *m, const struct core_vcpu *v)
{
	return m->o.owner == TRACE_OWNER_HOST && !m->o.trace_later &&
	       !(m->untraced >> v->index & 1);
}

/* Note which vCPUs have a trace, also after a reset. */
static void note(struct cli_run_machine *m)
{
	const struct cli_run_change *c = &m->change;

	if (m->o.trace_later)
		m->untraced = all(m);
	m->untraced = c->starts ? m->untraced & ~c->chosen : m->untraced | c->chosen;
	m->o.trace_later = m->untraced == all(m);
}

/* The registers of a trace can be written only while the trace is off. */
static bool change(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_change *c = &m->change;
	int error;

	if (tracer_host_write(&v->tracer, VPT_MSR_CTL, 0, v->regs->rip) != VPT_FAULT_NONE)
		return false;
	if (!c->starts)
		return true;
	cli_fail_keep(c->why, sizeof(c->why));
	error = cli_run_start_host(&m->o, v);
	cli_fail_keep(NULL, 0);
	return !error;
}

/* Let the thread of each vCPU that is left make the change. Without threads, the caller does. */
static void ask(struct cli_run_machine *m)
{
	unsigned int i;

	if (!m->vm.threads)
		return;
	for (i = 0; i < m->vm.cpus; i++)
		if (m->change.left >> i & 1)
			core_vcpu_ask(m->vm.cpu[i]);
}

/* The change of a window is complete. */
static void end_window(struct cli_run_machine *m)
{
	if (m->change.failed)
		core_vm_stop(&m->vm, TRACE_STOP_HOST, "the trace could not begin: %s",
			     m->change.why);
	/* The next event may have happened meanwhile. */
	core_vm_ask(&m->vm);
}

bool cli_run_change_vcpu(struct cli_run_machine *m, struct core_vcpu *v)
{
	struct cli_run_change *c = &m->change;

	if (!(c->left >> v->index & 1))
		return false;
	c->left &= ~(1ull << v->index);
	if (c->of_window)
		cli_run_window_watch(m, v);
	if (!change(m, v) && c->starts) {
		/* End the traces that have begun. */
		c->starts = false;
		c->failed = true;
		c->left = c->chosen;
		ask(m);
	}
	if (c->left)
		return false;
	if (c->of_window) {
		end_window(m);
		return false;
	}
	note(m);
	/* The monitor has ended the trace. */
	if (m->o.trace_later && !c->starts)
		cli_run_ring_save(m);
	return true;
}

void cli_run_change_window(struct cli_run_machine *m, bool starts)
{
	struct cli_run_change *c = &m->change;

	*c = (struct cli_run_change){.starts = starts, .of_window = true};
	c->chosen = c->left = all(m);
	snprintf(c->why, sizeof(c->why), "the processor does not allow it");
	ask(m);
}

bool cli_run_change_begin(struct cli_run_machine *m, const struct cli_monitor_request *r)
{
	struct cli_run_change *c = &m->change;
	int error = CLI_EXIT_OK;
	size_t n;

	if (c->left) {
		snprintf(c->why, sizeof(c->why), "a trace is about to begin or end");
		return false;
	}
	*c = (struct cli_run_change){.starts = r->command == CLI_MONITOR_TRACE_START};
	c->chosen = r->has_vcpu ? 1ull << r->vcpu : all(m);
	snprintf(c->why, sizeof(c->why), "the processor does not allow it");
	if (c->starts) {
		cli_run_change_options(&m->o, r);
		cli_fail_keep(c->why, sizeof(c->why));
		if (r->ranges)
			error = cli_run_resolve(&m->o, NULL, 0);
		cli_fail_keep(NULL, 0);
	}
	for (n = 0; n < m->o.ranges; n++)
		m->o.range[n].text = RESOLVED;
	if (error)
		return false;
	c->left = c->chosen;
	ask(m);
	return true;
}
