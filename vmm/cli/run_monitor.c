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

/* The longest wait for a place at which the machine can be saved. */
#define SNAPSHOT_NS	1000000000u
#define SNAPSHOT_FAILED "the snapshot failed, and the run ends"

struct cli_run_monitor {
	struct cli_monitor_socket socket;
	struct cli_monitor_request asked; /* the request that waits; root is NULL without one */
	char *command;			  /* its form in the file; allocated */
	bool begun;			  /* vCPUs execute it, or a snapshot waits */
	uint64_t until;			  /* ns: the end of a snapshot's wait */
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
	mon->begun = false;
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

/* Returns true if the counts of instructions and the virtual TSC are those of the whole run. */
static bool counts(const struct cli_run_machine *m)
{
	return cli_run_counts(&m->vm);
}

/* The place at which a command has taken effect. */
static json_t *place(const struct cli_run_machine *m)
{
	return counts(m) ? json_pack("{s:I}", "insns", (json_int_t)core_vm_retired(&m->vm))
			 : json_object();
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
	json_object_set_new(object, name, json_integer((json_int_t)value));
}

static json_t *status_of(const struct cli_run_machine *m, const struct core_vcpu *v)
{
	const struct tracer_recorder *rec = &v->tracer.recorder;
	json_t *vcpu =
		json_pack("{s:i, s:s, s:o, s:b, s:b}", "vcpu", (int)v->index, "state", state_of(v),
			  "rip", address(v->regs->rip), "trace_on", cli_run_change_is_on(m, v),
			  "traced", tracer_on(&v->tracer) || tracer_takes(&v->tracer));

	if (counts(m)) {
		set_number(vcpu, "insns", v->ev->retired);
		set_number(vcpu, "traced_insns", rec->insns);
	}
	set_number(vcpu, "trace_bytes", rec->bytes);
	return vcpu;
}

static json_t *status(const struct cli_run_machine *m)
{
	const struct core_vcpu *v = m->vm.vcpu;
	json_t *vcpus = json_array(), *status;
	bool on = false;
	unsigned int i;

	for (i = 0; i < m->vm.cpus; i++) {
		json_array_append_new(vcpus, status_of(m, m->vm.cpu[i]));
		on |= cli_run_change_is_on(m, m->vm.cpu[i]);
	}
	status = json_pack("{s:s, s:s}", "guest", m->o.guest, "engine", m->vm.engine->name);
	if (counts(m)) {
		set_number(status, "insns", core_vm_retired(&m->vm));
		set_number(status, "tsc", engine_time_tsc(&v->ev->time, v->ev->retired));
	}
	json_object_set_new(status, "trace_on", json_boolean(on));
	set_number(status, "snapshots", m->snapshots);
	json_object_set_new(status, "vcpus", vcpus);
	return status;
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
	cli_run_change_options(o, r);
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
		snprintf(why, CLI_MONITOR_WHY, "vcpu: there is no such vCPU");
		if (r->vcpu >= m->vm.cpus)
			return false;
		snprintf(why, CLI_MONITOR_WHY, "the ring is saved, and the trace has ended");
		if (m->ring.saved)
			return false;
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

/* Answer the command that has taken effect. */
static void complete(struct cli_run_machine *m, json_t *result, const char *why)
{
	struct cli_run_monitor *mon = m->monitor;

	if (!mon || !mon->command) {
		json_decref(result);
		return;
	}
	answer(mon, &mon->asked, result, why);
	forget(mon);
	/* Its client may have sent more. */
	if (m->vm.vcpu->input.mode == CORE_INPUT_HOST)
		m->vm.vcpu->input.arrived = 1;
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
		why = SNAPSHOT_FAILED;
		if (m->vm.threads) {
			cli_run_ask_snapshot();
		} else if (cli_run_take_snapshot(m)) {
			result = m->vm.stop.kind ? NULL : place(m);
			break;
		}
		/* The engine cannot stop here. Each tick tries again. */
		keep(mon, r);
		mon->begun = mon->command;
		mon->until = core_now() + SNAPSHOT_NS;
		return;
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

static bool snapshot_waits(const struct cli_run_machine *m)
{
	const struct cli_run_monitor *mon = m->monitor;

	return mon && mon->begun && mon->asked.command == CLI_MONITOR_SNAPSHOT;
}

void cli_run_monitor_snapped(struct cli_run_machine *m)
{
	if (snapshot_waits(m))
		complete(m, m->vm.stop.kind ? NULL : place(m), SNAPSHOT_FAILED);
}

bool cli_run_monitor_gives_up(struct cli_run_machine *m)
{
	if (!snapshot_waits(m) || core_now() < m->monitor->until)
		return false;
	complete(m, NULL, "the engine cannot save the guest where it is: try again");
	return true;
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
	const char *command = m->monitor && !m->monitor->begun ? m->monitor->command : NULL;
	const size_t len = command ? strlen(command) : 0;

	if (bytes && len <= room)
		memcpy(bytes, command ? command : "", len);
	return len <= room || !bytes ? len : 0;
}

void cli_run_monitor_asked(struct cli_run_machine *m, struct core_vcpu *v)
{
	if (cli_run_change_vcpu(m, v))
		complete(m, m->change.failed ? NULL : place(m), m->change.why);
}

/* Begin or end traces. Without threads, this thread makes the changes of all vCPUs. */
static void change(struct cli_run_machine *m, const struct cli_monitor_request *r)
{
	unsigned int i;

	if (!cli_run_change_begin(m, r)) {
		complete(m, NULL, m->change.why);
		return;
	}
	while (m->change.left && !m->vm.threads)
		for (i = 0; i < m->vm.cpus; i++)
			cli_run_monitor_asked(m, m->vm.cpu[i]);
}

bool cli_run_monitor_obey(struct cli_run_machine *m, const uint8_t *bytes, size_t len)
{
	char why[CLI_MONITOR_WHY] = "";
	struct cli_monitor_request r;
	bool valid = cli_monitor_request_parse(&r, (const char *)bytes, len, why) &&
		     check(m, &r, why) && r.command >= CLI_MONITOR_MARK &&
		     r.command != CLI_MONITOR_SNAPSHOT && r.command != CLI_MONITOR_QUIT;

	if (m->monitor)
		m->monitor->begun = true;
	if (valid && r.command == CLI_MONITOR_MARK) {
		core_mark_put(m->vm.cpu[r.vcpu], CORE_MARK_BY_MONITOR, r.text, strlen(r.text));
		complete(m, place(m), why);
	} else if (valid) {
		change(m, &r);
	} else {
		complete(m, NULL, why);
	}
	cli_monitor_request_free(&r);
	return valid;
}
