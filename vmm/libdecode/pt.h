/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Decode the packets of Intel PT into events and into the flow, in one pass.
 *
 * Packets take effect in the order of the stream. A packet that another packet completes is kept as
 * state. A FUP waits for the TIP of its event, and a MODE or PIP for its branch. An overflow waits
 * for the address at which tracing resumes. The flow moves no further than the packets prove.
 */
#ifndef VMM_LIBDECODE_PT_H
#define VMM_LIBDECODE_PT_H

#include "vpt/packet.h"

#include "libdecode/carry.h"
#include "libdecode/errata.h"
#include "libdecode/flow.h"

/* The relevant settings of the processor. A field is 0 if its setting is unknown. */
struct dec_pt_config {
	bool no_flow;	/* BranchEn is 0 or DisTNT is 1: only events are decoded */
	bool no_retc;	/* DisRETC */
	bool keeps_ret; /* an uncompressed RET does not change the return stack */
	bool no_os;	/* OS is 0: CPL 0 is not traced */
	bool event_en;
	bool cr3_filter;
	uint64_t cr3_match;
	uint32_t errata; /* enum dec_errata */
	/* Ranges of IA32_RTIT_ADDRn, including both ends. Only errata need them. */
	unsigned int nranges;
	struct vptd_range range[VPTD_RANGES];
};

struct dec_pt_ops {
	void (*event)(void *context, const struct vptd_event *event);
	/*
	 * Returns the key of the address space that a PIP names. If NULL, the key is CR3 with NR in
	 * bit 0.
	 */
	uint64_t (*space)(void *context, uint64_t cr3, bool nr, uint64_t vmcs);
};

struct dec_timing;

#define DEC_PT_QUEUE   8u   /* the capacity of a queue of events */
#define DEC_PT_UNKNOWN 0xff /* MODE.Exec before the first packet that contains it */

struct dec_pt_queue {
	struct vptd_event at[DEC_PT_QUEUE];
	unsigned int n;
};

struct dec_pt {
	struct dec_flow *flow;
	struct dec_timing *timing; /* see pt_time.h; NULL: the caller does not ask for time */
	const struct dec_pt_ops *ops;
	void *context;
	struct dec_pt_config config;
	struct vpt_parser parser;
	uint64_t last_ip;
	uint64_t offset;	  /* the stream offset after the last packet */
	uint64_t overflow_offset; /* the stream offset after the OVF that waits */
	uint32_t waits;		  /* enum dec_pt_waits */
	bool enabled;		  /* PacketEn, as far as the decoder knows it */
	bool synced;
	bool blind;	   /* the code that runs is not available (VPTD_NO_CODE) */
	bool no_memory;	   /* the address space of a PIP could not be selected */
	uint8_t mode_exec; /* the MODE.Exec that waits, or that of a PSB+ */
	uint8_t mode_told; /* the last MODE.Exec that took effect, or DEC_PT_UNKNOWN */
	uint8_t tsx;
	uint8_t block_type; /* the type of the open block, with BBP.SZ in bit 7; 0: none is open */
	uint64_t fup;	    /* the FUP that waits, or that of a PSB+ */
	uint64_t cr3, vmcs;
	bool nr;
	uint64_t pip_cr3; /* the PIP that waits, or that of a PSB+ */
	bool pip_nr;
	uint64_t new_vmcs;	    /* the VMCS packet that waits, or that of a PSB+ */
	struct dec_pt_queue alone;  /* events that wait for a FUP of their own */
	struct dec_pt_queue bound;  /* CFE and EVD events that wait for their branch */
	struct dec_pt_queue behind; /* events after an OVF that waits */
	struct vptd_event mwait, trig;
	struct dec_carry carry;
};

/* Set the processor's configuration from here on. Call this function between sessions. */
void dec_pt_configure(struct dec_pt *pt, const struct dec_pt_config *config);

void dec_pt_init(struct dec_pt *pt, struct dec_flow *flow, const struct dec_pt_config *config,
		 const struct dec_pt_ops *ops, void *context);

/*
 * Decode these bytes of the stream. A packet that is cut at their end is kept for the next call.
 * Bytes that cannot be decoded are reported as ERROR events, and decoding resumes at the next PSB.
 */
void dec_pt_push(struct dec_pt *pt, const uint8_t *bytes, size_t len);

/* Use the outcomes that were pushed, as far as possible. An error is reported as an ERROR event. */
void dec_pt_catch_up(struct dec_pt *pt);
/*
 * Look up the code at the position again, after a change of the code, its mode or the address
 * space.
 */
void dec_pt_refetch(struct dec_pt *pt);
/*
 * Use the packets that wait for the next packet, because TraceEn is 0 here. The stream continues.
 */
void dec_pt_pause(struct dec_pt *pt);

/*
 * End the stream, or a part of it that the next bytes do not continue. Uses all remaining packets.
 */
void dec_pt_finish(struct dec_pt *pt);

#endif /* VMM_LIBDECODE_PT_H */
