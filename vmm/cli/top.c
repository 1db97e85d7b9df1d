// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt top: shows what executes, while a trace is written. */
#include "cli/top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/raw.h"
#include "cli/symbols.h"
#include "decode/calls.h"
#include "decode/flow.h"
#include "trace/growing.h"

#define SECOND	1000000000ull
#define WAIT_MS 50u
#define CTRL_C	3
#define MOST	86400u /* seconds of the longest interval */
#define ROWS	24
#define COLUMNS 80

struct top {
	const char *path;
	uint64_t seconds;
	bool once, json;
	struct cli_symbols names;

	struct trace_growing file;
	struct trace_reader *reader;
	struct debug_symbols *symbols;
	struct decode_flow **flows; /* by vCPU */
	unsigned int vcpus;
	uint64_t *offsets; /* by vCPU: the offset of the last item in the stream */
	uint64_t began;	   /* when the interval began, in nanoseconds */
	uint64_t had;	   /* bytes of trace at the begin of the interval */
	uint64_t had_lost; /* see struct cli_top_interval, for all intervals before */
	struct cli_top_interval now;
	struct cli_top_screen screen;
	struct cli_raw raw;
	int keys; /* the terminal's descriptor, or -1 */
	bool quit;
};

#define AT(member) .field = offsetof(struct top, member)

static const struct cli_option rows[] = {
	{'i', "interval", "=SECONDS", "the length of an interval (default: 1)", cli_take_number,
	 AT(seconds)},
	{'1', "once", NULL, "end after one interval", cli_take_flag, AT(once)},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, AT(names)},
	{'j', "json", NULL, "one JSON object for each interval", cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_top = {
	.name = "top",
	.run = cli_cmd_top,
	.summary = "show what executes while a trace is written",
	.usage = "[OPTION]... FILE",
	.about = "Decodes a .vpt trace while it is written, and shows for each interval the "
		 "functions "
		 "and address spaces that executed the most instructions, the events, the rate "
		 "of trace bytes, and losses. FILE is a file that grows, a named pipe, or - for "
		 "standard input.",
	.notes = "On a terminal the display is drawn anew for each interval; q ends it. Elsewhere "
		 "one table follows the other. vpt top ends with the trace.\n\n"
		 "The exit status is 0, 2 for a wrong command line, 3 if FILE cannot be read, is "
		 "damaged, or cannot be decoded before its end, and 4 if this machine lacks a "
		 "requirement.\n\n"
		 "  vpt run --pt=host -o - demo.elf | vpt top -",
	.options = rows,
	.column = 20,
	.operands = {{"FILE", AT(path)}},
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static int count(struct top *t, uint64_t cr3, uint64_t at, uint64_t insns)
{
	struct trace_pair *space = trace_pairs_add(&t->now.spaces, cr3, 0);

	if (!space || !decode_tally_add(&t->now.tally, at, at, insns))
		return -ENOMEM;
	space->value += insns;
	return 0;
}

static int count_parts(struct top *t, const struct decode_item *item)
{
	size_t i;
	int err = 0;

	for (i = 0; i < item->insns && !err; i++) {
		const struct decode_part *p = &item->parts[i];

		t->now.sum.insns += p->insns;
		err = count(t, item->cr3, p->function == DECODE_NO_FUNCTION ? p->ip : p->function,
			    p->insns);
	}
	return err;
}

static int take_item(struct top *t, unsigned int vcpu, const struct decode_item *item)
{
	t->offsets[vcpu] = item->offset;
	if (item->kind == DECODE_ITEM_PARTS)
		return count_parts(t, item);
	decode_summary_item(&t->now.sum, vcpu, item);
	return item->kind == DECODE_ITEM_BLOCK ? count(t, item->cr3, item->ip, item->insns) : 0;
}

/* Take the items of a vCPU that are certain. Returns 0 or -errno. */
static int take_items(struct top *t, unsigned int vcpu, bool whole)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	int err = decode_flow_more(t->flows[vcpu], whole);

	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(t->flows[vcpu], &item);
		if (!err)
			err = take_item(t, vcpu, &item);
	}
	return err == -EAGAIN ? 0 : err;
}

static int take_all(struct top *t, bool whole)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < t->vcpus && !err; i++)
		err = take_items(t, i, whole);
	return err;
}

/* Count the trace bytes of all vCPUs, those that were not decoded, and lost ends of sessions. */
static uint64_t count_bytes(const struct top *t, uint64_t *behind, uint64_t *lost)
{
	const struct trace_period *periods;
	uint64_t sum = 0;
	unsigned int i;
	size_t n, k;

	*behind = *lost = 0;
	for (i = 0; i < t->vcpus; i++) {
		const uint64_t bytes = trace_reader_stream_bytes(t->reader, i);

		sum += bytes;
		*behind += bytes > t->offsets[i] ? bytes - t->offsets[i] : 0;
		periods = trace_reader_sessions(t->reader, i, &n);
		for (k = 0; k < n; k++)
			*lost += periods[k].end && periods[k].end->end == TRACE_END_LOST;
	}
	return sum;
}

/* Print the interval, and begin the next one. Returns 0 or -errno. */
static int show(struct top *t)
{
	uint64_t lost, bytes = count_bytes(t, &t->now.behind, &lost), at = now();

	t->now.number++;
	t->now.seconds = (double)(at - t->began) / 1e9;
	t->now.bytes = bytes - t->had;
	t->now.lost = lost - t->had_lost;
	if (t->json)
		cli_top_json(&t->now, t->symbols, t->reader);
	else
		cli_top_text(&t->now, &t->screen, t->symbols, t->reader);
	decode_tally_free(&t->now.tally);
	trace_pairs_free(&t->now.spaces);
	t->now = (struct cli_top_interval){.number = t->now.number};
	t->began = at;
	t->had = bytes;
	t->had_lost = lost;
	t->quit |= t->once;
	return fflush(stdout) || ferror(stdout) ? -errno : 0;
}

static void read_keys(struct top *t)
{
	struct pollfd ready = {.fd = t->keys, .events = POLLIN};
	char key;

	while (t->keys >= 0 && poll(&ready, 1, 0) > 0 && read(t->keys, &key, 1) == 1)
		t->quit |= key == 'q' || key == 'Q' || key == CTRL_C;
}

static int open_flows(struct top *t)
{
	unsigned int i;
	int err = 0;

	t->flows = calloc(trace_reader_info(t->reader)->vcpus, sizeof(*t->flows));
	t->offsets = calloc(trace_reader_info(t->reader)->vcpus, sizeof(*t->offsets));
	if (!t->flows || !t->offsets)
		return -ENOMEM;
	for (i = 0; i < trace_reader_info(t->reader)->vcpus && !err; i++) {
		err = decode_flow_open(t->reader, i, DECODE_FLOW_BLOCKS, &t->flows[i]);
		if (err)
			break;
		t->vcpus = i + 1;
		err = decode_flow_grow(t->flows[i]);
		if (!err)
			err = decode_flow_merge(t->flows[i], decode_calls_function, t->symbols);
	}
	return err;
}

static bool has_begun(const struct top *t)
{
	unsigned int i;

	for (i = 0; i < trace_reader_info(t->reader)->vcpus; i++) {
		if (trace_reader_stream_bytes(t->reader, i))
			return true;
	}
	return trace_reader_extent(t->reader)->closed;
}

static bool at_end(const struct top *t)
{
	return t->file.ended || (t->reader && trace_reader_extent(t->reader)->closed);
}

/* Read more blocks, within the interval. Returns 0 or -errno, with the reason in @why. */
static int read_more(struct top *t, char *why, size_t size)
{
	int err = trace_growing_wait(&t->file, WAIT_MS);

	if (!err)
		err = t->reader ? trace_reader_more(t->reader)
				: trace_reader_open_growing(t->file.fd, TRACE_READER_NO_ORACLE,
							    &t->reader, why, size);
	if (err && err != -EINVAL)
		snprintf(why, size, "%s", err == -EBADMSG ? "it is damaged" : strerror(-err));
	return err == -EAGAIN ? 0 : err;
}

static const char *text_of(int err)
{
	if (err == -ENOTSUP)
		return "it cannot be decoded before its end: use vpt decode --follow";
	if (err == -ESTALE)
		return "later blocks change what came before: use vpt decode --follow";
	return cli_reason(-err);
}

static int fail(const struct top *t, int err, const char *why)
{
	return cli_fail(err == -ENOMEM ? CLI_EXIT_HOST : CLI_EXIT_INPUT, "top: %s: %s", t->path,
			why ? why : text_of(err));
}

/* Wait for the first bytes of trace, and open what decoding needs. Returns an exit status. */
static int begin(struct top *t)
{
	char why[256];
	int err = 0, status;

	while (!err && !at_end(t) && !t->quit && !(t->reader && has_begun(t))) {
		err = read_more(t, why, sizeof(why));
		read_keys(t);
	}
	if (!err && !t->reader && !t->quit)
		return fail(t, -EINVAL, "not a .vpt file");
	if (err)
		return fail(t, err, why);
	if (t->quit)
		return CLI_EXIT_OK;
	status = cli_symbols_open(&t->names, "top", t->reader, &t->symbols);
	if (status)
		return status;
	err = open_flows(t);
	return err ? fail(t, err, NULL) : CLI_EXIT_OK;
}

/* Decode the last bytes, and show them. Returns an exit status. */
static int end(struct top *t)
{
	const struct trace_extent *extent = trace_reader_extent(t->reader);
	int err = trace_reader_finish(t->reader);

	if (!err && extent->why && !extent->cut)
		return cli_whole("top", t->path, t->reader);
	if (!err)
		err = take_all(t, true);
	if (!err)
		err = show(t);
	return err ? fail(t, err, NULL) : cli_whole("top", t->path, t->reader);
}

static int follow(struct top *t)
{
	char why[256];
	int err, status = begin(t);

	if (status || t->quit)
		return status;
	for (;;) {
		err = take_all(t, false);
		if (err)
			return fail(t, err, NULL);
		if (at_end(t))
			return end(t);
		if (now() - t->began >= t->seconds * SECOND)
			err = show(t);
		if (err)
			return fail(t, err, NULL);
		read_keys(t);
		if (t->quit)
			return CLI_EXIT_OK;
		err = read_more(t, why, sizeof(why));
		if (err)
			return fail(t, err, why);
	}
}

/* Take the size of the terminal and its keys. */
static void open_screen(struct top *t)
{
	struct winsize size = {0};

	t->keys = -1;
	t->screen = (struct cli_top_screen){!t->json && !t->once && isatty(STDOUT_FILENO), ROWS,
					    COLUMNS};
	if (!t->screen.terminal)
		return;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		t->screen.lines = size.ws_row;
		t->screen.columns = size.ws_col;
	}
	t->keys = open("/dev/tty", O_RDONLY | O_CLOEXEC);
	if (t->keys >= 0)
		(void)cli_raw_begin(&t->raw, t->keys);
	fputs("\033[2J", stdout);
}

static void close_all(struct top *t)
{
	unsigned int i;

	cli_raw_end(&t->raw);
	if (t->keys >= 0)
		close(t->keys);
	for (i = 0; i < t->vcpus; i++)
		decode_flow_close(t->flows[i]);
	free(t->flows);
	free(t->offsets);
	decode_tally_free(&t->now.tally);
	trace_pairs_free(&t->now.spaces);
	debug_symbols_close(t->symbols);
	trace_reader_close(t->reader);
	trace_growing_close(&t->file);
}

int cli_cmd_top(int argc, char **argv)
{
	struct top t = {.seconds = 1, .keys = -1, .file = {.fd = -1, .input = -1}};
	int status = cli_options_parse(&cli_verb_top, argc, argv, &t);
	char why[256], *name;

	if (status)
		return status;
	if (!t.seconds || t.seconds > MOST)
		return cli_fail(CLI_EXIT_USAGE, "top: --interval: give 1 to %u seconds", MOST);
	name = cli_growing_name(t.path);
	if (!name)
		return cli_fail(CLI_EXIT_HOST, "top: %s", strerror(ENOMEM));
	status = trace_growing_open(&t.file, name, why, sizeof(why));
	free(name);
	if (status)
		return fail(&t, status, why);
	open_screen(&t);
	t.began = now();
	status = cli_confine_reader("top");
	if (!status)
		status = follow(&t);
	close_all(&t);
	return status;
}
