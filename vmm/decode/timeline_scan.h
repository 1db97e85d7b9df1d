/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the timeline: packets to marks, each of which has what the counters said. */
#ifndef VMM_DECODE_TIMELINE_SCAN_H
#define VMM_DECODE_TIMELINE_SCAN_H

#include "timeline.h"
#include "vpt/packet.h"

/* Ticks of the TSC are counted in so many parts. */
#define VPT_TICK UINT64_C(256)

#define VPT_NEVER UINT64_MAX

/* A packet, and what is counted up to it; differences of two marks are what counts. */
struct vpt_mark {
	uint64_t end; /* offset behind it */
	uint64_t cycles;
	uint64_t ticks;	      /* that these are, in parts: the estimate, */
	uint64_t least, most; /* and what they can be; */
	uint32_t wild;	      /* `most` holds between marks of the same number */
	uint32_t lost;	      /* between those with the same no MTC was lost */
	uint64_t slack;	      /* parts that may have passed since the last CYC */
	bool anchor;	      /* tsc_lo, tsc_hi: what time it is */
	bool alone;	      /* ... and time before it was not counted */
	bool flow;	      /* not a timing packet */
	bool eligible;	      /* has a CYC before it, if time has passed */
	bool joins;	      /* not eligible, and begins an event whose next packet is */
	bool counted;	      /* CYC packets are on */
	bool relative;
	uint64_t tsc_lo, tsc_hi;
	uint64_t next; /* anchor: at this TSC there would be an MTC */
};

struct vpt_timeline_scan;

/* The packets of a trace system. */
struct vpt_timeline_system {
	/* Take in the packet at `bytes`: its size, 0 if there is none; *marks: it makes a mark,
	 * as one that is an anchor does anyway. Says whether clocks are counted. */
	size_t (*take)(struct vpt_timeline_scan *scan, const uint8_t *bytes, size_t len,
		       bool *marks);
	/* A session begins, with `ctl`. */
	void (*enter)(struct vpt_timeline_scan *scan, const struct vpt_timeline_session *session);
	size_t (*find_psb)(const uint8_t *bytes, size_t len);
};

extern const struct vpt_timeline_system vpt_timeline_pt, vpt_timeline_rtit;

struct vpt_timeline_scan {
	struct vpt_timeline_config config;
	const struct vpt_timeline_system *system;
	struct vpt_parser parser;
	size_t at;
	size_t session; /* that comes next */
	uint64_t ctl;
	bool in_psb;
	bool bound; /* a FUP would belong to the packet before it */
	bool begun; /* a session has, and there was no TSC since, */
	bool fresh; /* nor anything of the flow */
	bool has_tsc;
	bool has_relative;
	uint64_t tsc;

	bool first_mtc;	    /* RTIT: none came since TriggerEn rose */
	uint64_t threshold; /* the least clocks between two CYCs (33.3.6.3) */

	/* The crystal clock: TSC `base` is that of one of its ticks. */
	bool has_base, vague;
	uint64_t base;
	int64_t ticks;	       /* from there to where the range that MTC watches changed */
	uint8_t ctc;	       /* what that range is, */
	unsigned int ctc_bits; /* of which so many are known */
	uint32_t base_lost;

	/* Core clocks to TSC ticks. */
	unsigned int cbr;
	bool cbr_sure;
	unsigned int cbr_min, cbr_max;	/* since the last CYC, 0: not known */
	uint64_t cal_cycles, cal_ticks; /* of spans at this ratio */
	struct vpt_mark span;		/* where the last one began */
	bool has_span;

	uint64_t told_least; /* of the last mark */
	struct vpt_mark now;
};

void vpt_timeline_scan_init(struct vpt_timeline_scan *scan,
			    const struct vpt_timeline_config *config);

/* The next packet that makes a mark. False: there is none. */
bool vpt_timeline_scan_next(struct vpt_timeline_scan *scan, struct vpt_mark *mark);

/* For the systems. So many core clocks have passed; the ratio is this one from now on. */
void vpt_scan_cycles(struct vpt_timeline_scan *scan, uint64_t cycles);
void vpt_scan_ratio(struct vpt_timeline_scan *scan, unsigned int ratio);
/* It is now between `lo` and `hi`; `alone`: what passed until now was not counted. */
void vpt_scan_anchor(struct vpt_timeline_scan *scan, uint64_t lo, uint64_t hi, bool alone);
/* Packets were lost; nothing was traced for some time. */
void vpt_scan_lost(struct vpt_timeline_scan *scan);
void vpt_scan_gap(struct vpt_timeline_scan *scan);

/* a * b / c without overflow, VPT_NEVER where it does not fit. `c` is not 0. */
uint64_t vpt_muldiv(uint64_t a, uint64_t b, uint64_t c);

#endif /* VMM_DECODE_TIMELINE_SCAN_H */
