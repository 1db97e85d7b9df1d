// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The monitor of a run. Requests that change the run wait until the first vCPU can receive input.
 * The trace file records them there, and a replay executes them at the same place.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/monitor_request.h"
#include "cli/monitor_socket.h"
#include "cli/run.h"
#include "core/irq.h"
#include "core/mark.h"
#include "core/vcpu.h"
#include "trace/input.h"

/* The text of a range whose name was resolved. */
#define RESOLVED "range of the monitor"

struct cli_run_monitor {
	struct cli_monitor_socket socket;
	struct cli_monitor_request asked; /* the request that waits; root is NULL without one */
	char *command;			  /* its form in the file; allocated */
};

int cli_run_monitor_open(struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;
	int err;

	if (o->trace_later && !o->monitor && !o->replay)
		return cli_fail(CLI_EXIT_USAGE, "run: --trace-later: requires --monitor");
	if (!o->monitor)
		return CLI_EXIT_OK;
	m->monitor = calloc(1, sizeof(*m->monitor));
	err = m->monitor ? cli_monitor_listen(&m->monitor->socket, o->monitor) : -ENOMEM;
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: --monitor=%s: %s", o->monitor,
				err == -EEXIST ? "not a socket: give a new name"
					       : cli_reason(-err));
	return CLI_EXIT_OK;
}

static void forget(struct cli_run_monitor *mon)
{
	cli_monitor_request_free(&mon->asked);
	free(mon->command);
	mon->command = NULL;
}

void cli_run_monitor_close(struct cli_run_machine *m)
{
	struct cli_run_monitor *mon = m->monitor;

	if (!mon)
		return;
	if (mon->command)
		cli_monitor_answer(&mon->socket, "{\"error\": {\"desc\": \"the run has ended\"}}");
	forget(mon);
	cli_monitor_close(&mon->socket);
	free(mon);
	m->monitor = NULL;
}

static const char *state_of(const struct core_vcpu *v)
{
	if (v->pending & CORE_VCPU_WAIT_SIPI)
		return "wait-for-SIPI";
	return v->pending & CORE_VCPU_HALTED ? "halted" : "running";
}

static json_t *address(uint64_t value)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

static json_t *status_of(const struct core_vcpu *v)
{
	const struct tracer_recorder *rec = &v->tracer.recorder;

	return json_pack("{s:i, s:s, s:o, s:I, s:b, s:I, s:I}", "vcpu", (int)v->index, "state",
			 state_of(v), "rip", address(v->regs->rip), "insns",
			 (json_int_t)v->ev->retired, "traced", tracer_on(&v->tracer),
			 "traced_insns", (json_int_t)rec->insns, "trace_bytes",
			 (json_int_t)rec->bytes);
}

static json_t *status(const struct cli_run_machine *m)
{
	const struct core_vcpu *v = m->vm.vcpu;
	json_t *vcpus = json_array();
	unsigned int i;

	for (i = 0; i < m->vm.cpus; i++)
		json_array_append_new(vcpus, status_of(m->vm.cpu[i]));
	return json_pack("{s:s, s:s, s:I, s:I, s:b, s:I, s:o}", "guest", m->o.guest, "engine",
			 m->vm.engine->name, "insns", (json_int_t)core_vm_retired(&m->vm), "tsc",
			 (json_int_t)engine_time_tsc(&v->ev->time, v->ev->retired), "trace_on",
			 m->o.owner == TRACE_OWNER_HOST && !m->o.trace_later, "snapshots",
			 (json_int_t)m->snapshots, "vcpus", vcpus);
}

/* The options of a trace that trace-start sets. */
static void take_options(struct cli_run_options *o, const struct cli_monitor_request *r)
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

static json_t *range_texts(const struct cli_run_options *o, bool stop)
{
	json_t *list = json_array();
	char text[48];
	size_t i;

	for (i = 0; i < o->ranges; i++) {
		snprintf(text, sizeof(text), "0x%" PRIx64 "-0x%" PRIx64, o->range[i].first,
			 o->range[i].last);
		if (o->range[i].stop == stop)
			json_array_append_new(list, json_string(text));
	}
	return list;
}

/*
 * Replace names of ranges by addresses, because a replay has no symbols. The ranges of @r are then
 * no longer valid.
 */
static bool resolve(const struct cli_run_machine *m, struct cli_monitor_request *r,
		    char why[CLI_MONITOR_WHY])
{
	struct cli_run_options *o;
	json_t *arguments;
	int error;

	if (!r->ranges)
		return true;
	o = malloc(sizeof(*o));
	if (!o) {
		snprintf(why, CLI_MONITOR_WHY, "no memory");
		return false;
	}
	*o = m->o;
	take_options(o, r);
	cli_fail_keep(why, CLI_MONITOR_WHY);
	error = m->elf ? cli_run_resolve(o, m->elf->bytes, m->elf->size)
		       : cli_run_resolve(o, NULL, 0);
	cli_fail_keep(NULL, 0);
	arguments = json_object_get(r->root, "arguments");
	if (!error) {
		json_object_set_new(arguments, "filter", range_texts(o, false));
		json_object_set_new(arguments, "stop", range_texts(o, true));
		r->ranges = 0;
	}
	free(o);
	return !error;
}

static bool check(const struct cli_run_machine *m, const struct cli_monitor_request *r,
		  char why[CLI_MONITOR_WHY])
{
	switch (r->command) {
	case CLI_MONITOR_SNAPSHOT:
		snprintf(why, CLI_MONITOR_WHY, "the run has no --snapshot=FILE");
		return m->o.snapshot;
	case CLI_MONITOR_MARK:
		snprintf(why, CLI_MONITOR_WHY, "text: more than %u bytes, or no such vCPU",
			 TRACE_USER_MARK_MAX);
		return r->vcpu < m->vm.cpus && strlen(r->text) <= TRACE_USER_MARK_MAX;
	case CLI_MONITOR_TRACE_START:
	case CLI_MONITOR_TRACE_STOP:
		snprintf(why, CLI_MONITOR_WHY, "%s",
			 m->o.owner == TRACE_OWNER_HOST
				 ? "not with RTIT"
				 : "the trace is the guest's: use --pt=host");
		return m->o.owner == TRACE_OWNER_HOST && m->o.system == TRACER_SYSTEM_PT;
	default:
		return true;
	}
}

static void answer(struct cli_run_monitor *mon, const struct cli_monitor_request *r, json_t *result,
		   const char *why)
{
	char *text = result ? cli_monitor_result(r, result) : cli_monitor_error(r, why);

	cli_monitor_answer(&mon->socket, text ? text : "{\"error\": {\"desc\": \"no memory\"}}");
	free(text);
}

/* Keep a request until it can be executed, in the form of the file. */
static void keep(struct cli_run_monitor *mon, struct cli_monitor_request *r)
{
	json_t *command = json_object();
	json_t *arguments = json_object_get(r->root, "arguments");

	json_object_set(command, "execute", json_object_get(r->root, "execute"));
	if (arguments)
		json_object_set(command, "arguments", arguments);
	mon->command = json_dumps(command, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(command);
	if (!mon->command || strlen(mon->command) > CORE_INPUT_COMMAND) {
		answer(mon, r, NULL, "the request is too long");
		free(mon->command);
		mon->command = NULL;
		cli_monitor_request_free(r);
		return;
	}
	mon->asked = *r;
}

/* Returns NULL if there is no room for all of the text. */
static json_t *type(struct cli_run_machine *m, const struct cli_monitor_request *r)
{
	const size_t len = strlen(r->text) + r->is_line;
	char *text = malloc(len + 1);
	json_t *result = NULL;

	if (!text)
		return NULL;
	snprintf(text, len + 1, "%s%s", r->text, r->is_line ? "\n" : "");
	if (cli_run_input_type(&m->input, text, len))
		result = json_pack("{s:I}", "bytes", (json_int_t)len);
	free(text);
	return result;
}

/* Answer a request, or keep it. */
static void handle(struct cli_run_machine *m, struct cli_monitor_request *r)
{
	struct cli_run_monitor *mon = m->monitor;
	json_t *result = NULL;
	const char *why = "";

	switch (r->command) {
	case CLI_MONITOR_STATUS:
		result = status(m);
		break;
	case CLI_MONITOR_INPUT:
		why = "the guest has not read the earlier input";
		result = type(m, r);
		break;
	case CLI_MONITOR_SNAPSHOT:
		why = "the snapshot failed, and the run ends";
		if (cli_run_take_snapshot(m) && !m->vm.stop.kind)
			result = json_pack("{s:I}", "insns", (json_int_t)core_vm_retired(&m->vm));
		break;
	case CLI_MONITOR_QUIT:
		result = json_object();
		cli_run_quit();
		break;
	default:
		keep(mon, r);
		return;
	}
	answer(mon, r, result, why);
	cli_monitor_request_free(r);
}

bool cli_run_monitor_is_due(struct cli_run_machine *m)
{
	return m->monitor && !m->monitor->command && cli_monitor_has_input(&m->monitor->socket);
}

int cli_run_monitor_fd(const struct cli_run_machine *m)
{
	return m->monitor && !m->monitor->command ? cli_monitor_fd(&m->monitor->socket) : -1;
}

void cli_run_monitor_poll(struct cli_run_machine *m)
{
	struct cli_run_monitor *mon = m->monitor;
	struct cli_monitor_request r;
	char why[CLI_MONITOR_WHY];
	const char *line;

	while (mon && !mon->command && (line = cli_monitor_line(&mon->socket))) {
		if (cli_monitor_request_parse(&r, line, strlen(line), why) && check(m, &r, why) &&
		    resolve(m, &r, why)) {
			handle(m, &r);
			continue;
		}
		answer(mon, &r, NULL, why);
		cli_monitor_request_free(&r);
	}
}

size_t cli_run_monitor_command(struct cli_run_machine *m, uint8_t *bytes, size_t room)
{
	const char *command = m->monitor ? m->monitor->command : NULL;
	const size_t len = command ? strlen(command) : 0;

	if (bytes && len <= room)
		memcpy(bytes, command ? command : "", len);
	return len <= room || !bytes ? len : 0;
}

/* The registers of a trace can be written only while the trace is off. */
static bool stop_trace(const struct cli_run_machine *m)
{
	unsigned int i;

	for (i = 0; i < m->vm.cpus; i++) {
		struct core_vcpu *v = m->vm.cpu[i];

		if (tracer_host_write(&v->tracer, VPT_MSR_CTL, 0, v->regs->rip) != VPT_FAULT_NONE)
			return false;
	}
	return true;
}

static bool start_trace(struct cli_run_machine *m, const struct cli_monitor_request *r,
			char why[CLI_MONITOR_WHY])
{
	int error = CLI_EXIT_OK;
	unsigned int i;
	size_t n;

	take_options(&m->o, r);
	cli_fail_keep(why, CLI_MONITOR_WHY);
	if (r->ranges)
		error = cli_run_resolve(&m->o, NULL, 0);
	for (n = 0; n < m->o.ranges; n++)
		m->o.range[n].text = RESOLVED;
	for (i = 0; !error && i < m->vm.cpus; i++)
		error = cli_run_start_host(&m->o, m->vm.cpu[i]);
	cli_fail_keep(NULL, 0);
	if (error)
		(void)stop_trace(m);
	m->o.trace_later = error;
	return !error;
}

static bool execute(struct cli_run_machine *m, const struct cli_monitor_request *r,
		    char why[CLI_MONITOR_WHY])
{
	switch (r->command) {
	case CLI_MONITOR_MARK:
		core_mark_put(m->vm.cpu[r->vcpu], CORE_MARK_BY_MONITOR, r->text, strlen(r->text));
		return true;
	case CLI_MONITOR_TRACE_START:
		return stop_trace(m) && start_trace(m, r, why);
	case CLI_MONITOR_TRACE_STOP:
		m->o.trace_later = true;
		return stop_trace(m);
	default:
		return false;
	}
}

bool cli_run_monitor_obey(struct cli_run_machine *m, const uint8_t *bytes, size_t len)
{
	struct cli_run_monitor *mon = m->monitor;
	char why[CLI_MONITOR_WHY] = "the processor does not allow it";
	struct cli_monitor_request r;
	json_t *result = NULL;
	bool valid = cli_monitor_request_parse(&r, (const char *)bytes, len, why) &&
		     check(m, &r, why) && r.command >= CLI_MONITOR_MARK &&
		     r.command != CLI_MONITOR_SNAPSHOT && r.command != CLI_MONITOR_QUIT;

	if (valid && execute(m, &r, why))
		result = json_pack("{s:I}", "insns", (json_int_t)core_vm_retired(&m->vm));
	if (mon && mon->command) {
		answer(mon, &mon->asked, result, why);
		forget(mon);
	} else {
		json_decref(result);
	}
	cli_monitor_request_free(&r);
	return valid;
}
