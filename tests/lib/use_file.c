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

/* More than this of a flow is more of the same: code can loop without packets. */
#define ITEMS_MAX 20000

/* Four bytes of a RUN block can stand for 65535 records. */
#define RECORDS_MAX 1000000

static void use_extent(const struct vpt_reader *r, size_t size)
{
	const struct vpt_extent *extent = vpt_reader_extent(r);

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

/* The side-band of version 3. */
static uint64_t read_side(struct vpt_reader *r, unsigned int vcpu)
{
	const struct vpt_reader_input *inputs;
	const struct vpt_psb_point *points;
	const struct vpt_switch *switches;
	const struct vpt_reader_mark *marks;
	const struct vpt_epoch *epochs;
	const struct vpt_reader_ref *refs;
	size_t count, i;
	uint64_t n = 0;

	points = vpt_reader_points(r, vcpu, &count);
	for (i = 0; i < count; i++) {
		REQUIRE(!i || points[i].offset > points[i - 1].offset);
		n += sum(&points[i], sizeof(*points));
	}
	for (i = 0; i < 64; i++)
		n += vpt_reader_point_before(r, vcpu, 1ull << i) != NULL;
	switches = vpt_reader_switches(r, vcpu, &count);
	n += sum(switches, count * sizeof(*switches));
	epochs = vpt_reader_epochs(r, vcpu, &count);
	n += sum(epochs, count * sizeof(*epochs));
	marks = vpt_reader_marks(r, vcpu, &count);
	for (i = 0; i < count; i++)
		n += sum(marks[i].text, marks[i].mark.len);
	inputs = vpt_reader_inputs(r, &count);
	for (i = 0; i < count; i++)
		n += sum(inputs[i].bytes, inputs[i].head->len);
	refs = vpt_reader_refs(r, &count);
	for (i = 0; i < count; i++)
		n += sum(refs[i].ref, sizeof(*refs[i].ref)) +
		     sum(refs[i].name, refs[i].ref->name_len);
	if (vpt_reader_origin(r))
		n += sum(vpt_reader_origin(r), sizeof(struct vpt_origin));
	return n;
}

/* Touch every byte that is handed out. */
static uint64_t read_all(struct vpt_reader *r, unsigned int vcpu)
{
	struct vpt_oracle_cursor cursor = {0};
	const struct vpt_oracle_record *record;
	const struct vpt_period *periods;
	const struct vpt_space *spaces;
	const struct vpt_vmcs *vmcs;
	const struct vpt_code *code;
	const uint8_t *stream;
	uint64_t n = 0;
	size_t count, i;

	stream = vpt_reader_stream(r, vcpu, &count);
	n += sum(stream, count);
	n += vpt_reader_gpa(r, vcpu, count / 2);
	code = vpt_reader_code(r, vcpu, &count);
	for (i = 0; i < count; i++)
		n += sum(code[i].page, sizeof(*code[i].page)) + sum(code[i].bytes, VPT_CODE_BYTES);
	periods = vpt_reader_sessions(r, vcpu, &count);
	for (i = 0; i < count; i++) {
		n += sum(periods[i].start, sizeof(*periods[i].start));
		if (periods[i].end)
			n += sum(periods[i].end, sizeof(*periods[i].end));
	}
	n += sum(vpt_reader_cr3(r, vcpu, &count), 0);
	spaces = vpt_reader_spaces(r, &count);
	n += sum(spaces, count * sizeof(*spaces));
	vmcs = vpt_reader_vmcs(r, vcpu, &count);
	n += sum(vmcs, count * sizeof(*vmcs));
	for (i = 0; i < RECORDS_MAX && (record = vpt_reader_oracle(r, vcpu, &cursor)); i++)
		n += sum(record, sizeof(*record));
	/* As many as are counted. */
	if (i < RECORDS_MAX)
		REQUIRE(i == vpt_reader_oracle_count(r, vcpu));
	return n + read_side(r, vcpu);
}

static void decode(struct vpt_reader *r, unsigned int vcpu, enum vpt_flow_unit unit,
		   struct vpt_symbols *symbols)
{
	struct vpt_calls *calls = vpt_calls_new(symbols);
	struct vpt_tally tally = {0};
	struct vpt_shares shares = {0};
	struct vpt_coverage coverage;
	struct vpt_flow *flow;
	struct vpt_item item;
	FILE *null = fopen("/dev/null", "w");
	unsigned int n = 0;

	REQUIRE(calls && null);
	REQUIRE(!vpt_flow_open(r, vcpu, unit, &flow));
	if (unit == VPT_FLOW_INSNS)
		vpt_flow_keep_time(flow);
	vpt_shares_begin(&shares);
	do {
		REQUIRE(!vpt_flow_next(flow, &item));
		REQUIRE(vpt_shares_item(&shares, &item));
		if (item.kind == VPT_ITEM_BLOCK)
			REQUIRE(vpt_tally_add(&tally, item.ip, item.last, item.insns));
		if (unit == VPT_FLOW_BLOCKS)
			REQUIRE(vpt_calls_item(calls, &item));
	} while (item.kind != VPT_ITEM_END && n++ < ITEMS_MAX);
	vpt_flow_close(flow);
	vpt_calls_print(calls, null, true, "it", 100);
	vpt_tally_sort(&tally);
	if (symbols)
		REQUIRE(!vpt_coverage_write(symbols, &tally, null, &coverage));
	fclose(null);
	vpt_tally_free(&tally);
	vpt_shares_free(&shares);
	vpt_calls_free(calls);
}

/* A file that is good for hours of decoding is of no use here. */
static bool is_short(struct vpt_reader *r, unsigned int vcpu)
{
	struct vpt_flow *flow;
	struct vpt_item item;
	unsigned int n = 0;

	REQUIRE(!vpt_flow_open(r, vcpu, VPT_FLOW_INSNS, &flow));
	do {
		REQUIRE(!vpt_flow_next(flow, &item));
	} while (item.kind != VPT_ITEM_END && n++ < ITEMS_MAX);
	vpt_flow_close(flow);
	return n < ITEMS_MAX;
}

void use_file(struct vpt_reader *r, size_t size, bool images)
{
	unsigned int vcpus = vpt_reader_info(r)->vcpus;
	struct vpt_symbols *symbols = NULL;
	unsigned int v;

	use_extent(r, size);
	/* Images take time: only now and then. */
	if (images)
		REQUIRE(!vpt_symbols_open(r, &symbols));
	for (v = 0; v < vcpus && v < 4; v++) {
		struct vpt_comparison c = {0};

		(void)read_all(r, v);
		decode(r, v, VPT_FLOW_INSNS, symbols);
		decode(r, v, VPT_FLOW_BLOCKS, symbols);
		if (!is_short(r, v) || vpt_reader_oracle_count(r, v) >= RECORDS_MAX)
			continue;
		REQUIRE(!vpt_compare(r, v, &c));
		REQUIRE(c.mismatches || !c.errors);
		vpt_comparison_free(&c);
	}
	vpt_symbols_close(symbols);
}
