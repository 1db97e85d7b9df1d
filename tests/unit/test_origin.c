// SPDX-License-Identifier: GPL-2.0-or-later
/* Decoding by what version 3 of the file says: switches of the address space, and the processor. */
#include <stdio.h>
#include <string.h>

#include "decode/flow.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "trace/origin.h"

#define OLD TRACE_ORIGIN_KINDS

/* Code at one address that is one instruction longer in the second space. */
static void two_spaces(struct synth *s)
{
	synth_open(s);
	synth_code(s, SYNTH_CODE, "75 fe");
	synth_page_at(s, 0x1000, SYNTH_CODE);
	synth_code(s, SYNTH_CODE, "90 75 fd");
	synth_page_at(s, 0x2000, SYNTH_CODE);
}

static void run_once(struct synth *s, uint64_t end)
{
	synth_ip(s, ppt_tip_pge, SYNTH_CODE);
	synth_tnt(s, "0");
	synth_ip(s, ppt_fup, end);
	synth_no_ip(s, ppt_tip_pgd);
	synth_flush(s);
}

static void add_switch(struct synth *s, uint64_t space)
{
	const struct trace_switch sw = {.offset = trace_writer_stream_bytes(s->w, 0),
					.space = space};

	ck_assert_int_eq(trace_writer_switches(s->w, 0, &sw, 1), 0);
}

/* The instructions that are decoded, as letters: their space, or x for an error. */
static void decode(struct trace_reader *r, char *text)
{
	struct decode_flow *flow;
	struct decode_item item;

	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &flow), 0);
	for (;;) {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		if (item.kind == DECODE_ITEM_END)
			break;
		if (item.kind == DECODE_ITEM_INSN)
			*text++ = item.cr3 == 0x1000 ? 'a' : item.cr3 == 0x2000 ? 'b' : '?';
		else if (item.kind == DECODE_ITEM_ERROR)
			*text++ = 'x';
	}
	*text = 0;
	decode_flow_close(flow);
}

/* Two threads of a program without its kernel: no PIP tells which one runs. */
START_TEST(switches_select_code)
{
	static struct synth s;
	struct trace_reader *r;
	char text[64];

	two_spaces(&s);
	synth_start(&s, SYNTH_CODE, 3);
	synth_psb(&s, 0);
	synth_mode(&s);
	synth_flush(&s);
	add_switch(&s, 0x1000);
	run_once(&s, SYNTH_CODE + 2);
	add_switch(&s, 0x2000);
	run_once(&s, SYNTH_CODE + 3);
	run_once(&s, SYNTH_CODE + 3);
	/* Of several at one place the last counts, and PIPs do not. */
	add_switch(&s, 0x2000);
	add_switch(&s, 0x1000);
	synth_pip(&s, 0x2000);
	run_once(&s, SYNTH_CODE + 2);
	synth_stop(&s, TRACE_END_DISABLED, SYNTH_CODE, 3);
	r = synth_read(&s);
	decode(r, text);
	ck_assert_str_eq(text, "abbbba");
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* In space 0 there is no code: an error, and the next switch is good again. */
START_TEST(switch_to_nothing)
{
	static struct synth s;
	struct trace_reader *r;
	char text[64];

	two_spaces(&s);
	synth_start(&s, SYNTH_CODE, 3);
	synth_psb(&s, 0);
	synth_mode(&s);
	run_once(&s, SYNTH_CODE + 2);
	add_switch(&s, 0x2000);
	synth_psb(&s, 0);
	run_once(&s, SYNTH_CODE + 3);
	synth_stop(&s, TRACE_END_DISABLED, SYNTH_CODE, 3);
	r = synth_read(&s);
	decode(r, text);
	ck_assert_str_eq(text, "xbb");
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* The switches before trace that was lost count behind it too. */
START_TEST(switch_before_segment)
{
	static struct synth s;
	struct trace_reader *r;
	unsigned int i;
	char text[64];

	two_spaces(&s);
	for (i = 0; i < 3; i++) {
		synth_start(&s, SYNTH_CODE, 3);
		if (!i) {
			synth_flush(&s);
			add_switch(&s, 0x1000);
			add_switch(&s, 0x2000);
		}
		/* Without a PIP, which would select the space as well. */
		synth_packet(&s, ppt_psb);
		synth_packet(&s, ppt_psbend);
		synth_mode(&s);
		run_once(&s, SYNTH_CODE + 3);
		synth_stop(&s, TRACE_END_LOST, SYNTH_CODE, 3);
	}
	r = synth_read(&s);
	decode(r, text);
	ck_assert_str_eq(text, "bbbbbb");
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

static const struct {
	uint32_t signature;
	struct trace_cpu cpu;
} cpus[] = {
	{0, {0}},
	{0x306d4, {TRACE_CPU_INTEL, 6, 0x3d, 4}},
	{0x506e3, {TRACE_CPU_INTEL, 6, 0x5e, 3}},
	{0x806f8, {TRACE_CPU_INTEL, 6, 0x8f, 8}},
	{0x00f29, {TRACE_CPU_INTEL, 15, 2, 9}},
	{0x10ff1, {TRACE_CPU_INTEL, 15, 0x1f, 1}},
	{0x200f10, {TRACE_CPU_INTEL, 17, 1, 0}},
	{0x00543, {TRACE_CPU_INTEL, 5, 4, 3}},
};

START_TEST(signatures)
{
	const struct trace_cpu cpu = trace_cpu_of(cpus[_i].signature);

	ck_assert_mem_eq(&cpu, &cpus[_i].cpu, sizeof(cpu));
	ck_assert_uint_eq(trace_cpu_signature(cpu.family, cpu.model, cpu.stepping),
			  cpus[_i].signature);
}
END_TEST

START_TEST(no_signatures)
{
	ck_assert_uint_eq(trace_cpu_signature(0, 1, 1), 0);
	ck_assert_uint_eq(trace_cpu_signature(0x10f, 0, 0), 0);
	ck_assert_uint_eq(trace_cpu_signature(6, 0x100, 0), 0);
	ck_assert_uint_eq(trace_cpu_signature(6, 0, 0x10), 0);
	ck_assert_uint_eq(trace_cpu_signature(6 + (1ull << 32), 0x5e, 3), 0);
	ck_assert_uint_eq(trace_cpu_signature(0x10e, 0xff, 0xf), 0xfff0fff);
}
END_TEST

/* BDM70: behind a PSB+ with FUP and MODE.Exec tracing is still disabled, and TIP.PGE follows. */
static const struct {
	const char *engine;
	uint16_t kind; /* enum trace_origin_kind, OLD: no ORIGIN block, as in a file of 0.1 */
	uint16_t flags, vendor, model;
	uint32_t signature;
	char text;
} errata[] = {
	{"perf.data", TRACE_ORIGIN_PERF, TRACE_ORIGIN_HARDWARE, TRACE_CPU_INTEL, 0x3d, 0, 'a'},
	{"perf.data", TRACE_ORIGIN_PERF, 0, TRACE_CPU_INTEL, 0x3d, 0, 'x'},
	{"perf.data", TRACE_ORIGIN_PERF, TRACE_ORIGIN_HARDWARE, TRACE_CPU_INTEL, 0x0f, 0, 'x'},
	{"perf.data", TRACE_ORIGIN_PERF, TRACE_ORIGIN_HARDWARE, TRACE_CPU_OTHER, 0x3d, 0, 'x'},
	{"soft", TRACE_ORIGIN_RUN, 0, 0, 0, 0x306d4, 'x'},
	{"soft", OLD, 0, 0, 0, 0x306d4, 'x'},
	{"perf", OLD, 0, 0, 0, 0x306d4, 'a'},
};

START_TEST(errata_by_origin)
{
	const struct trace_origin origin = {
		.kind = errata[_i].kind,
		.flags = errata[_i].flags,
		.cpu = {errata[_i].vendor, 6, errata[_i].model, 4},
	};
	static struct synth s;
	struct trace_reader *r;
	char text[64];

	synth_open(&s);
	snprintf(s.info.engine, sizeof(s.info.engine), "%s", errata[_i].engine);
	s.info.caps.signature = errata[_i].signature;
	synth_reopen(&s);
	if (errata[_i].kind != OLD)
		ck_assert_int_eq(trace_writer_origin(s.w, &origin), 0);
	synth_code(&s, SYNTH_CODE, "75 fe");
	synth_page_at(&s, 0x1000, SYNTH_CODE);
	synth_start(&s, SYNTH_CODE, 3);
	synth_psb(&s, SYNTH_CODE);
	run_once(&s, SYNTH_CODE + 2);
	synth_stop(&s, TRACE_END_DISABLED, SYNTH_CODE, 3);
	r = synth_read(&s);
	decode(r, text);
	ck_assert_int_eq(text[0], errata[_i].text);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("origin");
	TCase *tc = tcase_create("decode");

	tcase_add_test(tc, switches_select_code);
	tcase_add_test(tc, switch_to_nothing);
	tcase_add_test(tc, switch_before_segment);
	tcase_add_loop_test(tc, signatures, 0, sizeof(cpus) / sizeof(cpus[0]));
	tcase_add_test(tc, no_signatures);
	tcase_add_loop_test(tc, errata_by_origin, 0, sizeof(errata) / sizeof(errata[0]));
	suite_add_tcase(s, tc);
	return s;
}
