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
	/* The core clock's ratio to the bus clock changed. */
	VPT_EV_CBR,
	/* Packets were lost and the loss is over (33.3.8); to: the IP at which
	 * execution is. */
	VPT_EV_OVERFLOW,
	VPT_EV_COUNT
};

/* Bits of vpt_event.flags. */
enum vpt_event_flags {
	VPT_EVF_TAKEN = 1 << 0, /* COND: the branch was taken */
	VPT_EVF_CR3 = 1 << 1,	/* FAR, SOFT_INT, ASYNC: CR3 was loaded (task switch) */
};

struct vpt_event {
	uint8_t kind;	/* enum vpt_event_kind */
	uint8_t flags;	/* enum vpt_event_flags */
	uint8_t vector; /* SOFT_INT, ASYNC */
	uint64_t from;	/* IP of the instruction, or as the kind says */
	uint64_t to;	/* IP of the next instruction to execute */
	uint64_t next;	/* CALL, CALL_INDIRECT: IP after the instruction */
};

/* The state that PT looks at, as it is for the next instruction. */
struct vpt_context {
	uint64_t cr3;	  /* the register, all bits */
	uint64_t tsc;	  /* what RDTSC would return */
	uint64_t cs_base; /* added to IPs when payloads are LIP */
	uint8_t cpl;
	uint8_t cbr; /* core to bus clock ratio */
	bool cs_l;
	bool cs_d;
	bool lma;		 /* IA32_EFER.LMA */
	bool pae;		 /* PAE paging is in use: CR0.PG, CR4.PAE, !LMA */
	bool intr_flag;		 /* RFLAGS.IF */
	bool in_tx;		 /* inside a transaction */
	bool production_enclave; /* executing in one (33.2.9.5) */
};

#endif /* VPT_EVENT_H */
