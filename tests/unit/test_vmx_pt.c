// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PT in VMX operation against the manual's tables (33.5, 33.6, 33.7), row by row. The
 * host is at CPL 0 with CR3 1000, the guest with CR3 2000.
 */
#include "lib/suite.h"
#include "lib/scenario.h"

#define S(name_, tags_, model_, script_, packets_)                                \
	{                                                                         \
		.name = name_, .tags = tags_, .model = model_, .script = script_, \
		.packets = packets_                                               \
	}

/* A host that traces everything, one VMCS loaded; the VMLAUNCH is at 1018. */
#define HOST(bits) "vmxon vmptrld=5000 on:" bits " "
/* The same, in the guest at 7000. */
#define GUEST(bits) "vmxon vmptrld=5000 cr3=2000 enter>7000 on:" bits " "

static const struct vpt_scenario table_33_52[] = {
	S("exec 0: NR and VMCS in PSB+", VPT_ROW_PROVES("VMX-EXEC-CONCEAL VMX-PSB-VMCS"), "skl",
	  GUEST("os,br!"),
	  "PSB CBR(22) PIP(2000,NR) VMCS(5000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7008)"),
	S("exec 1: none", VPT_ROW_PROVES("VMX-EXEC-CONCEAL VMX-PSB-VMCS"), "skl",
	  "vmxon vmptrld=5000 controls:exec cr3=2000 enter>7000 on:os,br!",
	  "PSB CBR(22) PIP(2000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7008)"),
	S("exec 0: NR of MOV CR3", VPT_ROW_PROVES("VMX-EXEC-CONCEAL"), "skl",
	  GUEST("os,br") "movcr3=3000", "PIP(3000,NR)"),
	S("exec 1: no NR", VPT_ROW_PROVES("VMX-EXEC-CONCEAL"), "skl",
	  "vmxon vmptrld=5000 controls:exec cr3=2000 enter>7000 on:os,br movcr3=3000", "PIP(3000)"),
	S("exec 0: NR of a task switch", VPT_ROW_PROVES("VMX-EXEC-CONCEAL"), "skl",
	  GUEST("os,br") "cr3=3000 farcr3>7100", "PIP(3000,NR) TIP(7100)"),
	S("exec 1: not the entry's own PIP", VPT_ROW_PROVES("VMX-EXEC-CONCEAL VMX-ENTRY-SYSTEM"),
	  "skl", HOST("os,br") "controls:exec cr3=2000 enter>7000", "PIP(2000,NR) TIP(7000)"),
	S("exec 1 says nothing of root operation", VPT_ROW_PROVES("VMX-PSB-VMCS"), "skl",
	  "vmxon vmptrld=5000 controls:exec cr3=2000 enter>7000 cr3=1000 exit>1100 on:os,br!",
	  "PSB CBR(22) PIP(1000) VMCS(5000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(1108)"),
	S("exit 0", VPT_ROW_PROVES("VMX-EXIT-CONCEAL VMX-EXIT-SYSTEM VMX-EXIT-EVENT"), "spr",
	  GUEST("os,br,event") "cr3=1000 exit>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT() FUP(7008) PIP(1000) TIP(1100)"),
	S("exit 1", VPT_ROW_PROVES("VMX-EXIT-CONCEAL"), "spr",
	  GUEST("os,br,event") "controls:exit cr3=1000 exit>1100", "FUP(7008) TIP(1100)"),
	S("exit 0, SMM", VPT_ROW_PROVES("VMX-EXIT-CONCEAL VMX-SMM-VMCS VMX-SMM-EVENT"), "spr",
	  GUEST("os,br,event") "cr3=1000 smi>8000",
	  "CFE.SMI() EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e) FUP(7008) PIP(1000) VMCS(9000) "
	  "TIP(8000)"),
	S("exit 1, SMM", VPT_ROW_PROVES("VMX-EXIT-CONCEAL VMX-SMM-VMCS"), "spr",
	  GUEST("os,br,event") "controls:exit cr3=1000 smi>8000", "FUP(7008) TIP(8000)"),
	S("entry 0", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL VMX-ENTRY-SYSTEM VMX-ENTRY-EVENT"), "spr",
	  HOST("os,br,event") "cr3=2000 enter>7000",
	  "CFE.VMENTRY(IP) FUP(1018) PIP(2000,NR) TIP(7000)"),
	S("entry 1", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL"), "spr",
	  HOST("os,br,event") "controls:entry cr3=2000 enter>7000", "TIP(7000)"),
	S("entry 0, returns from SMM", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL VMX-SMM-VMCS"), "spr",
	  HOST("os,br,event") "cr3=2000 rsm>7000",
	  "CFE.RSM() CFE.VMENTRY(IP) FUP(1018) PIP(2000,NR) VMCS(5000) TIP(7000)"),
	S("entry 0, to root", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL VMX-SMM-ROOT"), "spr",
	  HOST("os,br,event") "cr3=2000 rsmroot>7000 movcr3=3000",
	  "CFE.RSM() CFE.VMENTRY(IP) FUP(1018) PIP(2000) VMCS(5000) TIP(7000) PIP(3000)"),
	S("entry 1, returns from SMM", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL VMX-SMM-VMCS"), "spr",
	  HOST("os,br,event") "controls:entry cr3=2000 rsm>7000", "TIP(7000)"),
	S("controls of a processor without them", VPT_ROW_PROVES("VMX-NO-PT"), "bdw",
	  "on:os,br,topa vmxon controls:load,clear,exec field:os,br,topa cr3=2000 enter>7000 "
	  "movcr3=3000 exit>1100 status",
	  "FUP(1010) TIP.PGD() [status 3]"),
};

static const struct vpt_scenario table_33_53[] = {
	S("exit", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl", GUEST("os,br") "cr3=1000 exit>1100",
	  "FUP(7008) PIP(1000) TIP(1100)"),
	S("exit, outcomes first", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl",
	  GUEST("os,br") "jcc jncc cr3=1000 exit>1100", "TNT(10) FUP(7108) PIP(1000) TIP(1100)"),
	S("exit, another mode", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl",
	  "vmxon cr3=2000 bits=32 enter>7000 on:os,br cr3=1000 bits=64 exit>1100",
	  "FUP(7008) PIP(1000) MODE.Exec(1) TIP(1100)"),
	S("exit, EventEn", VPT_ROW_PROVES("VMX-EXIT-SYSTEM VMX-EXIT-EVENT"), "spr",
	  GUEST("os,br,event") "reason=8000000c qual=fedcba9876543210 cr3=1000 exit>1100",
	  "EVD.VMXQ(fedcba9876543210) EVD.VMXR(8000000c) CFE.VMEXIT() FUP(7008) PIP(1000) "
	  "TIP(1100)"),
	S("exit, EventEn without BranchEn", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  GUEST("os,event") "cr3=1000 exit>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT(IP) FUP(7008) PIP(1000)"),
	S("exit, neither", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl",
	  GUEST("os") "cr3=1000 exit>1100", "PIP(1000)"),
	S("entry", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl", HOST("os,br") "cr3=2000 enter>7000",
	  "PIP(2000,NR) TIP(7000)"),
	S("entry, outcomes first", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  HOST("os,br") "jcc cr3=2000 enter>7000", "TNT(1) PIP(2000,NR) TIP(7000)"),
	S("entry, another mode", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  HOST("os,br") "cr3=2000 bits=16 enter>7000", "PIP(2000,NR) MODE.Exec(0) TIP(7000)"),
	S("entry, EventEn", VPT_ROW_PROVES("VMX-ENTRY-EVENT"), "spr",
	  HOST("os,br,event") "jncc cr3=2000 enter>7000",
	  "TNT(0) CFE.VMENTRY(IP) FUP(1020) PIP(2000,NR) TIP(7000)"),
	S("entry, EventEn without BranchEn", VPT_ROW_PROVES("VMX-ENTRY-EVENT"), "spr",
	  HOST("os,event") "cr3=2000 enter>7000", "CFE.VMENTRY(IP) FUP(1018) PIP(2000,NR)"),
	S("entry, neither", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  HOST("os") "cr3=2000 enter>7000", "PIP(2000,NR)"),
	S("guest CR3 under PAE paging", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  HOST("os,br") "pae cr3=2fff enter>7000", "PIP(2fe0,NR) TIP(7000)"),
	S("VMPTRLD", VPT_ROW_PROVES("VMX-VMPTRLD"), "skl", "vmxon on:os,br vmptrld=123456789000",
	  "VMCS(123456789000)"),
	S("VMPTRLD, outcomes first", VPT_ROW_PROVES("VMX-VMPTRLD"), "skl",
	  "vmxon on:os,br jcc vmptrld=6000", "TNT(1) VMCS(6000)"),
	S("VMPTRLD without BranchEn", VPT_ROW_PROVES("VMX-VMPTRLD"), "skl",
	  "vmxon on:os vmptrld=6000", "VMCS(6000)"),
	S("VMPTRLD without OS", VPT_ROW_PROVES("VMX-VMPTRLD"), "skl",
	  "vmxon on:user,br vmptrld=6000", ""),
	S("VMPTRLD outside of VMX operation", VPT_ROW_PROVES("VMX-VMPTRLD"), "skl",
	  "on:os,br vmptrld=6000 vmxon vmxoff vmptrld=6000", ""),
	S("VMCLEAR", VPT_ROW_PROVES("VMX-NO-VMCS"), "skl", HOST("os,br") "vmclear", ""),
	S("PSB+ after VMCLEAR", VPT_ROW_PROVES("VMX-NO-VMCS VMX-PSB-VMCS"), "skl",
	  "vmxon vmptrld=5000 vmclear on:os,br!",
	  "PSB CBR(22) PIP(1000) VMCS(ffffffffff000) MODE.TSX(0) PSBEND MODE.Exec(1) "
	  "TIP.PGE(1020)"),
	S("PSB+ before VMPTRLD", VPT_ROW_PROVES("VMX-NO-VMCS VMX-PSB-VMCS"), "skl",
	  "vmxon on:os,br!",
	  "PSB CBR(22) PIP(1000) VMCS(ffffffffff000) MODE.TSX(0) PSBEND MODE.Exec(1) "
	  "TIP.PGE(1010)"),
	S("PSB+ after VMXOFF", VPT_ROW_PROVES("VMX-PSB-VMCS"), "skl",
	  "vmxon vmptrld=5000 vmxoff on:os,br!",
	  "PSB CBR(22) PIP(1000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(1020)"),
	S("PSB+ out of context", VPT_ROW_PROVES("VMX-PSB-VMCS"), "skl",
	  "vmxon vmptrld=5000 cpl=3 on:os,br!", "PSB CBR(22) PSBEND"),
	S("VMXON changes nothing", VPT_ROW_PROVES("VMX-NO-PT"), "skl", "on:os,br vmxon jmpi>2000",
	  "TIP(2000)"),
	S("VMXON without PT in VMX operation", VPT_ROW_PROVES("VMX-NO-PT"), "bdw",
	  "on:os,br,topa vmxon jmpi>2000 status", "FUP(1010) TIP.PGD() [status 3]"),
};

static const struct vpt_scenario table_33_54[] = {
	S("system, early", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "skl", HOST("os,br") "early",
	  "TIP(1020)"),
	S("system, early, EventEn", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "spr",
	  HOST("os,br,event") "jcc early", "TNT(1) TIP(1108)"),
	S("system, early, without BranchEn", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "skl",
	  HOST("os") "early", ""),
	S("system, early, out of context", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "skl",
	  HOST("user,br") "early", ""),
	S("system, late", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl", HOST("os,br") "late>1100",
	  "PIP(1000) TIP(1100)"),
	S("system, late, EventEn", VPT_ROW_PROVES("VMX-FAIL-LATE"), "spr",
	  HOST("os,br,event") "late>1100", "CFE.VMENTRY(IP) FUP(1018) PIP(1000) TIP(1100)"),
	S("system, late, concealed", VPT_ROW_PROVES("VMX-FAIL-LATE"), "spr",
	  HOST("os,br,event") "controls:entry,exit late>1100", "TIP(1100)"),
	S("system, late, back in root", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl",
	  HOST("os,br") "late>1100 movcr3=3000", "PIP(1000) TIP(1100) PIP(3000)"),
	S("host only, early", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "skl",
	  HOST("os,br") "entryload:off early", "TIP(1020)"),
	S("host only, late, before the area", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl",
	  HOST("os,br") "controls:entry,exit exitload:os,br late>1100", "TIP(1100)"),
	S("host only, late, after the area", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl",
	  HOST("os,br") "controls:entry,exit entryload:off exitload:os,br late>1100",
	  "FUP(1020) TIP.PGD() CBR(22) MODE.Exec(1) TIP.PGE(1100)"),
	S("guest only, early", VPT_ROW_PROVES("VMX-FAIL-EARLY"), "skl",
	  "vmxon vmptrld=5000 controls:load,clear field:os,br early", ""),
	S("guest only, late", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl",
	  "output vmxon vmptrld=5000 controls:load,clear field:os,br late>1100 status",
	  "[status 0]"),
	S("guest only by areas, late", VPT_ROW_PROVES("VMX-FAIL-LATE"), "skl",
	  "output vmxon vmptrld=5000 entryload:os,br exitload:off late>1100 status", "[status 0]"),
};

static const struct vpt_scenario table_33_56[] = {
	S("9 host only, entry", VPT_ROW_PROVES("VMX-ENTRY-FALL"), "skl",
	  HOST("os,br") "jcc cr3=2000 entryload:off enter>7000 jmpi>7100",
	  "TNT(1) FUP(1108) TIP.PGD()"),
	S("9 host only, entry, EventEn", VPT_ROW_PROVES("VMX-ENTRY-FALL VMX-ENTRY-EVENT"), "spr",
	  HOST("os,br,event") "cr3=2000 entryload:off enter>7000",
	  "CFE.VMENTRY(IP) FUP(1018) FUP(1020) TIP.PGD()"),
	S("9 host only, entry, out of context", VPT_ROW_PROVES("VMX-ENTRY-FALL"), "skl",
	  HOST("user,br") "cr3=2000 entryload:off enter>7000", ""),
	S("9 the exit's area clears TraceEn", VPT_ROW_PROVES("VMX-EXIT-FALL"), "skl",
	  GUEST("os,br") "exitload:off cr3=1000 exit>1100 jmpi>1200", "FUP(7008) TIP.PGD()"),
	S("10 host only, exit", VPT_ROW_PROVES("VMX-EXIT-RISE"), "skl",
	  "vmxon vmptrld=5000 cnt=100 on:os,br cr3=2000 entryload:off enter>7000 "
	  "cr3=1000 exitload:os,br exit>1100",
	  "FUP(1020) TIP.PGD() CBR(22) MODE.Exec(1) TIP.PGE(1100)"),
	S("10 host only, exit, TSC", VPT_ROW_PROVES("VMX-EXIT-RISE"), "skl",
	  HOST("os,br,tsc") "entryload:off enter>7000 exitload:os,br,tsc exit>1100",
	  "FUP(1020) TIP.PGD() TSC(123) CBR(22) MODE.Exec(1) TIP.PGE(1100)"),
	S("10 no CFE where TriggerEn was 0", VPT_ROW_PROVES("VMX-EXIT-RISE VMX-EXIT-EVENT"), "spr",
	  HOST("os,br,event") "entryload:off enter>7000 exitload:os,br,event exit>1100",
	  "CFE.VMENTRY(IP) FUP(1018) FUP(1020) TIP.PGD() CBR(14) MODE.Exec(1) TIP.PGE(1100)"),
	S("11 guest only, exit", VPT_ROW_PROVES("VMX-EXIT-CLEAR VMX-EXIT-FALL"), "skl",
	  GUEST("os,br") "jncc controls:clear cr3=1000 exit>1100 jmpi>1200",
	  "TNT(0) FUP(7010) TIP.PGD()"),
	S("11 without BranchEn", VPT_ROW_PROVES("VMX-EXIT-CLEAR"), "skl",
	  GUEST("os") "controls:clear exit>1100", ""),
	S("11 out of the filter", VPT_ROW_PROVES("VMX-EXIT-CLEAR"), "skl",
	  "range0=9000-9fff vmxon vmptrld=5000 enter>7000 on:os,br,f0 controls:clear exit>1100",
	  ""),
	S("11 EventEn", VPT_ROW_PROVES("VMX-EXIT-CLEAR VMX-EXIT-EVENT"), "spr",
	  GUEST("os,br,event") "controls:clear exit>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT() FUP(7008) TIP.PGD()"),
	S("11 all of CTL is cleared", VPT_ROW_PROVES("VMX-EXIT-CLEAR"), "skl",
	  GUEST("os,br") "controls:clear ctl exit>1100 ctl",
	  "[ctl 2005] FUP(7008) TIP.PGD() [ctl 0]"),
	S("12 guest only, entry", VPT_ROW_PROVES("VMX-ENTRY-LOAD VMX-ENTRY-RISE"), "skl",
	  GUEST("os,br") "controls:load,clear field:os,br exit>1100 cr3=2000 enter>7020",
	  "FUP(7008) TIP.PGD() CBR(22) MODE.Exec(1) TIP.PGE(7020)"),
	S("12 with PSB+", VPT_ROW_PROVES("VMX-ENTRY-LOAD VMX-ENTRY-RISE"), "skl",
	  "output vmxon vmptrld=5000 controls:load,clear field:os,br cr3=2000 enter>7000",
	  "PSB CBR(22) PIP(2000,NR) VMCS(5000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7000)"),
	S("12 with PSB+, concealed", VPT_ROW_PROVES("VMX-ENTRY-RISE VMX-EXEC-CONCEAL"), "skl",
	  "output vmxon vmptrld=5000 controls:load,clear,exec,entry,exit field:os,br cr3=2000 "
	  "enter>7000",
	  "PSB CBR(22) PIP(2000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7000)"),
	S("12 by the MSR-load area", VPT_ROW_PROVES("VMX-ENTRY-RISE"), "skl",
	  "output vmxon vmptrld=5000 entryload:os,br cr3=2000 enter>7000",
	  "PSB CBR(22) PIP(2000,NR) VMCS(5000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7000)"),
	S("12 STATUS from the MSR-load area counts", VPT_ROW_PROVES("VMX-ENTRY-RISE"), "skl",
	  "output vmxon vmptrld=5000 cnt=200 entryload:os,br cr3=2000 enter>7000",
	  "CBR(22) MODE.Exec(1) TIP.PGE(7000)"),
	S("12 the guest is out of context", VPT_ROW_PROVES("VMX-ENTRY-RISE"), "skl",
	  "output vmxon vmptrld=5000 controls:load,clear field:os,br cpl=3 enter>7000 cpl=0 "
	  "far>7100",
	  "PSB CBR(22) PSBEND MODE.Exec(1) TIP.PGE(7100)"),
	S("12 what WRMSR refuses is not loaded", VPT_ROW_PROVES("VMX-ENTRY-LOAD"), "skl",
	  "vmxon vmptrld=5000 controls:load field:os,br,event enter>7000 jmpi>7100 status",
	  "[status 0]"),
	S("both TraceEn: the host's trace ends, the guest's begins",
	  VPT_ROW_PROVES("VMX-ENTRY-FALL VMX-ENTRY-RISE"), "skl",
	  HOST("os,br") "entryload:off enter>7000 exitload:os,br exit>1100 entryload:off "
			"controls:load,clear field:user,br cpl=3 enter>7000 exit>1100",
	  "FUP(1020) TIP.PGD() CBR(22) MODE.Exec(1) TIP.PGE(1100) FUP(1108) TIP.PGD()"),
	S("entry out of context", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  HOST("os,br") "cpl=3 enter>7000", "TIP.PGD()"),
	S("entry out of the filter", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  "range0=1000-1fff " HOST("os,br,f0") "cr3=2000 enter>7000", "PIP(2000,NR) TIP.PGD(7000)"),
	S("entry to a TraceStop range", VPT_ROW_PROVES("VMX-ENTRY-SYSTEM"), "skl",
	  "range0=7000-7fff " HOST("os,br,s0") "cr3=2000 enter>7000 jmpi>6000 status",
	  "PIP(2000,NR) TIP.PGD(7000) TraceStop [status 22]"),
	S("exit into context", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl",
	  "vmxon cpl=3 enter>7000 on:os,br cpl=0 exit>1100",
	  "PIP(1000) MODE.Exec(1) TIP.PGE(1100)"),
	S("exit out of context", VPT_ROW_PROVES("VMX-EXIT-SYSTEM"), "skl",
	  "vmxon cpl=3 enter>7000 on:user,br cpl=0 exit>1100", "FUP(7008) TIP.PGD()"),
};

static const struct vpt_scenario table_33_59[] = {
	S("13 exit by an interrupt", VPT_ROW_PROVES("VMX-EXIT-EVENT CFE-VMEXIT-INTR"), "spr",
	  GUEST("os,event") "reason=0 exitint>1100",
	  "EVD.VMXQ(77) EVD.VMXR(0) CFE.VMEXIT_INTR(e,IP) FUP(7008) PIP(2000)"),
	S("13 with BranchEn", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  GUEST("os,br,event") "reason=0 exitint>1100",
	  "EVD.VMXQ(77) EVD.VMXR(0) CFE.VMEXIT_INTR(e) FUP(7008) PIP(2000) TIP(1100)"),
	S("13 out of context afterwards", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:user,event cpl=0 reason=0 exitint>1100",
	  "EVD.VMXQ(77) EVD.VMXR(0) CFE.VMEXIT_INTR(e,IP) FUP(7008)"),
	S("13 out of context before", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:os,event cpl=0 reason=0 exitint>1100",
	  "PIP(1000) MODE.Exec(1) FUP(1100)"),
	S("13 concealed", VPT_ROW_PROVES("VMX-EXIT-CONCEAL"), "spr",
	  GUEST("os,event") "controls:exit exitint>1100", ""),
	S("13 BranchEn, but out of the filter", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "range0=9000-9fff vmxon cr3=2000 enter>7000 on:os,br,event,f0 exitint>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e,IP) FUP(7008) PIP(2000)"),
	S("14 exit by an instruction", VPT_ROW_PROVES("VMX-EXIT-EVENT CFE-VMEXIT"), "spr",
	  GUEST("os,event") "exit>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT(IP) FUP(7008) PIP(2000)"),
	S("14 out of context afterwards", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:user,br,event cpl=0 exit>1100",
	  "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT() FUP(7008) TIP.PGD()"),
	S("15 into context", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:os,event cpl=0 exit>1100",
	  "CFE.VMEXIT() PIP(1000) MODE.Exec(1) FUP(1100)"),
	S("15 with BranchEn", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:os,br,event cpl=0 exit>1100",
	  "CFE.VMEXIT() PIP(1000) MODE.Exec(1) TIP.PGE(1100)"),
	S("15 never in context", VPT_ROW_PROVES("VMX-EXIT-EVENT"), "spr",
	  "vmxon cpl=0 enter>7000 on:user,br,event exit>1100", ""),
	S("15 concealed", VPT_ROW_PROVES("VMX-EXIT-CONCEAL"), "spr",
	  "vmxon cpl=3 controls:exit enter>7000 on:os,event cpl=0 exit>1100",
	  "MODE.Exec(1) FUP(1100)"),
	S("16 entry", VPT_ROW_PROVES("VMX-ENTRY-EVENT CFE-VMENTRY"), "spr",
	  HOST("os,event") "enter>7000", "CFE.VMENTRY(IP) FUP(1018) PIP(1000,NR)"),
	S("16 out of context afterwards", VPT_ROW_PROVES("VMX-ENTRY-EVENT"), "spr",
	  HOST("os,br,event") "cpl=3 enter>7000", "CFE.VMENTRY(IP) FUP(1018) TIP.PGD()"),
	S("16 into context", VPT_ROW_PROVES("VMX-ENTRY-EVENT"), "spr",
	  HOST("user,br,event") "cpl=3 enter>7000", "CFE.VMENTRY() MODE.Exec(1) TIP.PGE(7000)"),
	S("16 never in context", VPT_ROW_PROVES("VMX-ENTRY-EVENT"), "spr",
	  HOST("user,br,event") "enter>7000", ""),
	S("16 concealed", VPT_ROW_PROVES("VMX-ENTRY-CONCEAL"), "spr",
	  HOST("os,event") "controls:entry enter>7000", ""),
	S("without EventEn", VPT_ROW_PROVES("VMX-ENTRY-EVENT VMX-EXIT-EVENT"), "spr",
	  HOST("os,br") "enter>7000 exitint>1100",
	  "PIP(1000,NR) TIP(7000) FUP(7000) PIP(1000) TIP(1100)"),
};

static const struct vpt_scenario smm[] = {
	S("SMI, without BranchEn each CFE has its FUP", VPT_ROW_PROVES("VMX-SMM-EVENT"), "spr",
	  GUEST("os,event") "smi>8000",
	  "CFE.SMI(IP) FUP(7008) EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e,IP) FUP(7008) "
	  "PIP(2000) VMCS(9000)"),
	S("SMI in root operation", VPT_ROW_PROVES("VMX-SMM-EVENT VMX-SMM-VMCS"), "spr",
	  HOST("os,br,event") "smi>8000",
	  "CFE.SMI() EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e) FUP(1018) PIP(1000) VMCS(9000) "
	  "TIP(8000)"),
	S("SMI into context", VPT_ROW_PROVES("VMX-SMM-EVENT"), "spr",
	  "vmxon cpl=3 enter>7000 on:os,br,event cpl=0 smi>8000",
	  "PIP(1000) VMCS(9000) MODE.Exec(1) TIP.PGE(8000)"),
	S("VMCALL is no event", VPT_ROW_PROVES("VMX-SMM-EVENT"), "spr",
	  HOST("os,br,event") "smcall>8000", "FUP(1018) PIP(1000) VMCS(9000) TIP(8000)"),
	S("the monitor's PSB+", VPT_ROW_PROVES("VMX-SMM-VMCS"), "skl",
	  "vmxon vmptrld=5000 smi>8000 on:os,br!",
	  "PSB CBR(22) PIP(1000) VMCS(9000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(8008)"),
	S("RSM into context", VPT_ROW_PROVES("VMX-SMM-EVENT"), "spr",
	  "vmxon vmptrld=5000 on:user,br,event cpl=3 rsm>7000",
	  "CFE.RSM() CFE.VMENTRY() VMCS(5000) MODE.Exec(1) TIP.PGE(7000)"),
	S("RSM sets TraceEn", VPT_ROW_PROVES("VMX-SMM-EVENT VMX-ENTRY-RISE"), "spr",
	  "vmxon vmptrld=5000 cnt=100 on:os,br,event off entryload:os,br,event rsm>7000",
	  "FUP(1018) TIP.PGD() CBR(14) CFE.RSM() MODE.Exec(1) TIP.PGE(7000)"),
	S("RSM sets TraceEn, out of context", VPT_ROW_PROVES("VMX-SMM-EVENT"), "spr",
	  "vmxon vmptrld=5000 cnt=100 on:os,br,event off entryload:os,br,event cpl=3 rsm>7000",
	  "FUP(1018) TIP.PGD() CBR(14)"),
	S("RSM sets TraceEn, concealed", VPT_ROW_PROVES("VMX-SMM-EVENT VMX-ENTRY-CONCEAL"), "spr",
	  "vmxon vmptrld=5000 cnt=100 on:os,br,event off controls:entry "
	  "entryload:os,br,event rsm>7000",
	  "FUP(1018) TIP.PGD() CBR(14) MODE.Exec(1) TIP.PGE(7000)"),
	S("to root operation", VPT_ROW_PROVES("VMX-SMM-ROOT"), "skl",
	  HOST("os,br") "cr3=2000 rsmroot>7000", "PIP(2000) VMCS(5000) TIP(7000)"),
	S("the lists clear TraceEn", VPT_ROW_PROVES("VMX-EXIT-FALL"), "skl",
	  GUEST("os,br") "exitload:off smi>8000", "FUP(7008) TIP.PGD()"),
};

static const struct vpt_scenario aborts[] = {
	S("abort", VPT_ROW_PROVES("VMX-ABORT"), "skl", GUEST("os,br") "jcc abort",
	  "TNT(1) FUP(7100)"),
	S("root operation after the abort", VPT_ROW_PROVES("VMX-ABORT"), "skl",
	  GUEST("os,br") "abort movcr3=3000", "FUP(7008) PIP(3000)"),
	S("abort after TraceEn fell", VPT_ROW_PROVES("VMX-ABORT"), "skl",
	  GUEST("os,br") "controls:clear abort", "FUP(7008) TIP.PGD()"),
	S("abort after TraceEn was set", VPT_ROW_PROVES("VMX-ABORT"), "skl",
	  "output vmxon enter>7000 exitload:os,br abort status ctl", "[status 0] [ctl 2004]"),
	S("abort out of context", VPT_ROW_PROVES("VMX-ABORT"), "skl", GUEST("user,br") "abort", ""),
};

/* The guest's output is at the same addresses as the host's, guest-physical ones. */
#define PADS_5	"PAD(0) PAD(0) PAD(0) PAD(0) PAD(0) "
#define PADS_10 PADS_5 PADS_5
#define GPA	"controls:load,clear,gpa field:os,br "
#define TRIP	"cr3=2000 enter>7000 jmpi>7100 cr3=1000 exit>1100 bytes "
#define TRIP_TRACE                                                                           \
	"PSB CBR(22) PIP(2000,NR) VMCS(5000) MODE.TSX(0) PSBEND MODE.Exec(1) TIP.PGE(7000) " \
	"TIP(7100) FUP(7100) TIP.PGD() "

static const struct vpt_scenario guest_physical[] = {
	S("single range", VPT_ROW_PROVES("VMX-USE-GPA"), "skl",
	  "output vmxon vmptrld=5000 " GPA "guestmem " TRIP, TRIP_TRACE "[bytes 0 39]"),
	S("without the control", VPT_ROW_PROVES("VMX-USE-GPA"), "skl",
	  "output vmxon vmptrld=5000 controls:load,clear field:os,br " TRIP,
	  TRIP_TRACE "[bytes 39 0]"),
	S("ToPA table and region", VPT_ROW_PROVES("VMX-USE-GPA"), "skl",
	  "guesttopa vmxon vmptrld=5000 controls:load,clear,gpa field:os,br,topa guestmem " TRIP
	  "status",
	  TRIP_TRACE "[bytes 0 39] [status 3]"),
	S("a ToPA table that is in physical memory only", VPT_ROW_PROVES("VMX-USE-GPA"), "skl",
	  "on:os,br,topa off vmxon vmptrld=5000 controls:load,clear,gpa field:os,br,topa "
	  "refuse=90000-90fff enter>7000 status",
	  "FUP(1008) TIP.PGD() [status 12]"),
	/* Where the guest's packets are in guest-physical memory the host's has a gap. */
	S("the host's own trace before and after", VPT_ROW_PROVES("VMX-USE-GPA"), "skl",
	  "on:os,br jmpi>2000 off bytes vmxon vmptrld=5000 " GPA
	  "cr3=2000 enter>7000 jmpi>7100 cr3=1000 exitload:os,br exit>1100 jmpi>1200 bytes",
	  "TIP(2000) FUP(2000) TIP.PGD() [bytes 36 0] " PADS_10 PADS_10
	  "CBR(22) MODE.Exec(1) TIP.PGE(1100) TIP(1200) [bytes 45 12]"),
};

#define TABLE_TEST(table)                       \
	START_TEST(table##_row)                 \
	{                                       \
		vpt_scenario_check(&table[_i]); \
		VPT_PROVES(table[_i].tags);     \
	}                                       \
	END_TEST

TABLE_TEST(table_33_52)
TABLE_TEST(table_33_53)
TABLE_TEST(table_33_54)
TABLE_TEST(table_33_56)
TABLE_TEST(table_33_59)
TABLE_TEST(smm)
TABLE_TEST(aborts)
TABLE_TEST(guest_physical)

#define ADD(table) \
	tcase_add_loop_test(tcase, table##_row, 0, (int)(sizeof(table) / sizeof((table)[0])))

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("vmx_pt");
	TCase *tcase = tcase_create("tables");

	ADD(table_33_52);
	ADD(table_33_53);
	ADD(table_33_54);
	ADD(table_33_56);
	ADD(table_33_59);
	ADD(smm);
	ADD(aborts);
	ADD(guest_physical);
	suite_add_tcase(suite, tcase);
	return suite;
}
