// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode files of version 3, which have switches of the address space and the processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "lib/words.h"
#include "trace/origin.h"

#define OLD TRACE_ORIGIN_KINDS

/* Play a word of lib/steps.h, `flush`, or `space=2000`, which selects that space. */
static void play(void *opaque, char *word)
{
	struct synth *s = opaque;
	struct trace_switch sw = {0};

	if (!strcmp(word, "flush")) {
		synth_flush(s);
	} else if (!strncmp(word, "space=", 6)) {
		sw.offset = trace_writer_stream_bytes(s->w, 0);
		sw.space = strtoull(word + 6, NULL, 16);
		ck_assert_int_eq(trace_writer_switches(s->w, 0, &sw, 1), 0);
	} else {
		steps_play(s, word);
	}
}

/* One execution of the code, which ends at @end. */
#define RUN(end) "PGE:0 TNT:0 FUP:" end " PGD:- flush "
/* A session without a PIP, which would select the space as well. */
#define NO_PIP "PSB PSBEND MODE " RUN("3") "end-lost@0/3 "

/* The code at one address is one instruction longer in the second space. */
static const struct {
	const char *script, *text;
} switches[] = {
	/*
	 * The file has two threads of a program, but not the kernel. No PIP reports the thread that
	 * runs. The last of several switches at one place counts. PIPs do not.
	 */
	{"start@0/3 PSB+ MODE flush space=1000 " RUN("2") "space=2000 " RUN("3")
		 RUN("3") "space=2000 space=1000 PIP:2000 " RUN("2") "end-disabled@0/3",
	 "abbbba"},
	/* Space 0 has no code, which is an error. The next switch selects a space with code. */
	{"start@0/3 PSB+ MODE " RUN("2") "space=2000 PSB+ " RUN("3") "end-disabled@0/3", "xbb"},
	/* Switches before lost trace also apply behind it. */
	{"start@0/3 flush space=1000 space=2000 " NO_PIP "start@0/3 " NO_PIP "start@0/3 " NO_PIP,
	 "bbbbbb"},
};

/* Write a letter for each decoded instruction, for its space, or x for an error. */
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

START_TEST(switches_select_code)
{
	static struct synth s;
	struct trace_reader *r;
	char text[64];

	synth_open(&s);
	words_play("code0=75fe page@1000 code0=9075fd page@2000", play, &s);
	words_play(switches[_i].script, play, &s);
	r = synth_read(&s);
	decode(r, text);
	ck_assert_str_eq(text, switches[_i].text);
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

/* BDM70: the PSB+ has FUP and MODE.Exec although tracing is disabled until the TIP.PGE. */
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
	words_play("code0=75fe page@1000 start@0/3 PSB+:0 " RUN("2") "end-disabled@0/3", play, &s);
	r = synth_read(&s);
	decode(r, text);
	ck_assert_int_eq(text[0], errata[_i].text);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

TEST_SUITE("origin", NULL, NULL)
{
	TEST_ROWS(tcase, switches_select_code, switches);
	TEST_ROWS(tcase, signatures, cpus);
	tcase_add_test(tcase, no_signatures);
	TEST_ROWS(tcase, errata_by_origin, errata);
}
