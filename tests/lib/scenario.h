/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scenarios for the packet generators: a script of what a processor does, and the packets it
 * must send. The model says which trace system it is of; steps here are PT's, and those of
 * Atom's RTIT too where they are not about PT's registers, packets or other features. What
 * only RTIT has is in scenario_atom.c.
 *
 * The processor starts at IP 1000 in 64-bit mode at CPL 0 with CR3 1000; each
 * instruction is 8 bytes long. Numbers are hexadecimal except counts after '*'.
 * Steps:
 *
 *   cpl=N cr3=N bits=N pae if	set the context (without an event)
 *   match=N rangeK=A-B		write CR3_MATCH, ADDRK_A and ADDRK_B
 *   setstatus=N cnt=N		value of STATUS, of its PacketByteCnt, for `on`
 *   on:BITS[!]			WRMSR that sets TraceEn and os user br tsc noretc
 *				notnt cr3 topa inject event fK (ADDRK filter) sK
 *				(ADDRK TraceStop); with ! its packets are shown and
 *				those before are not, else the other way round
 *   off same			WRMSR that clears TraceEn; that changes nothing
 *   step			an instruction that does not jump
 *   jcc jncc			taken to the next multiple of 100; not taken
 *   jmp>N jmpi>N call>N calli>N callnext
 *   ret>N ret>ra ret>ra0	RET; to the latest CALL's return address, the oldest's
 *   callchain retchain		CALL to the next multiple of 1000; RET to match
 *   far>N farcr3>N int>N	far branch, with CR3 loaded; software interrupt
 *   farcall>N farret>N syscall>N sysret>N sysenter>N sysexit>N	far branches by name
 *   async@cur>N async@next>N	fault; interrupt (asynccr3: CR3 loaded)
 *   movcr3=N ovf cbr timing	MOV CR3; overflow resolved; frequency change; time asked for
 *   flush			vpt_pt_flush
 *   status ctl			shows STATUS[7:0] as [status N], CTL as [ctl N]
 *   output			sets the output MSRs as the first `on` does
 *   vmxon vmxoff vmptrld=N vmclear
 *   controls:WORDS		of later transitions: exec exit entry (conceal), load, clear, gpa
 *   field:BITS			guest IA32_RTIT_CTL in the VMCS, bits as for `on`, or off
 *   entryload:BITS exitload:BITS	what the next MSR-load area writes to CTL
 *   enter>N exit>N exitint>N	VM entry; VM exit to the host at N, by vector e
 *   guestmem guesttopa bytes	packets are shown of guest-physical memory; output to it by a
 *				ToPA table there; bytes that are not 0 in the output region of
 *				physical and of guest-physical memory, as [bytes N N]
 *   early late>N		entries that fail; late>N goes to the host
 *   smi>N smcall>N		SMM VM exits, by SMI and by VMCALL, the VMCS being 9000
 *   rsm>N rsmroot>N		entries that return from SMM
 *   abort			a VM exit that ends in a VMX abort
 *   reason=N qual=N		of exits, a and 77 at first
 *   has-pwr			the model has power event trace (none of them does)
 *   ptw=N ptwq=N		PTWRITE of 32 and 64 bits
 *   hlt mwait=HINTS,EXT,STATE	sleep in C1, in STATE (event.h)
 *   hdc=STATE			sleep by the hardware, from awake or from another state
 *   wake=LAST,DEEPEST,REASON
 *   cbr=N stopped		core to bus ratio; frequency change with the clock stopped
 *   blocks=TYPE.ITEMS,...	a record of packet blocks; sTYPE: with 4-byte items
 *   badblocks=...		one that is refused
 *   mnt=N			packet of the model
 *   xsaves xrstors		of PT's component; [gp] if it faults, and nothing happened
 *   xrstors-init		XRSTORS of an area without it
 *   image=SLOT:N		the SLOTth 8 bytes of what was saved; saved: shows of it
 *				[saved TraceEn STATUS[7:0]]
 *   psbin=N			a PSB is due after N more bytes
 *   pmis			how many were raised since the last time, as [pmis N]
 *   warm			warm reset
 *   irq>N irqcr3>N nmi>N fault>N	interrupt 20; with CR3 loaded; NMI; exception d
 *   pf>N int80>N iret>N	#PF at dead000; INT 80; IRET
 *   cli sti popf noif		instructions that change IF (POPF to the other value); set it
 *   xbegin xend abort>N	a transaction begins, commits, aborts
 *   smi resume>N rsmlbr>N	SMI, RSM, RSM that would enable LBRs; [shutdown] if it fails
 *   init>N initcr3>N initwait initwaitcr3 sipi>N	INIT, with CR3 changed, before SIPI 9a
 *   shutdown senter acm endacm	shutdown; GETSEC[SENTER]; an ACM runs
 *   enclave noenclave		set the context: in a production enclave or not
 *   eenter>N eresume>N eexit>N aex>N	ENCLU; AEX by vector 20, the AEP being 7000
 *   uintr>N uiret>N		user interrupt 15 and return
 *   buffer=BYTES:DRAIN defer	the model's internal buffer; its TIPs are deferred; decimal
 *   room=N			no more than N bytes are left in the buffer; decimal
 *   cnt			shows PacketByteCnt as [cnt N]
 *   lip csbase=N		IP payloads are LIPs, before `on`; CS base
 *   refuse=A-B			memory that may be neither read nor written
 *   transport			bytes go to a sink of the trace transport (CTL: fabric); the
 *				output MSRs are shown as [base N ptrs N]
 *
 * The context of the next steps is also the one that a transition finds on its other
 * side: set it before.
 *   at=N clock+=N		the core clock is at N, is N further; decimal
 *   ratio=N/D			from here on the TSC has N ticks in D core clocks; at first it
 *				has one, and begins at 0; decimal
 *   rawtsc=N offset=N		TSC before software's offset; the offset, 123 at first
 *   crystal=N/D		CPUID.15H: EBX and EAX, before `on`; decimal
 *   cycbits=N			cycle counter's bits; decimal
 *   pass=N,N,...		clocks that pass before each eligible packet of the next event
 *   moves=N			the clock moves by N clocks whenever it is read; decimal
 *   noclock			the engine has no clock(): each context() reads the TSC
 *   tick			vpt_pt_tick
 *   taskgate>N			software interrupt that loads CR3
 *
 * Any step can be repeated: jcc*5.
 */
#ifndef TESTS_LIB_SCENARIO_H
#define TESTS_LIB_SCENARIO_H

struct test_scenario {
	const char *name;
	const char *file; /* the table that has the row, or NULL */
	const char *tags; /* the facts of shared/spec that the row proves, or NULL */
	const char *model;
	const char *script;
	const char *packets; /* as test_scenario_check() prints them */
};

/*
 * Run a scenario twice: once with events alone, once with the quick paths of pt.h for near
 * branches. Fails the current libcheck test if the packets of either run differ.
 */
void test_scenario_check(const struct test_scenario *scenario);

#endif /* TESTS_LIB_SCENARIO_H */
