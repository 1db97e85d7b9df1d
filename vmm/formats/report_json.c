// SPDX-License-Identifier: GPL-2.0-or-later
/* Write the page of vpt report: its parts from vmm/report, and the data of the trace as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/report.h"
#include "text/text.h"

#define NODES_MAX 60000u
/* The points of time of all vCPUs, and those of each. */
#define POINTS_MAX   8192u
#define POINTS_LEAST 64u

/* A node of the tree of calls with the instructions of its callees. */
struct node {
	struct decode_calls_node of;
	uint64_t insns;
	uint32_t to; /* its number in the page, or that of the node that includes it */
};

void format_report_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		/* Every other byte is one character of ASCII, thus also no U+2028. */
		if (c < 0x20 || c >= 0x7f || c == '<' || c == '>' || c == '&')
			fprintf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

/* Find the number of a function in the page. Returns 0 or -ENOMEM. */
static int number(struct format_report *r, uint64_t func, uint64_t *n)
{
	const size_t before = r->funcs.n;
	struct trace_pair *pair = trace_pairs_add(&r->funcs, func, 0);

	if (!pair)
		return -ENOMEM;
	if (r->funcs.n > before)
		pair->value = before;
	*n = pair->value;
	return 0;
}

static int write_spans(struct format_run *run, const struct format_report_lane *l)
{
	uint64_t func = 0;
	size_t i;
	int err = 0;

	fprintf(run->out, ",\"omitted\":%" PRIu64 ",\"spans\":[", l->kept.omitted);
	for (i = 0; !err && i < l->kept.n; i++) {
		const struct format_report_span *s = &l->kept.at[i];

		err = number(run->own, s->func, &func);
		fprintf(run->out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u]", i ? "," : "",
			func, s->begin, s->end - s->begin, s->depth, s->cut);
	}
	putc(']', run->out);
	return err;
}

/* Write the distances between the intervals and their lengths. */
static void write_runs(FILE *out, const struct format_report_runs *runs)
{
	uint64_t before = 0;
	size_t i;

	fputs(",\"runs\":[", out);
	for (i = 0; i < runs->n; i++) {
		const struct format_report_run *run = &runs->at[i];

		fprintf(out, "%s%" PRIu64 ",%" PRIu64, i ? "," : "", run->begin - before,
			run->end - run->begin);
		before = run->end;
	}
	putc(']', out);
}

/* Write the calls of a lane, and when it runs. Returns 0 or -ENOMEM. */
static int write_lane(struct format_run *run, const struct format_report_lane *l)
{
	write_runs(run->out, &l->runs);
	return write_spans(run, l);
}

/* Copy the tree of a lane, and sum it up. Returns 0 or -ENOMEM. */
static int take_tree(const struct format_lane *lane, struct node **tree, uint32_t *count)
{
	struct decode_calls_node of;
	uint32_t n = 0, i;

	while (decode_calls_node(lane->calls, n, &of))
		n++;
	*count = n;
	*tree = calloc(n + 1u, sizeof(**tree));
	if (!*tree)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		(void)decode_calls_node(lane->calls, i, &(*tree)[i].of);
		(*tree)[i].insns = (*tree)[i].of.own;
	}
	for (i = n; i--;)
		if ((*tree)[i].of.parent < i)
			(*tree)[(*tree)[i].of.parent].insns += (*tree)[i].insns;
	return 0;
}

/* Return the least number of instructions of a node such that at most @max nodes have it. */
static uint64_t least(const struct node *tree, uint32_t n, uint32_t max)
{
	uint64_t at = 0;
	uint32_t i, have = n;

	while (have > max) {
		at = at ? 2 * at : 1;
		for (i = have = 0; i < n; i++)
			have += tree[i].insns >= at;
	}
	return at;
}

static int add(struct format_report *r, uint64_t func, enum format_report_total which, uint64_t n)
{
	struct trace_pair *pair = trace_pairs_add(&r->totals, func, which);

	if (!pair)
		return -ENOMEM;
	pair->value += n;
	return 0;
}

/* Add node @i to the totals of its function. A recursive call is part of the outer one. */
static int add_totals(struct format_report *r, const struct node *tree, uint32_t i, uint64_t func)
{
	uint32_t above = i;
	int err = add(r, func, FORMAT_REPORT_OWN, tree[i].of.own);

	do {
		above = tree[above].of.parent;
	} while (above < i && tree[above].of.depth && tree[above].of.func != tree[i].of.func);
	if (!err && (above >= i || !tree[above].of.depth))
		err = add(r, func, FORMAT_REPORT_ALL, tree[i].insns);
	return err ? err : add(r, func, FORMAT_REPORT_CALLS, tree[i].of.count);
}

/* A function of a node that is left out is found in the page nevertheless. */
static int write_tree(struct format_run *run, const struct format_lane *lane)
{
	uint64_t func = 0, at;
	uint32_t n, i, kept = 0;
	struct node *tree;
	int err = take_tree(lane, &tree, &n);

	if (err)
		return err;
	at = least(tree, n, NODES_MAX / (uint32_t)(run->lanes.n + 1) + 100);
	fprintf(run->out, ",\"least\":%" PRIu64 ",\"nodes\":[", at);
	for (i = 0; !err && i < n; i++) {
		const struct node *t = &tree[i];

		if (t->of.depth)
			err = number(run->own, t->of.func, &func);
		if (!err && t->of.depth)
			err = add_totals(run->own, tree, i, func);
		if (i && t->insns < at)
			continue;
		tree[i].to = kept++;
		fprintf(run->out, "%s[%d,%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			tree[i].to ? "," : "", i ? (int)tree[t->of.parent].to : -1,
			t->of.depth ? (int64_t)func : -1, t->of.count, t->of.own, t->insns);
	}
	putc(']', run->out);
	free(tree);
	return err;
}

static int write_lanes(struct format_run *run)
{
	size_t i;
	int err = 0;

	fputs(",\"lanes\":[", run->out);
	for (i = 0; !err && i < run->lanes.n; i++) {
		const struct format_lane *lane = run->lanes.at[i];

		fprintf(run->out, "%s{\"vcpu\":%u,\"insns\":%" PRIu64 ",\"name\":", i ? "," : "",
			lane->vcpu, decode_calls_insns(lane->calls));
		format_report_string(run->out, lane->name);
		err = write_lane(run, lane->own);
		if (!err)
			err = write_tree(run, lane);
		putc('}', run->out);
	}
	putc(']', run->out);
	return err;
}

static void write_names(struct format_run *run)
{
	const struct format_report *r = run->own;
	char text[256];
	size_t i;

	fputs(",\"functions\":[", run->out);
	for (i = 0; i < r->funcs.n; i++) {
		debug_symbols_format(run->symbols, r->funcs.at[i].a, text, sizeof(text));
		fputs(i ? "," : "", run->out);
		format_report_string(run->out, text);
	}
	putc(']', run->out);
}

static void write_functions(struct format_run *run)
{
	const struct format_report *r = run->own;
	size_t i;

	write_names(run);
	fputs(",\"totals\":[", run->out);
	for (i = 0; i < r->funcs.n; i++) {
		unsigned int k;

		for (k = FORMAT_REPORT_OWN; k < FORMAT_REPORT_TOTALS; k++) {
			const struct trace_pair *pair = trace_pairs_find(&r->totals, i, k);

			fprintf(run->out, "%s%" PRIu64,
				k   ? ","
				: i ? ",["
				    : "[",
				pair ? pair->value : 0);
		}
		putc(']', run->out);
	}
	putc(']', run->out);
}

/* Write the known times of each vCPU. */
static void write_times(const struct format_run *run)
{
	const struct format_report *r = run->own;
	const unsigned int vcpus = trace_reader_info(run->reader)->vcpus;
	unsigned int i;

	fputs(",\"times\":[", run->out);
	for (i = 0; i < vcpus; i++) {
		format_report_times_thin(&r->times[i], POINTS_MAX / vcpus + POINTS_LEAST);
		fputs(i ? "," : "", run->out);
		format_report_times_write(&r->times[i], run->out);
	}
	putc(']', run->out);
}

static int by_start(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Write the addresses of the functions, and keep them. Returns 0 or -ENOMEM. */
static int write_starts(struct format_run *run)
{
	const struct format_report *r = run->own;
	uint64_t *starts = calloc(r->funcs.n + 1, sizeof(*starts));
	size_t i;

	if (!starts)
		return -ENOMEM;
	fputs(",\"starts\":[", run->out);
	for (i = 0; i < r->funcs.n; i++) {
		starts[i] = r->funcs.at[i].a;
		fprintf(run->out, "%s\"0x%" PRIx64 "\"", i ? "," : "", starts[i]);
	}
	putc(']', run->out);
	qsort(starts, r->funcs.n, sizeof(*starts), by_start);
	r->served->starts = starts;
	r->served->nstarts = r->funcs.n;
	return 0;
}

/* Write the head of the page. A page that is served may ask its server for more. */
static void write_head(FILE *out, bool served)
{
	static const char policy[] = "default-src 'none'";
	const char *at = memmem(format_page_head, (size_t)(format_page_head_end - format_page_head),
				policy, sizeof(policy) - 1);

	fwrite(format_page_head, 1, (size_t)(at - format_page_head), out);
	if (served)
		fputs("connect-src 'self'; ", out);
	fwrite(at, 1, (size_t)(format_page_head_end - at), out);
}

static void write_part(FILE *out, const char *part, const char *end)
{
	fwrite(part, 1, (size_t)(end - part), out);
}

int format_report_write(struct format_run *run)
{
	const struct format_report *r = run->own;
	int err;

	write_head(run->out, r->served);
	fputs("<style>\n", run->out);
	write_part(run->out, format_page_style, format_page_style_end);
	fputs("</style>\n<script type=\"application/json\" id=\"data\">\n{", run->out);
	format_report_facts(run);
	fprintf(run->out, ",\"hz\":%" PRIu64 ",\"insns\":%" PRIu64 ",\"shortest\":%" PRIu64,
		trace_reader_info(run->reader)->tsc_hz, run->insns,
		format_report_spans_most(&r->spans));
	fputs(",\"cells\":", run->out);
	format_report_spans_write(&r->spans, run->out);
	err = write_lanes(run);
	write_functions(run);
	if (!err)
		err = format_report_hottest(run);
	if (!err && r->served)
		err = write_starts(run);
	if (!err)
		err = format_report_events(run);
	write_times(run);
	fputs("}\n</script>\n<script>\n", run->out);
	write_part(run->out, format_page_data, format_page_data_end);
	write_part(run->out, format_page_time, format_page_time_end);
	write_part(run->out, format_page_detail, format_page_detail_end);
	write_part(run->out, format_page_runs, format_page_runs_end);
	write_part(run->out, format_page_rows, format_page_rows_end);
	write_part(run->out, format_page_script, format_page_script_end);
	fputs("</script>\n</body>\n</html>\n", run->out);
	return err;
}

int format_report_write_window(struct format_run *run)
{
	const struct format_report *r = run->own;
	size_t i;
	int err = 0;

	fprintf(run->out, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"shortest\":%" PRIu64,
		r->window->from, r->window->to, format_report_spans_most(&r->spans));
	fputs(",\"lanes\":[", run->out);
	for (i = 0; !err && i < run->lanes.n; i++) {
		const struct format_lane *lane = run->lanes.at[i];

		fprintf(run->out, "%s{\"vcpu\":%u,\"name\":", i ? "," : "", lane->vcpu);
		format_report_string(run->out, lane->name);
		err = write_lane(run, lane->own);
		putc('}', run->out);
	}
	putc(']', run->out);
	write_names(run);
	if (!err)
		err = format_report_events(run);
	write_times(run);
	putc('}', run->out);
	return err;
}
