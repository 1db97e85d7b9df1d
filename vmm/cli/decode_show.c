// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the summary and the coverage of a decoded trace. */
#include "cli/decode_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/marks.h"
#include "cli/open.h"
#include "decode/coverage.h"
#include "text/text.h"

#define HOT_MAX 10

static bool wanted(const struct cli_decode_show *d, unsigned int vcpu)
{
	return d->vcpu < 0 || (unsigned int)d->vcpu == vcpu;
}

static void text_pace(const struct decode_pace *p)
{
	if (p->sum.ticks && p->hz)
		printf("core clock     %.1f MHz\n",
		       (double)decode_pace_core_hz(p, p->sum.cycles, p->sum.ticks) / 1e6);
	else if (p->sum.ticks)
		printf("core clock     %.4f of the TSC's\n",
		       (double)p->sum.cycles / (double)p->sum.ticks);
	if (p->cycles)
		printf("core clocks    %" PRIu64 " while traced, %.3f instructions each%s\n",
		       p->cycles, (double)p->insns / (double)p->cycles,
		       p->is_virtual ? "; virtual: an instruction is a core clock by definition"
				     : "");
	else
		puts("core clocks    not counted: there are no CYC packets");
}

static void json_pace(const struct decode_pace *p)
{
	printf(",\"virtual_time\":%s", p->is_virtual ? "true" : "false");
	if (p->cycles)
		printf(",\"cycles\":%" PRIu64 ",\"insns_per_cycle\":%.6f", p->cycles,
		       (double)p->insns / (double)p->cycles);
	if (p->sum.ticks && p->hz)
		printf(",\"core_hz\":%" PRIu64,
		       decode_pace_core_hz(p, p->sum.cycles, p->sum.ticks));
}

/* Return the marks of the part of a vCPU. */
static struct cli_marks marks_of(const struct cli_decode_show *d, unsigned int vcpu)
{
	struct cli_marks marks = {vcpu, 0, UINT64_MAX, d->limit};

	if (d->cuts) {
		marks.from = d->cuts[vcpu].from;
		marks.until = d->cuts[vcpu].until;
	}
	return marks;
}

/* Print the marks of the selected vCPUs. */
static void show_marks(const struct cli_decode_show *d)
{
	const unsigned int vcpus = trace_reader_info(d->reader)->vcpus;
	struct cli_marks marks;
	bool first = true;
	unsigned int i;

	if (d->json)
		fputs(",\"marks\":[", stdout);
	for (i = 0; i < vcpus; i++) {
		if (!wanted(d, i))
			continue;
		marks = marks_of(d, i);
		if (d->json)
			cli_marks_json(d->reader, &marks, &first);
		else
			cli_marks_text(d->reader, &marks);
	}
	if (d->json)
		putchar(']');
}

/* Print the clocks of the part of each vCPU. */
static void show_parts(const struct cli_decode_show *d)
{
	const unsigned int vcpus = trace_reader_info(d->reader)->vcpus;
	const char *comma = "";
	unsigned int i;

	if (!d->cuts)
		return;
	if (d->json)
		fputs(",\"parts\":[", stdout);
	for (i = 0; i < vcpus; i++) {
		const struct decode_window *part = &d->cuts[i];

		if (!wanted(d, i))
			continue;
		if (part->from >= part->until) {
			if (!d->json)
				printf("part           nothing of vCPU %u\n", i);
			continue;
		}
		if (d->json)
			printf("%s{\"vcpu\":%u,\"from\":%" PRIu64 ",\"until\":%" PRIu64 "}", comma,
			       i, part->from, part->until);
		else
			printf("part           instructions %" PRIu64 " to %" PRIu64
			       " of vCPU %u\n",
			       part->from, part->until - 1, i);
		comma = ",";
	}
	if (d->json)
		putchar(']');
}

static void json_summary(const struct cli_decode_show *d, const struct decode_hot *hot, size_t nhot,
			 uint64_t bytes, uint64_t sessions)
{
	char name[128];
	size_t i;

	printf("{\"bytes\":%" PRIu64 ",\"sessions\":%" PRIu64 ",\"insns\":%" PRIu64
	       ",\"blocks\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"skipped\":%" PRIu64
	       ",\"events\":{",
	       bytes, sessions, d->sum->insns, d->sum->blocks, d->sum->errors, d->sum->skipped);
	for (i = 0; i < DECODE_FLOW_COUNT; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "",
		       decode_flow_event_text((enum decode_flow_event)i), d->sum->events[i]);
	printf("},\"functions\":[");
	for (i = 0; i < nhot; i++) {
		debug_symbols_format(d->symbols, hot[i].start, name, sizeof(name));
		printf("%s{\"function\":", i ? "," : "");
		text_json_string(stdout, name);
		printf(",\"insns\":%" PRIu64 "}", hot[i].insns);
	}
	putchar(']');
	if (d->pace)
		json_pace(d->pace);
	if (d->shares)
		cli_decode_side_json(d->shares);
	show_parts(d);
	show_marks(d);
	cli_decode_stop_json(d->stop, d->names);
	puts("}");
}

static void text_summary(const struct cli_decode_show *d, const struct decode_hot *hot, size_t nhot,
			 uint64_t bytes, uint64_t sessions)
{
	char name[128];
	size_t i;

	printf("trace          %" PRIu64 " bytes, sessions: %" PRIu64 "\n", bytes, sessions);
	show_parts(d);
	printf("instructions   %" PRIu64, d->sum->insns);
	if (d->sum->insns && !d->cuts)
		printf(", %.2f bits each", 8.0 * (double)bytes / (double)d->sum->insns);
	printf("\nblocks         %" PRIu64 "\n", d->sum->blocks);
	for (i = 0; i < DECODE_FLOW_COUNT; i++) {
		if (d->sum->events[i])
			printf("%-14s %" PRIu64 "\n",
			       decode_flow_event_text((enum decode_flow_event)i),
			       d->sum->events[i]);
	}
	if (d->sum->skipped)
		printf("skipped        %" PRIu64 " bytes before a PSB\n", d->sum->skipped);
	printf("errors         %" PRIu64 "\n", d->sum->errors);
	if (d->pace)
		text_pace(d->pace);
	if (d->shares)
		cli_decode_side_table(d->shares, d->told);
	for (i = 0; i < nhot; i++) {
		if (!i)
			puts("\n   share  instructions  function");
		debug_symbols_format(d->symbols, hot[i].start, name, sizeof(name));
		printf("%7.2f%%  %12" PRIu64 "  %s\n",
		       100 * (double)hot[i].insns / (double)d->sum->insns, hot[i].insns, name);
	}
	show_marks(d);
	if (cli_empty(d->reader))
		puts(cli_empty(d->reader));
	cli_decode_stop_text(d->stop, d->names);
}

void cli_decode_show_summary(const struct cli_decode_show *d)
{
	unsigned int vcpus = trace_reader_info(d->reader)->vcpus, i;
	struct decode_hot hot[HOT_MAX];
	uint64_t bytes = 0, sessions = 0;
	size_t n;

	for (i = 0; i < vcpus; i++) {
		if (!wanted(d, i))
			continue;
		trace_reader_sessions(d->reader, i, &n);
		sessions += n;
		bytes += trace_reader_stream_bytes(d->reader, i);
	}
	decode_tally_sort(d->tally);
	n = decode_summary_hot(d->symbols, d->tally, hot,
			       d->limit < HOT_MAX ? (size_t)d->limit : HOT_MAX);
	(d->json ? json_summary : text_summary)(d, hot, n, bytes, sessions);
}

int cli_decode_show_coverage(const struct cli_decode_show *d, bool *no_lines)
{
	struct decode_coverage sum = {0};
	int err;

	decode_tally_sort(d->tally);
	err = debug_symbols_read_lines(d->symbols);
	if (!err)
		err = decode_coverage_write(d->symbols, d->tally, NULL, stdout, &sum);
	*no_lines = !err && !sum.files;
	return err;
}
