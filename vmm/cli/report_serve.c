// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt report --serve: makes the page, and answers its requests. The instructions of functions are
 * written from counts in memory. For the calls of a range the trace is decoded up to its end.
 */
#include "cli/report_serve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/report_listen.h"
#include "formats/report.h"
#include "formats/report_code.h"
#include "formats/report_source.h"

#define ROWS_MAX 20000u

struct serving {
	const struct format_walk *walk;
	struct format_report_served kept;
	char *page;
	size_t len;
};

static struct cli_http_answer plain(int status, const char *text)
{
	char *body = strdup(text);

	return (struct cli_http_answer){body ? status : 500, "text/plain", body,
					body ? strlen(body) : 0};
}

/* Return the number of functions that begin before @at. */
static size_t before(const struct format_report_served *kept, uint64_t at)
{
	size_t lo = 0, hi = kept->nstarts;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (kept->starts[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* End an answer in memory. */
static struct cli_http_answer finish(FILE *out, char **body, const size_t *len, int err)
{
	if (fclose(out) && !err)
		err = -errno;
	if (!err)
		return (struct cli_http_answer){200, "application/json", *body, *len};
	free(*body);
	return plain(500, "vpt report: the trace cannot be decoded: no memory, or an error.\n");
}

/* Write function @i, and the text of its source lines. */
static int write_code(const struct format_report_served *kept, struct format_report_source *source,
		      FILE *out, size_t i)
{
	unsigned int wrote;
	int err = format_report_code_write(kept->code, source, out, kept->starts[i],
					   i + 1 < kept->nstarts ? kept->starts[i + 1] : UINT64_MAX,
					   ROWS_MAX, &wrote);

	if (source && !err) {
		fputs(",\"source\":", out);
		format_report_source_write(source, out);
	}
	return err;
}

static struct cli_http_answer answer_code(const struct serving *s, uint64_t at)
{
	const struct format_report_served *kept = &s->kept;
	const size_t i = before(kept, at);
	const struct format_source_dirs *dirs = s->walk->source;
	struct format_report_source *source;
	char *body = NULL;
	size_t len = 0;
	FILE *out;
	int err;

	if (i == kept->nstarts || kept->starts[i] != at)
		return plain(404, "vpt report: The page has no function at this address.\n");
	out = open_memstream(&body, &len);
	if (!out)
		return plain(500, "vpt report: no memory\n");
	source = dirs ? format_report_source_new(dirs) : NULL;
	putc('{', out);
	err = source || !dirs ? write_code(kept, source, out, i) : -ENOMEM;
	putc('}', out);
	format_report_source_free(source);
	return finish(out, &body, &len, err);
}

/* Limit a range to the cut of the page. A cut by time does not limit it. */
static struct format_report_window limit(const struct format_walk *walk,
					 const struct cli_http_request *r)
{
	struct format_report_window window = {.from = r->from, .to = r->to};
	const struct decode_window *of = walk->cut ? &walk->cut[r->vcpu] : NULL;

	if (of && !of->from_ticks && of->from >= window.from) {
		window.from = of->from;
		window.cuts_from = true;
	}
	if (of && of->until <= window.to) {
		window.to = of->until;
		window.cuts_to = true;
	}
	return window;
}

static struct cli_http_answer answer_calls(const struct serving *s,
					   const struct cli_http_request *r)
{
	const unsigned int vcpus = trace_reader_info(s->walk->reader)->vcpus;
	struct format_report_window window;
	struct format_walk walk = *s->walk;
	struct decode_window *cuts;
	struct format_sum sum;
	char *body = NULL;
	size_t len = 0;
	int err;

	if (r->vcpu >= vcpus || (walk.one_vcpu && r->vcpu != walk.vcpu))
		return plain(404, "vpt report: The page has no such vCPU.\n");
	cuts = calloc(vcpus, sizeof(*cuts));
	walk.out = cuts ? open_memstream(&body, &len) : NULL;
	if (!walk.out) {
		free(cuts);
		return plain(500, "vpt report: no memory\n");
	}
	window = limit(s->walk, r);
	cuts[r->vcpu] = (struct decode_window){window.from, window.to, 0, DECODE_CUT_NEVER};
	walk.cut = cuts;
	walk.one_vcpu = true;
	walk.vcpu = (unsigned int)r->vcpu;
	walk.type = &format_type_window;
	walk.own = &window;
	err = format_walk(&walk, &sum);
	free(cuts);
	return finish(walk.out, &body, &len, err);
}

static struct cli_http_answer answer(void *context, const struct cli_http_request *request)
{
	struct serving *s = context;
	char *copy;

	switch (request->what) {
	case CLI_HTTP_CODE:
		return answer_code(s, request->at);
	case CLI_HTTP_CALLS:
		return answer_calls(s, request);
	default:
		copy = malloc(s->len + 1);
		if (!copy)
			return plain(500, "vpt report: no memory\n");
		memcpy(copy, s->page, s->len);
		return (struct cli_http_answer){200, "text/html", copy, s->len};
	}
}

/* Decode the trace and make the page in memory. Returns 0 or -errno. */
static int make_page(const struct cli_export_format *f, struct format_walk *walk, struct serving *s,
		     struct format_sum *sum)
{
	struct cli_progress progress = {0};
	int err;

	walk->out = open_memstream(&s->page, &s->len);
	if (!walk->out)
		return -ENOMEM;
	walk->own = &s->kept;
	cli_progress_begin(&progress, walk->reader, f->one_vcpu ? (int)f->vcpu : -1, !f->quiet);
	err = format_walk(walk, sum);
	cli_progress_end(&progress);
	if (fclose(walk->out) && !err)
		err = -ENOMEM;
	return err;
}

int cli_report_serve(struct cli_export_format *f, struct trace_reader *reader, int listener,
		     const struct cli_http_server *server)
{
	struct cli_export_walk all;
	struct serving s = {.walk = &all.walk};
	const struct cli_http_handler handler = {answer, &s};
	struct format_sum sum;
	int status = cli_export_prepare(f, reader, &all), err = 0;

	if (!status)
		err = make_page(f, &all.walk, &s, &sum);
	if (!status && !err) {
		/* A damaged trace has a page, too. */
		status = cli_export_whole(f, &all.walk, &sum);
		printf("http://127.0.0.1:%u/%s/\n", server->port, server->token);
		fflush(stdout);
		err = cli_http_serve(listener, server, &handler);
	}
	if (err)
		status = cli_fail(CLI_EXIT_HOST, "%s: %s: %s", f->verb, f->path, cli_reason(-err));
	format_report_code_close(s.kept.code);
	free(s.kept.starts);
	free(s.page);
	cli_export_release(&all);
	return status;
}
