// SPDX-License-Identifier: GPL-2.0-or-later
/* Export files made by hand to perf: perf script must list the instructions of the decoder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/flow.h"
#include "export/export.h"
#include "export/scan.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/msr.h"

#define KERNEL 0xffffffff81001000ull
#define MAX    256

/* The scripts, in the words of lib/synthwords.h, that more than one row has. */
/* The code changes after a branch that is not taken, in the middle of a TNT packet. */
#define NOT_TAKEN                                                                   \
	"nops code0=909075fceb0a code10=ebee insns=0 page@1000 nops "               \
	"code0=9075fdeb0b code10=ebee insns=b page@1000 insns=0 begin@0 TNT:11010 " \
	"finish@10"
/* The code changes after a branch that is taken. */
#define TAKEN                                                               \
	"nops code0=90740debfb code10=ebee insns=0 page@1000 nops "         \
	"code0=9090740cebfa code10=ebee insns=9 page@1000 insns=0 begin@0 " \
	"TNT:00101 finish@10"
/* The end of a trace is lost, and the next one begins in its middle. */
#define GAP                                                                   \
	"nops code0=90740debfb code10=ebee insns=0 page@1000 begin@0 TNT:00 " \
	"raw:1900 end-lost@0 start@1 PSB+:1 TNT:01 finish@10"
/* TIPs come after the TNT that they fall into, and the code changes between two of them. */
#define DEFERRED                                                                    \
	"nops code0=7502ffe0eb0a909075f6 code10=ebee insns=0 page@1000 nops "       \
	"code0=750effe0eb0a909075f6 code10=ebee insns=3 page@1000 insns=0 begin@0 " \
	"TNT:01011 TIP:8 TIP:8 finish@0"
/* The code changes after an overflow. */
#define OVERFLOW                                                                   \
	"nops code0=90740debfb code10=ebee insns=0 page@1000 nops "                \
	"code0=9090740cebfa code10=ebee insns=5 page@1000 insns=0 begin@0 TNT:00 " \
	"raw:02f3 FUP:0 TNT:1 finish@10"
/* The code changes after STI, which a packet reports, and jumps, which none does. */
#define EVENT                                                                    \
	"nops code0=90fbeb0c code10=ebee insns=0 page@1000 nops code0=90fb740c " \
	"code10=ebee insns=4 page@1000 insns=0 event-en begin@0 raw:9905 FUP:1 " \
	"TNT:1 finish@10"
/* perf has no TRIG packets: they are left out with their FUPs. */
#define TRIGGER                                                                     \
	"nops code0=90740dffe0 code10=ebee insns=0 page@1000 begin@0 TNT:0 "        \
	"raw:d9401a0300 raw:d9a001 FUP:3 TIP:0 TNT:0 raw:d98001 FUP:10001 TIP32:3 " \
	"TIP:0 TNT:1 finish@10"
/* MOV CR3 leads to other code at the same address. */
#define MOV_CR3                                                                    \
	"nops code0=900f22d89090 code10=ebee insns=0 page@1000 nops "              \
	"code0=900f22d8ffe0 code10=ebee insns=0 page@9000 begin@0 PIP:9000 TIP:0 " \
	"PIP:1000 finish@5"
/* A PSB comes between the last branch and the change. */
#define PSB_BEFORE                                                                \
	"nops code0=90740290900f22d89090 code10=ebee insns=0 page@1000 nops "     \
	"code0=90909090900f22d8ffe0 code10=ebee insns=0 page@9000 begin@0 TNT:1 " \
	"PSB+:5 PIP:9000 TIP:1 PIP:1000 finish@9"

static const struct {
	const char *name, *script;
	uint64_t base; /* where the code is */
	unsigned int insns, skipped, processes, pokes, patches;
} cases[] = {
	{"not taken, user", NOT_TAKEN, SYNTH_CODE, 16, 0, 1, 0, 1},
	{"not taken, kernel", NOT_TAKEN, KERNEL, 16, 0, 1, 1, 0},
	{"taken, user", TAKEN, SYNTH_CODE, 16, 0, 1, 0, 1},
	{"taken, kernel", TAKEN, KERNEL, 16, 0, 1, 1, 0},
	{"MOV CR3", MOV_CR3, SYNTH_CODE, 6, 0, 2, 0, 0},
	{"PSB before", PSB_BEFORE, SYNTH_CODE, 10, 0, 2, 0, 0},
	/* Kernel code has one CR3 and user code the next: they are one process, beside the first. */
	{"page-table isolation",
	 "nops code0=0f22d848cf page@1000 page@4000 page@5000 base=401000 page@5000 "
	 "base=ffffffff81001000 begin@0 PIP:5000 base=401000 TIP:10 FUP:13 PIP:4000 "
	 "base=ffffffff81001000 TIP:0 PIP:5000 base=401000 TIP:10 finish@13",
	 KERNEL, 10, 0, 2, 0, 0},
	/* A guest's trace, though the file does not say so. */
	{"non-root operation", "non-root " MOV_CR3, SYNTH_CODE, 6, 0, 2, 0, 0},
	/* The same with a PSB in which CR3 is repeated. */
	{"non-root operation, kernel", "non-root " PSB_BEFORE, KERNEL, 10, 0, 2, 2, 0},
	{"gap", GAP, SYNTH_CODE, 9, 0, 1, 0, 0},
	{"gap, kernel", GAP, KERNEL, 9, 0, 1, 0, 0},
	/* Only the code after 16-bit code is exported. */
	{"16-bit code",
	 "nops code0=90740debfb code10=ebee insns=0 page@1000 start@0 PSB raw:9900 PIP:1000 PSBEND "
	 "PGE:20 finish@23 begin@0 TNT:01 finish@10",
	 SYNTH_CODE, 5, 3, 1, 0, 0},
	/* A conditional branch leaves a filter: first taken, then not taken. */
	{"filter, Jcc",
	 "nops code0=90740d75fb code10=ebee insns=0 page@1000 filter0=0-4 begin@0 TNT:010 PGD:- "
	 "PGE:0 TNT:0 PGD:- end-disabled@5",
	 KERNEL, 9, 0, 1, 0, 0},
	/* A direct jump leaves a filter. */
	{"filter, JMP",
	 "nops code0=90740debfb code10=ebee insns=0 page@1000 filter0=0-11 begin@0 TNT:001 TNT:1 "
	 "finish@10",
	 SYNTH_CODE, 11, 0, 1, 0, 0},
	{"deferred TIPs, user", DEFERRED, SYNTH_CODE, 8, 0, 1, 0, 1},
	{"deferred TIPs, kernel", DEFERRED, KERNEL, 8, 0, 1, 1, 0},
	{"overflow, user", OVERFLOW, SYNTH_CODE, 8, 0, 1, 0, 1},
	{"overflow, kernel", OVERFLOW, KERNEL, 8, 0, 1, 1, 0},
	{"event, user", EVENT, SYNTH_CODE, 7, 0, 1, 0, 1},
	{"triggers, user", TRIGGER, SYNTH_CODE, 9, 0, 1, 0, 0},
	{"triggers, kernel", TRIGGER, KERNEL, 9, 0, 1, 0, 0},
	{"event, kernel", EVENT, KERNEL, 7, 0, 1, 1, 0},
};

static unsigned int decode(struct trace_reader *r, uint64_t *ips)
{
	struct decode_flow *flow;
	struct decode_item item;
	unsigned int n = 0;

	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert_int_ne(item.kind, DECODE_ITEM_ERROR);
		if (item.kind == DECODE_ITEM_INSN && item.mode != 16) {
			ck_assert_uint_lt(n, MAX);
			ips[n++] = item.ip;
		}
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	return n;
}

static unsigned int perf(const char *dir, uint64_t *ips)
{
	char command[256], line[256];
	unsigned int n = 0;
	FILE *p;

	snprintf(command, sizeof(command), "perf script -i %s --itrace=i0nse -F ip 2>/dev/null",
		 dir);
	p = popen(command, "r");
	ck_assert_ptr_nonnull(p);
	while (fgets(line, sizeof(line), p)) {
		if (strstr(line, "Overflow packet"))
			continue;
		ck_assert_msg(!strstr(line, "error"), "%s", line);
		ck_assert_uint_lt(n, MAX);
		ips[n++] = strtoull(line, NULL, 16);
	}
	ck_assert_int_eq(pclose(p), 0);
	return n;
}

static void remove_dir(const char *dir)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(as_perf_sees_it)
{
	uint64_t ours[MAX], theirs[MAX];
	struct export_report report;
	struct export_options o = {0};
	struct trace_reader *r;
	unsigned int n, m, i;
	struct synth s;
	char dir[80];

	synth_open(&s);
	s.base = cases[_i].base;
	steps_play(&s, cases[_i].script);
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), 0);
	ck_assert_msg(!report.errors, "%s", report.error);
	ck_assert_uint_eq(report.skipped, cases[_i].skipped);
	ck_assert_uint_eq(report.processes, cases[_i].processes);
	ck_assert_uint_eq(report.pokes, cases[_i].pokes);
	ck_assert_uint_eq(report.patches, cases[_i].patches);
	n = decode(r, ours);
	m = perf(dir, theirs);
	remove_dir(dir);
	ck_assert_msg(n == cases[_i].insns && m == n, "%s: decoder: %u, perf: %u", cases[_i].name,
		      n, m);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(theirs[i], ours[i]);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

static int export_with(const char *kallsyms, const char *dir)
{
	const struct export_options o = {.dir = dir, .kallsyms = "kallsyms.tmp"};
	struct export_report report;
	struct trace_reader *r;
	struct synth s;
	FILE *f;
	int err;

	f = fopen(o.kallsyms, "w");
	ck_assert_ptr_nonnull(f);
	fputs(kallsyms, f);
	fclose(f);
	synth_open(&s);
	s.base = KERNEL;
	steps_play(&s, TAKEN);
	r = synth_read(&s);
	err = export_to_perf(r, &o, &report);
	trace_reader_close(r);
	synth_done(&s);
	unlink(o.kallsyms);
	return err;
}

START_TEST(kernel_names)
{
	char dir[] = "/tmp/vpt-test-XXXXXX", line[256];
	FILE *p;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(export_with("ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
				     "ffffffff81001000 t a_name\nffffffff81002000 T _etext\n"
				     "ffffffffc0000000 t of_module\t[mod]\n",
				     "good"),
			 0);
	p = popen("perf script -i good --itrace=b -F ip,sym 2>/dev/null | grep a_name", "r");
	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), p));
	pclose(p);
	/* Made by one who may not see addresses; no symbols at all. */
	ck_assert_int_eq(export_with("0000000000000000 T _text\n", "zero"), -EINVAL);
	ck_assert_int_eq(export_with("not a symbol\n", "none"), -EINVAL);
	/* An export that fails leaves nothing. */
	ck_assert(access("zero", F_OK) && access("none", F_OK));
	remove_dir(dir);
}
END_TEST

/* Play a trace with two TSC packets, or with none. The code does not change. */
static void steady(struct synth *s, bool timed)
{
	steps_play(s, "nops code0=90740debfb code10=ebee page@1000");
	if (timed)
		s->session.ctl |= VPT_CTL_MASK(TSC_EN);
	steps_play(s,
		   timed ? "start@0 PSB TSC:3e8 PIP:1000 PSBEND" : "start@0 PSB PIP:1000 PSBEND");
	steps_play(s, timed ? "MODE PGE:0 TNT:0 TSC:7d0 TNT:01" : "MODE PGE:0 TNT:0 TNT:01");
	steps_play(s, "finish@10");
}

/* First and last time that perf prints, in nanoseconds. */
static void times(const char *dir, double *first, double *last)
{
	char command[256], line[256];
	FILE *p;

	snprintf(command, sizeof(command),
		 "perf script -i %s --itrace=i0ns -F time --ns 2>/dev/null", dir);
	p = popen(command, "r");
	ck_assert_ptr_nonnull(p);
	*first = *last = -1;
	while (fgets(line, sizeof(line), p)) {
		*last = strtod(line, NULL) * 1e9;
		if (*first < 0)
			*first = *last;
	}
	pclose(p);
}

static const struct {
	enum export_how how;
	bool timed, folded, timeless;
	double first, last, off;
} ways[] = {
	{EXPORT_AUTO, true, false, false, 1001, 2001, 0.1},
	{EXPORT_PACKETS, true, false, false, 1001, 2001, 0.1},
	/* A nanosecond for each change, or each instruction. */
	{EXPORT_TSC, true, true, false, 1001, 2001, 2},
	{EXPORT_AUTO, false, true, false, 1, 8, 8},
	{EXPORT_TSC, false, true, false, 1, 8, 8},
	{EXPORT_PACKETS, false, false, true, -1, -1, 0.1},
};

/* A tick is a nanosecond here, and the first of all is number 1. */
START_TEST(time_as_it_is_told)
{
	struct export_options o = {.how = ways[_i].how};
	uint64_t ours[MAX], theirs[MAX];
	struct export_report report;
	double first, last;
	struct trace_reader *r;
	unsigned int n;
	struct synth s;
	char dir[80];

	synth_open(&s);
	steady(&s, ways[_i].timed);
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), 0);
	ck_assert_int_eq(report.folded, ways[_i].folded);
	ck_assert_int_eq(report.timeless, ways[_i].timeless);
	n = decode(r, ours);
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(perf(dir, theirs), n);
	ck_assert_mem_eq(ours, theirs, n * sizeof(ours[0]));
	times(dir, &first, &last);
	ck_assert_double_eq_tol(first, ways[_i].first, ways[_i].off);
	ck_assert_double_eq_tol(last, ways[_i].last, ways[_i].off);
	remove_dir(dir);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* What perf could not be told without a time for it, nobody is promised. */
START_TEST(time_that_cannot_be)
{
	struct export_options o = {.how = EXPORT_PACKETS};
	struct export_report report;
	struct trace_reader *r;
	struct synth s;
	char dir[80];

	synth_open(&s);
	steps_play(&s, TAKEN);
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), -ENOTSUP);
	ck_assert_int_ne(access(dir, F_OK), 0);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Nobody can tell what ran: perf gets the packets, and no errors. */
START_TEST(no_outcomes)
{
	struct export_report report;
	struct export_options o = {0};
	uint64_t theirs[MAX];
	struct trace_reader *r;
	struct synth s;
	char dir[80];

	synth_open(&s);
	steps_play(&s, "nops code0=907402ffe0ebfb code10=ebee page@1000 dis-tnt");
	steps_play(&s, "begin@0 TIP:5 finish@10");
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), 0);
	ck_assert(report.blind);
	ck_assert_uint_eq(report.errors, 0);
	ck_assert_uint_eq(report.processes, 1);
	ck_assert_uint_eq(perf(dir, theirs), 3);
	ck_assert_uint_eq(theirs[0], SYNTH_CODE);
	ck_assert_uint_eq(theirs[1], SYNTH_CODE + 5);
	ck_assert_uint_eq(theirs[2], SYNTH_CODE + 0x10);
	remove_dir(dir);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* The time is @want[i] behind packet i of @bytes. A CTC tick is 100 TSC ticks. */
static void check_times(const uint8_t *bytes, size_t len, unsigned int mtc_freq,
			const uint64_t *want, unsigned int n)
{
	const struct vpt_caps caps = {.l15_eax = 2, .l15_ebx = 200};
	struct export_scan scan = {.bytes = bytes, .caps = &caps, .mtc_freq = mtc_freq};
	struct vpt_packet p;
	unsigned int i;
	uint64_t at;

	export_scan_segment(&scan, 0, len);
	for (i = 0; i < n; i++) {
		ck_assert(export_scan_next(&scan, &p, &at));
		ck_assert_uint_eq(scan.tsc, want[i]);
	}
	ck_assert(!export_scan_next(&scan, &p, &at));
}

/* MTC packets count CTC ticks from TMA on (33.8.3.1). */
START_TEST(time_of_mtc)
{
	static const uint8_t bytes[] = {
		0x19, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, /* TSC 1000H */
		0x02, 0x73, 0x0a, 0x00, 0x00, 0x04, 0x00,	/* TMA: CTC 0aH, 4 ticks later */
		0x59, 0x06,					/* MTC: CTC 0cH */
		0x59, 0x05,					/* and 256 - 1 later */
	};
	const uint64_t want[] = {0x1000, 0x1000, 0x1000 - 4 + 200, 0x1000 - 4 + 200 * 256};

	check_times(bytes, sizeof(bytes), 1, want, 4);
}
END_TEST

/* With MTCFreq 9 TMA has 7 of the 8 bits of CTC that an MTC has (33.4.2.12, 33.4.2.13). */
START_TEST(time_of_slow_mtc)
{
	static const uint8_t bytes[] = {
		0x19, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, /* TSC 1000H */
		0x02, 0x73, 0x00, 0xfe, 0x00, 0x04, 0x00,	/* TMA: CTC fe00H */
		0x59, 0x80,					/* MTC: CTC 10000H */
		0x59, 0x82,					/* and 2 periods later */
	};
	const uint64_t period = 100 << 9;
	const uint64_t want[] = {0x1000, 0x1000, 0x1000 - 4 + period, 0x1000 - 4 + 3 * period};

	check_times(bytes, sizeof(bytes), 9, want, 4);
}
END_TEST

/* A file without anything in it is no reason to fail. */
START_TEST(nothing)
{
	struct export_report report;
	struct export_options o = {0};
	struct trace_reader *r;
	struct synth s;
	char dir[80];

	synth_open(&s);
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), 0);
	ck_assert_uint_eq(report.insns, 0);
	remove_dir(dir);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

TEST_SUITE("export", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, as_perf_sees_it, cases);
	TEST_ROWS(tcase, time_as_it_is_told, ways);
	TEST_ADD(tcase, time_that_cannot_be, no_outcomes, time_of_mtc, time_of_slow_mtc, nothing,
		 kernel_names);
}
