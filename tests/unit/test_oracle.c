// SPDX-License-Identifier: GPL-2.0-or-later
/* The reference model of the steps that a trace must have, and its comparison with decoders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "oracle/align.h"
#include "oracle/compare_all.h"
#include "oracle/targets.h"
#include "vpt/msr.h"

#define AT(offset) (SYNTH_CODE + (offset))

/*
 * Part 1: the expected steps, in the words of lib/steps.h. The instructions have no bytes here.
 */

static struct synth s;

static void setup(void)
{
	synth_open(&s);
}

static void teardown(void)
{
	synth_done(&s);
}

#define CONTINUED "!a TraceStop range was entered, but the session went on"

/* A script of steps_play() and the expected steps. */
static const struct {
	const char *name, *script, *steps;
} expected[] = {
	{"wrmsr ends it", "start@0 0 1 end-disabled@3", "E0 0 A1"},
	/* Instructions that run without a trace are not expected in it. */
	{"host ends it", "start@0 0 1 end-closed@3 3 event:14@4 start@5 end-closed@5",
	 "E0 0 1 A3 E5 A5"},
	{"no os", "no-os start@0 0 1 2+/3 3/3 10+ 4+/3 event:14@5/3 20+ 5+/3 11+ end-disabled@13",
	 "E2 2 3 D E4 4 A5 E5 5 D"},
	{"no user", "no-user start@0 0 1+/3 event:14@2/3 3+ 4 end-disabled@5", "E0 0 D E3 3 A4"},
	/* The low 12 bits do not count without PAE. */
	{"cr3 filter", "match=2fe0 cr3=1000 start@0 0 1w cr3=2018 4 5w cr3=3000 8 end-closed@9",
	 "E4 4 5 D"},
	{"cr3 filter pae", "match=2fe0 cr3=2fe0 start@0 0p 1pw cr3=2fc0 4p end-closed@5",
	 "E0 0 1 D"},
	{"branch en clear", "no-branch start@0 0 event:14@1 2+ end-disabled@3", ""},
	/* Falling into and out of a range changes nothing. Branches do. */
	{"filter edges", "filter0=10-1f start@f f 10 11? 10+ 1f+ 20 21 22+ 1e+ end-disabled@1f",
	 "E10 10 1f 20 21 D E1e A1e"},
	{"filter start inside", "filter2=10-1f filter3=30-30 start@10 10 30+ 31 2f+ end-closed@30",
	 "E10 10 30 31 D"},
	/* A rise of ContextEn evaluates FilterEn again, without a branch. */
	{"filter as context rises",
	 "filter0=10-1f match=2000 cr3=1000 start@0 0 10+w cr3=2000 13w cr3=1000 16+ 1ew "
	 "cr3=2000 21 end-closed@22",
	 "E13 13 D"},
	/*
	 * A fault at the target of a branch out of the filter is not in the trace. The last event
	 * follows the instruction before it, so its record has the flag ARRIVED.
	 */
	{"filter and event",
	 "filter0=10-1f start@10 10 event:14@100 12+ event:14@13 14+ event:14@15 200+ 16+ "
	 "event:14@20+ end-closed@210",
	 "E10 10 D E12 12 13>14 14 A15 E16 16 D"},
	/* The second INT n is from an engine that omits the EVENT. The third one faults. */
	{"soft int", "start@0 0 1! event:128@1 20+ 21! 20+ event:13@21 30+ end-disabled@31",
	 "E0 0 1>20 20 21>20 20 21>30 A30"},
	{"soft int out", "no-os start@0/3 0/3 1!/3 event:128@1/3 20+ end-disabled@21", "E0 0 A1"},
	{"event in event", "start@0 event:32@0 event:14@20 30+ event:33@31 end-closed@40",
	 "E0 0>20 20>30 30 31>40 A40"},
	/* Falling into a TraceStop range stops nothing. */
	{"trace stop", "stop1=40-4f start@3f 3f 40 end-stop@4f 4f+", "E3f 3f 40 D T"},
	{"trace stop by event", "stop1=40-4f start@0 event:32@0 end-stop@40", "E0 A0 T"},
	{"trace stop by cr3", "stop1=40-4f start@3d 3dw cr3=1000 end-stop@40", "E3d 3d D T"},
	{"trace stop at start", "stop1=40-4f start@40 end-stop@40", "T"},
	/* A TraceStop range stops the trace inside a filter range and outside of it. */
	{"trace stop and filter",
	 "filter0=0-1f stop1=10-2f start@0 0 end-stop@10 start@40 40 end-stop@2f", "E0 0 D T T"},
	{"trace stop out of context", "no-os stop1=40-4f start@0/3 0/3 40+ 41+/3 end-closed@42/3",
	 "E0 0 D " CONTINUED},
	{"trace stop missed", "stop1=40-4f start@0 0 40+", "E0 0 D " CONTINUED},
	{"trace stop without reason", "stop1=40-4f start@0 0 end-stop@50",
	 "E0 0 !a TraceStop was hit where no range calls for one"},
	{"output ends it", "start@0 0 end-topa@1 start@1 1 event:14@2 end-error@3", "E0 0 E1 1"},
	{"start twice", "start@0 record-start", "!a session starts inside another"},
	{"start too often", "start@0 end-disabled@0 record-start",
	 "!there are more sessions than the file has registers for"},
	{"stop only", "record-end", "!a session ends that never started"},
	{"unknown kind", "record-unknown", "!a record is of no known kind"},
	{"cut off", "start@0 0 1", "E0 0"},
	/*
	 * VMX operation. Host and guest are traced, and the guest's code is close to the host's.
	 * The guest executes no instruction before the injected event. The second VM exit is not
	 * the EVENT of the INT n before it.
	 */
	{"system wide", "start@0 0 1v 4 exit@5 6 7v event:14@5/3 20+ 21! exit@21 8+ end-disabled@9",
	 "E0 0 1 4 5>6 6 7 5>20 20 21>21 21>8 A8"},
	/* VM entry clears TraceEn, VM exit sets it (table 33-56, rows 9 and 10). */
	/* A VM entry that fails early ends no trace. The WRMSR after it does. */
	{"host only", "start@0 0 1v end-disabled@40 40+/3 exit@41/3 start@4 4+ 5 8 end-disabled@a",
	 "E0 0 1 D E4 4 5 A8"},
	/* Rows 11 and 12. */
	{"guest only", "0v start@40 40+ exit@41 end-disabled@1 1+ start@41 exit@41 end-disabled@1",
	 "E40 40 A41 E41 A41"},
	/* Only the guest's user code is in context. */
	{"guest user", "no-os start@0 0v 40/3 exit@41/3 1+ 2v exit@41/3 1+ end-closed@2",
	 "E40 40 A41 E41 A41"},
	/* CR3_MATCH is compared with CR3, not with the id of an address space. */
	{"spaces",
	 "spaces match=2000 start@0 cr3=5000 0 1v cr3=2000 40 exit@41 cr3=5000 4+ "
	 "end-closed@5",
	 "E0 0 1 D E4 4 A5"},
	/* The guest begins at the next IP of the host, but the VM entry is no fall-through. */
	{"vm entry into filter", "filter0=4-1f stop1=40-4f start@0 1v 4 exit@5 end-stop@40",
	 "E4 4 A5 T"},
};

/* Finish the file, and return the expected steps. */
static const char *steps(void)
{
	static char text[1000];
	struct trace_reader *r = synth_read(&s);

	steps_write(r, text, sizeof(text));
	trace_reader_close(r);
	return text;
}

START_TEST(expectation)
{
	const char *text;

	steps_play(&s, expected[_i].script);
	text = steps();
	ck_assert_msg(!strcmp(text, expected[_i].steps), "%s: %s", expected[_i].name, text);
}
END_TEST

/* In a trace of the host, a WRMSR before the end is an instruction like any other. */
START_TEST(owner_host)
{
	s.info.owner = TRACE_OWNER_HOST;
	synth_reopen(&s);
	steps_play(&s, "start@0 0 1 end-disabled@3");
	ck_assert_str_eq(steps(), "E0 0 1 A3");
}
END_TEST

/*
 * Part 2: expected and decoded. The code is 0: nop; 1: jnz 0; 3: wrmsr; 5: int 80; 7: jnz 7; 20: nop;
 * 21: iretq.
 */
#define CODE	    "code0=9075fd0f30cd8075fe code20=9048cf page "
#define STARTS	    CODE "begin@0 0 1? "
#define ENDS	    "3 FUP:3 PGD:- end-disabled@5"
#define GOOD	    STARTS "0+ 1? TNT:10 " ENDS
#define GOOD_EVENTS CODE "begin@5 5! event:128@5 FUP:5 TIP:20 20+ 21 TIP:3 " ENDS
#define ONE_MORE    STARTS "TNT:10 " ENDS " " GOOD

static const struct {
	const char *name, *script;
	uint64_t retired, decoded, mismatches, skipped;
	size_t shortfalls;
	const char *text; /* of the first mismatch; NULL if two steps differ */
} compared[] = {
	{"good", GOOD, 4, 4, 0, 0, 0, NULL},
	{"good events", GOOD_EVENTS, 2, 2, 0, 0, 0, NULL},
	/* The trace has one more iteration of the loop than was executed. */
	{"one more", ONE_MORE, 6, 8, 1, 0, 0, NULL},
	{"one less", STARTS "0+ 1? TNT:0 " ENDS, 4, 2, 1, 0, 0, NULL},
	{"wrong target of a vector", CODE "begin@0 0 event:14@1 FUP:1 TIP:3 20+ end-topa@21", 2, 1,
	 1, 0, 1, NULL},
	{"event not traced", CODE "begin@0 0 event:14@1 1+ TNT:0 " ENDS, 2, 2, 1, 0, 0, NULL},
	{"trace too long", CODE "begin@0 0 end-disabled@1 TNT:0 FUP:3 PGD:-", 0, 2, 1, 0, 0, NULL},
	{"decode error", STARTS "TIP:0 " ENDS, 2, 2, 1, 0, 0, "trace stream does not match query"},
	{"no trace", CODE "start@0 0 1? end-disabled@0", 1, 0, 1, 0, 0, "what ran has no trace"},
	{"contradiction", GOOD " record-end", 4, 4, 1, 0, 0, "a session ends that never started"},
	{"nothing traced", CODE "no-branch start@0 PSB+ 0 1? end-disabled@3", 0, 0, 0, 0, 0, NULL},
	/* At a ToPA STOP the trace has the first instructions. The next session is complete. */
	{"ToPA STOP", STARTS "0+ 1? 0+ 1? TNT:1 end-topa@0 " GOOD, 10, 6, 0, 0, 1, NULL},
	{"ToPA STOP, wrong", STARTS "3 TNT:11 end-topa@0 " GOOD, 7, 8, 1, 0, 1, NULL},
	/* The first PSB of the next session is in iteration 101 of 200, which only the end shows. */
	{"late PSB",
	 STARTS "TNT:1 end-topa@0 start@0 PGE:0 0 1? 199*0+,1? PSB+:0 99*TNT:1 TNT:0 " ENDS, 402,
	 202, 0, 200, 1, NULL},
	{"never a PSB", STARTS "TNT:1 end-topa@0 start@0 PGE:0 0 1? TNT:0 " ENDS, 4, 2, 0, 2, 1,
	 NULL},
	{"late PSB elsewhere",
	 STARTS "TNT:1 end-topa@0 start@0 PGE:0 0 1? PSB+:7 TNT:0 9 FUP:9 PGD:- end-disabled@b", 4,
	 3, 1, 0, 1, "what the trace sets in with did not run"},
	{"overflow", STARTS "9*0+,1? TNT:111 OVF FUP:0 TNT:110 " ENDS, 20, 12, 0, 8, 0, NULL},
};

static void is(const char *name, const char *count, uint64_t value, uint64_t expected_value)
{
	ck_assert_msg(value == expected_value, "%s: %s is %lu, not %lu", name, count, value,
		      expected_value);
}

START_TEST(comparison)
{
	/* The packets are made by hand: the traces do not end at a WRMSR. */
	struct oracle_comparison c = {.by = DECODE_FLOW_BY_LIBIPT};
	const char *name = compared[_i].name;
	struct trace_reader *r;

	steps_play(&s, compared[_i].script);
	r = synth_read(&s);
	ck_assert_int_eq(oracle_compare(r, 0, &c), 0);
	is(name, "mismatches", c.mismatches, compared[_i].mismatches);
	is(name, "retired", c.retired, compared[_i].retired);
	is(name, "decoded", c.decoded, compared[_i].decoded);
	is(name, "skipped", c.skipped, compared[_i].skipped);
	is(name, "shortfalls", c.shortfalls.n, compared[_i].shortfalls);
	if (compared[_i].text) {
		ck_assert_ptr_nonnull(c.diff.text);
		ck_assert_str_eq(c.diff.text, compared[_i].text);
	} else {
		ck_assert_ptr_null(c.diff.text);
	}
	if (c.mismatches && !c.diff.text)
		ck_assert(!c.diff.nexpected || !c.diff.ndecoded ||
			  !oracle_same_step(&c.diff.expected[0].step, &c.diff.decoded[0].step));
	oracle_comparison_free(&c);
	trace_reader_close(r);
}
END_TEST

/* The difference is reported with the equal steps before it. */
START_TEST(context)
{
	struct oracle_comparison c = {.by = DECODE_FLOW_BY_LIBIPT};
	struct trace_reader *r;

	steps_play(&s, ONE_MORE);
	r = synth_read(&s);
	ck_assert_int_eq(oracle_compare(r, 0, &c), 0);
	ck_assert_uint_eq(c.diff.ncommon, 3);
	ck_assert_int_eq(c.diff.common[0].step.kind, ORACLE_STEP_ENABLED);
	ck_assert_uint_eq(c.diff.common[2].step.ip, AT(1));
	ck_assert_uint_eq(c.diff.insns, 2);
	ck_assert_uint_eq(c.diff.nexpected, 1);
	ck_assert_int_eq(c.diff.expected[0].step.kind, ORACLE_STEP_ASYNC_OFF);
	ck_assert_uint_eq(c.diff.expected[0].step.ip, AT(3));
	ck_assert_uint_eq(c.diff.ndecoded, 3);
	ck_assert_uint_eq(c.diff.decoded[0].step.ip, AT(0));
	ck_assert_uint_eq(c.diff.decoded[0].raw[0], 0x90);
	oracle_comparison_free(&c);
	trace_reader_close(r);
}
END_TEST

/* A valid file that is truncated anywhere has no difference. */
START_TEST(cut_anywhere)
{
	struct trace_reader *r;
	char why[128];
	long n, whole;
	int last = -1;

	steps_play(&s, GOOD);
	ck_assert_int_eq(trace_writer_sync(s.w), 0);
	steps_play(&s, GOOD " " GOOD_EVENTS);
	synth_close(&s);
	{
		FILE *f = fopen(s.path, "rb");

		fseek(f, 0, SEEK_END);
		whole = ftell(f);
		fclose(f);
	}
	for (n = whole; n > 200; n -= 8) {
		struct oracle_comparison c = {.by = DECODE_FLOW_BY_LIBIPT};

		ck_assert_int_eq(truncate(s.path, n), 0);
		ck_assert_int_eq(trace_reader_open(s.path, &r, why, sizeof(why)), 0);
		ck_assert_int_eq(oracle_compare(r, 0, &c), 0);
		ck_assert_msg(!c.mismatches, "%ld of %ld bytes: %s", n, whole,
			      c.diff.text ? c.diff.text : "a difference");
		if (last >= 0)
			ck_assert_int_le((int)c.decoded, last);
		last = (int)c.decoded;
		oracle_comparison_free(&c);
		trace_reader_close(r);
	}
}
END_TEST

/*
 * Part 3: DisTNT. The records are 0 1 (a branch) 0 1, an interrupt at 2 to 20, 20 21, and 2. The
 * packets are correct, or wrong in one place.
 */
static const char *const without_tnt[] = {
	"TIP:1 FUP:2 TIP:20 TIP:2",	  /* right */
	"TIP:7 FUP:2 TIP:20 TIP:2",	  /* another target */
	"TIP:1 FUP:1 TIP:20 TIP:2",	  /* another source */
	"TIP:1 TIP:2",			  /* the interrupt is missing */
	"TIP:1 FUP:2 TIP:20 TIP:2 TIP:4", /* one more target */
	"TIP:2 TIP:1 FUP:2 TIP:20 TIP:2", /* a target too early */
};

START_TEST(no_tnt)
{
	struct oracle_targets t = {0};
	struct trace_reader *r;

	steps_play(&s, "dis-tnt page start@0 PSB+ PGE:0");
	steps_play(&s, without_tnt[_i]);
	steps_play(&s, "FUP:3 PGD:- 0 1? 0+ 1 event:32@2 20+ 21 2+ end-closed@3");
	r = synth_read(&s);
	ck_assert(oracle_targets_needed(r));
	ck_assert_int_eq(oracle_targets(r, 0, &t), 0);
	ck_assert_uint_eq(t.mismatches, _i != 0);
	ck_assert_uint_eq(t.retired, 7);
	if (_i == 0) {
		ck_assert_uint_eq(t.targets, 2);
		ck_assert_uint_eq(t.events, 3);
	}
	ck_assert_int_eq(t.first[0] != 0, _i != 0);
	trace_reader_close(r);
}
END_TEST

/* Results are added in the order of the vCPUs, as one comparison would have found them. */
START_TEST(add)
{
	struct oracle_comparison sum = {.retired = 10}, first = {0}, second = {0}, third = {0};

	first.retired = 1;
	first.loops = 1;
	first.loop.ip = 0x1000;
	second.mismatches = 2;
	second.diff.vcpu = 1;
	strcpy(second.diff.buf, "second");
	second.diff.text = second.diff.buf;
	second.loops = 2;
	second.loop = (struct oracle_loop_seen){.ip = 0x2000, .ends = true};
	third.mismatches = 1;
	third.diff.vcpu = 2;
	third.loops = 1;
	third.loop.ip = 0x3000;
	ck_assert_int_eq(oracle_comparison_add(&sum, &first), 0);
	ck_assert_uint_eq(sum.loop.ip, 0x1000);
	ck_assert_int_eq(oracle_comparison_add(&sum, &second), 0);
	ck_assert_int_eq(oracle_comparison_add(&sum, &third), 0);
	ck_assert_uint_eq(sum.retired, 11);
	ck_assert_uint_eq(sum.mismatches, 3);
	ck_assert_uint_eq(sum.loops, 4);
	ck_assert_uint_eq(sum.loop.ip, 0x2000);
	ck_assert_uint_eq(sum.diff.vcpu, 1);
	memset(&second, 'x', sizeof(second));
	ck_assert_str_eq(sum.diff.text, "second");
}
END_TEST

TEST_SUITE("oracle", setup, teardown)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, expectation, expected);
	TEST_ADD(tcase, owner_host, context, cut_anywhere, add);
	TEST_ROWS(tcase, comparison, compared);
	TEST_ROWS(tcase, no_tnt, without_tnt);
}
