// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: begins and ends a host's trace at events of the guest. */
#include "cli/run_trigger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "cli/run_tasks.h"
#include "core/vcpu.h"

/* The longest time of a trigger: about 30 years. */
#define SECONDS_MAX 1e9

/* The prefixes of events that are no addresses. */
static const struct {
	const char *prefix;
	enum cli_run_trigger_kind kind;
} kinds[] = {
	{"console:", CLI_RUN_TRIGGER_CONSOLE}, {"mark:", CLI_RUN_TRIGGER_MARK},
	{"insns:", CLI_RUN_TRIGGER_INSNS},     {"time:", CLI_RUN_TRIGGER_TIME},
	{"signal:", CLI_RUN_TRIGGER_SIGNAL},
};

static const char *prefix_of(const struct cli_run_trigger *t)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == t->kind)
			return kinds[i].prefix;
	return "";
}

/* Returns true if the event happens once in a run. */
static bool is_once(const struct cli_run_trigger *t)
{
	return t->kind == CLI_RUN_TRIGGER_INSNS || t->kind == CLI_RUN_TRIGGER_TIME;
}

/* Take seconds, with an optional fraction, above 0. */
static bool take_seconds(const char *text, uint64_t *ns)
{
	char *end;
	const double seconds = strtod(text, &end);

	if (*end || strspn(text, "0123456789.") != strlen(text) || seconds > SECONDS_MAX)
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return *ns;
}

static int take(const struct cli_given *g, struct cli_run_trigger *t)
{
	size_t i;

	*t = (struct cli_run_trigger){.kind = CLI_RUN_TRIGGER_SYMBOL, .text = g->value};
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const size_t len = strlen(kinds[i].prefix);

		if (strncmp(g->value, kinds[i].prefix, len) != 0)
			continue;
		t->kind = kinds[i].kind;
		t->text = g->value + len;
	}
	if (!*t->text || strlen(t->text) > CLI_RUN_TRIGGER_TEXT)
		return cli_option_wrong(g,
					"a symbol, an address, console:TEXT, mark:TEXT, insns:N, "
					"time:S or signal:USR2");
	if (t->kind == CLI_RUN_TRIGGER_INSNS && !cli_is_number(t->text, &t->value))
		return cli_option_wrong(g, "insns: and a number");
	if (t->kind == CLI_RUN_TRIGGER_TIME && !take_seconds(t->text, &t->value))
		return cli_option_wrong(g, "time: and seconds above 0, such as 10 or 0.5");
	if (t->kind == CLI_RUN_TRIGGER_SIGNAL && strcmp(t->text, "USR2") != 0)
		return cli_option_wrong(g, "signal:USR2");
	if (t->kind == CLI_RUN_TRIGGER_SYMBOL && cli_is_number(t->text, &t->value))
		t->kind = CLI_RUN_TRIGGER_ADDRESS;
	return CLI_EXIT_OK;
}

int cli_run_take_from(const struct cli_given *g)
{
	return take(g, &((struct cli_run_window *)g->field)->from);
}

int cli_run_take_until(const struct cli_given *g)
{
	return take(g, &((struct cli_run_window *)g->field)->until);
}

static int take_insns(const struct cli_given *g, uint64_t *insns)
{
	if (!cli_is_number(g->value, insns) || !*insns)
		return cli_option_wrong(g, "a number of instructions above 0");
	return CLI_EXIT_OK;
}

int cli_run_take_for(const struct cli_given *g)
{
	return take_insns(g, &((struct cli_run_window *)g->field)->insns);
}

int cli_run_take_after(const struct cli_given *g)
{
	return take_insns(g, &((struct cli_run_window *)g->field)->after);
}

/* Parts can repeat if each has an end, and its beginning can happen twice. */
static int check_again(const struct cli_run_window *window)
{
	if (!window->again)
		return CLI_EXIT_OK;
	if (!window->from.kind || (!window->until.kind && !window->insns))
		return cli_fail(CLI_EXIT_USAGE, "run: --trace-again: requires --trace-from, and "
						"--trace-until or --trace-for");
	if (is_once(&window->from) || is_once(&window->until))
		return cli_fail(CLI_EXIT_USAGE, "run: --trace-again: not with insns:N and time:S, "
						"which happen once: use --trace-for=N");
	return CLI_EXIT_OK;
}

int cli_run_check_window(const struct cli_run_options *o)
{
	const struct cli_run_window *window = &o->window;

	if (window->after && !window->until.kind)
		return cli_fail(CLI_EXIT_USAGE, "run: --trace-after: requires --trace-until");
	if (!window->from.kind && !window->until.kind && !window->insns)
		return check_again(window);
	if (o->system != TRACER_SYSTEM_PT || o->usage.given)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --trace-from, --trace-until, --trace-for: not with %s",
				o->usage.given ? "--usage" : "RTIT");
	if (o->snapshot)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --snapshot: not with --trace-from, --trace-until and "
				"--trace-for: a snapshot does not have these events");
	if (o->trace_later)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --trace-later: not with --trace-from, --trace-until and "
				"--trace-for");
	return check_again(window);
}

/* Returns the trigger that the state waits for, which may have no kind, or NULL. */
static const struct cli_run_trigger *pending(const struct cli_run_machine *m)
{
	if (m->window.state == CLI_RUN_WINDOW_BEFORE)
		return &m->o.window.from;
	return m->window.state == CLI_RUN_WINDOW_DURING ? &m->o.window.until : NULL;
}

int cli_run_window_watch(struct cli_run_machine *m, struct core_vcpu *v)
{
	const struct cli_run_trigger *t = pending(m);
	uint64_t ips[2];
	size_t count = 0;

	if (t && t->kind == CLI_RUN_TRIGGER_ADDRESS)
		ips[count++] = t->value;
	if (cli_run_tasks_address(m))
		ips[count++] = cli_run_tasks_address(m);
	return core_vcpu_watch(v, ips, count);
}

/*
 * Let the engine stop at the address, or at the time, of the trigger that is waited for. A vCPU with
 * a thread of its own does so itself: cli_run_change_vcpu().
 */
static int watch(struct cli_run_machine *m)
{
	const struct cli_run_trigger *t = pending(m);
	unsigned int i;
	int error = 0;

	core_vm_alarm(&m->vm, t && t->kind == CLI_RUN_TRIGGER_TIME ? t->value : 0);
	for (i = 0; !error && !m->vm.threads && i < m->vm.cpus; i++)
		error = cli_run_window_watch(m, m->vm.cpu[i]);
	return error;
}

int cli_run_window_begin(struct cli_run_machine *m)
{
	const struct cli_run_window *window = &m->o.window;

	if (!window->from.kind && !window->until.kind && !window->insns)
		return CLI_EXIT_OK;
	if ((window->from.kind == CLI_RUN_TRIGGER_INSNS ||
	     window->until.kind == CLI_RUN_TRIGGER_INSNS) &&
	    !(m->vm.engine->can & ENGINE_COUNTS))
		return cli_fail(CLI_EXIT_USAGE,
				"run: insns:%s: engine %s does not count instructions",
				window->from.kind == CLI_RUN_TRIGGER_INSNS ? window->from.text
									   : window->until.text,
				m->vm.engine->name);
	if ((window->insns || window->after) && m->vm.engine->pt)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --trace-%s: engine %s does not count instructions",
				window->insns ? "for" : "after", m->vm.engine->name);
	m->window.state = m->window.wanted =
		window->from.kind ? CLI_RUN_WINDOW_BEFORE : CLI_RUN_WINDOW_DURING;
	m->window.ends = window->from.kind || !window->insns ? UINT64_MAX : window->insns;
	if (watch(m))
		return cli_fail(CLI_EXIT_HOST, "run: the engine cannot watch an address");
	return CLI_EXIT_OK;
}

static void want(struct cli_run_machine *m, enum cli_run_window_state state)
{
	m->window.wanted = state;
	core_vm_ask(&m->vm);
}

/* Returns the trigger of this kind that is waited for, or NULL. */
static const struct cli_run_trigger *awaited(const struct cli_run_machine *m,
					     enum cli_run_trigger_kind kind)
{
	const struct cli_run_trigger *t = pending(m);

	if (m->window.state != m->window.wanted)
		return NULL;
	return t && t->kind == kind ? t : NULL;
}

/* Return the state after the event that is waited for. */
static enum cli_run_window_state next_state(const struct cli_run_machine *m)
{
	if (m->window.state == CLI_RUN_WINDOW_BEFORE)
		return CLI_RUN_WINDOW_DURING;
	return m->o.window.after ? CLI_RUN_WINDOW_ENDING : CLI_RUN_WINDOW_AFTER;
}

static void happened(struct cli_run_machine *m)
{
	want(m, next_state(m));
}

void cli_run_window_printed(struct cli_run_machine *m, char c)
{
	const struct cli_run_trigger *t = awaited(m, CLI_RUN_TRIGGER_CONSOLE);
	size_t len;

	if (!t)
		return;
	len = strlen(t->text);
	memmove(m->window.tail, m->window.tail + 1, len - 1);
	m->window.tail[len - 1] = c;
	if (memcmp(m->window.tail, t->text, len) != 0)
		return;
	memset(m->window.tail, 0, sizeof(m->window.tail));
	happened(m);
}

void cli_run_window_marked(struct cli_run_machine *m, const char *text, size_t len)
{
	const struct cli_run_trigger *t = awaited(m, CLI_RUN_TRIGGER_MARK);

	if (t && strlen(t->text) == len && !memcmp(t->text, text, len))
		happened(m);
}

bool cli_run_window_reached(struct cli_run_machine *m, uint64_t ip)
{
	const struct cli_run_trigger *t = awaited(m, CLI_RUN_TRIGGER_ADDRESS);

	if (!t || t->value != ip)
		return false;
	happened(m);
	return true;
}

void cli_run_window_alarm(struct cli_run_machine *m)
{
	if (awaited(m, CLI_RUN_TRIGGER_TIME))
		happened(m);
}

bool cli_run_window_signals(const struct cli_run_options *o)
{
	return o->window.from.kind == CLI_RUN_TRIGGER_SIGNAL ||
	       o->window.until.kind == CLI_RUN_TRIGGER_SIGNAL;
}

void cli_run_window_signalled(struct cli_run_machine *m)
{
	if (awaited(m, CLI_RUN_TRIGGER_SIGNAL))
		happened(m);
}

/* The parts of --trace-again are only counted. */
static void report(const struct cli_run_machine *m, const char *what)
{
	if (!m->o.quiet && !m->o.json && !m->o.window.again)
		fprintf(stderr, "vpt run: the trace %s at %#" PRIx64 "\n", what,
			m->vm.current->regs->rip);
}

static void begin(struct cli_run_machine *m)
{
	unsigned int i;

	if (m->vm.threads)
		cli_run_change_window(m, true);
	for (i = 0; !m->vm.threads && i < m->vm.cpus; i++)
		if (cli_run_start_host(&m->o, m->vm.cpu[i]))
			core_vm_stop(&m->vm, TRACE_STOP_HOST, "the trace could not begin");
	if (m->o.window.insns)
		m->window.ends = core_vm_retired(&m->vm) + m->o.window.insns;
	core_vm_pause(&m->vm, cli_run_window_next(m));
	m->window.parts++;
	report(m, "begins");
}

/* The event of --trace-until has happened. */
static void count_down(struct cli_run_machine *m)
{
	const uint64_t ends = core_vm_retired(&m->vm) + m->o.window.after;

	if (ends < m->window.ends)
		m->window.ends = ends;
	core_vm_pause(&m->vm, cli_run_window_next(m));
}

static void end(struct cli_run_machine *m)
{
	unsigned int i;

	if (m->vm.threads)
		cli_run_change_window(m, false);
	for (i = 0; !m->vm.threads && i < m->vm.cpus; i++) {
		struct core_vcpu *v = m->vm.cpu[i];

		(void)tracer_host_write(&v->tracer, VPT_MSR_CTL, 0, v->regs->rip);
	}
	m->window.ends = UINT64_MAX;
	report(m, "ends");
	cli_run_ring_save(m);
}

void cli_run_window_change(struct cli_run_machine *m)
{
	/* The vCPUs' threads may still make an earlier change, and ask again at its end. */
	if (m->window.state == m->window.wanted || m->change.left)
		return;
	m->window.state = m->window.wanted;
	if (m->window.state == CLI_RUN_WINDOW_DURING)
		begin(m);
	else if (m->window.state == CLI_RUN_WINDOW_ENDING)
		count_down(m);
	else if (m->window.state == CLI_RUN_WINDOW_AFTER)
		end(m);
	if (m->window.state == CLI_RUN_WINDOW_AFTER && m->o.window.again)
		m->window.state = m->window.wanted = CLI_RUN_WINDOW_BEFORE;
	(void)watch(m);
}

uint64_t cli_run_window_next(const struct cli_run_machine *m)
{
	const struct cli_run_trigger *t = pending(m);
	const uint64_t at = t && t->kind == CLI_RUN_TRIGGER_INSNS ? t->value : UINT64_MAX;

	if (m->window.state != CLI_RUN_WINDOW_DURING && m->window.state != CLI_RUN_WINDOW_ENDING)
		return at;
	return m->window.ends < at ? m->window.ends : at;
}

uint64_t cli_run_window_pause(struct cli_run_machine *m)
{
	const uint64_t retired = core_vm_retired(&m->vm);

	if (retired >= cli_run_window_next(m)) {
		/* --trace-for ends the trace without --trace-after. */
		m->window.wanted =
			m->window.state != CLI_RUN_WINDOW_BEFORE && retired >= m->window.ends
				? CLI_RUN_WINDOW_AFTER
				: next_state(m);
		cli_run_window_change(m);
	}
	return cli_run_window_next(m);
}

int cli_run_window_report(const struct cli_run_machine *m, int status)
{
	const struct cli_run_trigger *t = &m->o.window.from;

	if (m->window.parts && m->o.window.again && !m->o.quiet && !m->o.json)
		fprintf(stderr, "vpt %s: parts traced: %" PRIu64 "\n", m->o.verb, m->window.parts);
	if (status || m->window.parts || m->window.state != CLI_RUN_WINDOW_BEFORE)
		return status;
	return cli_fail(CLI_EXIT_FAIL,
			"%s: --trace-from=%s%s: it did not happen: nothing was traced", m->o.verb,
			prefix_of(t), t->text);
}
