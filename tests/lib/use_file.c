// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/use_file.h"

#include <stdio.h>

#include "decode/calls.h"
#include "decode/coverage.h"
#include "decode/flow.h"
#include "decode/share.h"
#include "debug/symbol.h"
#include "decode/tally.h"
#include "lib/require.h"
#include "oracle/compare.h"

/* Limit of items per flow, since code can loop without packets. */
#define ITEMS_MAX 20000

/* Limit of records, since four bytes of a RUN block can represent 65535 records. */
#define RECORDS_MAX 1000000

static void use_extent(const struct trace_reader *r, size_t size)
{
	const struct trace_extent *extent = trace_reader_extent(r);

	REQUIRE(extent->file_bytes == size);
	REQUIRE(extent->readable <= size);
	REQUIRE((extent->readable == size && extent->closed) || extent->why);
}

static uint64_t sum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t n = 0;

	while (len--)
		n += *p++;
	return n;
}

/* Read the side-band of version 3. */
static uint64_t read_side(struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_reader_input *inputs;
	const struct trace_psb_point *points;
	const struct trace_switch *switches;
	const struct trace_reader_mark *marks;
	const struct trace_epoch *epochs;
	const struct trace_reader_ref *refs;
	const struct trace_run_options *options;
	const char *text;
	size_t count, i;
	uint64_t n = 0;

	points = trace_reader_points(r, vcpu, &count);
	for (i = 0; i < count; i++) {
		REQUIRE(!i || points[i].offset > points[i - 1].offset);
		n += sum(&points[i], sizeof(*points));
	}
	for (i = 0; i < 64; i++)
		n += trace_reader_point_before(r, vcpu, 1ull << i) != NULL;
	switches = trace_reader_switches(r, vcpu, &count);
	n += sum(switches, count * sizeof(*switches));
	epochs = trace_reader_epochs(r, vcpu, &count);
	n += sum(epochs, count * sizeof(*epochs));
	marks = trace_reader_marks(r, vcpu, &count);
	for (i = 0; i < count; i++)
		n += sum(marks[i].text, marks[i].mark.len);
	inputs = trace_reader_inputs(r, &count);
	for (i = 0; i < count; i++)
		n += sum(inputs[i].bytes, inputs[i].head->len);
	refs = trace_reader_refs(r, &count);
	for (i = 0; i < count; i++)
		n += sum(refs[i].ref, sizeof(*refs[i].ref)) +
		     sum(refs[i].name, refs[i].ref->name_len);
	options = trace_reader_options(r, &text);
	if (options)
		n += sum(text, options->len);
	if (trace_reader_origin(r))
		n += sum(trace_reader_origin(r), sizeof(struct trace_origin));
	return n;
}

/* Read every byte that the reader returns. */
static uint64_t read_all(struct trace_reader *r, unsigned int vcpu)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	const struct trace_period *periods;
	const struct trace_space *spaces;
	const struct trace_vmcs *vmcs;
	const struct trace_code *code;
	const uint8_t *stream;
	uint64_t n = 0;
	size_t count, i;

	stream = trace_reader_stream(r, vcpu, &count);
	n += sum(stream, count);
	n += trace_reader_gpa(r, vcpu, count / 2);
	code = trace_reader_code(r, vcpu, &count);
	for (i = 0; i < count; i++)
		n += sum(code[i].page, sizeof(*code[i].page)) +
		     sum(code[i].bytes, TRACE_CODE_BYTES);
	periods = trace_reader_sessions(r, vcpu, &count);
	for (i = 0; i < count; i++) {
		n += sum(periods[i].start, sizeof(*periods[i].start));
		if (periods[i].end)
			n += sum(periods[i].end, sizeof(*periods[i].end));
	}
	n += sum(trace_reader_cr3(r, vcpu, &count), 0);
	spaces = trace_reader_spaces(r, &count);
	n += sum(spaces, count * sizeof(*spaces));
	vmcs = trace_reader_vmcs(r, vcpu, &count);
	n += sum(vmcs, count * sizeof(*vmcs));
	for (i = 0; i < RECORDS_MAX && (record = trace_reader_oracle(r, vcpu, &cursor)); i++)
		n += sum(record, sizeof(*record));
	/* The number of records must match their count. */
	if (i < RECORDS_MAX)
		REQUIRE(i == trace_reader_oracle_count(r, vcpu));
	return n + read_side(r, vcpu);
}

static void decode(struct trace_reader *r, unsigned int vcpu, enum decode_flow_unit unit,
		   struct debug_symbols *symbols)
{
	struct decode_calls *calls = decode_calls_new(symbols);
	struct decode_tally tally = {0};
	struct decode_shares shares = {0};
	struct decode_coverage coverage;
	struct decode_flow *flow;
	struct decode_item item;
	FILE *null = fopen("/dev/null", "w");
	unsigned int n = 0;

	REQUIRE(calls && null);
	REQUIRE(!decode_flow_open(r, vcpu, unit, &flow));
	if (unit == DECODE_FLOW_INSNS)
		decode_flow_keep_time(flow);
	decode_shares_begin(&shares);
	do {
		REQUIRE(!decode_flow_next(flow, &item));
		REQUIRE(decode_shares_item(&shares, &item));
		if (item.kind == DECODE_ITEM_BLOCK)
			REQUIRE(decode_tally_add(&tally, item.ip, item.last, item.insns));
		if (unit == DECODE_FLOW_BLOCKS)
			REQUIRE(decode_calls_item(calls, &item));
	} while (item.kind != DECODE_ITEM_END && n++ < ITEMS_MAX);
	decode_flow_close(flow);
	decode_calls_print(calls, null, true, "it", 100);
	decode_tally_sort(&tally);
	if (symbols && !debug_symbols_read_lines(symbols))
		REQUIRE(!decode_coverage_write(symbols, &tally, NULL, null, &coverage));
	fclose(null);
	decode_tally_free(&tally);
	decode_shares_free(&shares);
	decode_calls_free(calls);
}

/* Reject a file that would take hours to decode. */
static bool is_short(struct trace_reader *r, unsigned int vcpu)
{
	struct decode_flow *flow;
	struct decode_item item;
	unsigned int n = 0;

	REQUIRE(!decode_flow_open(r, vcpu, DECODE_FLOW_INSNS, &flow));
	do {
		REQUIRE(!decode_flow_next(flow, &item));
	} while (item.kind != DECODE_ITEM_END && n++ < ITEMS_MAX);
	decode_flow_close(flow);
	return n < ITEMS_MAX;
}

void use_file(struct trace_reader *r, size_t size, bool images)
{
	unsigned int vcpus = trace_reader_info(r)->vcpus;
	struct debug_symbols *symbols = NULL;
	unsigned int v;

	use_extent(r, size);
	/* Reading images is slow, so only some inputs do it. */
	if (images)
		REQUIRE(!debug_symbols_open(r, &symbols));
	for (v = 0; v < vcpus && v < 4; v++) {
		struct oracle_comparison c = {0};

		(void)read_all(r, v);
		decode(r, v, DECODE_FLOW_INSNS, symbols);
		decode(r, v, DECODE_FLOW_BLOCKS, symbols);
		if (!is_short(r, v) || trace_reader_oracle_count(r, v) >= RECORDS_MAX)
			continue;
		REQUIRE(!oracle_compare(r, v, &c));
		REQUIRE(c.mismatches || !c.errors);
		oracle_comparison_free(&c);
	}
	debug_symbols_close(symbols);
}
