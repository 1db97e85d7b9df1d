// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A timeline as JSON trace events (chrome://tracing, Perfetto). A vCPU is a process, and a lane is a
 * thread. An instruction is a nanosecond.
 */
#include <inttypes.h>

#include "formats/format.h"
#include "text/text.h"

static int begin(struct format_run *run)
{
	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"1 ns is 1 instruction\"},\n"
	      "\"traceEvents\":[\n",
	      run->out);
	return 0;
}

static void write_name(struct format_run *run, const struct format_lane *lane, const char *what,
		       const char *name)
{
	fprintf(run->out,
		"{\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu32 ",\"name\":\"%s\",\"args\":{\"name\":",
		lane->vcpu + 1, lane->id + 1, what);
	text_json_string(run->out, name);
	fputs("}},\n", run->out);
}

static int lane(struct format_run *run, struct format_lane *l)
{
	char vcpu[32];

	snprintf(vcpu, sizeof(vcpu), "vCPU %u", l->vcpu);
	write_name(run, l, "process_name", vcpu);
	write_name(run, l, "thread_name", l->name);
	return 0;
}

/* Write the members that all events have. The time is in microseconds. */
static void write_event(const struct format_run *run, const struct format_lane *lane,
			const char *phase)
{
	fprintf(run->out, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
		phase, lane->vcpu + 1, lane->id + 1, run->clock / 1000,
		(unsigned int)(run->clock % 1000));
}

static int span_begin(struct format_run *run, struct format_lane *l, uint64_t func,
		      enum decode_span_edge edge)
{
	char text[256];

	debug_symbols_format(run->symbols, func, text, sizeof(text));
	write_event(run, l, "B");
	fputs(",\"name\":", run->out);
	text_json_string(run->out, text);
	if (edge != DECODE_SPAN_WHOLE)
		fprintf(run->out, ",\"args\":{\"begin\":\"%s\"}",
			edge == DECODE_SPAN_CUT ? "not in the trace" : "resumed");
	fputs("},\n", run->out);
	return 0;
}

static int span_end(struct format_run *run, struct format_lane *l, enum decode_span_edge edge)
{
	write_event(run, l, "E");
	fputs(edge == DECODE_SPAN_WHOLE ? "},\n" : ",\"args\":{\"end\":\"not in the trace\"}},\n",
	      run->out);
	return 0;
}

static void write_address(FILE *out, const char *name, uint64_t address, const char **comma)
{
	fprintf(out, "%s\"%s\":", *comma, name);
	text_json_address(out, address);
	*comma = ",";
}

static int instant(struct format_run *run, struct format_lane *l, const struct format_instant *at)
{
	const char *comma = "";

	write_event(run, l, "i");
	fputs(",\"s\":\"t\",\"name\":", run->out);
	text_json_string(run->out, at->name);
	fputs(",\"args\":{", run->out);
	if (at->has_from)
		write_address(run->out, "from", at->from, &comma);
	if (at->has_to)
		write_address(run->out, "to", at->to, &comma);
	if (at->has_value)
		write_address(run->out, "value", at->value, &comma);
	if (at->has_tsc)
		write_address(run->out, "tsc", at->tsc, &comma);
	fputs("}},\n", run->out);
	return 0;
}

/* The last event, without a comma, has the number of instructions. */
static int end(struct format_run *run)
{
	fprintf(run->out,
		"{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"instructions\",\"args\":{\"value\":"
		"%" PRIu64 "}}\n]}\n",
		run->insns);
	return 0;
}

const struct format_type format_type_chrome = {
	.name = "chrome",
	.begin = begin,
	.lane = lane,
	.span_begin = span_begin,
	.span_end = span_end,
	.instant = instant,
	.end = end,
};
