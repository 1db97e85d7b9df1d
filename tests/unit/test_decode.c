// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode files made by hand, and compare the items as text (lib/flowtext.h). */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"
#include "lib/flowtext.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"

#define JCC_OUT                                                                        \
	"filter0=0-ff code0=9075fd900f85f60f000090 page begin@0 TNT:10 PGD:- PGE16:a " \
	"finish@b"

/*
 * The file in the words of lib/synthwords.h and lib/steps.h, and its flow. @own is the flow by
 * libvptdecode where that differs from libipt's. INT n is an instruction; a RET with a target takes
 * an entry off the stack; errors have another text, and blocks before them are not shown in part;
 * CFEs and blocks are reported where their packets are.
 */
static const struct {
	const char *name, *script, *flow, *own;
} rows[] = {
	{"loop", "code0=9075fd page begin@0 TNT:110 finish@3", "S E0 0 1 0 1 0 1 A3", NULL},
	/*
	 * Two habits after a RET that is not compressed: libipt keeps its stack of CALLs, and perf takes one
	 * entry off. A compressed RET follows, with 5 below 25 on the stack: a processor that keeps
	 * returns to 25, and one that pops to 5.
	 */
	{"RET of a processor that keeps",
	 "code0=e81b0000009090 code20=e81b0000009090c3 code40=c3 page begin@0 TIP:27 TNT:1 "
	 "finish@26",
	 "S E0 0 20 40 27 25 A26",
	 "S E0 0 20 40 27 5 6 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 20 "
	 "!an indirect branch has no target"},
	{"RET of a processor that pops: a limit",
	 "code0=e81b0000009090 code20=e81b0000009090c3 code40=c3 page begin@0 TIP:27 TNT:1 "
	 "finish@6",
	 "S E0 0 20 40 27 25 26 27 !trace stream does not match query", "S E0 0 20 40 27 5 A6"},
	/* libipt does not pop at a RET that is not compressed. */
	{"ret", "code0=e81b0000009090c3 code20=c3 page begin@0 TIP:6 TNT:1 finish@6",
	 "S E0 0 20 6 7 5 A6", "S E0 0 20 6 7 !a compressed return has no call"},
	{"call next", "code0=e80000000058c3 page begin@0 TNT:1 finish@0",
	 "S E0 0 5 6 !compressed return without call",
	 "S E0 0 5 6 !a compressed return has no call"},
	{"int n", "code0=90cd8090 code20=9048cf page begin@0 FUP:1 TIP:20 TIP:3 finish@4",
	 "S E0 0 1>20 20 21 3 A4", "S E0 0 1 1>20 20 21 3 A4"},
	/* The code is different in the address space that MOV CR3 loads. */
	{"mov cr3", "code0=0f22d874fe page code3=9075fd page@2000 begin@0 PIP:2000 TNT:10 finish@6",
	 "S E0 0 P2000 3 4 3 4 A6", NULL},
	/* Bits 11:5 of CR3 (PCID) do not change the address space of the page. */
	{"mov cr3, pcid", "code0=0f22d890 page begin@0 PIP:1020 finish@4", "S E0 0 P1020 3 A4",
	 NULL},
	/* MOV CR3 leaves the context, and a later one comes back. */
	{"mov cr3 out", "code0=900f22d89090 page begin@0 PIP:2000 PGD:- PIP:1000 PGE:4 finish@5",
	 "S E0 0 1 P2000 D P1000 E4 4 A5", NULL},
	/* CPL 3 is not traced. SYSRET leaves the context, although MOV CR3 comes before it. */
	{"SYSRET after MOV CR3",
	 "no-user code0=0f22d890480f07 page begin@0 PIP:1000 PGD:- PGE:3 finish@4",
	 "S E0 0 P1000 3 4 D E3 3 A4", NULL},
	{"syscall out", "code0=900f0590 page begin@0 PGD:- PGE:3 finish@4", "S E0 0 1 D E3 3 A4",
	 NULL},
	{"interrupt out", "code0=909090 page begin@0 FUP:1 PGD:- PGE:1 finish@2",
	 "S E0 0 A1 E1 1 A2", NULL},
	{"psb between", "code0=907502909090 page begin@0 PSB+:1 TNT:0 finish@4", "S E0 0 1 3 A4",
	 NULL},
	{"overflow", "code0=907502909090 page begin@0 OVF FUP:3 finish@5", "S E0 O3 3 4 A5", NULL},
	/* The second session starts with a PSB, the third has PacketByteCnt above 0. */
	{"sessions",
	 "code0=75fe75fe90 page begin@0 TNT:10 finish@2 begin@2 TNT:0 finish@4 start@2 PGE:2 TNT:0 "
	 "finish@4",
	 "S E0 0 0 A2 S E2 2 A4 E2 2 A4", NULL},
	/* ToPA STOP cuts a FUP of 6 bytes after the first; the next session's first PSB comes late. */
	{"cut",
	 "code0=9075fd90 page begin@0 TNT:1 raw:7d00 end-topa@0 start@0 PGE:0 PSB+:1 TNT:0 "
	 "finish@4",
	 "S E0 0 1 S+7 1 3 A4", NULL},
	/* It is not known whether anything ran after the last packet. */
	{"no end", "code0=9075fd90907500 page begin@0 TNT:10", "S E0 0 1 0 1", NULL},
	{"nothing", "code0=90 page begin@0 end-error@0", "S E0", NULL},
	{"no code", "code0=90e9ff0f0000 page begin@0 finish@1100",
	 "S E0 0 1 !no memory mapped at this address", "S E0 0 1 !no code at this address"},
	/* A CFE packet, which libipt 2.0.5 does not know, and then a PSB. */
	{"event trace", "code0=9075fd page begin@0 TNT:1 raw:02130200 PSB+:0 TNT:0 finish@3",
	 "S E0 0 1 0 1 C2 A3", "S E0 0 1 C2 0 1 A3"},
	/* Blocks are found only when libipt meets them, and name the packet that they belong to. */
	{"blocks",
	 "code0=9075fd page begin@0 TNT:1 BBP:4 BIP:401001 BIP:2/1 BBP32:1 BIP32:7/3 BEPI FUP:0 "
	 "TNT:0 finish@3",
	 "S E0 0 1 B4@0 0=401001 1=2 B1@0 3=7 0 1 A3", "S E0 B4 0=401001 1=2 0 1 B1@0 3=7 0 1 A3"},
	/* Blocks out of context have no IP. */
	{"blocks outside", "code0=9075fd page begin@0 FUP:0 PGD:- BBP:10 BEP PGE:0 TNT:0 finish@3",
	 "S E0 A0 B10 E0 0 1 A3", NULL},
	/*
	 * TRIG packets with an instruction count, with an IP, and with a FUP that the next IP packet (a TIP
	 * of 0, 32 bits) is compressed against. The flow is that of the same trace without them.
	 */
	{"triggers",
	 "code0=9075fdffe0 page begin@0 TNT:1 raw:d9401a0300 raw:d9a001 FUP:0 TNT:0 raw:d9c0810000 "
	 "FUP:10003 raw:4d00104000 TNT:0 finish@3",
	 "S E0 0 1 0 1 3 0 1 A3", NULL},
	{"triggers, dis tnt",
	 "dis-tnt code0=9075fdffe0 page begin@0 raw:d9801a FUP:1 TIP:2 finish@3",
	 "S !DisTNT was set: the flow is not in the trace E0 t2 A3", NULL},
	/* Without TNT the items are those of the packets; raw is an OVF. */
	{"dis tnt: packets",
	 "dis-tnt event-en code0=9075fd90 page begin@0 TIP:2 CFE:1/e FUP:3 TIP:1 PTWI:5 FUP:1 "
	 "PGD:- BBP:1 BIP:7/3 BEP PGE:0 raw:02f3 FUP:3 finish@4",
	 "S !DisTNT was set: the flow is not in the trace E0 t2 C1 3>1 D B1 3=7 E0 O3 A4", NULL},
	/* The TIP belongs to no instruction. Decoding resumes at the next PSB. */
	{"resync", "code0=9075fd90 page begin@0 TIP:0 PSB+:0 TNT:0 finish@4",
	 "S E0 0 1 !trace stream does not match query 0 1 3 A4",
	 "S E0 !a conditional branch has no outcome 0 1 3 A4"},
	/* The flow of a whole session needs a packet that is missing. */
	{"missing packet", "code0=9075fd90 page begin@0 finish@4",
	 "S E0 0 1 !trace stream does not match query",
	 "S E0 !a conditional branch has no outcome"},
	{"dis tnt", "dis-tnt code0=9075fd90 page begin@0 finish@4",
	 "S !DisTNT was set: the flow is not in the trace E0 A4", NULL},
	/*
	 * A taken Jcc out of the range, with the IP suppressed, for which libipt needs help. The IP of the
	 * TIP.PGE is compressed against the last one.
	 */
	{"jcc out", JCC_OUT, "S E0 0 1 0 1 3 4 D Ea a Ab", NULL},
	/* The same after a MOV CR3 that stays in context. */
	{"jcc out after cr3",
	 "filter0=0-ff match=1000 code0=0f22d8900f85f60f000090 page begin@0 PIP:1000 PGD:- PGE:a "
	 "finish@b",
	 "S E0 0 P1000 3 4 D Ea a Ab", NULL},
	/*
	 * CR3 changes and changes back outside of the filter. The TIP.PGD of the Jcc looks like that of a
	 * MOV CR3 until the Jcc is reached.
	 */
	{"jcc out, then cr3",
	 "filter0=0-ff match=1000 code0=9075fd0f85f60f00009075fd page begin@0 TNT:10 PGD:- "
	 "PIP:1000 PGE:9 TNT:1 PGD:- PIP:1000 PGE:9 finish@a",
	 "S E0 0 1 0 1 3 D P1000 E9 9 a 9 a D P1000 E9 9 Aa", NULL},
	/* MOV CR3 itself leaves the context, while there is a filter. */
	{"cr3 out of filter",
	 "filter0=0-ff match=1000 code0=0f22d89075fe page begin@0 PIP:2000 PGD:- PIP:1000 PGE:4 "
	 "TNT:0 finish@6",
	 "S E0 0 P2000 D P1000 E4 4 A6", NULL},
	{"cr3 into stop",
	 "stop0=3-ff code0=0f22d89075fe page begin@0 PIP:1000 PGD:- STOP end-stop@3",
	 "S E0 0 P1000 D T", NULL},
	{"syscall out of filter",
	 "filter0=0-ff no-os code0=90e9000000000f0590 page begin@0 PGD:- PGE:8 finish@9",
	 "S E0 0 1 6 D E8 8 A9", NULL},
	/* A JMP out of the range and one into a TraceStop range have IPs. */
	{"jmp out",
	 "filter0=0-ff stop1=200-2ff code0=90e9fa00000090e9f4010000 page begin@0 PGD:100 PGE:6 "
	 "PGD:200 STOP end-stop@200",
	 "S E0 0 1 D100 E6 6 7 D200 T", NULL},
	/* Execution falls out of the range, and an indirect JMP leads back to that code. */
	{"fallen out",
	 "filter0=0-2 code0=9090909090ffe0 page begin@0 PGD:4 PGE:1 PGD:100 PGE:2 finish@3",
	 "S E0 0 1 2 3 4 5 D4 E1 1 2 3 4 5 D100 E2 2 A3", NULL},
	/* The code changes between its second and its third instruction, twice. */
	{"changes",
	 "code0=90909090ebfa page begin@0 insns=2 code2=ebfc page insns=6 code2=75fc page TNT:10 "
	 "finish@4",
	 "S E0 0 1 2 0 1 2 0 1 2 0 1 2 A4", NULL},
	/* The code changes between packets, before the instruction that waits for the next one. */
	{"changes by offset",
	 "by-offset code0=ffe0 page begin@0 TIP:0 TIP:0 code0=90ffe0 page TIP:0 TIP:0 "
	 "code0=9090ffe0 page TIP:0 finish@2",
	 "S E0 0 0 0 1 0 1 0 1 2 0 1 A2", NULL},
	/* An error shows that the code has changed already. It is the new code from the next PSB on. */
	{"found late",
	 "by-offset code0=75fe page begin@0 TNT:1 read TNT:1 TIP:0 PSB+:0 TIP:0 TIP:0 code0=ffe0 "
	 "page read TIP:0 finish@0",
	 "S E0 0 0 0 !trace stream does not match query 0 !trace stream does not match query",
	 "S E0 0 0 !a conditional branch has no outcome 0 0 0 A0"},
	/* An error before the last read shows nothing about a change that was found later. */
	{"an error before the read",
	 "by-offset page@1000/3000 code0=ffe0 page begin@0 TIP:0 TNT:1 PSB+:0 TIP:0 page@1000/3000 "
	 "read TIP:0 TIP:0 code0=75fe page read TNT:1 finish@0",
	 "S E0 0 0 !trace stream does not match query",
	 "S E0 0 !an indirect branch has no target 0 0 0 0 A0"},
	/* INT n counts for the versions of pages, though it is an event. */
	{"changes after int",
	 "code0=cd8090ebfb code20=9048cf page begin@0 insns=4 code3=75fb page FUP:0 TIP:20 TIP:2 "
	 "TNT:0 finish@6",
	 "S E0 0>20 20 21 2 3 5 A6", "S E0 0 0>20 20 21 2 3 5 A6"},
	/* No PIPs: user code only. Two processes have code at one address, and the file says which runs. */
	{"user processes",
	 "no-os code0=900f0590 page code3=75fe page@2000 switch=1000/0 begin@0 PGD:- switch=2000/2 "
	 "PGE:3 TNT:10 finish@5",
	 "S E0 0 1 D E3 3 3 A5", NULL},
	/* The same where one process alone has code at the address. */
	{"user guess",
	 "no-os code0=9090 page page@2000/1000 begin@0 finish@1 begin@1000 finish@1001",
	 "S E0 0 A1 S E1000 1000 A1001", NULL},
	/*
	 * Kernel only, and begun in user code: no PIP comes before CR3 is loaded, and two processes have
	 * code where the kernel is entered. The file says which runs, up to the first PIP.
	 */
	{"begun in user code",
	 "no-user code0=75fe90900f079075fd page code0=900f22d89090909090 page@2000 start@0/3 "
	 "switch=2000/0 PSB PSBEND MODE PGE:0 PIP:1000 PGD:- PGE:6 TNT:10 finish@9",
	 "S E0 0 1 P1000 4 D E6 6 7 6 7 A9", NULL},
	/* An instruction across two pages. */
	{"across pages",
	 "code0=c00000000075fe codeffe=48c7 page@1000/1000 page begin@ffd TNT:0 finish@1007",
	 "S Effd ffd ffe 1005 A1007", NULL},
	/* raw is garbage. */
	{"no sessions", "code0=9075fd page raw:67617262616765 PSB+:0 TNT:1110 FUP:3 PGD:-",
	 "S+7 0 1 0 1 0 1 0 1 A3", NULL},
};

/* The flows are those of libipt 2.0. Version 2.1 decodes two of them otherwise. */
static bool is_of_libipt(const char *name)
{
	return LIBIPT_VERSION < 0x201 ||
	       (strcmp(name, "blocks") != 0 && strcmp(name, "jcc out, then cr3") != 0);
}

static void check_row(int i, enum decode_flow_unit unit, bool change)
{
	enum judge_flow_by by;
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	steps_play(&s, rows[i].script);
	if (change)
		flowtext_change(&s);
	r = synth_read(&s);
	for (by = DECODE_FLOW_BY_LIBVPTDECODE; by <= DECODE_FLOW_BY_LIBIPT; by++)
		if (by == DECODE_FLOW_BY_LIBVPTDECODE || is_of_libipt(rows[i].name))
			flowtext_is_by(r, unit, by, rows[i].name,
				       by == DECODE_FLOW_BY_LIBVPTDECODE && rows[i].own
					       ? rows[i].own
					       : rows[i].flow);
	trace_reader_close(r);
	synth_done(&s);
}

START_TEST(by_insn)
{
	check_row(_i, DECODE_FLOW_INSNS, false);
}
END_TEST

START_TEST(by_insn_changing)
{
	check_row(_i, DECODE_FLOW_INSNS, true);
}
END_TEST

START_TEST(by_block_changing)
{
	check_row(_i, DECODE_FLOW_BLOCKS, true);
}
END_TEST

START_TEST(by_block)
{
	check_row(_i, DECODE_FLOW_BLOCKS, false);
}
END_TEST

START_TEST(no_progress)
{
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	steps_play(&s, "code0=ebfe page begin@0 finish@8");
	r = synth_read(&s);
	flowtext_endless(r, (enum decode_flow_unit)_i);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* The offset of each item is inside the stream, also of items that the filter's help moves. */
START_TEST(offsets)
{
	struct trace_reader *r;
	struct decode_flow *flow;
	struct decode_item item;
	struct synth s;
	size_t len;

	synth_open(&s);
	steps_play(&s, JCC_OUT);
	r = synth_read(&s);
	trace_reader_stream(r, 0, &len);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert_uint_le(item.offset, len);
	} while (item.kind != DECODE_ITEM_EVENT || item.event != DECODE_FLOW_ASYNC_DISABLED);
	ck_assert_uint_eq(item.offset, len);
	decode_flow_close(flow);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

TEST_SUITE("decode", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, by_insn, rows);
	TEST_ROWS(tcase, by_block, rows);
	TEST_ROWS(tcase, by_insn_changing, rows);
	TEST_ROWS(tcase, by_block_changing, rows);
	TEST_LOOP(tcase, 2, no_progress);
	TEST_ADD(tcase, offsets);
}
