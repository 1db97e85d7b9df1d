/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Intel PT: packets to events and to the flow, in one pass.
 *
 * Packets act as they come. A packet that others complete waits as state: a FUP until the TIP of
 * its event, a MODE or PIP until the branch that it belongs to, an overflow until the address at
 * which tracing resumed. The flow is moved no further than the packets prove.
 */
#ifndef VMM_LIBDECODE_PT_H
#define VMM_LIBDECODE_PT_H

#include "vpt/packet.h"

#include "libdecode/errata.h"
#include "libdecode/flow.h"

/* DEC_EVENT(enumerator, text): what @ip, @to and @value of the event are. */
#define DEC_EVENTS(DEC_EVENT)                                                               \
	DEC_EVENT(ENABLED, "enabled")		    /* to */                                \
	DEC_EVENT(DISABLED, "disabled")		    /* by the instruction before; to */     \
	DEC_EVENT(ASYNC_DISABLED, "async disabled") /* ip; to */                            \
	DEC_EVENT(ASYNC_BRANCH, "async branch")	    /* ip, to */                            \
	DEC_EVENT(PAGING, "paging")		    /* value: CR3; aux: NR */               \
	DEC_EVENT(EXEC_MODE, "exec mode")	    /* value: 16, 32, 64 */                 \
	DEC_EVENT(IFLAG, "interrupt flag")	    /* ip; value: RFLAGS.IF */              \
	DEC_EVENT(OVERFLOW, "overflow")		    /* to, where tracing resumed with it */ \
	DEC_EVENT(STOP, "stop")			    /* TraceStop */                         \
	DEC_EVENT(TSX, "tsx")			    /* ip; value: InTX | TXAbort << 1 */    \
	DEC_EVENT(VMCS, "vmcs")			    /* value: VMCS pointer */               \
	DEC_EVENT(PTWRITE, "ptwrite")		    /* ip; value */                         \
	DEC_EVENT(EXSTOP, "exstop")		    /* ip */                                \
	DEC_EVENT(MWAIT, "mwait")		    /* value: hints; aux: EXT */            \
	DEC_EVENT(PWRE, "pwre")			    /* value: C-states; aux: HW */          \
	DEC_EVENT(PWRX, "pwrx")			    /* value: C-states; aux: wake reason */ \
	DEC_EVENT(CBR, "cbr")			    /* value: ratio */                      \
	DEC_EVENT(MNT, "mnt")			    /* value: payload */                    \
	DEC_EVENT(CFE, "cfe")			    /* ip; value: type; aux: vector */      \
	DEC_EVENT(EVD, "evd")	  /* value: payload; aux: type; before its CFE */           \
	DEC_EVENT(BLOCK, "block") /* ip; value: BBP.Type; its items before it */            \
	DEC_EVENT(ITEM, "item")	  /* value: payload; aux: id */                             \
	DEC_EVENT(SYNC, "sync")	  /* decoding begins; to, if a trace is enabled */          \
	DEC_EVENT(ERROR, "error") /* ip; value: enum dec_status */

#define DEC_EVENT(name, text) DEC_EVENT_##name,
enum dec_event_kind { DEC_EVENTS(DEC_EVENT) DEC_EVENT_COUNT };
#undef DEC_EVENT

enum dec_event_flags {
	DEC_EV_IP = 1 << 0,
	DEC_EV_TO = 1 << 1,
	DEC_EV_STATUS = 1 << 2,	  /* repeats in a PSB+ what is so already */
	DEC_EV_SOFT_INT = 1 << 3, /* ASYNC_BRANCH by the INT n that ran before */
	DEC_EV_VM_ENTRY = 1 << 4, /* by a VM entry, which is the instruction before */
};

struct dec_event {
	uint8_t kind;  /* enum dec_event_kind */
	uint8_t flags; /* enum dec_event_flags */
	uint16_t aux;
	uint64_t ip, to, value;
	uint64_t offset; /* in the stream, behind the packet that completed the event */
};

/* What the processor was told, as far as it matters here; zeros where nothing is known. */
struct dec_pt_config {
	bool no_flow;	/* BranchEn is 0 or DisTNT is 1: events only */
	bool no_retc;	/* DisRETC */
	bool keeps_ret; /* an uncompressed RET leaves the return stack as it is */
	bool event_en;
	bool cr3_filter;
	uint64_t cr3_match;
	uint32_t errata; /* enum dec_errata */
	/* Ranges of IA32_RTIT_ADDRn: both ends belong to them; for errata. */
	unsigned int nranges;
	struct dec_pt_range {
		uint64_t first, last;
		bool stops; /* TraceStop, else FilterEn */
	} range[4];
};

struct dec_pt_ops {
	void (*event)(void *context, const struct dec_event *event);
	/* The key of the address space that a PIP names; NULL: its CR3, with NR in bit 0. */
	uint64_t (*space)(void *context, uint64_t cr3, bool nr, uint64_t vmcs);
};

struct dec_pt {
	struct dec_flow *flow;
	const struct dec_pt_ops *ops;
	void *context;
	struct dec_pt_config config;
	struct vpt_parser parser;
	uint64_t last_ip;
	uint64_t offset; /* in the stream, behind the last packet */
	uint32_t waits;	 /* enum dec_pt_waits */
	bool enabled;	 /* PacketEn, as far as it is known */
	bool synced;
	uint8_t mode_exec; /* MODE.Exec that waits, or of a PSB+ */
	uint8_t tsx;
	uint64_t fup; /* the FUP that waits, or of a PSB+ */
	uint64_t cr3, vmcs;
	bool nr;
	uint64_t pip_cr3; /* the PIP that waits, or of a PSB+ */
	bool pip_nr;
	uint64_t psb_vmcs;
	struct dec_event alone[8]; /* events that wait for a FUP of their own */
	unsigned int nalone;
	uint8_t carry[2 * VPT_PKT_MAX];
	size_t ncarry;
};

void dec_pt_init(struct dec_pt *pt, struct dec_flow *flow, const struct dec_pt_config *config,
		 const struct dec_pt_ops *ops, void *context);

/*
 * Decode these bytes of the stream. A packet that they cut in two is kept for the next call.
 * What cannot be decoded is reported as ERROR events, and decoding resumes at the next PSB.
 */
void dec_pt_push(struct dec_pt *pt, const uint8_t *bytes, size_t len);

/* The stream ends, or what comes next does not continue it. Uses what is left. */
void dec_pt_finish(struct dec_pt *pt);

const char *dec_event_text(enum dec_event_kind kind);
const char *dec_status_text(enum dec_status status);

#endif /* VMM_LIBDECODE_PT_H */
