// SPDX-License-Identifier: GPL-2.0-or-later
/* The reference model, and the comparison with what is decoded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "oracle/align.h"
#include "oracle/compare.h"
#include "oracle/targets.h"
#include "vpt/msr.h"

#define AT(offset) (SYNTH_CODE + (offset))
#define ARRIVED	   VPT_ORACLE_ARRIVED
#define COUNT(a)   ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Part 1: what is expected, in the words of lib/steps.h. The code is only a matter
 * of addresses here.
 */

static void range(struct synth *s, unsigned int n, uint64_t from, uint64_t to,
		  enum vpt_addr_cfg cfg)
{
	s->session.ctl |= (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n);
	s->session.addr[2 * n] = AT(from);
	s->session.addr[2 * n + 1] = AT(to);
}

static void clear(struct synth *s, uint64_t bits)
{
	s->session.ctl &= ~bits;
}

static void i(struct synth *s, unsigned int at, uint8_t cpl, unsigned int flags)
{
	synth_insn(s, AT(at), cpl, flags);
}

static void wrmsr_ends_it(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, 0);
	synth_stop(s, VPT_END_DISABLED, AT(3), 0);
}

static void host_ends_it(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, 0);
	synth_stop(s, VPT_END_CLOSED, AT(3), 0);
	/* What runs without a trace is nothing to it. */
	i(s, 3, 0, 0);
	synth_event(s, AT(4), 0, 14, 0);
	synth_start(s, AT(5), 0);
	synth_stop(s, VPT_END_CLOSED, AT(5), 0);
}

static void no_os(struct synth *s)
{
	clear(s, VPT_CTL_MASK(OS));
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, 0);
	i(s, 2, 3, ARRIVED);
	i(s, 3, 3, 0);
	i(s, 0x10, 0, ARRIVED);
	i(s, 4, 3, ARRIVED);
	synth_event(s, AT(5), 3, 14, 0);
	i(s, 0x20, 0, ARRIVED);
	i(s, 5, 3, ARRIVED);
	i(s, 0x11, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(0x13), 0);
}

static void no_user(struct synth *s)
{
	clear(s, VPT_CTL_MASK(USER));
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 3, ARRIVED);
	synth_event(s, AT(2), 3, 14, 0);
	i(s, 3, 0, ARRIVED);
	i(s, 4, 0, 0);
	synth_stop(s, VPT_END_DISABLED, AT(5), 0);
}

static void cr3_filter(struct synth *s)
{
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	/* The low 12 bits do not count without PAE. */
	s->session.cr3_match = 0x2fe0;
	synth_cr3(s, 0x1000);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x2018);
	i(s, 4, 0, 0);
	i(s, 5, 0, VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x3000);
	i(s, 8, 0, 0);
	synth_stop(s, VPT_END_CLOSED, AT(9), 0);
}

static void cr3_filter_pae(struct synth *s)
{
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = 0x2fe0;
	synth_cr3(s, 0x2fe0);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, VPT_ORACLE_PAE);
	i(s, 1, 0, VPT_ORACLE_PAE | VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x2fc0);
	i(s, 4, 0, VPT_ORACLE_PAE);
	synth_stop(s, VPT_END_CLOSED, AT(5), 0);
}

static void branch_en_clear(struct synth *s)
{
	clear(s, VPT_CTL_MASK(BRANCH_EN));
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	synth_event(s, AT(1), 0, 14, 0);
	i(s, 2, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(3), 0);
}

/* Falling into and out of a range moves nothing, arriving does. */
static void filter_edges(struct synth *s)
{
	range(s, 0, 0x10, 0x1f, VPT_ADDR_FILTER);
	synth_start(s, AT(0xf), 0);
	i(s, 0xf, 0, 0);
	i(s, 0x10, 0, 0);
	i(s, 0x11, 0, VPT_ORACLE_COND);
	i(s, 0x10, 0, ARRIVED);
	i(s, 0x1f, 0, ARRIVED);
	i(s, 0x20, 0, 0);
	i(s, 0x21, 0, 0);
	i(s, 0x22, 0, ARRIVED);
	i(s, 0x1e, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(0x1f), 0);
}

static void filter_start_inside(struct synth *s)
{
	range(s, 2, 0x10, 0x1f, VPT_ADDR_FILTER);
	range(s, 3, 0x30, 0x30, VPT_ADDR_FILTER);
	synth_start(s, AT(0x10), 0);
	i(s, 0x10, 0, 0);
	i(s, 0x30, 0, ARRIVED);
	i(s, 0x31, 0, 0);
	i(s, 0x2f, 0, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(0x30), 0);
}

/* Where ContextEn rises FilterEn is looked at anew, without a branch. */
static void filter_as_context_rises(struct synth *s)
{
	range(s, 0, 0x10, 0x1f, VPT_ADDR_FILTER);
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = 0x2000;
	synth_cr3(s, 0x1000);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 0x10, 0, ARRIVED | VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x2000);
	i(s, 0x13, 0, VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x1000);
	i(s, 0x16, 0, ARRIVED);
	i(s, 0x1e, 0, VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x2000);
	i(s, 0x21, 0, 0);
	synth_stop(s, VPT_END_CLOSED, AT(0x22), 0);
}

/* A fault at the target of a branch out of the filter is not in the trace. */
static void filter_and_event(struct synth *s)
{
	range(s, 0, 0x10, 0x1f, VPT_ADDR_FILTER);
	synth_start(s, AT(0x10), 0);
	i(s, 0x10, 0, 0);
	synth_event(s, AT(0x100), 0, 14, 0);
	i(s, 0x12, 0, ARRIVED);
	synth_event(s, AT(0x13), 0, 14, 0);
	i(s, 0x14, 0, ARRIVED);
	synth_event(s, AT(0x15), 0, 14, 0);
	i(s, 0x200, 0, ARRIVED);
	i(s, 0x16, 0, ARRIVED);
	/* Close by, so that the record has to say it. */
	synth_event(s, AT(0x20), 0, 14, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(0x210), 0);
}

static void soft_int(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_SOFT_INT);
	synth_event(s, AT(1), 0, 0x80, 0);
	i(s, 0x20, 0, ARRIVED);
	/* An engine that leaves the EVENT out. */
	i(s, 0x21, 0, VPT_ORACLE_SOFT_INT);
	i(s, 0x20, 0, ARRIVED);
	/* INT n that faults has not retired. */
	synth_event(s, AT(0x21), 0, 13, 0);
	i(s, 0x30, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(0x31), 0);
}

static void soft_int_out(struct synth *s)
{
	clear(s, VPT_CTL_MASK(OS));
	synth_start(s, AT(0), 3);
	i(s, 0, 3, 0);
	i(s, 1, 3, VPT_ORACLE_SOFT_INT);
	synth_event(s, AT(1), 3, 0x80, 0);
	i(s, 0x20, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(0x21), 0);
}

static void event_in_event(struct synth *s)
{
	synth_start(s, AT(0), 0);
	synth_event(s, AT(0), 0, 32, 0);
	synth_event(s, AT(0x20), 0, 14, 0);
	i(s, 0x30, 0, ARRIVED);
	synth_event(s, AT(0x31), 0, 33, 0);
	synth_stop(s, VPT_END_CLOSED, AT(0x40), 0);
}

static void trace_stop(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0x3f), 0);
	i(s, 0x3f, 0, 0);
	/* Falling in is no reason. */
	i(s, 0x40, 0, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x4f), 0);
	i(s, 0x4f, 0, ARRIVED);
}

static void trace_stop_by_event(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 0);
	synth_event(s, AT(0), 0, 32, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x40), 0);
}

static void trace_stop_by_cr3(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0x3d), 0);
	i(s, 0x3d, 0, VPT_ORACLE_CR3_WRITE);
	synth_cr3(s, 0x1000);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x40), 0);
}

static void trace_stop_at_start(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0x40), 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x40), 0);
}

/* Where it overlaps with a filter it is a TraceStop; out of a filter, too. */
static void trace_stop_and_filter(struct synth *s)
{
	range(s, 0, 0, 0x1f, VPT_ADDR_FILTER);
	range(s, 1, 0x10, 0x2f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x10), 0);
	synth_start(s, AT(0x40), 0);
	i(s, 0x40, 0, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x2f), 0);
}

static void trace_stop_out_of_context(struct synth *s)
{
	clear(s, VPT_CTL_MASK(OS));
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 3);
	i(s, 0, 3, 0);
	i(s, 0x40, 0, ARRIVED);
	i(s, 0x41, 3, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(0x42), 3);
}

static void trace_stop_missed(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 0x40, 0, ARRIVED);
}

static void trace_stop_without_reason(struct synth *s)
{
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x50), 0);
}

static void output_ends_it(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	synth_stop(s, VPT_END_TOPA_STOP, AT(1), 0);
	synth_start(s, AT(1), 0);
	i(s, 1, 0, 0);
	synth_event(s, AT(2), 0, 14, 0);
	synth_stop(s, VPT_END_ERROR, AT(3), 0);
}

static void record_only(struct synth *s, uint8_t kind)
{
	struct vpt_oracle_record r = {.kind = kind, .ip = AT(0)};

	vpt_writer_oracle(s->w, 0, r);
}

static void start_twice(struct synth *s)
{
	synth_start(s, AT(0), 0);
	record_only(s, VPT_ORACLE_START);
}

static void start_too_often(struct synth *s)
{
	synth_start(s, AT(0), 0);
	synth_stop(s, VPT_END_DISABLED, AT(0), 0);
	record_only(s, VPT_ORACLE_START);
}

static void stop_only(struct synth *s)
{
	record_only(s, VPT_ORACLE_STOP);
}

static void unknown_kind(struct synth *s)
{
	record_only(s, 200);
}

static void cut_off(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, 0);
}

#define WENT_ON "!a TraceStop range was entered, but the session went on"

static const struct {
	void (*make)(struct synth *s);
	const char *steps;
} expected[] = {
	{wrmsr_ends_it, "E0 0 A1"},
	{host_ends_it, "E0 0 1 A3 E5 A5"},
	{no_os, "E2 2 3 D E4 4 A5 E5 5 D"},
	{no_user, "E0 0 D E3 3 A4"},
	{cr3_filter, "E4 4 5 D"},
	{cr3_filter_pae, "E0 0 1 D"},
	{branch_en_clear, ""},
	{filter_edges, "E10 10 1f 20 21 D E1e A1e"},
	{filter_start_inside, "E10 10 30 31 D"},
	{filter_as_context_rises, "E13 13 D"},
	{filter_and_event, "E10 10 D E12 12 13>14 14 A15 E16 16 D"},
	{soft_int, "E0 0 1>20 20 21>20 20 21>30 A30"},
	{soft_int_out, "E0 0 A1"},
	{event_in_event, "E0 0>20 20>30 30 31>40 A40"},
	{trace_stop, "E3f 3f 40 D T"},
	{trace_stop_by_event, "E0 A0 T"},
	{trace_stop_by_cr3, "E3d 3d D T"},
	{trace_stop_at_start, "T"},
	{trace_stop_and_filter, "E0 0 D T T"},
	{trace_stop_out_of_context, "E0 0 D " WENT_ON},
	{trace_stop_missed, "E0 0 D " WENT_ON},
	{trace_stop_without_reason, "E0 0 !a TraceStop was hit where no range calls for one"},
	{output_ends_it, "E0 0 E1 1"},
	{start_twice, "!a session starts inside another"},
	{start_too_often, "!there are more sessions than the file has registers for"},
	{stop_only, "!a session ends that never started"},
	{unknown_kind, "!a record is of no known kind"},
	{cut_off, "E0 0"},
};

START_TEST(expectation)
{
	struct vpt_reader *r;
	struct synth s;
	char text[1000];

	synth_open(&s);
	expected[_i].make(&s);
	r = synth_read(&s);
	steps_write(r, text, sizeof(text));
	ck_assert_str_eq(text, expected[_i].steps);
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

/* A host's trace: a WRMSR before its end is an instruction like any other. */
START_TEST(owner_host)
{
	struct vpt_reader *r;
	struct synth s;
	char text[1000];

	synth_open(&s);
	s.info.owner = VPT_OWNER_HOST;
	synth_reopen(&s);
	wrmsr_ends_it(&s);
	r = synth_read(&s);
	steps_write(r, text, sizeof(text));
	ck_assert_str_eq(text, "E0 0 1 A3");
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Part 2: expected and decoded. */

static void begin(struct synth *s, unsigned int at)
{
	synth_start(s, AT(at), 0);
	synth_psb(s, 0);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, AT(at));
}

static void finish(struct synth *s, unsigned int at)
{
	i(s, at, 0, 0);
	synth_ip(s, ppt_fup, AT(at));
	synth_no_ip(s, ppt_tip_pgd);
	synth_stop(s, VPT_END_DISABLED, AT(at + 2), 0);
}

static void turn(struct synth *s, unsigned int flags)
{
	i(s, 0, 0, flags);
	i(s, 1, 0, VPT_ORACLE_COND);
}

/* 0: nop; 1: jnz 0; 3: wrmsr */
static void code(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd 0f 30 cd 80 75 fe");
	synth_code(s, AT(0x20), "90 48 cf");
	synth_page(s);
}

static void good(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	turn(s, ARRIVED);
	synth_tnt(s, "10");
	finish(s, 3);
}

static void good_events(struct synth *s)
{
	code(s);
	begin(s, 5);
	i(s, 5, 0, VPT_ORACLE_SOFT_INT);
	synth_event(s, AT(5), 0, 0x80, 0);
	synth_ip(s, ppt_fup, AT(5));
	synth_ip(s, ppt_tip, AT(0x20));
	i(s, 0x20, 0, ARRIVED);
	i(s, 0x21, 0, 0);
	synth_ip(s, ppt_tip, AT(3));
	finish(s, 3);
}

/* The trace goes round once more than what ran. */
static void one_more(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	synth_tnt(s, "10");
	finish(s, 3);
	good(s);
}

static void one_less(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	turn(s, ARRIVED);
	synth_tnt(s, "0");
	finish(s, 3);
}

static void wrong_vector_target(struct synth *s)
{
	code(s);
	begin(s, 0);
	i(s, 0, 0, 0);
	synth_event(s, AT(1), 0, 14, 0);
	synth_ip(s, ppt_fup, AT(1));
	synth_ip(s, ppt_tip, AT(3));
	i(s, 0x20, 0, ARRIVED);
	synth_stop(s, VPT_END_TOPA_STOP, AT(0x21), 0);
}

static void event_not_traced(struct synth *s)
{
	code(s);
	begin(s, 0);
	i(s, 0, 0, 0);
	synth_event(s, AT(1), 0, 14, 0);
	i(s, 1, 0, ARRIVED);
	synth_tnt(s, "0");
	finish(s, 3);
}

static void trace_too_long(struct synth *s)
{
	code(s);
	begin(s, 0);
	i(s, 0, 0, 0);
	synth_stop(s, VPT_END_DISABLED, AT(1), 0);
	synth_tnt(s, "0");
	synth_ip(s, ppt_fup, AT(3));
	synth_no_ip(s, ppt_tip_pgd);
}

static void decode_error(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	synth_ip(s, ppt_tip, AT(0));
	finish(s, 3);
}

static void no_trace(struct synth *s)
{
	code(s);
	synth_start(s, AT(0), 0);
	turn(s, 0);
	synth_stop(s, VPT_END_DISABLED, AT(0), 0);
}

static void contradiction(struct synth *s)
{
	good(s);
	record_only(s, VPT_ORACLE_STOP);
}

static void nothing_traced(struct synth *s)
{
	code(s);
	clear(s, VPT_CTL_MASK(BRANCH_EN));
	synth_start(s, AT(0), 0);
	synth_psb(s, 0);
	turn(s, 0);
	synth_stop(s, VPT_END_DISABLED, AT(3), 0);
}

/* ToPA STOP: the trace is the beginning of what ran, and the next session is whole. */
static void topa_stop(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	turn(s, ARRIVED);
	turn(s, ARRIVED);
	synth_tnt(s, "1");
	synth_stop(s, VPT_END_TOPA_STOP, AT(0), 0);
	good(s);
}

static void topa_stop_wrong(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	i(s, 3, 0, 0);
	synth_tnt(s, "11");
	synth_stop(s, VPT_END_TOPA_STOP, AT(0), 0);
	good(s);
}

/*
 * And the next session has no PSB before its 101st turn of 200: that it is the
 * 101st shows at the end only.
 */
static void late_psb(struct synth *s)
{
	unsigned int n;

	code(s);
	begin(s, 0);
	turn(s, 0);
	synth_tnt(s, "1");
	synth_stop(s, VPT_END_TOPA_STOP, AT(0), 0);
	synth_start(s, AT(0), 0);
	synth_ip(s, ppt_tip_pge, AT(0));
	for (n = 0; n < 200; n++)
		turn(s, n ? ARRIVED : 0);
	synth_psb(s, AT(0));
	for (n = 0; n < 99; n++)
		synth_tnt(s, "1");
	synth_tnt(s, "0");
	finish(s, 3);
}

static void never_a_psb(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	synth_tnt(s, "1");
	synth_stop(s, VPT_END_TOPA_STOP, AT(0), 0);
	synth_start(s, AT(0), 0);
	synth_ip(s, ppt_tip_pge, AT(0));
	turn(s, 0);
	synth_tnt(s, "0");
	finish(s, 3);
}

static void late_psb_elsewhere(struct synth *s)
{
	code(s);
	begin(s, 0);
	turn(s, 0);
	synth_tnt(s, "1");
	synth_stop(s, VPT_END_TOPA_STOP, AT(0), 0);
	synth_start(s, AT(0), 0);
	synth_ip(s, ppt_tip_pge, AT(0));
	turn(s, 0);
	synth_psb(s, AT(7));
	synth_tnt(s, "0");
	finish(s, 9);
}

static void overflow(struct synth *s)
{
	unsigned int n;

	code(s);
	begin(s, 0);
	for (n = 0; n < 10; n++)
		turn(s, n ? ARRIVED : 0);
	synth_tnt(s, "111");
	synth_packet(s, ppt_ovf);
	synth_ip(s, ppt_fup, AT(0));
	synth_tnt(s, "110");
	finish(s, 3);
}

static const struct {
	void (*make)(struct synth *s);
	uint64_t retired, decoded, mismatches, skipped;
	size_t shortfalls;
	const char *text; /* of the first mismatch, NULL: two lines that differ */
} compared[] = {
	{good, 4, 4, 0, 0, 0, NULL},
	{good_events, 2, 2, 0, 0, 0, NULL},
	{one_more, 6, 8, 1, 0, 0, NULL},
	{one_less, 4, 2, 1, 0, 0, NULL},
	{wrong_vector_target, 2, 1, 1, 0, 1, NULL},
	{event_not_traced, 2, 2, 1, 0, 0, NULL},
	{trace_too_long, 0, 2, 1, 0, 0, NULL},
	{decode_error, 2, 2, 1, 0, 0, "trace stream does not match query"},
	{no_trace, 1, 0, 1, 0, 0, "what ran has no trace"},
	{contradiction, 4, 4, 1, 0, 0, "a session ends that never started"},
	{nothing_traced, 0, 0, 0, 0, 0, NULL},
	{topa_stop, 10, 6, 0, 0, 1, NULL},
	{topa_stop_wrong, 7, 8, 1, 0, 1, NULL},
	{late_psb, 402, 202, 0, 200, 1, NULL},
	{never_a_psb, 4, 2, 0, 2, 1, NULL},
	{late_psb_elsewhere, 4, 3, 1, 0, 1, "what the trace sets in with did not run"},
	{overflow, 20, 12, 0, 8, 0, NULL},
};

START_TEST(comparison)
{
	/* Made by hand: no WRMSR is where their traces end. */
	struct vpt_comparison c = {.by = VPT_FLOW_BY_LIBIPT};
	struct vpt_reader *r;
	struct synth s;

	synth_open(&s);
	compared[_i].make(&s);
	r = synth_read(&s);
	ck_assert_int_eq(vpt_compare(r, 0, &c), 0);
	ck_assert_uint_eq(c.mismatches, compared[_i].mismatches);
	ck_assert_uint_eq(c.retired, compared[_i].retired);
	ck_assert_uint_eq(c.decoded, compared[_i].decoded);
	ck_assert_uint_eq(c.skipped, compared[_i].skipped);
	ck_assert_uint_eq(c.shortfalls.n, compared[_i].shortfalls);
	if (compared[_i].text) {
		ck_assert_ptr_nonnull(c.diff.text);
		ck_assert_str_eq(c.diff.text, compared[_i].text);
	} else {
		ck_assert_ptr_null(c.diff.text);
	}
	if (c.mismatches && !c.diff.text)
		ck_assert(!c.diff.nexpected || !c.diff.ndecoded ||
			  !vpt_same_step(&c.diff.expected[0].step, &c.diff.decoded[0].step));
	vpt_comparison_free(&c);
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

/* The difference is shown with what agreed before it. */
START_TEST(context)
{
	struct vpt_comparison c = {.by = VPT_FLOW_BY_LIBIPT};
	struct vpt_reader *r;
	struct synth s;

	synth_open(&s);
	one_more(&s);
	r = synth_read(&s);
	ck_assert_int_eq(vpt_compare(r, 0, &c), 0);
	ck_assert_uint_eq(c.diff.ncommon, 3);
	ck_assert_int_eq(c.diff.common[0].step.kind, VPT_STEP_ENABLED);
	ck_assert_uint_eq(c.diff.common[2].step.ip, AT(1));
	ck_assert_uint_eq(c.diff.insns, 2);
	ck_assert_uint_eq(c.diff.nexpected, 1);
	ck_assert_int_eq(c.diff.expected[0].step.kind, VPT_STEP_ASYNC_OFF);
	ck_assert_uint_eq(c.diff.expected[0].step.ip, AT(3));
	ck_assert_uint_eq(c.diff.ndecoded, 3);
	ck_assert_uint_eq(c.diff.decoded[0].step.ip, AT(0));
	ck_assert_uint_eq(c.diff.decoded[0].raw[0], 0x90);
	vpt_comparison_free(&c);
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Cut anywhere, a good file never shows a difference. */
START_TEST(cut_anywhere)
{
	struct vpt_reader *r;
	struct synth s;
	char why[128];
	long n, whole;
	int last = -1;

	synth_open(&s);
	good(&s);
	good(&s);
	good_events(&s);
	synth_close(&s);
	ck_assert_int_eq(truncate(s.path, 0), 0);
	synth_done(&s);

	synth_open(&s);
	good(&s);
	ck_assert_int_eq(vpt_writer_sync(s.w), 0);
	good(&s);
	good_events(&s);
	synth_close(&s);
	{
		FILE *f = fopen(s.path, "rb");

		fseek(f, 0, SEEK_END);
		whole = ftell(f);
		fclose(f);
	}
	for (n = whole; n > 200; n -= 8) {
		struct vpt_comparison c = {.by = VPT_FLOW_BY_LIBIPT};

		ck_assert_int_eq(truncate(s.path, n), 0);
		ck_assert_int_eq(vpt_reader_open(s.path, &r, why, sizeof(why)), 0);
		ck_assert_int_eq(vpt_compare(r, 0, &c), 0);
		ck_assert_msg(!c.mismatches, "%ld of %ld bytes: %s", n, whole,
			      c.diff.text ? c.diff.text : "a difference");
		if (last >= 0)
			ck_assert_int_le((int)c.decoded, last);
		last = (int)c.decoded;
		vpt_comparison_free(&c);
		vpt_reader_close(r);
	}
	synth_done(&s);
}
END_TEST

/*
 * Part 4: DisTNT. What ran: 0 1 (a branch) 0 1 2, an interrupt there to 20, 20 21 and
 * back to 2, 2 3. What the packets say of it is right, or wrong in one place.
 */
enum lie { NO_LIE, TARGET, SOURCE, MISSING, TOO_MUCH, ORDER };

static void without_tnt(struct synth *s, enum lie lie)
{
	s->session.ctl |= VPT_CTL_MASK(DIS_TNT);
	synth_page(s);
	synth_start(s, AT(0), 0);
	synth_psb(s, 0);
	synth_ip(s, ppt_tip_pge, AT(0));
	if (lie == ORDER)
		synth_ip(s, ppt_tip, AT(2));
	synth_ip(s, ppt_tip, lie == TARGET ? AT(7) : AT(1));
	if (lie != MISSING) {
		synth_ip(s, ppt_fup, lie == SOURCE ? AT(1) : AT(2));
		synth_ip(s, ppt_tip, AT(0x20));
	}
	synth_ip(s, ppt_tip, AT(2));
	if (lie == TOO_MUCH)
		synth_ip(s, ppt_tip, AT(4));
	synth_ip(s, ppt_fup, AT(3));
	synth_no_ip(s, ppt_tip_pgd);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_COND);
	i(s, 0, 0, ARRIVED);
	i(s, 1, 0, 0);
	synth_event(s, AT(2), 0, 0x20, 0);
	i(s, 0x20, 0, ARRIVED);
	i(s, 0x21, 0, 0);
	i(s, 2, 0, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(3), 0);
}

START_TEST(no_tnt)
{
	struct vpt_targets t = {0};
	struct vpt_reader *r;
	struct synth s;

	synth_open(&s);
	without_tnt(&s, (enum lie)_i);
	r = synth_read(&s);
	ck_assert(vpt_targets_needed(r));
	ck_assert_int_eq(vpt_targets(r, 0, &t), 0);
	ck_assert_uint_eq(t.mismatches, _i != NO_LIE);
	ck_assert_uint_eq(t.retired, 7);
	if (_i == NO_LIE) {
		ck_assert_uint_eq(t.targets, 2);
		ck_assert_uint_eq(t.events, 3);
	}
	ck_assert_int_eq(t.first[0] != 0, _i != NO_LIE);
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("oracle");
	TCase *tc = tcase_create("oracle");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, expectation, 0, COUNT(expected));
	tcase_add_test(tc, owner_host);
	tcase_add_loop_test(tc, comparison, 0, COUNT(compared));
	tcase_add_test(tc, context);
	tcase_add_test(tc, cut_anywhere);
	tcase_add_loop_test(tc, no_tnt, NO_LIE, ORDER + 1);
	suite_add_tcase(suite, tc);
	return suite;
}
