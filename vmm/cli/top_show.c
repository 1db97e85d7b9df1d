// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints an interval of vpt top, for a terminal or as JSON. */
#include "cli/top.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

#define HOT_MAX	  64
#define SPACE_MAX 8
#define HEAD	  7 /* lines beside those of functions and spaces */

/* Print a line, cut at the width of the terminal. */
static void line(const struct cli_top_screen *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void line(const struct cli_top_screen *s, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!s->terminal)
		puts(text);
	else
		printf("%.*s\033[K\r\n", (int)s->columns, text);
}

static int by_insns(const void *a, const void *b)
{
	const struct trace_pair *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->a > y->a) - (x->a < y->a);
}

static size_t sort_spaces(struct cli_top_interval *t)
{
	if (t->spaces.n)
		qsort(t->spaces.at, t->spaces.n, sizeof(*t->spaces.at), by_insns);
	return t->spaces.n < SPACE_MAX ? t->spaces.n : SPACE_MAX;
}

/* Format a space: the last name of its task, or its CR3. */
static void format_space(const struct trace_reader *r, uint64_t cr3, char *text, size_t size)
{
	const struct trace_task *found = NULL, *task;
	char name[sizeof(task->name) + 1];
	size_t n;

	for (task = trace_reader_names(r, &n); n; task++, n--) {
		if (task->cr3 == cr3)
			found = task;
	}
	if (found) {
		text_copy(name, sizeof(name), found->name, sizeof(found->name));
		snprintf(text, size, "%s, pid %u", name, found->pid);
	} else if (cr3 == UINT64_MAX) {
		snprintf(text, size, "not known");
	} else {
		snprintf(text, size, "cr3 0x%" PRIx64, cr3);
	}
}

static double share(const struct cli_top_interval *t, uint64_t insns)
{
	return t->sum.insns ? 100 * (double)insns / (double)t->sum.insns : 0;
}

static double rate(const struct cli_top_interval *t, uint64_t count)
{
	return t->seconds > 0 ? (double)count / t->seconds / 1e6 : 0;
}

static void show_events(const struct cli_top_interval *t, const struct cli_top_screen *s)
{
	char text[512] = "";
	size_t i, n = 0;

	for (i = 0; i < DECODE_FLOW_COUNT && n < sizeof(text); i++) {
		if (t->sum.events[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "  %s %" PRIu64,
					      decode_flow_event_text((enum decode_flow_event)i),
					      t->sum.events[i]);
	}
	line(s, "events:%s", n ? text : "  none");
}

void cli_top_text(struct cli_top_interval *t, const struct cli_top_screen *screen,
		  const struct debug_symbols *symbols, const struct trace_reader *reader)
{
	const size_t spaces = sort_spaces(t);
	size_t room = HOT_MAX, hot, i;
	struct decode_hot at[HOT_MAX];
	char name[128];

	if (screen->terminal) {
		room = screen->lines > HEAD + spaces ? screen->lines - HEAD - spaces : 0;
		fputs("\033[H", stdout);
	}
	decode_tally_sort(&t->tally);
	hot = decode_summary_hot(symbols, &t->tally, at, room < HOT_MAX ? room : HOT_MAX);
	line(screen,
	     "interval %" PRIu64
	     ", %.1f s: %.2f MB/s of trace, %.1f million instructions/s, %" PRIu64 " bytes behind",
	     t->number, t->seconds, rate(t, t->bytes), rate(t, t->sum.insns), t->behind);
	line(screen, "lost: %" PRIu64 " overflows, %" PRIu64 " cuts, %" PRIu64 " errors",
	     t->sum.events[DECODE_FLOW_OVERFLOW], t->lost, t->sum.errors);
	show_events(t, screen);
	line(screen, "%s", "");
	line(screen, "   share  instructions  function");
	for (i = 0; i < hot; i++) {
		debug_symbols_format(symbols, at[i].start, name, sizeof(name));
		line(screen, "%7.2f%%  %12" PRIu64 "  %s", share(t, at[i].insns), at[i].insns,
		     name);
	}
	line(screen, "   share  instructions  address space");
	for (i = 0; i < spaces; i++) {
		format_space(reader, t->spaces.at[i].a, name, sizeof(name));
		line(screen, "%7.2f%%  %12" PRIu64 "  %s", share(t, t->spaces.at[i].value),
		     t->spaces.at[i].value, name);
	}
	if (screen->terminal)
		fputs("\033[J", stdout);
}

void cli_top_json(struct cli_top_interval *t, const struct debug_symbols *symbols,
		  const struct trace_reader *reader)
{
	const size_t spaces = sort_spaces(t);
	struct decode_hot at[HOT_MAX];
	char name[128];
	size_t hot, i;

	decode_tally_sort(&t->tally);
	hot = decode_summary_hot(symbols, &t->tally, at, HOT_MAX);
	printf("{\"interval\":%" PRIu64 ",\"seconds\":%.3f,\"bytes\":%" PRIu64
	       ",\"behind\":%" PRIu64 ",\"insns\":%" PRIu64 ",\"overflows\":%" PRIu64
	       ",\"lost\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"events\":{",
	       t->number, t->seconds, t->bytes, t->behind, t->sum.insns,
	       t->sum.events[DECODE_FLOW_OVERFLOW], t->lost, t->sum.errors);
	for (i = 0; i < DECODE_FLOW_COUNT; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "",
		       decode_flow_event_text((enum decode_flow_event)i), t->sum.events[i]);
	fputs("},\"functions\":[", stdout);
	for (i = 0; i < hot; i++) {
		debug_symbols_format(symbols, at[i].start, name, sizeof(name));
		printf("%s{\"function\":", i ? "," : "");
		text_json_string(stdout, name);
		printf(",\"insns\":%" PRIu64 "}", at[i].insns);
	}
	fputs("],\"spaces\":[", stdout);
	for (i = 0; i < spaces; i++) {
		format_space(reader, t->spaces.at[i].a, name, sizeof(name));
		printf("%s{\"space\":", i ? "," : "");
		text_json_string(stdout, name);
		printf(",\"insns\":%" PRIu64 "}", t->spaces.at[i].value);
	}
	puts("]}");
}
