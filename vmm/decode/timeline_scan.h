/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internals of the timeline. A scan turns packets into marks, each of which has the counters'
 * values. Calls go from timeline_scan.c to the trace systems in timeline_pt.c and timeline_atom.c,
 * and from these to the counters in timeline_clocks.c.
 */
#ifndef VMM_DECODE_TIMELINE_SCAN_H
#define VMM_DECODE_TIMELINE_SCAN_H

#include "decode/timeline.h"
#include "vpt/packet.h"

/* The parts in which one tick of the TSC is counted. */
#define DECODE_TICK UINT64_C(256)

#define DECODE_NEVER UINT64_MAX

/* The counters at a packet. Only differences between two marks have a meaning. */
struct decode_mark {
	uint64_t end; /* offset after the packet */
	uint64_t cycles;
	uint64_t ticks;	      /* estimate for `cycles`, in parts of a tick */
	uint64_t least, most; /* bounds of `ticks` */
	uint32_t wild;	      /* `most` holds between marks of the same number */
	uint32_t lost;	      /* no MTC is lost between marks of the same number */
	uint64_t slack;	      /* parts that may have passed since the last CYC */
	bool anchor;	      /* tsc_lo and tsc_hi are valid */
	bool alone;	      /* anchor: the time before it was not counted */
	bool flow;	      /* not a timing packet */
	bool eligible;	      /* a CYC precedes it if time has passed */
	bool joins;	      /* not eligible, but begins an event whose next packet is */
	bool counted;	      /* CYC packets are on */
	bool relative;
	uint64_t tsc_lo, tsc_hi;
	uint64_t next; /* anchor: the TSC at which the next MTC is due */
};

struct decode_timeline_scan;

/* The packets of a trace system. */
struct decode_timeline_system {
	/* Read the packet at `bytes`. Returns its size, or 0 if there is none. Sets `*marks` if it
	 * makes a mark, which an anchor always does. Sets `now.counted`. */
	size_t (*take)(struct decode_timeline_scan *scan, const uint8_t *bytes, size_t len,
		       bool *marks);
	/* Begin a session with `scan->ctl`. */
	void (*enter)(struct decode_timeline_scan *scan,
		      const struct decode_timeline_session *session);
	size_t (*find_psb)(const uint8_t *bytes, size_t len);
};

extern const struct decode_timeline_system decode_timeline_pt, decode_timeline_atom;

struct decode_timeline_scan {
	struct decode_timeline_config config;
	const struct decode_timeline_system *system;
	struct vpt_parser parser;
	size_t at;
	size_t session; /* index of the next session */
	uint64_t ctl;
	bool in_psb;
	bool bound; /* a FUP belongs to the packet before it */
	bool begun; /* no TSC since the session began */
	bool fresh; /* no packet of the flow since the session began */
	bool has_tsc;
	bool has_relative;
	uint64_t tsc;

	bool first_mtc;	    /* RTIT: no MTC since TriggerEn rose */
	uint64_t threshold; /* the least clocks between two CYCs (33.3.6.3) */

	/* The crystal clock. `base` is the TSC at one of its ticks. */
	bool has_base, vague;
	uint64_t base;
	int64_t ticks;	       /* from `base` to the last change of MTC's range of bits */
	uint8_t ctc;	       /* value of that range */
	unsigned int ctc_bits; /* bits of `ctc` that are known */
	uint32_t base_lost;

	/* Core clocks to TSC ticks. */
	unsigned int cbr;
	bool cbr_sure;
	unsigned int cbr_min, cbr_max;	/* the range of ratios since the last CYC, 0 if not known */
	uint64_t cal_cycles, cal_ticks; /* the sums of spans at this ratio */
	struct decode_mark span;	/* the last anchor */
	bool has_span;

	uint64_t told_least; /* `least` of the last mark */
	struct decode_mark now;
};

void decode_timeline_scan_init(struct decode_timeline_scan *scan,
			       const struct decode_timeline_config *config);

/* Return the next packet that makes a mark. Returns false at the end of the stream. */
bool decode_timeline_scan_next(struct decode_timeline_scan *scan, struct decode_mark *mark);

/*
 * timeline_clocks.c, for the systems.
 *
 * Count core clocks. Set the core:bus ratio from here on.
 */
void decode_scan_cycles(struct decode_timeline_scan *scan, uint64_t cycles);
void decode_scan_ratio(struct decode_timeline_scan *scan, unsigned int ratio);
/* Anchor the time between `lo` and `hi`. `alone`: the time before it was not counted. */
void decode_scan_anchor(struct decode_timeline_scan *scan, uint64_t lo, uint64_t hi, bool alone);
/* Count a loss of packets, or an interval that was not traced. */
void decode_scan_lost(struct decode_timeline_scan *scan);
void decode_scan_gap(struct decode_timeline_scan *scan);

/* Set how long it may be since the last CYC, at a packet that has none. */
void decode_scan_slack(struct decode_timeline_scan *scan);

/* Returns a * b / c, or DECODE_NEVER if it does not fit. `c` is not 0. */
uint64_t decode_muldiv(uint64_t a, uint64_t b, uint64_t c);

#endif /* VMM_DECODE_TIMELINE_SCAN_H */
