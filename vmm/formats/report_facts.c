// SPDX-License-Identifier: GPL-2.0-or-later
/* Write what a trace file says of its run, and what is lost and why, for vpt report. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/report.h"
#include "formats/walk.h"
#include "text/text.h"
#include "trace/session_end.h"

/* More ends of sessions are counted only. */
#define ROWS_MAX 1000u

static void row(FILE *out, unsigned int *n, const char *key, const char *value)
{
	fputs((*n)++ ? ",[" : "[", out);
	format_report_string(out, key);
	putc(',', out);
	format_report_string(out, value);
	putc(']', out);
}

static void number_row(FILE *out, unsigned int *n, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	row(out, n, key, text);
}

/* Write an edge of a cut. Returns the end of the text. */
static size_t put_edge(char *text, size_t size, const char *before, uint64_t clock, uint64_t ticks)
{
	return (size_t)(ticks != 0 && ticks != UINT64_MAX
				? snprintf(text, size,
					   "%s %" PRIu64 " TSC ticks after the first known time",
					   before, ticks)
				: snprintf(text, size, "%s instruction %" PRIu64, before, clock));
}

/* Write which part of the trace the page has, if it has a part. */
static void write_part(const struct format_run *run, unsigned int *n)
{
	const struct format_walk *walk = run->walk;
	char key[32], text[160];
	unsigned int i;
	size_t len;

	if (walk->one_vcpu)
		number_row(run->out, n, "only vCPU", walk->vcpu);
	if (walk->wants)
		row(run->out, n, "only address spaces", "those of --process");
	for (i = 0; walk->cut && i < trace_reader_info(run->reader)->vcpus; i++) {
		const struct decode_window *c = &walk->cut[i];

		/* A vCPU without the place of --from has no part. */
		if ((walk->one_vcpu && i != walk->vcpu) ||
		    (c->from == DECODE_CUT_NEVER && !c->from_ticks))
			continue;
		snprintf(key, sizeof(key), "part of vCPU %u", i);
		len = put_edge(text, sizeof(text), "from", c->from, c->from_ticks);
		if (c->until != UINT64_MAX || c->until_ticks != UINT64_MAX)
			put_edge(text + len, sizeof(text) - len, " until", c->until,
				 c->until_ticks);
		row(run->out, n, key, text);
	}
}

static void write_facts(const struct format_run *run)
{
	const struct trace_file_info *info = trace_reader_info(run->reader);
	const struct trace_extent *extent = trace_reader_extent(run->reader);
	char text[sizeof(info->model) + sizeof(info->engine) + 1];
	unsigned int n = 0;

	text_copy(text, sizeof(text), info->model, sizeof(info->model));
	row(run->out, &n, "model", text);
	text_copy(text, sizeof(text), info->engine, sizeof(info->engine));
	row(run->out, &n, "engine", text);
	row(run->out, &n, "trace", info->flags & TRACE_INFO_ATOM ? "RTIT" : "Intel PT");
	row(run->out, &n, "owner",
	    info->owner == TRACE_OWNER_GUEST  ? "guest"
	    : info->owner == TRACE_OWNER_HOST ? "host"
					      : "none");
	number_row(run->out, &n, "vCPUs", info->vcpus);
	number_row(run->out, &n, "seed", info->seed);
	if (info->tsc_hz)
		number_row(run->out, &n, "TSC, Hz", info->tsc_hz);
	row(run->out, &n, "oracle", info->oracle ? "yes" : "no");
	number_row(run->out, &n, "file, bytes", extent->file_bytes);
	row(run->out, &n, "file", extent->why ? extent->why : "whole");
	number_row(run->out, &n, "instructions", run->insns);
	number_row(run->out, &n, "address spaces of vCPUs", run->lanes.n);
	write_part(run, &n);
}

static void write_sessions(const struct format_run *run, unsigned int vcpu, unsigned int *n)
{
	const bool rtit = trace_reader_info(run->reader)->flags & TRACE_INFO_ATOM;
	const struct trace_period *p;
	char key[64];
	size_t count, i;

	p = trace_reader_sessions(run->reader, vcpu, &count);
	for (i = 0; i < count && *n < ROWS_MAX; i++) {
		snprintf(key, sizeof(key), "vCPU %u, end of session %zu", vcpu, i);
		row(run->out, n, key,
		    trace_session_end_text(p[i].end ? p[i].end->end : TRACE_END_NONE, rtit));
	}
	if (trace_reader_stream_missing(run->reader, vcpu)) {
		snprintf(key, sizeof(key), "vCPU %u, missing bytes of the trace", vcpu);
		number_row(run->out, n, key, trace_reader_stream_missing(run->reader, vcpu));
	}
}

static void write_losses(const struct format_run *run)
{
	const struct trace_extent *extent = trace_reader_extent(run->reader);
	unsigned int n = 0, vcpu;
	size_t i;

	if (extent->cut)
		row(run->out, &n, "the file is cut", extent->why);
	for (i = 0; i < extent->damages && n < ROWS_MAX; i++)
		row(run->out, &n, "the file is damaged", extent->damage[i].why);
	if (run->errors) {
		number_row(run->out, &n, "places that cannot be decoded", run->errors);
		row(run->out, &n, "the first of them", run->error);
	}
	for (vcpu = 0; vcpu < trace_reader_info(run->reader)->vcpus; vcpu++)
		write_sessions(run, vcpu, &n);
}

void format_report_facts(const struct format_run *run)
{
	fputs("\"facts\":[", run->out);
	write_facts(run);
	fputs("],\"lost\":[", run->out);
	write_losses(run);
	putc(']', run->out);
}
