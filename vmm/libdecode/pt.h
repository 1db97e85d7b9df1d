/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Intel PT: packets to events and to the flow, in one pass.
 *
 * Packets take effect as they come. A packet that another one completes waits as state. A FUP waits
 * for the TIP of its event, and a MODE or PIP for its branch. An overflow waits for the address at
 * which tracing resumes. The flow moves no further than the packets prove.
 */
#ifndef VMM_LIBDECODE_PT_H
#define VMM_LIBDECODE_PT_H

#include "vpt/packet.h"

#include "libdecode/carry.h"
#include "libdecode/errata.h"
#include "libdecode/flow.h"

/* The settings of the processor that matter here. Fields are 0 where a setting is not known. */
struct dec_pt_config {
	bool no_flow;	/* BranchEn is 0 or DisTNT is 1: events only */
	bool no_retc;	/* DisRETC */
	bool keeps_ret; /* an uncompressed RET leaves the return stack as it is */
	bool no_os;	/* OS is 0: nothing of CPL 0 is in the trace */
	bool event_en;
	bool cr3_filter;
	uint64_t cr3_match;
	uint32_t errata; /* enum dec_errata */
	/* Ranges of IA32_RTIT_ADDRn: both ends belong to them; for errata. */
	unsigned int nranges;
	struct vptd_range range[VPTD_RANGES];
};

struct dec_pt_ops {
	void (*event)(void *context, const struct vptd_event *event);
	/* The key of the address space that a PIP names; NULL: its CR3, with NR in bit 0. */
	uint64_t (*space)(void *context, uint64_t cr3, bool nr, uint64_t vmcs);
};

struct dec_timing;

#define DEC_PT_QUEUE   8u   /* events of one queue */
#define DEC_PT_UNKNOWN 0xff /* MODE.Exec, until a packet tells it */

struct dec_pt_queue {
	struct vptd_event at[DEC_PT_QUEUE];
	unsigned int n;
};

struct dec_pt {
	struct dec_flow *flow;
	struct dec_timing *timing; /* see pt_time.h; NULL: nobody asks for time */
	const struct dec_pt_ops *ops;
	void *context;
	struct dec_pt_config config;
	struct vpt_parser parser;
	uint64_t last_ip;
	uint64_t offset;	  /* in the stream, behind the last packet */
	uint64_t overflow_offset; /* the same of the OVF that waits */
	uint32_t waits;		  /* enum dec_pt_waits */
	bool enabled;		  /* PacketEn, as far as it is known */
	bool synced;
	bool blind;	   /* what runs has no code (VPTD_NO_CODE) */
	bool no_memory;	   /* the address space of a PIP could not be selected */
	uint8_t mode_exec; /* MODE.Exec that waits, or of a PSB+ */
	uint8_t mode_told; /* the last MODE.Exec that took effect, or DEC_PT_UNKNOWN */
	uint8_t tsx;
	uint8_t block_type; /* of the open block, with BBP.SZ in bit 7; 0: no block is open */
	uint64_t fup;	    /* the FUP that waits, or of a PSB+ */
	uint64_t cr3, vmcs;
	bool nr;
	uint64_t pip_cr3; /* the PIP that waits, or of a PSB+ */
	bool pip_nr;
	uint64_t new_vmcs;	    /* the VMCS packet that waits, or of a PSB+ */
	struct dec_pt_queue alone;  /* events that wait for a FUP of their own */
	struct dec_pt_queue bound;  /* CFE and EVD, for their branch */
	struct dec_pt_queue behind; /* events behind an OVF that waits */
	struct vptd_event mwait, trig;
	struct dec_carry carry;
};

/* Between sessions: what the processor is told from here on. */
void dec_pt_configure(struct dec_pt *pt, const struct dec_pt_config *config);

void dec_pt_init(struct dec_pt *pt, struct dec_flow *flow, const struct dec_pt_config *config,
		 const struct dec_pt_ops *ops, void *context);

/*
 * Decode these bytes of the stream. A packet that they cut in two is kept for the next call.
 * What cannot be decoded is reported as ERROR events, and decoding resumes at the next PSB.
 */
void dec_pt_push(struct dec_pt *pt, const uint8_t *bytes, size_t len);

/*
 * Use the outcomes that were pushed, as far as they can be used. What is wrong is reported as an
 * ERROR event.
 */
void dec_pt_catch_up(struct dec_pt *pt);
/* The code, its mode or the address space is another one: look up the position in it. */
void dec_pt_refetch(struct dec_pt *pt);
/* TraceEn is 0 here: use what waits for the next packet. The stream goes on. */
void dec_pt_pause(struct dec_pt *pt);

/* The stream ends, or what comes next does not continue it. Uses what is left. */
void dec_pt_finish(struct dec_pt *pt);

#endif /* VMM_LIBDECODE_PT_H */
