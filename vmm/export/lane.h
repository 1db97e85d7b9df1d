/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU on its way through the trace: its flow, the time, and the changes in its packets that
 * let perf follow.
 */
#ifndef VMM_EXPORT_LANE_H
#define VMM_EXPORT_LANE_H

#include "decode/disasm.h"
#include "decode/flow.h"
#include "export/pages.h"
#include "export/scan.h"

/*
 * A TSC packet for perf, before the packet at `at`, or if that is a TNT, before the
 * outcome that `bit` others come before.
 */
struct export_stamp {
	uint64_t at;
	uint64_t ns;
	uint64_t ip;
	uint8_t bit;
	/*
	 * A place where perf must look at the time before it decodes the instruction at `ip`. perf
	 * does that at BEP and FUP packets. They end no PEBS record, so perf shows nothing of them.
	 */
	bool look;
	bool first;   /* ... and nothing has run there before */
	size_t moves; /* deferred TIPs that come before it */
};

/*
 * A deferred TIP (33.4.2.3), which comes after the TNT that it belongs into. Its place is after
 * `bit` outcomes of the TNT at `tnt`. perf finds that place, but not if a stamp adds packets in
 * between.
 */
struct export_move {
	uint64_t tnt;
	uint64_t at; /* of the TIP */
	uint8_t bit;
};

/* The end of a packet that the flow goes by: of an OVF behind its FUP, and without. */
struct export_end_of {
	uint64_t end, read;
};

struct export_tnt {
	uint64_t at, end;
	uint8_t bits;
	struct export_end_of before; /* the packet before it */
};

#define EXPORT_TNTS 64 /* the decoder has at most as many outcomes that it has not used */

/* The packets that the decoder had read as it came to the item. */
struct export_ahead {
	struct export_scan scan; /* behind `packet` */
	struct vpt_packet packet;
	uint64_t at;	 /* of `packet` */
	bool has_packet; /* the decoder is at `packet`; else it was used */
	struct export_end_of last;
	bool has_pgd; /* the last one is a TIP.PGD, */
	uint64_t pgd; /* here */
	struct export_end_of before_pgd;
	uint64_t tip, tip_end; /* the last TIP */
	uint64_t ntnts;
	struct export_tnt tnts[EXPORT_TNTS]; /* the last of them */
};

/* Where the flow is in the packets. */
struct export_place {
	bool is;
	uint64_t at; /* of the TNT whose next outcome is to come, or the end of a packet */
	uint64_t last_ip;
	uint8_t bit;
};

/*
 * A TIP.PGD from which perf cannot find where tracing ended. A branch out of an IP filter or into a
 * TraceStop range sends it, or MOV CR3 (33.4.2.5). Unless the packet changes, perf walks on to the
 * next branch that needs a TIP.
 */
enum export_end {
	EXPORT_END_TAKEN,     /* a conditional branch, taken */
	EXPORT_END_NOT_TAKEN, /* or not */
	EXPORT_END_IP,	      /* it ended before the instruction at `ip` */
};

struct export_fix {
	uint64_t at; /* of the TIP.PGD */
	uint64_t ip;
	enum export_end end;
};

/* How TSC ticks become nanoseconds, and from when on they count. */
struct export_time {
	uint64_t hz; /* 0: a tick is a nanosecond */
	uint64_t base;
};

struct export_lane {
	unsigned int vcpu;
	const struct trace_period *periods;
	size_t nperiods;
	const struct export_time *time;
	struct decode_disasm *disasm;
	struct decode_flow *flow;
	struct export_scan scan; /* of one segment after the other */
	size_t rate;		 /* the session after the one that its MTCFreq is of */
	size_t len;		 /* of the stream */
	uint64_t start;		 /* what comes before it is left out */
	bool bits16;		 /* because it is 16-bit code */
	bool events;		 /* there can be FUPs that are of no branch */
	bool timed;		 /* else time is the number of instructions */
	bool backwards;		 /* a TSC packet goes back */

	struct decode_item item;  /* that has to be dealt with */
	struct decode_item block; /* the last BLOCK; insns 0 after anything else */
	bool done;
	bool blind;    /* packets do not tell the flow: see blind.h */
	bool disabled; /* tracing ended with the last event */
	struct export_ahead ahead;
	struct export_place place; /* of the item */
	uint64_t last_ip;	   /* of the packets */
	uint64_t claimed;	   /* deferred TIPs before this have had their turn */
	uint64_t now;		   /* nanoseconds */
	uint64_t due;		   /* when something is to change before the item, 0: nothing is */
	uint64_t mark;		   /* instructions up to where `now` is from */
	const struct export_process *process; /* that perf knows to be running */

	uint64_t insns, skipped, errors;
	char error[160]; /* the first one */
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

/* Zero but vcpu, time and disasm. 0 or -errno. */
int export_lane_open(struct export_lane *lane, struct trace_reader *reader);
void export_lane_close(struct export_lane *lane);

/* Go to the first item, once `time` is right. 0 or -errno. */
int export_lane_begin(struct export_lane *lane);

/* TSC of the first TSC packet, false: none. */
bool export_lane_first_tsc(const struct export_lane *lane, uint64_t *tsc);

/* Go to the next item, `done` if there is none. 0 or -errno. */
int export_lane_next(struct export_lane *lane);

/* A BLOCK that perf is to decode. */
bool export_lane_shown(const struct export_lane *lane);

/* The time for a change that counts from this item on. */
uint64_t export_lane_change_time(const struct export_lane *lane);
/* A stamp that makes it so. 0 or -ENOMEM. */
int export_lane_change(struct export_lane *lane, uint64_t ns);

#endif /* VMM_EXPORT_LANE_H */
