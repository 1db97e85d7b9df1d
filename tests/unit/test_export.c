// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exports, from files made by hand, as perf sees them: the instructions of perf script are
 * those of the decoder.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/flow.h"
#include "export/export.h"
#include "export/scan.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/msr.h"

#define KERNEL 0xffffffff81001000ull
#define MAX    256

static uint64_t base; /* where the code of a case is */

#define AT(offset) (base + (offset))

static void begin(struct synth *s)
{
	synth_start(s, AT(0), 0);
	synth_psb(s, 0);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, AT(0));
}

static void finish(struct synth *s, uint64_t ip)
{
	synth_ip(s, ppt_fup, ip);
	synth_no_ip(s, ppt_tip_pgd);
	synth_stop(s, TRACE_END_DISABLED, ip, 0);
}

/* A version of the page, from so many instructions on. */
static void page(struct synth *s, uint64_t cr3, uint64_t insns, const char *hex)
{
	memset(s->page, 0x90, sizeof(s->page));
	synth_code(s, SYNTH_CODE, hex);
	synth_code(s, SYNTH_CODE + 0x10, "eb ee");
	s->insns = insns;
	synth_page_at(s, cr3, AT(0));
	s->insns = 0;
}

/* Code changes after a branch that is not taken, in the middle of a TNT packet. */
static void not_taken(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 90 75 fc eb 0a");
	page(s, SYNTH_CR3, 11, "90 75 fd eb 0b");
	begin(s);
	synth_tnt(s, "11010");
	finish(s, AT(0x10));
}

/* After one that is. */
static void taken(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	page(s, SYNTH_CR3, 9, "90 90 74 0c eb fa");
	begin(s);
	synth_tnt(s, "00101");
	finish(s, AT(0x10));
}

/* MOV CR3 leads to other code at the same address. */
static void mov_cr3(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 0f 22 d8 90 90");
	page(s, 0x9000, 0, "90 0f 22 d8 ff e0");
	begin(s);
	synth_pip(s, 0x9000);
	synth_ip(s, ppt_tip, AT(0));
	synth_pip(s, SYNTH_CR3);
	finish(s, AT(5));
}

/* A PSB between the last branch and the change. */
static void psb_before(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 74 02 90 90 0f 22 d8 90 90");
	page(s, 0x9000, 0, "90 90 90 90 90 0f 22 d8 ff e0");
	begin(s);
	synth_tnt(s, "1");
	synth_psb(s, AT(5));
	synth_pip(s, 0x9000);
	synth_ip(s, ppt_tip, AT(1));
	synth_pip(s, SYNTH_CR3);
	finish(s, AT(9));
}

/* Kernel code with one CR3, user code with the next: one process, beside the first. */
static void isolated(struct synth *s)
{
	memset(s->page, 0x90, sizeof(s->page));
	synth_code(s, SYNTH_CODE, "0f 22 d8 48 cf");
	synth_page_at(s, SYNTH_CR3, KERNEL);
	synth_page_at(s, 0x4000, KERNEL);
	synth_page_at(s, 0x5000, KERNEL);
	synth_page_at(s, 0x5000, SYNTH_CODE);
	begin(s);
	synth_pip(s, 0x5000);
	synth_ip(s, ppt_tip, SYNTH_CODE + 0x10);
	synth_ip(s, ppt_fup, SYNTH_CODE + 0x13);
	synth_pip(s, 0x4000);
	synth_ip(s, ppt_tip, KERNEL);
	synth_pip(s, 0x5000);
	synth_ip(s, ppt_tip, SYNTH_CODE + 0x10);
	finish(s, SYNTH_CODE + 0x13);
}

/* The end of a trace is lost, and the next one begins in its middle. */
static void gap(struct synth *s)
{
	static const uint8_t half[] = {0x19, 0x00};

	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	begin(s);
	synth_tnt(s, "00");
	synth_raw(s, half, sizeof(half));
	synth_stop(s, TRACE_END_LOST, AT(0), 0);
	synth_start(s, AT(1), 0);
	synth_psb(s, AT(1));
	synth_tnt(s, "01");
	finish(s, AT(0x10));
}

/* A guest's trace, of which the file does not say that it is one. */
static void non_root(struct synth *s)
{
	s->non_root = true;
	mov_cr3(s);
	s->non_root = false;
}

/* The same with a PSB in which CR3 is repeated. */
static void non_root_psb(struct synth *s)
{
	s->non_root = true;
	psb_before(s);
	s->non_root = false;
}

static void mode16(struct synth *s)
{
	static const uint8_t mode[] = {0x99, 0x00};

	synth_raw(s, mode, sizeof(mode));
}

/* Only what is after 16-bit code is there. */
static void bits16(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	synth_start(s, AT(0), 0);
	synth_packet(s, ppt_psb);
	mode16(s);
	synth_pip(s, SYNTH_CR3);
	synth_packet(s, ppt_psbend);
	synth_ip(s, ppt_tip_pge, AT(0x20));
	finish(s, AT(0x23));
	begin(s);
	synth_tnt(s, "01");
	finish(s, AT(0x10));
}

static void filter(struct synth *s, uint64_t last)
{
	s->session.ctl |= (uint64_t)VPT_ADDR_FILTER << VPT_CTL_ADDR0_CFG_SHIFT;
	s->session.addr[0] = AT(0);
	s->session.addr[1] = AT(last);
	synth_start(s, AT(0), 0);
	synth_psb(s, 0);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, AT(0));
}

/* A conditional branch leaves a filter: taken, and then not. */
static void leave_jcc(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 74 0d 75 fb");
	filter(s, 4);
	synth_tnt(s, "010");
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_tnt(s, "0");
	synth_no_ip(s, ppt_tip_pgd);
	synth_stop(s, TRACE_END_DISABLED, AT(5), 0);
}

/* A direct jump does. */
static void leave_jmp(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	filter(s, 0x11);
	synth_tnt(s, "001");
	synth_tnt(s, "1");
	finish(s, AT(0x10));
}

/* TIPs that come after the TNT they fall into, and a change between two of them. */
static void deferred(struct synth *s)
{
	page(s, SYNTH_CR3, 0, "75 02 ff e0 eb 0a 90 90 75 f6");
	page(s, SYNTH_CR3, 3, "75 0e ff e0 eb 0a 90 90 75 f6");
	begin(s);
	synth_tnt(s, "01011");
	synth_ip(s, ppt_tip, AT(8));
	synth_ip(s, ppt_tip, AT(8));
	finish(s, AT(0));
}

/* After an overflow. */
static void overflow(struct synth *s)
{
	static const uint8_t ovf[] = {0x02, 0xf3};

	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	page(s, SYNTH_CR3, 5, "90 90 74 0c eb fa");
	begin(s);
	synth_tnt(s, "00");
	synth_raw(s, ovf, sizeof(ovf));
	synth_ip(s, ppt_fup, AT(0));
	synth_tnt(s, "1");
	finish(s, AT(0x10));
}

/* After STI, which is told of, and jumps, which are not. */
static void event(struct synth *s)
{
	static const uint8_t mode_if[] = {0x99, 0x05};

	page(s, SYNTH_CR3, 0, "90 fb eb 0c");
	page(s, SYNTH_CR3, 4, "90 fb 74 0c");
	s->session.ctl |= VPT_CTL_MASK(EVENT_EN);
	begin(s);
	synth_raw(s, mode_if, sizeof(mode_if));
	synth_ip(s, ppt_fup, AT(1));
	synth_tnt(s, "1");
	finish(s, AT(0x10));
}

/* perf has no TRIG packets: they are left out with their FUPs. */
static void trigger(struct synth *s)
{
	const uint32_t low = (uint32_t)AT(3);
	const uint8_t tip[] = {0x4d, (uint8_t)low, (uint8_t)(low >> 8), (uint8_t)(low >> 16),
			       (uint8_t)(low >> 24)};

	page(s, SYNTH_CR3, 0, "90 74 0d ff e0");
	begin(s);
	synth_tnt(s, "0");
	synth_raw(s, "\xd9\x40\x1a\x03\x00", 5);
	synth_raw(s, "\xd9\xa0\x01", 3);
	synth_ip(s, ppt_fup, AT(3));
	synth_ip(s, ppt_tip, AT(0));
	synth_tnt(s, "0");
	synth_raw(s, "\xd9\x80\x01", 3);
	synth_ip(s, ppt_fup, AT(1) ^ 0x10000);
	synth_raw(s, tip, sizeof(tip));
	synth_ip(s, ppt_tip, AT(0));
	synth_tnt(s, "1");
	finish(s, AT(0x10));
}

static const struct {
	const char *name;
	void (*make)(struct synth *s);
	uint64_t base;
	unsigned int insns, skipped, processes, pokes, patches;
} cases[] = {
	{"not taken, user", not_taken, SYNTH_CODE, 16, 0, 1, 0, 1},
	{"not taken, kernel", not_taken, KERNEL, 16, 0, 1, 1, 0},
	{"taken, user", taken, SYNTH_CODE, 16, 0, 1, 0, 1},
	{"taken, kernel", taken, KERNEL, 16, 0, 1, 1, 0},
	{"MOV CR3", mov_cr3, SYNTH_CODE, 6, 0, 2, 0, 0},
	{"PSB before", psb_before, SYNTH_CODE, 10, 0, 2, 0, 0},
	{"page-table isolation", isolated, KERNEL, 10, 0, 2, 0, 0},
	{"non-root operation", non_root, SYNTH_CODE, 6, 0, 2, 0, 0},
	{"non-root operation, kernel", non_root_psb, KERNEL, 10, 0, 2, 2, 0},
	{"gap", gap, SYNTH_CODE, 9, 0, 1, 0, 0},
	{"gap, kernel", gap, KERNEL, 9, 0, 1, 0, 0},
	{"16-bit code", bits16, SYNTH_CODE, 5, 3, 1, 0, 0},
	{"filter, Jcc", leave_jcc, KERNEL, 9, 0, 1, 0, 0},
	{"filter, JMP", leave_jmp, SYNTH_CODE, 11, 0, 1, 0, 0},
	{"deferred TIPs, user", deferred, SYNTH_CODE, 8, 0, 1, 0, 1},
	{"deferred TIPs, kernel", deferred, KERNEL, 8, 0, 1, 1, 0},
	{"overflow, user", overflow, SYNTH_CODE, 8, 0, 1, 0, 1},
	{"overflow, kernel", overflow, KERNEL, 8, 0, 1, 1, 0},
	{"event, user", event, SYNTH_CODE, 7, 0, 1, 0, 1},
	{"triggers, user", trigger, SYNTH_CODE, 9, 0, 1, 0, 0},
	{"triggers, kernel", trigger, KERNEL, 9, 0, 1, 0, 0},
	{"event, kernel", event, KERNEL, 7, 0, 1, 1, 0},
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

	base = cases[_i].base;
	synth_open(&s);
	cases[_i].make(&s);
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
	base = KERNEL;
	synth_open(&s);
	taken(&s);
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

/* The same code all along, with two TSC packets or none. */
static void steady(struct synth *s, bool timed)
{
	static const uint8_t first[] = {0x19, 0xe8, 0x03, 0, 0, 0, 0, 0};
	static const uint8_t second[] = {0x19, 0xd0, 0x07, 0, 0, 0, 0, 0};

	base = SYNTH_CODE;
	page(s, SYNTH_CR3, 0, "90 74 0d eb fb");
	if (timed)
		s->session.ctl |= VPT_CTL_MASK(TSC_EN);
	synth_start(s, AT(0), 0);
	synth_packet(s, ppt_psb);
	if (timed)
		synth_raw(s, first, sizeof(first));
	synth_pip(s, SYNTH_CR3);
	synth_packet(s, ppt_psbend);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_tnt(s, "0");
	if (timed)
		synth_raw(s, second, sizeof(second));
	synth_tnt(s, "01");
	finish(s, AT(0x10));
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

	base = SYNTH_CODE;
	synth_open(&s);
	taken(&s);
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

	base = SYNTH_CODE;
	synth_open(&s);
	page(&s, SYNTH_CR3, 0, "90 74 02 ff e0 eb fb");
	s.session.ctl |= VPT_CTL_MASK(DIS_TNT);
	begin(&s);
	synth_ip(&s, ppt_tip, AT(5));
	finish(&s, AT(0x10));
	r = synth_read(&s);
	snprintf(dir, sizeof(dir), "%s.perf", s.path);
	o.dir = dir;
	ck_assert_int_eq(export_to_perf(r, &o, &report), 0);
	ck_assert(report.blind);
	ck_assert_uint_eq(report.errors, 0);
	ck_assert_uint_eq(report.processes, 1);
	ck_assert_uint_eq(perf(dir, theirs), 3);
	ck_assert_uint_eq(theirs[0], AT(0));
	ck_assert_uint_eq(theirs[1], AT(5));
	ck_assert_uint_eq(theirs[2], AT(0x10));
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("export");
	TCase *tc = tcase_create("export");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, as_perf_sees_it, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, time_as_it_is_told, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, time_that_cannot_be);
	tcase_add_test(tc, no_outcomes);
	tcase_add_test(tc, time_of_mtc);
	tcase_add_test(tc, time_of_slow_mtc);
	tcase_add_test(tc, nothing);
	tcase_add_test(tc, kernel_names);
	suite_add_tcase(suite, tc);
	return suite;
}
