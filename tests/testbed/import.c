// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert oracle logs of the test bed to a .vpt file: see vmm/import/import.h. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "vpt/caps.h"

#define LOGS_MAX 64

static const char help[] =
	"usage: testbed-import [OPTION]... LOG...\n"
	"\n"
	"Converts oracle logs, one of each logical processor, to a .vpt file. The file has one\n"
	"vCPU for each log with the trace in the host's buffers, and one for each VMCS with the\n"
	"trace in guests' buffers. Sessions are numbered over all logs, from 0.\n"
	"\n"
	"  -o, --output=FILE    write this .vpt file\n"
	"  -s, --sessions=A-B   only sessions A to B, or A, or A- for A and all later ones\n"
	"  -b, --buffer=WHO     host or guest: only the trace in their buffers\n"
	"  -v, --vmcs=ADDRESS   only sessions with this current VMCS\n"
	"  -m, --model=NAME     the processor's model of PT (skl)\n"
	"  -a, --against=FILE   compare the one selected stream with the bytes of FILE, or with\n"
	"                       the trace of the first vCPU if FILE is a .vpt file\n"
	"  -l, --list           show the sessions\n"
	"  -h, --help           this text\n"
	"\n"
	"The exit status is 0 on success. It is 1 if --against differs, the logs contain nothing\n"
	"of the selection, or code is missing. It is 2 for a wrong command, 3 for a wrong log,\n"
	"and 4 for an error of the system.\n";

struct options {
	const char *output, *against;
	struct import_config config;
	bool list, help;
};

struct logs {
	struct trace_input in[LOGS_MAX];
	struct import_log at[LOGS_MAX];
	size_t n;
};

static int fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "testbed-import: %s: %s\n", what, why);
	return status;
}

static bool number(const char *text, const char **end, uint64_t *value)
{
	char *stop;

	errno = 0;
	*value = strtoull(text, &stop, 0);
	*end = stop;
	return text[0] >= '0' && text[0] <= '9' && !errno;
}

static bool take_range(struct import_config *c, const char *text)
{
	if (!number(text, &text, &c->first))
		return false;
	c->last = c->first;
	if (!*text)
		return true;
	if (*text++ != '-')
		return false;
	c->last = UINT64_MAX;
	return !*text || (number(text, &text, &c->last) && !*text && c->last >= c->first);
}

static bool take_buffer(struct import_config *c, const char *text)
{
	c->host = !strcmp(text, "host");
	c->guest = !strcmp(text, "guest");
	return c->host || c->guest;
}

static int take_option(struct options *o, int option, const char *word)
{
	const char *end = "";
	bool ok = true;

	switch (option) {
	case 'o':
		o->output = optarg;
		break;
	case 's':
		ok = take_range(&o->config, optarg);
		break;
	case 'b':
		ok = take_buffer(&o->config, optarg);
		break;
	case 'v':
		o->config.one_vmcs = true;
		ok = number(optarg, &end, &o->config.vmcs) && !*end;
		break;
	case 'm':
		o->config.model = optarg;
		break;
	case 'a':
		o->against = optarg;
		break;
	case 'l':
		o->list = true;
		break;
	case 'h':
		o->help = true;
		break;
	default:
		ok = false;
		break;
	}
	return ok ? 0 : fail(2, word, "wrong, or unknown: see --help");
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"sessions", required_argument, NULL, 's'},
		{"buffer", required_argument, NULL, 'b'},
		{"vmcs", required_argument, NULL, 'v'},
		{"model", required_argument, NULL, 'm'},
		{"against", required_argument, NULL, 'a'},
		{"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = 0;

	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, "o:s:b:v:m:a:lh", longs, NULL)) != -1)
		status = take_option(o, option, argv[optind - 1]);
	if (status || o->help)
		return status;
	o->config.caps = vpt_caps_model(o->config.model);
	if (!o->config.caps)
		return fail(2, o->config.model, "no such model");
	o->config.lip = vpt_caps_has(o->config.caps, VPT_CAP_LIP);
	if (optind == argc || argc - optind > LOGS_MAX)
		return fail(2, "LOG", "between 1 and 64 of them: see --help");
	if (!o->output && !o->against && !o->list)
		return fail(2, "--output, --against, --list", "none of them: see --help");
	return 0;
}

static int open_log(struct logs *logs, const char *path)
{
	struct trace_input *in = &logs->in[logs->n];
	struct import_log *log = &logs->at[logs->n];
	int err = trace_input_open(in, path);

	logs->n++;
	if (err)
		return fail(3, path, strerror(-err));
	if (!import_log_open(log, in->bytes, in->size))
		return fail(3, path, log->why);
	return 0;
}

static void list(const struct import *import)
{
	static const char *const ends[] = {"TraceEn cleared", "stopped", "error"};
	const struct import_session *s;
	size_t n, i;

	s = import_sessions(import, &n);
	for (i = 0; i < n; i++, s++) {
		printf("session %zu: log %zu, %s buffer", i, s->log,
		       s->side == IMPORT_HOST ? "host" : "guest");
		if (s->vmcs != TRACE_SPACE_ANY_VMCS)
			printf(", VMCS 0x%" PRIx64, s->vmcs);
		printf(", ip 0x%" PRIx64 ", CTL 0x%" PRIx64 ", trace: %" PRIu64
		       " bytes, instructions: %" PRIu64 ", %s\n",
		       s->ip, s->ctl, s->trace, s->insns, s->ended ? ends[s->end] : "no end");
	}
}

static int compare_bytes(const struct options *o, const struct import *import, const uint8_t *bytes,
			 size_t size)
{
	uint64_t at;

	if (!import_same(import, 0, bytes, size, &at)) {
		printf("%s: differs from the log at byte 0x%" PRIx64 " of 0x%zx\n", o->against, at,
		       size);
		return 1;
	}
	printf("%s: equal to the log, %zu bytes\n", o->against, size);
	return 0;
}

/* Compare with the first vCPU's trace in a .vpt file. */
static int compare_file(const struct options *o, const struct import *import)
{
	struct trace_reader *reader;
	const uint8_t *stream;
	char why[160];
	size_t size;
	int status;

	if (trace_reader_open(o->against, &reader, why, sizeof(why)))
		return fail(3, o->against, why);
	stream = trace_reader_stream(reader, 0, &size);
	if (stream)
		status = compare_bytes(o, import, stream, size);
	else
		status = fail(4, o->against, "no memory");
	trace_reader_close(reader);
	return status;
}

static bool is_vpt(const struct trace_input *in)
{
	const uint64_t magic = TRACE_FILE_MAGIC;

	return in->size >= sizeof(magic) && !memcmp(in->bytes, &magic, sizeof(magic));
}

static int compare(const struct options *o, const struct import *import)
{
	struct trace_input in = {0};
	size_t n;
	int status, err;

	import_streams(import, &n);
	if (n != 1)
		return fail(1, o->against, "the selection is not one stream: see --list");
	err = trace_input_open(&in, o->against);
	if (err)
		status = fail(3, o->against, strerror(-err));
	else if (is_vpt(&in))
		status = compare_file(o, import);
	else
		status = compare_bytes(o, import, in.bytes, in.size);
	trace_input_close(&in);
	return status;
}

static int write_file(const struct options *o, struct import *import)
{
	const struct import_stream *s;
	size_t n, i;
	int err = import_write(import, o->output);

	if (err == -ENODATA)
		return fail(1, o->output, "the logs contain nothing of the selection");
	if (err)
		return fail(4, o->output, strerror(-err));
	s = import_streams(import, &n);
	for (i = 0; i < n; i++, s++) {
		printf("vCPU %zu: log %zu, %s buffer", i, s->log,
		       s->side == IMPORT_HOST ? "host" : "guest");
		if (s->side == IMPORT_GUEST)
			printf(", VMCS 0x%" PRIx64, s->vmcs);
		printf(", trace: %" PRIu64 " bytes\n", s->trace);
	}
	if (!import_no_code(import))
		return 0;
	printf("instructions without code: %" PRIu64 "\n", import_no_code(import));
	return 1;
}

static int run(const struct options *o, struct logs *logs)
{
	struct import *import;
	char why[160];
	size_t i;
	int status = 0;
	int err = import_open(logs->at, logs->n, &o->config, &import, why, sizeof(why));

	if (err)
		return fail(err == -EINVAL ? 3 : 4, "LOG", why);
	for (i = 0; i < logs->n; i++) {
		if (!logs->at[i].closed)
			fprintf(stderr, "testbed-import: log %zu: %s\n", i, logs->at[i].why);
	}
	if (import_stray(import))
		printf("trace in no session: %" PRIu64 " bytes\n", import_stray(import));
	if (o->list)
		list(import);
	if (o->output)
		status = write_file(o, import);
	if (!status && o->against)
		status = compare(o, import);
	import_close(import);
	return status;
}

int main(int argc, char **argv)
{
	static struct logs logs;
	struct options o = {
		.config = {.model = "skl", .last = UINT64_MAX, .host = true, .guest = true},
	};
	int status = parse(&o, argc, argv);
	size_t i;

	if (!status && o.help) {
		fputs(help, stdout);
		return 0;
	}
	for (i = (size_t)optind; !status && i < (size_t)argc; i++)
		status = open_log(&logs, argv[i]);
	if (!status)
		status = run(&o, &logs);
	for (i = 0; i < logs.n; i++)
		trace_input_close(&logs.in[i]);
	return status;
}
