// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse requests to the monitor, and make its answers. */
#include "cli/monitor_request.h"

#include <stdio.h>
#include <string.h>

#include "cli/option.h"

struct take {
	struct cli_monitor_request *r;
	char *why;
};

static bool wrong(const struct take *t, const char *name, const char *what)
{
	snprintf(t->why, CLI_MONITOR_WHY, "%.60s: %s", name, what);
	return false;
}

static bool take_text(const struct take *t, const char *name, const json_t *value)
{
	t->r->text = json_string_value(value);
	return t->r->text || wrong(t, name, "not a string");
}

static bool take_line(const struct take *t, const char *name, const json_t *value)
{
	t->r->is_line = true;
	return take_text(t, name, value);
}

/* A number, also as text, because JSON's numbers do not hold 64 bits everywhere. */
static bool take_number(const struct take *t, const char *name, const json_t *value,
			uint64_t *number)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		*number = (uint64_t)json_integer_value(value);
	else if (!json_is_string(value) || !cli_is_number(json_string_value(value), number))
		return wrong(t, name, "not a number");
	return true;
}

static bool take_vcpu(const struct take *t, const char *name, const json_t *value)
{
	t->r->has_vcpu = true;
	return take_number(t, name, value, &t->r->vcpu);
}

static bool take_cr3(const struct take *t, const char *name, const json_t *value)
{
	t->r->has_cr3 = true;
	return take_number(t, name, value, &t->r->cr3);
}

static bool take_bool(const struct take *t, const char *name, const json_t *value, bool *to)
{
	*to = json_is_true(value);
	return json_is_boolean(value) || wrong(t, name, "not true or false");
}

static bool take_user(const struct take *t, const char *name, const json_t *value)
{
	return take_bool(t, name, value, &t->r->user);
}

static bool take_kernel(const struct take *t, const char *name, const json_t *value)
{
	return take_bool(t, name, value, &t->r->kernel);
}

static bool take_range(const struct take *t, const char *name, const json_t *value)
{
	struct cli_monitor_request *r = t->r;
	const char *text = json_string_value(value);

	if (!text || !*text)
		return wrong(t, name, "not a range, such as \"main\" or \"0x1000-0x1fff\"");
	if (r->ranges == VPT_MAX_RANGES)
		return wrong(t, name, "more ranges than any processor has");
	r->range[r->ranges].text = text;
	r->range[r->ranges++].stop = !strcmp(name, "stop");
	return true;
}

static bool take_ranges(const struct take *t, const char *name, const json_t *value)
{
	size_t i;

	if (!json_is_array(value))
		return take_range(t, name, value);
	for (i = 0; i < json_array_size(value); i++)
		if (!take_range(t, name, json_array_get(value, i)))
			return false;
	return true;
}

/* The arguments of all commands. */
static const struct row {
	enum cli_monitor_command command;
	const char *name;
	bool (*take)(const struct take *t, const char *name, const json_t *value);
} rows[] = {
	{CLI_MONITOR_INPUT, "text", take_text},
	{CLI_MONITOR_INPUT, "line", take_line},
	{CLI_MONITOR_MARK, "text", take_text},
	{CLI_MONITOR_MARK, "vcpu", take_vcpu},
	{CLI_MONITOR_TRACE_START, "filter", take_ranges},
	{CLI_MONITOR_TRACE_START, "stop", take_ranges},
	{CLI_MONITOR_TRACE_START, "user", take_user},
	{CLI_MONITOR_TRACE_START, "kernel", take_kernel},
	{CLI_MONITOR_TRACE_START, "cr3", take_cr3},
	{CLI_MONITOR_TRACE_START, "vcpu", take_vcpu},
	{CLI_MONITOR_TRACE_STOP, "vcpu", take_vcpu},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *find_row(enum cli_monitor_command command, const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].command == command && !strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static bool take_arguments(const struct take *t, json_t *arguments)
{
	const struct row *row;
	const char *name;
	json_t *value;

	json_object_foreach (arguments, name, value) {
		row = find_row(t->r->command, name);
		if (!row)
			return wrong(t, name, "no such argument");
		if (!row->take(t, name, value))
			return false;
		t->r->has_arguments |= row->take != take_vcpu;
	}
	if (!t->r->text &&
	    (t->r->command == CLI_MONITOR_INPUT || t->r->command == CLI_MONITOR_MARK))
		return wrong(t, "text", "missing");
	return true;
}

static bool take_command(const struct take *t, const char *name)
{
	static const char *const names[] = {
		[CLI_MONITOR_STATUS] = "status",
		[CLI_MONITOR_INPUT] = "input",
		[CLI_MONITOR_MARK] = "mark",
		[CLI_MONITOR_SNAPSHOT] = "snapshot",
		[CLI_MONITOR_TRACE_START] = "trace-start",
		[CLI_MONITOR_TRACE_STOP] = "trace-stop",
		[CLI_MONITOR_QUIT] = "quit",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]))
			continue;
		t->r->command = (enum cli_monitor_command)i;
		return true;
	}
	return wrong(t, name,
		     "no such command: use status, input, mark, snapshot, trace-start, trace-stop "
		     "or quit");
}

static bool is_known(const char *member)
{
	return !strcmp(member, "execute") || !strcmp(member, "arguments") || !strcmp(member, "id");
}

bool cli_monitor_request_parse(struct cli_monitor_request *r, const char *text, size_t len,
			       char why[CLI_MONITOR_WHY])
{
	const struct take t = {r, why};
	json_t *arguments, *member;
	const char *name;
	json_error_t error;

	*r = (struct cli_monitor_request){.root = NULL};
	r->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!r->root) {
		snprintf(why, CLI_MONITOR_WHY, "not JSON: byte %d: %s", error.position, error.text);
		return false;
	}
	if (!json_is_object(r->root))
		return wrong(&t, "request", "not an object, such as {\"execute\": \"status\"}");
	r->id = json_object_get(r->root, "id");
	json_object_foreach (r->root, name, member)
		if (!is_known(name))
			return wrong(&t, name, "no such member");
	name = json_string_value(json_object_get(r->root, "execute"));
	if (!name)
		return wrong(&t, "execute", "not a string with a command");
	arguments = json_object_get(r->root, "arguments");
	if (arguments && !json_is_object(arguments))
		return wrong(&t, "arguments", "not an object");
	return take_command(&t, name) && take_arguments(&t, arguments);
}

void cli_monitor_request_free(struct cli_monitor_request *r)
{
	json_decref(r->root);
	r->root = NULL;
}

static char *answer(const struct cli_monitor_request *r, const char *member, json_t *value)
{
	json_t *root = json_object();
	char *text;

	json_object_set_new(root, member, value);
	if (r->id)
		json_object_set_new(root, "id", json_deep_copy(r->id));
	text = json_dumps(root, 0);
	json_decref(root);
	return text;
}

char *cli_monitor_result(const struct cli_monitor_request *r, json_t *result)
{
	return answer(r, "return", result);
}

char *cli_monitor_error(const struct cli_monitor_request *r, const char *why)
{
	char text[CLI_MONITOR_WHY];
	size_t i;

	/* A part of a request's text could end in the middle of a character. */
	snprintf(text, sizeof(text), "%s", why);
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~')
			text[i] = '?';
	return answer(r, "error", json_pack("{s:s}", "desc", text));
}
