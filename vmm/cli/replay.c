// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt replay and vpt gdb repeat a run from its trace file, with its recorded inputs. If the run
 * cannot be repeated, vpt gdb serves the trace.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/gdb_listen.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/run.h"
#include "gdb/session.h"
#include "gdb/trace.h"

/* A trace file can request any size of memory. */
#define DEFAULT_MAX_MEM (1ull << 30)
/* Arguments besides the recorded ones. */
#define OWN_ARGUMENTS 12

struct replay {
	const char *path, *output, *console, *guest, *initrd;
	uint64_t max_mem;
	struct cli_run_timeout timeout;
	bool quiet, json;
	const char *verb; /* replay or gdb */
	const char *gdb;  /* where gdb connects, or NULL */
	struct gdb_session *session;
	struct trace_reader *reader;
	struct cli_run_replay run;
	char *guest_name, *initrd_name; /* of the recording; allocated */
	char *text[OWN_ARGUMENTS];	/* own arguments; allocated */
	size_t texts;
	char *copy, **argv; /* the recorded options, and all arguments; allocated */
	int argc;
};

static char verb_of_run[] = "run";
static const char not_recorded[] = "its options are not those of a recording";

#define AT(member) .field = offsetof(struct replay, member)

/* Options of both verbs. */
/* clang-format off */
#define GUEST_ROWS                                                                                 \
	{0, "guest", "=FILE", "the guest, if it is not where it was", cli_take_text, AT(guest)},   \
	{0, "initrd", "=FILE", "the initrd, if it is not where it was", cli_take_text,             \
	 AT(initrd)},                                                                              \
	{0, "max-mem", "=SIZE", "refuse a guest with more memory (default 1G)", cli_take_size,     \
	 AT(max_mem)}
#define CONSOLE_ROWS                                                                               \
	{0, "console", "=FILE",                                                                    \
	 "write the guest's console to FILE instead of standard output; none: drop it",            \
	 cli_take_text, AT(console)},                                                              \
	{'q', "quiet", NULL, "print no progress and no summary", cli_take_flag, AT(quiet)}
/* clang-format on */

static const struct cli_option rows[] = {
	{'o', "output", "=FILE", "record to this .vpt file", cli_take_text, AT(output)},
	GUEST_ROWS,
	{0, "timeout", "=S", "stop after S seconds, such as 10 or 0.5", cli_run_take_timeout,
	 AT(timeout)},
	CONSOLE_ROWS,
	{'j', "json", NULL, "print the summary as one line of JSON on standard output",
	 cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

static const struct cli_option gdb_rows[] = {
	{0, "gdb", "=PORT",
	 "wait for gdb at this port of 127.0.0.1 (default 0: any), or at a UNIX socket if it "
	 "contains a /",
	 cli_take_text, AT(gdb)},
	GUEST_ROWS,
	CONSOLE_ROWS,
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_gdb = {
	.name = "gdb",
	.run = cli_cmd_gdb,
	.summary = "serve the run of a file or a trace to gdb, forwards and backwards",
	.usage = "[OPTION]... FILE",
	.about =
		"Runs the guest of a trace file of the software CPU again, as vpt replay does, and "
		"serves gdb's remote protocol: all registers and all memory at each instruction of "
		"the run, with breakpoints and watchpoints in both directions. vpt run --gdb does "
		"the same without a file. Of a trace whose run cannot be repeated, gdb gets RIP "
		"and the code, in both directions, and the branches for its record btrace.",
	.notes =
		"\"monitor when\" prints the position, a count of instructions, and \"monitor goto "
		"N\" goes there. The exit status is that of vpt run. It is 3 if the file of "
		"--guest or --initrd is not that of the run.\n\n"
		"  vpt run --engine=soft --pt=host -o t.vpt demo.elf\n"
		"  vpt gdb --gdb=1234 t.vpt",
	.options = gdb_rows,
	.column = 21,
	.operands = {{"FILE", AT(path)}},
};

const struct cli_verb cli_verb_replay = {
	.name = "replay",
	.run = cli_cmd_replay,
	.summary = "repeat a run, with its recorded input",
	.usage = "[OPTION]... FILE",
	.about = "Runs the guest of a trace file again, on the software CPU, with the recorded "
		 "options and inputs. The console and the new trace file are the same, byte for "
		 "byte. FILE must be of vpt run on the software CPU.",
	.notes = "The guest and its initrd must be the same files as in the recording. The exit "
		 "status is that of vpt run. It is 3 if FILE cannot be replayed.\n\n"
		 "  vpt run --console=stdio -o t.vpt demo.elf\n"
		 "  vpt replay -o again.vpt t.vpt",
	.options = rows,
	.column = 21,
	.operands = {{"FILE", AT(path)}},
};
#undef AT

static int refuse(const struct replay *r, const char *why)
{
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: %s", r->verb, r->path, why);
}

static int check_files(const struct replay *r)
{
	const struct cli_file files[] = {
		{CLI_INPUT, "FILE", r->path},
		{CLI_INPUT, "--guest", r->guest},
		{CLI_INPUT, "--initrd", r->initrd},
		{CLI_TRACE, "--output", r->output},
	};

	return cli_files_check(r->verb, files, sizeof(files) / sizeof(files[0]));
}

/* Find the files that the run used. */
static int take_files(struct replay *r)
{
	const struct trace_reader_ref *refs;
	size_t n, i;

	refs = trace_reader_refs(r->reader, &n);
	for (i = 0; i < n; i++) {
		const struct trace_file_ref *ref = refs[i].ref;
		char *name;

		if (ref->kind == TRACE_REF_DISK && r->run.disks < VIRTIO_DISKS)
			r->run.disk[r->run.disks++] = ref;
		if (ref->kind != TRACE_REF_BINARY && ref->kind != TRACE_REF_KERNEL &&
		    ref->kind != TRACE_REF_INITRD)
			continue;
		if (ref->kind == TRACE_REF_INITRD ? r->initrd_name : r->guest_name)
			return refuse(r, "it names two guests or two initrds");
		name = strndup(refs[i].name, ref->name_len);
		if (!name)
			return cli_fail(CLI_EXIT_HOST, "%s: no memory", r->verb);
		if (ref->kind == TRACE_REF_INITRD) {
			r->run.initrd = ref;
			r->run.initrd_name = r->initrd_name = name;
		} else {
			r->run.guest = ref;
			r->run.guest_name = r->guest_name = name;
		}
	}
	return r->guest_name ? CLI_EXIT_OK : refuse(r, "it does not name its guest");
}

/* A name in the file could be that of a device or of a pipe that nobody writes. */
static int check_regular(const char *verb, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: not a regular file", verb, path);
	return CLI_EXIT_OK;
}

static int add(struct replay *r, const char *option, const char *value)
{
	const size_t len = strlen(option) + strlen(value) + 1;
	char *text = r->texts < OWN_ARGUMENTS ? malloc(len) : NULL;

	if (!text)
		return cli_fail(CLI_EXIT_HOST, "%s: no memory", r->verb);
	snprintf(text, len, "%s%s", option, value);
	r->text[r->texts++] = text;
	return CLI_EXIT_OK;
}

/* The arguments that the recording does not have. */
static int add_own(struct replay *r)
{
	int status = add(r, "--engine=soft", "");

	if (!status)
		status = add(r, "--output=", r->output ? r->output : "/dev/null");
	if (!status && r->gdb)
		status = add(r, "--gdb=", r->gdb);
	if (!status && r->initrd_name)
		status = add(r, "--initrd=", r->initrd ? r->initrd : r->initrd_name);
	if (!status && r->console)
		status = add(r, "--console=", r->console);
	if (!status && r->timeout.ns)
		status = add(r, "--timeout=", r->timeout.text);
	if (!status && r->quiet)
		status = add(r, "--quiet", "");
	if (!status && r->json)
		status = add(r, "--json", "");
	if (!status)
		status = add(r, "--", "");
	if (!status)
		status = add(r, r->guest ? r->guest : r->guest_name, "");
	return status;
}

/* Add the recorded options to the arguments. */
static int add_recorded(struct replay *r)
{
	const struct trace_run_options *options;
	const char *text;
	char *at;
	size_t i;

	options = trace_reader_options(r->reader, &text);
	r->argv = calloc(1 + (size_t)options->count + OWN_ARGUMENTS + 1, sizeof(*r->argv));
	r->copy = at = malloc(options->len + 1u);
	if (!r->argv || !r->copy)
		return cli_fail(CLI_EXIT_HOST, "%s: no memory", r->verb);
	memcpy(r->copy, text, options->len);
	r->argv[r->argc++] = verb_of_run;
	for (i = 0; i < options->count; i++, at += strlen(at) + 1) {
		if (!strcmp(at, CLI_RUN_NO_INPUT)) {
			r->run.no_input = true;
			continue;
		}
		if (!cli_run_replays(at))
			return refuse(r, not_recorded);
		/* gdb needs no names of tasks, which are in the trace only. */
		if (!r->gdb || strcmp(at, "--tasks") != 0)
			r->argv[r->argc++] = at;
	}
	return CLI_EXIT_OK;
}

/* Returns why FILE does not say how its run is repeated, or NULL if it does. */
static const char *lacks_record(const struct replay *r)
{
	const char *text;

	if (trace_reader_options(r->reader, &text))
		return NULL;
	if (strcmp(trace_reader_info(r->reader)->engine, "soft") != 0)
		return "it is not of the software CPU, and no other engine repeats a run (use "
		       "vpt run --engine=soft)";
	return "it has no record of its run, like each file of --ring, --slow-reader, vpt restore "
	       "--pt=host and earlier versions";
}

/* Returns why the run does not end at a place that a replay finds, or NULL if it does. */
static const char *lacks_end(const struct replay *r)
{
	const struct trace_post_mortem *end = trace_reader_stop(r->reader);
	const uint32_t kind = end ? end->stop.kind : TRACE_STOP_NONE;

	if (kind == TRACE_STOP_SNAPSHOT)
		return "it ends at a snapshot: replay the file of vpt restore";
	if (!r->run.no_input)
		return NULL;
	if (r->run.count)
		return "vpt restore resumed its run with input, and the run before had none";
	if (kind == TRACE_STOP_TIMEOUT || kind == TRACE_STOP_INTERRUPTED)
		return "a time limit or a signal ended its run, which is at no place of a run "
		       "without input";
	return NULL;
}

/* Check the options of a replay. */
static int check(const struct replay *r, const struct cli_run_options *o)
{
	int status;

	if (r->run.no_input && cli_run_has_live_input(o))
		return refuse(r, not_recorded);
	if (o->mem > r->max_mem)
		return cli_fail(CLI_EXIT_INPUT,
				"%s: %s: its guest has %" PRIu64 "M of memory, more than "
				"--max-mem=%" PRIu64 "M: raise that if you trust the file",
				r->verb, r->path, o->mem >> 20, r->max_mem >> 20);
	status = check_regular(r->verb, o->guest);
	if (!status && o->initrd)
		status = check_regular(r->verb, o->initrd);
	return !status && r->gdb ? cli_run_gdb_check(o) : status;
}

/* Make the options of the run from the recorded options and those of this command. */
static int prepare(struct replay *r, struct cli_run_options *o)
{
	const struct trace_post_mortem *end = trace_reader_stop(r->reader);
	const char *why = lacks_record(r);
	size_t i;
	int status = why ? refuse(r, why) : add_recorded(r);

	r->run.what = "recording";
	r->run.inputs = trace_reader_inputs(r->reader, &r->run.count);
	if (r->run.no_input && end && !r->gdb)
		r->run.end = &end->stop;
	why = status ? NULL : lacks_end(r);
	if (why)
		return refuse(r, why);
	if (!status)
		status = take_files(r);
	if (!status)
		status = add_own(r);
	if (status)
		return status;
	for (i = 0; i < r->texts; i++)
		r->argv[r->argc++] = r->text[i];
	status = cli_run_parse(o, r->argc, r->argv);
	o->verb = r->verb;
	o->replay = &r->run;
	return status ? status : check(r, o);
}

static int run(struct replay *r, struct cli_run_options *o)
{
	o->session = r->session;
	r->session = NULL;
	return cli_run_guest_of(o);
}

static int confine(const struct replay *r)
{
	const bool is_file = r->console && strcmp(r->console, "none") != 0;

	return cli_confine(r->verb, &(struct sandbox_want){
					    .output = {r->output ? r->output : "/dev/null",
						       is_file ? r->console : NULL},
					    .code = true,
				    });
}

/* Serve gdb a trace whose run cannot be repeated, because of @why. */
static int serve_trace(struct replay *r, const char *why)
{
	int error;

	if (!r->quiet)
		fprintf(stderr,
			"vpt gdb: %s: %s: gdb has RIP and code, without registers and data\n",
			r->path, why);
	error = gdb_trace_serve(r->session, r->reader);
	return error ? cli_fail(CLI_EXIT_HOST, "gdb: %s: %s", r->path, cli_reason(-error))
		     : CLI_EXIT_OK;
}

/* Run the guest again. If this cannot begin, gdb gets the trace, unless the user named a file. */
static int repeat(struct replay *r)
{
	struct cli_run_options o;
	int status = cli_whole(r->verb, r->path, r->reader);

	if (!status)
		status = prepare(r, &o);
	if (!status)
		return run(r, &o);
	if (!r->gdb || r->guest || r->initrd || status == CLI_EXIT_HOST)
		return status;
	return serve_trace(r, "its run is not repeated");
}

static int open_and_replay(struct replay *r)
{
	int status = cli_open(r->verb, r->path, TRACE_READER_NO_ORACLE, &r->reader);
	const char *why;

	if (status)
		return status;
	why = r->gdb ? lacks_record(r) : NULL;
	status = why ? serve_trace(r, why) : repeat(r);
	while (r->texts)
		free(r->text[--r->texts]);
	free(r->argv);
	free(r->copy);
	free(r->guest_name);
	free(r->initrd_name);
	trace_reader_close(r->reader);
	return status;
}

/* gdb connects before the sandbox, which comes before the file. */
static int perform(struct replay *r)
{
	int status = CLI_EXIT_OK;

	if (r->console && !strcmp(r->console, "stdio"))
		status = cli_fail(CLI_EXIT_USAGE,
				  "%s: --console=stdio: the input is that of the recording",
				  r->verb);
	if (!status)
		status = check_files(r);
	if (!status && r->gdb)
		status = cli_gdb_listen(r->verb, r->gdb, &r->session);
	if (!status)
		status = confine(r);
	if (!status)
		status = open_and_replay(r);
	gdb_session_destroy(r->session);
	return status;
}

int cli_cmd_replay(int argc, char **argv)
{
	struct replay r = {.verb = "replay", .max_mem = DEFAULT_MAX_MEM};
	int status = cli_options_parse(&cli_verb_replay, argc, argv, &r);

	return status ? status : perform(&r);
}

int cli_cmd_gdb(int argc, char **argv)
{
	struct replay r = {.verb = "gdb", .gdb = "0", .max_mem = DEFAULT_MAX_MEM};
	int status = cli_options_parse(&cli_verb_gdb, argc, argv, &r);

	return status ? status : perform(&r);
}
