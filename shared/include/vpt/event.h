/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The seam between an engine, which executes instructions, and PT. It has the events that the
 * engine reports for each change of flow, and the context that the engine must supply.
 *
 * An engine reports an event after the operation has completed. The context is therefore that of
 * the next instruction. The engine must report every kind of enum vpt_event_kind, in program order.
 * An event that is reported while nothing is traced costs a compare and changes nothing.
 */
#ifndef VPT_EVENT_H
#define VPT_EVENT_H

#include "base.h"

enum vpt_event_kind {
	/* Jcc, J*CXZ, LOOPcc. TAKEN: the branch was taken; to: next IP or target. */
	VPT_EV_COND,
	/* Near JMP with an immediate. It sends no packet, but can enter or leave a filter's range. */
	VPT_EV_JMP,
	/* Near CALL with an immediate; next: the return address. */
	VPT_EV_CALL,
	VPT_EV_JMP_INDIRECT,
	/* Near CALL through register or memory; next: the return address. */
	VPT_EV_CALL_INDIRECT,
	/* Near RET. */
	VPT_EV_RET,
	/* A far transfer by an instruction that is not in SOFT_INT: far JMP, CALL and RET, IRET,
	 * SYSCALL, SYSRET, SYSENTER, SYSEXIT. */
	VPT_EV_FAR,
	/* INT n, INT3, INTO, INT1: far transfers whose source is sent, too (table 33-23); from: the
	 * instruction. */
	VPT_EV_SOFT_INT,
	/* Interrupt, NMI, exception; from: the IP of table 33-23, which is the faulting instruction
	 * or the next one that would have run. */
	VPT_EV_ASYNC,
	/* MOV to CR3 that completed; to: next IP. */
	VPT_EV_CR3,
	/* The core clock's ratio to the bus clock changed; from, to: the current IP. STOPPED: the
	 * processor was stopped during the change. Call vpt_pt_tick() before it stops, or the MTC
	 * packets that are due by then are lost. */
	VPT_EV_CBR,
	/* Packets were lost, and the loss is over (33.3.8); to: the current IP. Only engines that
	 * lose packets report this event. The model of the internal buffer (pt.h) needs no event. */
	VPT_EV_OVERFLOW,

	/* PTWRITE that retired; value: its operand. WIDE: the operand has 64 bits. */
	VPT_EV_PTWRITE,
	/* CLI, STI or POPF that changed RFLAGS.IF. */
	VPT_EV_INTR_FLAG,
	/* The thread enters a state deeper than C0.1 (tables 33-42, 33-43); from: the instruction.
	 * MWAIT: by MWAIT, UMWAIT, TPAUSE, or I/O that is redirected to MWAIT; value: hints, ext:
	 * extensions. HW: by the processor itself; from: the next instruction. Neither: by HLT and
	 * similar instructions. cstate: the resolved thread C-state, encoded like MWAIT's hints:
	 * 00H is C1, 20H C6, F2H C0.2. */
	VPT_EV_SLEEP,
	/* The thread is in C0 again (table 33-44); from, to: the IP at which execution resumes.
	 * The encoding of SLEEP holds for cstate, the last core C-state, and for the deepest one.
	 * The reason is an enum vpt_wake. */
	VPT_EV_WAKE,
	/* A transaction began, or the outermost one committed; in_tx has its new value. */
	VPT_EV_TSX_BEGIN,
	VPT_EV_TSX_COMMIT,
	/* A transaction aborted, and execution resumes at its handler; from: XABORT, or the
	 * instruction at which the abort occurred. */
	VPT_EV_TSX_ABORT,
	/* INIT; from: the next instruction. WAIT: the processor now waits for SIPI, as context()
	 * reports, and `to` is ignored. */
	VPT_EV_INIT,
	/* SIPI, by `vector`. */
	VPT_EV_SIPI,
	/* Shutdown, for example after a triple fault; from: that of the event that caused it. INIT,
	 * SMI, NMI or a reset ends a shutdown. */
	VPT_EV_SHUTDOWN,
	/* ENCLU[EENTER], [ERESUME], [EEXIT]; from: the instruction. */
	VPT_EV_ENCLAVE,
	/* An event of `vector` left an enclave (AEX, EEE); to: the event's handler; value: the AEP.
	 * `from` is the instruction of the enclave. It is used only for a debug enclave. */
	VPT_EV_AEX,
	/* A user interrupt was delivered, by user vector `vector`; from: the next instruction. */
	VPT_EV_UINTR,
	/* UIRET; from: the instruction. */
	VPT_EV_UIRET,
	/* An instruction without another event retired; to: next IP. Only a unit whose gate has
	 * VPT_GATE_EACH_INSN needs it (gate.h), and other units ignore it. */
	VPT_EV_INSN,
	/* MOV to CR0 that changed CR0.PG; to: next IP. PT sends nothing for it. */
	VPT_EV_PAGING,
	VPT_EV_COUNT
};

/* Bits of vpt_event.flags. One bit may mean different things to different kinds. */
enum vpt_event_flags {
	VPT_EVF_TAKEN = 1 << 0,	     /* COND: the branch was taken */
	VPT_EVF_CR3 = 1 << 1,	     /* FAR, SOFT_INT, ASYNC, INIT, SIPI: CR3 was loaded */
	VPT_EVF_IRET = 1 << 2,	     /* FAR: it is an IRET */
	VPT_EVF_PAGE_FAULT = 1 << 2, /* ASYNC: #PF; value: the address, as CR2 has it */
	VPT_EVF_WIDE = 1 << 2,	     /* PTWRITE */
	VPT_EVF_MWAIT = 1 << 2,	     /* SLEEP */
	VPT_EVF_HW = 1 << 3,	     /* SLEEP */
	VPT_EVF_STOPPED = 1 << 2,    /* CBR */
	VPT_EVF_PREFIXES = 1 << 3,   /* FAR, SOFT_INT: more than 3 prefixes; for Atom's RTIT (E1) */
	VPT_EVF_WAIT = 1 << 2,	     /* INIT */
};

/* The reason why a sleep ended (table 33-44): one bit. */
enum vpt_wake {
	VPT_WAKE_INTERRUPT = 1 << 0,
	VPT_WAKE_TIMER = 1 << 1,
	VPT_WAKE_STORE = 1 << 2,
	VPT_WAKE_HW = 1 << 3,
};

struct vpt_event {
	uint8_t kind;	 /* enum vpt_event_kind */
	uint8_t flags;	 /* enum vpt_event_flags */
	uint8_t vector;	 /* SOFT_INT, ASYNC, SIPI, AEX, UINTR */
	uint8_t cstate;	 /* SLEEP, WAKE */
	uint8_t deepest; /* WAKE */
	uint8_t wake;	 /* WAKE */
	uint8_t ext;	 /* SLEEP with MWAIT */
	uint64_t from;	 /* IP of the instruction, or as the kind says */
	uint64_t to;	 /* IP of the next instruction to execute */
	union {
		/* CALL, CALL_INDIRECT: IP after the instruction; for Atom's RTIT (atom.h)
		 * also COND, JMP, JMP_INDIRECT, RET, FAR, SOFT_INT. */
		uint64_t next;
		uint64_t value; /* as the kind says */
	};
};

VPT_STATIC_ASSERT(sizeof(struct vpt_event) == 32, "it is made for each branch");

/* A conditional branch; `next`: IP after the instruction, which counts for Atom's RTIT. */
static inline void vpt_event_cond(struct vpt_event *event, uint64_t from, uint64_t to,
				  uint64_t next, bool taken)
{
	vpt_memset(event, 0, sizeof(*event));
	event->kind = VPT_EV_COND;
	event->flags = taken ? VPT_EVF_TAKEN : 0;
	event->from = from;
	event->to = to;
	event->next = next;
}

/* The state that PT looks at, as it is for the next instruction. */
struct vpt_context {
	uint64_t cr3;	  /* the register, all bits */
	uint64_t tsc;	  /* what RDTSC would return */
	uint64_t cs_base; /* added to IPs when payloads are LIP */
	uint8_t cpl;
	uint8_t cbr; /* core to bus clock ratio */
	/* The same with clock modulation taken into account; 0: there is none. */
	uint8_t effective_cbr;
	bool paging; /* CR0.PG */
	bool cs_l;
	bool cs_d;
	bool lma;		 /* IA32_EFER.LMA */
	bool pae;		 /* PAE paging is in use: CR0.PG, CR4.PAE, !LMA */
	bool intr_flag;		 /* RFLAGS.IF */
	bool in_tx;		 /* inside a transaction */
	bool production_enclave; /* executing in one (33.2.9.5) */
	bool wait_for_sipi;	 /* INIT came, SIPI did not */
};

#endif /* VPT_EVENT_H */
