// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet generator, in the scenarios of the manual (33.2.5.3, 33.3.7, 33.7).
 *
 * A scenario is a script of events and the packets that the processor must generate. Both are texts
 * that can be compared with a table of the manual.
 */
#include "lib/suite.h"
#include "lib/scenario.h"

#define S(name_, tags_, model_, script_, packets_)                                \
	{                                                                         \
		.name = name_, .tags = tags_, .model = model_, .script = script_, \
		.packets = packets_                                               \
	}

/*
 * lib/scenario.h describes the words of the script. `on` sets TraceEn and the CTL bits that follow.
 * The packets of enabling are part of `packets` only after `on` with an exclamation mark.
 */
static const struct test_scenario filters[] = {
	S("both ends are inside", TEST_ROW_PROVES("EN-FILTER-TAKEN"), "skl",
	  "range0=2000-2fff on:os,br,f0 jmp>1fff jmp>2000 jmp>2fff jmp>3000",
	  "MODE.Exec(1) TIP.PGE(2000) TIP.PGD(3000)"),
	S("falling out is not leaving", TEST_ROW_PROVES("EN-FILTER-TAKEN"), "skl",
	  "range0=1000-1010 on:os,br,f0 step step jncc jmp>5000", "TNT(0) TIP.PGD(5000)"),
	S("falling in is not entering", TEST_ROW_PROVES("EN-FILTER-TAKEN"), "skl",
	  "range0=1010-1fff on:os,br,f0 step step jncc jmpi>1020", "MODE.Exec(1) TIP.PGE(1020)"),
	S("two ranges", TEST_ROW_PROVES("CTL-ADDRCFG"), "skl",
	  "range0=1000-1fff range1=3000-3fff on:os,br,f0,f1 jmpi>3000 jmpi>2000",
	  "TIP(3000) TIP.PGD(2000)"),
	S("mode is not sent again", TEST_ROW_PROVES("GEN-MODE-EXEC"), "skl",
	  "range0=1000-1fff on:os,br,f0 jmp>5000 jmp>1100", "TIP.PGD(5000) TIP.PGE(1100)"),
	S("mode change outside is sent on return", TEST_ROW_PROVES("GEN-MODE-EXEC"), "skl",
	  "range0=1000-1fff on:os,br,f0 jmp>5000 bits=32 far>6000 jmp>1100",
	  "TIP.PGD(5000) MODE.Exec(2) TIP.PGE(1100)"),
	S("out of context FilterEn waits", TEST_ROW_PROVES("EN-FILTER-IDLE"), "skl",
	  "range0=1000-1fff cpl=3 on:os,br,f0 jmp>1000 status cpl=0 far>1100",
	  "[status 4] MODE.Exec(1) TIP.PGE(1100)"),
	S("without a range FilterEn is set", TEST_ROW_PROVES("EN-FILTER-IDLE STATUS-FILTEREN"),
	  "skl", "cpl=3 on:os,br status", "[status 5]"),
	S("CR3 filter: in", TEST_ROW_PROVES("CTL-CR3FILTER"), "skl",
	  "match=7000 on:os,br,cr3 movcr3=7000", "PIP(7000) MODE.Exec(1) TIP.PGE(1010)"),
	S("CR3 filter: out", TEST_ROW_PROVES("CTL-CR3FILTER GEN-CR3"), "skl",
	  "cr3=7000 match=7000 on:os,br,cr3 movcr3=8000", "TIP.PGD()"),
	S("CR3 filter: low bits do not count", TEST_ROW_PROVES("CTL-CR3FILTER"), "skl",
	  "cr3=7000 match=7000 on:os,br,cr3 movcr3=7018 jmpi>2000", "PIP(7000) TIP(2000)"),
	S("MOV CR3 is no branch: FilterEn stays", TEST_ROW_PROVES("GEN-CR3"), "skl",
	  "range0=1000-100f on:os,br,f0 movcr3=7000 jmpi>1008", "PIP(7000) TIP(1008)"),
	S("CR3 filter: in, but outside the IP filter", TEST_ROW_PROVES("GEN-CR3"), "skl",
	  "range0=5000-5fff match=7000 on:os,br,cr3,f0 movcr3=7000 jmp>5000",
	  "PIP(7000) MODE.Exec(1) TIP.PGE(5000)"),
};

static const struct test_scenario trace_stops[] = {
	S("branch", TEST_ROW_PROVES("GEN-TRACESTOP STATUS-STOPPED"), "skl",
	  "range0=5000-5fff on:os,br,s0 jmp>5000 status jmpi>2000",
	  "TIP.PGD(5000) TraceStop [status 22]"),
	S("conditional branch", TEST_ROW_PROVES("GEN-TRACESTOP GEN-PGD-COND"), "skl",
	  "range0=1100-1100 on:os,br,s0 jcc status", "TIP.PGD() TraceStop [status 22]"),
	S("interrupt", TEST_ROW_PROVES("GEN-TRACESTOP"), "skl",
	  "range0=9000-9fff on:os,br,s0 async@next>9000", "FUP(1008) TIP.PGD(9000) TraceStop"),
	S("outside the filter", TEST_ROW_PROVES("GEN-TRACESTOP"), "skl",
	  "range0=5000-5fff range1=8000-8fff on:os,br,s0,f1 jmp>5010", "TraceStop"),
	S("not out of context", TEST_ROW_PROVES("GEN-TRACESTOP"), "skl",
	  "range0=5000-5fff on:user,br,s0 jmp>5000 status", "[status 5]"),
	S("MOV CR3 inside the range", TEST_ROW_PROVES("GEN-TRACESTOP GEN-CR3"), "skl",
	  "range0=1010-1fff on:os,br,s0 movcr3=7000", "PIP(7000) TIP.PGD() TraceStop"),
	S("enabling inside the range", TEST_ROW_PROVES("GEN-TRACESTOP"), "skl",
	  "range0=1000-1fff cnt=100 on:os,br,s0!", "CBR(22) TraceStop"),
	S("overlap", TEST_ROW_PROVES("GEN-TRACESTOP-OVERLAP"), "skl",
	  "range0=1000-5fff range1=5000-5fff on:os,br,f0,s1 jmp>4000 jmp>5000",
	  "TIP.PGD(5000) TraceStop"),
	S("without BranchEn", TEST_ROW_PROVES("GEN-TRACESTOP GEN-BRANCHEN"), "skl",
	  "range0=5000-5fff on:os,s0 jmp>5000", "TraceStop"),
};

static const struct test_scenario compression[] = {
	S("last IP", TEST_ROW_PROVES("GEN-LAST-IP"), "skl",
	  "on:os,br jmpi>401000 jmpi>402000 jmpi>ffffffff81000000 jmpi>ffffffff82001234 "
	  "jmpi>ffffffff82005678",
	  "TIP(401000) TIP(402000) TIP(ffffffff81000000) TIP(ffffffff82001234) "
	  "TIP(ffffffff82005678)"),
	S("RET stack holds 64", TEST_ROW_PROVES("GEN-RETC-64"), "skl",
	  "on:os,br callchain*65 retchain*65 flush",
	  "TNT64(11111111111111111111111111111111111111111111111) TNT(111111) TNT(111111) "
	  "TNT(11111) TIP(1010)"),
	S("mismatch empties the stack", TEST_ROW_PROVES("GEN-RETC"), "skl",
	  "on:os,br callchain*3 ret>7777 retchain*3", "TIP(7777) TIP(3008) TIP(2008) TIP(1010)"),
	S("DisRETC", TEST_ROW_PROVES("GEN-RETC CTL-DISRETC"), "skl",
	  "on:os,br,noretc call>2000 ret>ra", "TIP(1010)"),
	S("CALL to the next instruction", TEST_ROW_PROVES("GEN-CALL"), "skl",
	  "on:os,br call>2000 callnext ret>ra0 flush", "TNT(1)"),
	S("CALL into the filter", TEST_ROW_PROVES("GEN-CALL GEN-RETC-RESET"), "skl",
	  "range0=2000-2fff on:os,br,f0 call>2000 call>2100 ret>ra ret>ra0",
	  "MODE.Exec(1) TIP.PGE(2000) TNT(1) TIP.PGD(1010)"),
	S("not across PacketEn=0", TEST_ROW_PROVES("GEN-RETC-RESET"), "skl",
	  "range0=1000-2fff on:os,br,f0 call>2000 jmp>8000 jmp>2000 ret>ra",
	  "TIP.PGD(8000) TIP.PGE(2000) TIP(1010)"),
	S("not across overflow", TEST_ROW_PROVES("GEN-RETC-RESET GEN-OVF"), "skl",
	  "on:os,br call>2000 ovf ret>ra", "OVF FUP(2000) TIP(1010)"),
	S("overflow, PacketEn 0", TEST_ROW_PROVES("GEN-OVF"), "skl",
	  "range0=5000-5fff on:os,br,f0 ovf jmp>5000", "OVF MODE.Exec(1) TIP.PGE(5000)"),
	S("overflow, mode moved", TEST_ROW_PROVES("GEN-OVF"), "skl", "on:os,br bits=32 ovf",
	  "OVF FUP(1008) PSB CBR(22) PIP(1000) MODE.TSX(0) MODE.Exec(2) FUP(1008) PSBEND"),
	S("overflow without BranchEn", TEST_ROW_PROVES("GEN-OVF GEN-BRANCHEN"), "skl", "on:os ovf",
	  "OVF"),
};

static const struct test_scenario others[] = {
	S("MOV CR3 without OS", TEST_ROW_PROVES("GEN-PIP"), "skl", "cpl=3 on:user,br movcr3=7000",
	  ""),
	S("TNT goes out first", TEST_ROW_PROVES("GEN-TNT-ORDER"), "skl",
	  "on:os,br jcc jncc jcc jmpi>2000", "TNT(101) TIP(2000)"),
	S("far branch out of the filter has its IP", TEST_ROW_PROVES("GEN-PGD"), "skl",
	  "range0=1000-1fff on:os,br,f0 far>9000", "TIP.PGD(9000)"),
	S("BranchEn 0", TEST_ROW_PROVES("GEN-BRANCHEN"), "skl",
	  "on:os jcc jmpi>2000 async@next>9000 movcr3=7000 bits=32 far>1000 cbr",
	  "PIP(7000) CBR(22)"),
	S("BranchEn 0, enable", TEST_ROW_PROVES("GEN-BRANCHEN"), "skl", "on:os!",
	  "PSB CBR(22) PIP(1000) PSBEND"),
	S("DisTNT", TEST_ROW_PROVES("GEN-DISTNT CPUID-DISTNT CTL-DISTNT"), "spr",
	  "on:os,br,notnt jcc call>2000 ret>ra jmpi>3000", "TIP(3000)"),
	S("MODE.Exec has IF with event trace", TEST_ROW_PROVES("GEN-MODE-IF CPUID-EVENT"), "spr",
	  "if cnt=100 on:os,br!", "CBR(14) MODE.Exec(5) TIP.PGE(1008)"),
	S("CBR event", TEST_ROW_PROVES("PKT-CBR"), "skl", "on:os,br cbr", "CBR(22)"),
	S("STATUS while tracing", TEST_ROW_PROVES("STATUS-TRIGGEREN STATUS-CONTEXTEN"), "skl",
	  "on:os,br status", "[status 7]"),
	S("STATUS out of context", TEST_ROW_PROVES("STATUS-CONTEXTEN"), "skl",
	  "cpl=3 on:os,br status", "[status 5]"),
	S("STATUS after the end", TEST_ROW_PROVES("STATUS-FROZEN STATUS-TRIGGEREN"), "skl",
	  "on:os,br off cpl=3 far>2000 status", "FUP(1008) TIP.PGD() [status 3]"),
	S("Stopped keeps a trace from starting", TEST_ROW_PROVES("EN-TRIGGER STATUS-STOPPED"),
	  "skl", "setstatus=20 on:os,br! status jmpi>2000", "[status 20]"),
	S("Error keeps a trace from starting", TEST_ROW_PROVES("EN-TRIGGER STATUS-ERROR"), "skl",
	  "setstatus=10 on:os,br! status jmpi>2000", "[status 10]"),
	S("PendPSB asks for PSB+",
	  TEST_ROW_PROVES("GEN-PSB-ON-ENABLE STATUS-PENDPSB CTL-INJECT CPUID-PSBPMI"), "spr",
	  "setstatus=40 cnt=100 on:os,br,inject! status",
	  "PSB CBR(14) PIP(1000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(1008) [status 7]"),
	S("PendPSB without the enable", TEST_ROW_PROVES("GEN-PSB-ON-ENABLE CTL-INJECT"), "spr",
	  "setstatus=40 cnt=100 on:os,br!", "CBR(14) MODE.Exec(1) TIP.PGE(1008)"),
	S("a trace that ends at a PIP: FilterEn stays", TEST_ROW_PROVES("EN-FROZEN"), "skl",
	  "refuse=40025-4ffff range0=1000-1fff on:os,br,f0 cr3=7000 farcr3>9000 status jmp>1100 "
	  "status",
	  "[status 13] [status 13]"),
	S("a trace that ends at a CFE: FilterEn stays", TEST_ROW_PROVES("EN-FROZEN"), "spr",
	  "refuse=40016-4ffff range0=1000-1fff cpl=3 on:os,br,event,f0 cpl=0 irq>1100 status",
	  "[status 12]"),
	S("a trace that ends at the CFE of INIT: ContextEn stays", TEST_ROW_PROVES("EN-FROZEN"),
	  "spr", "refuse=40016-4ffff cpl=3 on:os,br,event cpl=0 initwait status", "[status 13]"),
	S("a trace that ends at a FUP: nothing follows", TEST_ROW_PROVES("EN-FROZEN"), "skl",
	  "refuse=40025-4ffff range0=9000-9fff on:os,br,s0 async@next>9000 cnt status",
	  "[cnt 28] [status 13]"),
	S("same value may be written", TEST_ROW_PROVES("CTL-RESTART"), "skl",
	  "on:os,br jcc same jcc flush", "TNT(11)"),
};

#define TABLE_TEST(table)                        \
	START_TEST(table##_row)                  \
	{                                        \
		test_scenario_check(&table[_i]); \
		TEST_PROVES(table[_i].tags);     \
	}                                        \
	END_TEST

TABLE_TEST(filters)
TABLE_TEST(trace_stops)
TABLE_TEST(compression)
TABLE_TEST(others)

#define ADD(table) \
	tcase_add_loop_test(tcase, table##_row, 0, (int)(sizeof(table) / sizeof((table)[0])))

TEST_SUITE("gen", NULL, NULL)
{
	ADD(filters);
	ADD(trace_stops);
	ADD(compression);
	ADD(others);
}
