// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt monitor: sends a command to the monitor of a run, and prints the answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/monitor_request.h"
#include "cli/option.h"

#define ARGUMENTS 16

struct monitor {
	const char *path, *command;
	const char *argument[ARGUMENTS];
	unsigned int arguments;
	bool json;
};

static int take_argument(const struct cli_given *g)
{
	struct monitor *m = g->options;

	if (m->arguments == ARGUMENTS)
		return cli_option_wrong(g, "there are at most %d", ARGUMENTS);
	m->argument[m->arguments++] = g->value;
	return CLI_EXIT_OK;
}

static const struct cli_option rows[] = {
	{'a', "argument", "=NAME[=VALUE]",
	 "an argument of the command; without VALUE it is true; can be repeated", take_argument,
	 .field = offsetof(struct monitor, arguments)},
	{'j', "json", NULL, "print the answer as the monitor sends it", cli_take_flag,
	 .field = offsetof(struct monitor, json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_monitor = {
	.name = "monitor",
	.run = cli_cmd_monitor,
	.summary = "send a command to a run that has --monitor",
	.usage = "[OPTION]... SOCKET COMMAND",
	.about = "Sends a command to the monitor of a run, waits for its answer, and prints it.",
	.notes =
		"COMMAND is status, input (line=TEXT, or text=TEXT without a line feed), mark "
		"(text=TEXT, vcpu=N), snapshot, trace-start (filter=RANGE, stop=RANGE, user, "
		"kernel, cr3=VALUE, vcpu=N), trace-stop (vcpu=N) or quit. vpt-monitor(1) describes "
		"them. It can "
		"also be a request in JSON.\n\n"
		"The exit status is 0, 1 if the monitor refuses the command, 2 for a wrong command "
		"line, and 4 if nobody answers.\n\n"
		"  vpt monitor run.sock mark -a text=here\n"
		"  vpt monitor run.sock trace-start -a filter=do_sys_openat2 -a kernel",
	.options = rows,
	.column = 30,
	.operands = {{"SOCKET", .field = offsetof(struct monitor, path)},
		     {"COMMAND", .field = offsetof(struct monitor, command)}},
};

/* An argument that is repeated becomes a list. */
static void add(json_t *arguments, const char *text)
{
	const char *equals = strchr(text, '=');
	json_t *value = equals ? json_string(equals + 1) : json_true();
	char *name = strndup(text, equals ? (size_t)(equals - text) : strlen(text));
	json_t *earlier = name ? json_object_get(arguments, name) : NULL;

	if (json_is_array(earlier))
		json_array_append_new(earlier, value);
	else if (earlier)
		json_object_set_new(arguments, name, json_pack("[O, o]", earlier, value));
	else if (name)
		json_object_set_new(arguments, name, value);
	free(name);
}

static char *make_request(const struct monitor *m)
{
	json_t *root = json_object(), *arguments = json_object();
	unsigned int i;
	char *text;

	for (i = 0; i < m->arguments; i++)
		add(arguments, m->argument[i]);
	json_object_set_new(root, "execute", json_string(m->command));
	if (m->arguments)
		json_object_set_new(root, "arguments", arguments);
	else
		json_decref(arguments);
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

static int connect_to(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -errno;
}

/* Print the members of an object, one a line. */
static void print_members(const json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)object, name, value) {
		printf("%s: ", name);
		if (json_is_string(value))
			printf("%s\n", json_string_value(value));
		else if (json_dumpf(value, stdout, JSON_ENCODE_ANY) || putchar('\n') == EOF)
			return;
	}
}

static int report(const struct monitor *m, const char *line)
{
	json_t *root = json_loads(line, 0, NULL);
	const json_t *result = json_object_get(root, "return");
	const char *why =
		json_string_value(json_object_get(json_object_get(root, "error"), "desc"));
	int status = result ? CLI_EXIT_OK : CLI_EXIT_FAIL;

	if (!result && !why)
		status = cli_fail(CLI_EXIT_HOST, "monitor: %s: the answer is not one of a monitor",
				  m->path);
	else if (m->json)
		puts(line);
	else if (why)
		status = cli_fail(CLI_EXIT_FAIL, "monitor: %s", why);
	else
		print_members(result);
	json_decref(root);
	return status;
}

static int talk(const struct monitor *m, FILE *socket, const char *request)
{
	char *line = NULL;
	size_t room = 0;
	int status;

	if (fprintf(socket, "%s\n", request) < 0 || fflush(socket) ||
	    getline(&line, &room, socket) < 0) {
		status = cli_fail(CLI_EXIT_HOST, "monitor: %s: no answer: the run has ended",
				  m->path);
	} else {
		line[strcspn(line, "\n")] = 0;
		status = report(m, line);
	}
	free(line);
	return status;
}

int cli_cmd_monitor(int argc, char **argv)
{
	struct monitor m = {.path = NULL};
	int fd, status = cli_options_parse(&cli_verb_monitor, argc, argv, &m);
	FILE *socket;
	char *request;

	if (status)
		return status;
	fd = connect_to(m.path);
	socket = fd < 0 ? NULL : fdopen(fd, "r+");
	if (!socket)
		return cli_fail(CLI_EXIT_HOST,
				"monitor: %s: %s: give the socket of a vpt run --monitor", m.path,
				cli_reason(fd < 0 ? -fd : errno));
	request = *m.command == '{' ? strdup(m.command) : make_request(&m);
	status =
		request ? talk(&m, socket, request) : cli_fail(CLI_EXIT_HOST, "monitor: no memory");
	free(request);
	fclose(socket);
	return status;
}
