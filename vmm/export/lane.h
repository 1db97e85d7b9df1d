/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress of one vCPU through the trace. This is its flow, the time, and the packet changes
 * that let perf follow.
 */
#ifndef VMM_EXPORT_LANE_H
#define VMM_EXPORT_LANE_H

#include "decode/disasm.h"
#include "decode/flow.h"
#include "export/pages.h"
#include "export/scan.h"

/*
 * A TSC packet for perf before the packet at `at`. If that packet is a TNT, the place is after its
 * first `bit` outcomes.
 */
struct export_stamp {
	uint64_t at;
	uint64_t ns;
	uint64_t ip;
	uint8_t bit;
	/*
	 * Set if perf must check the time before it decodes the instruction at `ip`. perf does that
	 * at BEP and FUP packets. They end no PEBS record, so perf shows nothing of them.
	 */
	bool look;
	bool first;   /* no instruction has run before this place */
	size_t moves; /* the number of deferred TIPs that precede the stamp */
};

/*
 * A deferred TIP (33.4.2.3), which follows the TNT that it belongs into. Its place is after `bit`
 * outcomes of the TNT at `tnt`. perf finds that place, except if a stamp adds packets in between.
 */
struct export_move {
	uint64_t tnt;
	uint64_t at; /* the offset of the TIP */
	uint8_t bit;
};

/*
 * The end of a packet that moves the flow. Of an OVF with a FUP, `end` is behind the FUP, and
 * `read` is behind the OVF.
 */
struct export_end_of {
	uint64_t end, read;
};

struct export_tnt {
	uint64_t at, end;
	uint8_t bits;
	struct export_end_of before; /* the end of the packet before this TNT */
};

#define EXPORT_TNTS 64 /* the maximum number of unused outcomes in the decoder */

/* The packets that the decoder had read when it returned the item. */
struct export_ahead {
	struct export_scan scan; /* the scan position after `packet` */
	struct vpt_packet packet;
	uint64_t at;	 /* the offset of `packet` */
	bool has_packet; /* the decoder is at `packet`; otherwise `packet` has been used */
	struct export_end_of last;
	bool has_pgd; /* the last used packet is a TIP.PGD at `pgd` */
	uint64_t pgd; /* the offset of that TIP.PGD */
	struct export_end_of before_pgd;
	uint64_t tip, tip_end; /* the last TIP */
	uint64_t ntnts;
	struct export_tnt tnts[EXPORT_TNTS]; /* the last TNTs, in a ring */
};

/* The position of the flow in the packets. */
struct export_place {
	bool is;
	uint64_t at; /* the TNT whose next outcome is due, or the end of a packet */
	uint64_t last_ip;
	uint8_t bit;
};

/*
 * A TIP.PGD from which perf cannot find where tracing ended. A branch out of an IP filter or into a
 * TraceStop range sends this packet, and so does MOV CR3 (33.4.2.5). Unless the packet changes,
 * perf walks to the next branch that needs a TIP.
 */
enum export_end {
	EXPORT_END_TAKEN,     /* a conditional branch that was taken */
	EXPORT_END_NOT_TAKEN, /* a conditional branch that was not taken */
	EXPORT_END_IP,	      /* tracing ended before the instruction at `ip` */
};

struct export_fix {
	uint64_t at; /* the offset of the TIP.PGD */
	uint64_t ip;
	enum export_end end;
};

/* The conversion of TSC ticks to nanoseconds, and the tick at which they start. */
struct export_time {
	uint64_t hz; /* 0 if a tick is a nanosecond */
	uint64_t base;
};

struct export_lane {
	unsigned int vcpu;
	const struct trace_period *periods;
	size_t nperiods;
	const struct export_time *time;
	struct decode_disasm *disasm;
	struct decode_flow *flow;
	struct export_scan scan; /* the scan of one segment after another */
	size_t rate;	/* the index of the session after the session that set the scan's MTCFreq */
	size_t len;	/* the length of the stream */
	uint64_t start; /* packets before this offset are left out */
	bool bits16;	/* packets are left out because of 16-bit code */
	bool events;	/* there can be FUPs that belong to no branch */
	bool timed;	/* otherwise the time is the number of instructions */
	bool backwards; /* the time of a packet is before the time of the previous packet */

	struct decode_item item;  /* the current item, still to be handled */
	struct decode_item block; /* the last BLOCK; insns is 0 after any other item */
	bool done;
	bool blind;    /* the packets have no flow: see blind.h */
	bool disabled; /* tracing ended with the last event */
	struct export_ahead ahead;
	struct export_place place; /* the place of the item */
	uint64_t last_ip;	   /* the last IP of the packets */
	uint64_t claimed;	   /* deferred TIPs before this offset have been handled */
	uint64_t now;		   /* the current time in nanoseconds */
	uint64_t due;  /* the time of the pending change before the item; 0 if there is none */
	uint64_t mark; /* the number of instructions at which `now` was set */
	const struct export_process *process; /* the process that perf assumes to be running */

	uint64_t insns, skipped, errors;
	char error[160]; /* the first error */
	struct {
		struct export_stamp *at;
		size_t n, room;
	} stamps;
	struct {
		struct export_fix *at;
		size_t n, room;
	} fixes;
	struct {
		struct export_move *at;
		size_t n, room;
	} moves;
};

/* Open the lane. Set vcpu, time and disasm and clear the rest before. Returns 0 or -errno. */
int export_lane_open(struct export_lane *lane, struct trace_reader *reader);
void export_lane_close(struct export_lane *lane);

/* Advance to the first item, once `time` is set. Returns 0 or -errno. */
int export_lane_begin(struct export_lane *lane);

/* Get the TSC of the first TSC packet. Returns false if there is none. */
bool export_lane_first_tsc(const struct export_lane *lane, uint64_t *tsc);

/* Advance to the next item. Sets `done` if there is none. Returns 0 or -errno. */
int export_lane_next(struct export_lane *lane);

/* Returns true if the item is a BLOCK that perf will decode. */
bool export_lane_shown(const struct export_lane *lane);

/* Return the time for a change that takes effect at this item. */
uint64_t export_lane_change_time(const struct export_lane *lane);
/* Add a stamp that makes a change take effect at `ns`. Returns 0 or -ENOMEM. */
int export_lane_change(struct export_lane *lane, uint64_t ns);

#endif /* VMM_EXPORT_LANE_H */
