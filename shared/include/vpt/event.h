/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The seam between whatever executes instructions and PT: what an engine reports
 * per change of flow, and what it must be able to tell when asked.
 *
 * An engine reports an event after the operation has completed, so that the
 * context it is then asked for is the one the next instruction runs in. What it
 * must report is every row of enum vpt_event_kind, in program order; what it
 * reports while nothing is traced costs a compare and changes nothing.
 */
#ifndef VPT_EVENT_H
#define VPT_EVENT_H

#include "base.h"

enum vpt_event_kind {
	/* Jcc, J*CXZ, LOOPcc. `taken`; to: next IP or target. */
	VPT_EV_COND,
	/* Near JMP with an immediate. Sends nothing, but can cross a filter. */
	VPT_EV_JMP,
	/* Near CALL with an immediate; next: the return address. */
	VPT_EV_CALL,
	VPT_EV_JMP_INDIRECT,
	/* Near CALL through register or memory; next: the return address. */
	VPT_EV_CALL_INDIRECT,
	/* Near RET. */
	VPT_EV_RET,
	/* A far transfer that the binary shows: far JMP, CALL and RET, IRET,
	 * SYSCALL, SYSRET, SYSENTER, SYSEXIT. */
	VPT_EV_FAR,
	/* INT n, INT3, INTO, INT1: a far transfer whose source is sent as well
	 * (table 33-23); from: the instruction. */
	VPT_EV_SOFT_INT,
	/* Interrupt, NMI, exception; from: the IP that table 33-23 gives, the
	 * faulting instruction or the next one that would have run. */
	VPT_EV_ASYNC,
	/* MOV to CR3 that completed; to: next IP. */
	VPT_EV_CR3,
	/* The core clock's ratio to the bus clock changed; STOPPED: nothing was executed
	 * meanwhile, and vpt_pt_tick() was called before that, or MTC packets that were due by
	 * then are lost. from, to: the IP at which execution is. */
	VPT_EV_CBR,
	/* Packets were lost and the loss is over (33.3.8); to: the IP at which
	 * execution is. For engines that lose packets themselves: what the model of the
	 * internal buffer loses (pt.h) needs no event. */
	VPT_EV_OVERFLOW,

	/* PTWRITE that retired; value: its operand, WIDE: of 64 bits. */
	VPT_EV_PTWRITE,
	/* CLI, STI or POPF that changed RFLAGS.IF. */
	VPT_EV_INTR_FLAG,
	/* A state deeper than C0.1 is entered (tables 33-42, 33-43). MWAIT: by MWAIT, UMWAIT,
	 * TPAUSE or I/O that stands for it; value: hints, ext: extensions. HW: by the
	 * processor itself. Else HLT and the like. cstate: the resolved thread C-state as
	 * MWAIT's hints have it: 00 is C1, 20 C6, f2 C0.2. from: the instruction, with HW the next one. */
	VPT_EV_SLEEP,
	/* Back in C0 (table 33-44); cstate: last core C-state, deepest: the deepest, as above,
	 * wake: enum vpt_wake. from, to: the IP at which execution goes on. */
	VPT_EV_WAKE,
	/* A transaction began, or the outermost one committed; in_tx is as it is now. */
	VPT_EV_TSX_BEGIN,
	VPT_EV_TSX_COMMIT,
	/* ... or aborted, and execution goes on elsewhere. from: XABORT, or the instruction
	 * that the abort came at. */
	VPT_EV_TSX_ABORT,
	/* INIT; from: the next instruction. WAIT: the processor now waits for SIPI, as
	 * context() says then, and `to` does not count. */
	VPT_EV_INIT,
	/* SIPI, by `vector`. */
	VPT_EV_SIPI,
	/* Shutdown, after a triple fault say; from: as of the event that led to it. What
	 * ends it is INIT, SMI, NMI or a reset. */
	VPT_EV_SHUTDOWN,
	/* ENCLU[EENTER], [ERESUME], [EEXIT]; from: the instruction. */
	VPT_EV_ENCLAVE,
	/* An enclave left by an event (AEX, EEE), of `vector`; from: the instruction of the
	 * enclave, which counts in a debug enclave only; to: the event's handler; value: the
	 * AEP. */
	VPT_EV_AEX,
	/* User interrupt delivered, by user vector `vector`; from: the next instruction.
	 * UIRET; from: the instruction. */
	VPT_EV_UINTR,
	VPT_EV_UIRET,
	/* For units that ask for it (vpt_atom.each_insn, atom.h), others ignore it: an
	 * instruction that makes no other event retired; to: next IP. */
	VPT_EV_INSN,
	/* MOV to CR0 that changed CR0.PG; to: next IP. PT has nothing to say of it. */
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
	VPT_EVF_PREFIXES = 1 << 3,   /* FAR, SOFT_INT: more than 3 of them; for Atom's RTIT (E1) */
	VPT_EVF_WAIT = 1 << 2,	     /* INIT */
};

/* Why a sleep ended (table 33-44): one bit. */
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
