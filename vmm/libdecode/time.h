/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Convert timing packets to a TSC value with bounds (33.8.3), in one pass and without look-ahead.
 *
 * An anchor is a packet that gives the TSC: a TSC packet, or an MTC that a TMA has tied to the TSC.
 * After an anchor, CYC packets count core clocks, which the core:bus ratio of the last CBR packet
 * converts to TSC ticks. Bounds hold if the true ratio is within 1 of that of CBR. Each PSB+
 * establishes all of this anew, so that no time depends on packets before the last PSB.
 *
 * The functions do not depend on the flow. Hostile packets can cause wrong times, but no other
 * error.
 */
#ifndef VMM_LIBDECODE_TIME_H
#define VMM_LIBDECODE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "vpt/packet.h"

#define DEC_NO_BOUND UINT64_MAX

struct dec_time_config {
	uint32_t crystal_num, crystal_den; /* TSC ticks per crystal clock; 0: unknown */
	uint32_t max_nonturbo;		   /* core:bus ratio of the TSC; 0: unknown */
	uint8_t mtc_freq;		   /* IA32_RTIT_CTL.MTCFreq */
	bool mtc, cyc;			   /* MTCEn, CYCEn */
	uint64_t threshold;		   /* core clocks of CycThresh (33.3.6.3); 0: none */
};

/* The state of the clock. Zero-initialise it. Assignment copies it. */
struct dec_time {
	bool known;	/* there was an anchor; otherwise only `cycles` and `cbr` are valid */
	bool at_anchor; /* the last packet is an anchor */
	/* The bounds of the TSC at the last anchor. */
	uint64_t lo, hi;
	/* The latest TSC at which the processor sends the next MTC, if no MTC is lost. */
	uint64_t next;

	/* Since the anchor: core clocks at the ratio `cbr`, and those before the CYCs at hand. */
	uint64_t clocks, told_clocks;
	uint64_t drop; /* the maximum number of the first clocks that may precede the anchor */
	/* All other clocks, in parts of a tick: the estimate, the minimum and the maximum. */
	uint64_t parts, least, most, told_least;
	bool no_most; /* `most` is not valid */
	bool in_cycs; /* the last packet was CYC */

	uint8_t cbr;	   /* 0: unknown */
	uint8_t cbr_guess; /* the last ratio since the PSB, for estimates after an overflow */
	uint8_t cbr_min, cbr_max; /* the range of the ratio since the last CYC; 0: unknown */
	/* Calibration: core clocks and ticks between anchors since the PSB, at this ratio. */
	uint64_t cal_clocks, cal_ticks;
	uint64_t span; /* valid only if `spans`: core clocks since the anchor */
	bool spans;

	/* The crystal clock. TSC `base` is that of one of its ticks, or up to `width` more. */
	bool has_base;
	bool vague;   /* an unknown number of MTCs was lost */
	bool lost;    /* packets were lost since the last anchor */
	bool has_tsc; /* the anchor is a TSC packet */
	uint8_t ctc;
	uint8_t ctc_bits; /* the number of known bits of `ctc` */
	uint64_t base, width;
	int64_t ticks; /* from `base` to the last change of what MTC watches */

	bool in_psb, psb_tsc;
	uint64_t cycles;     /* the core clocks of all CYC packets */
	uint64_t psb_cycles; /* the part of `cycles` in the last PSB+ */
};

/*
 * Take the next packet. All packets but TSC, TMA, MTC, CYC, CBR, PSB, PSBEND and OVF are ignored.
 */
void dec_time_take(struct dec_time *t, const struct dec_time_config *c, const struct vpt_packet *p);

/* The core clocks of several CYCs, between which there are no other timing packets. */
struct dec_time_cycs {
	uint64_t clocks;
	uint64_t told; /* the part of `clocks` before the CYCs at hand */
	bool any, in_cycs;
	bool tells; /* `told` is valid */
	bool adds;  /* CYCs can be added: the core:bus ratio is known and did not change */
};

/* Begin to add CYCs. @adjacent: no packet followed the last one that @t has taken. */
static inline struct dec_time_cycs dec_time_begin_cycs(const struct dec_time *t, bool adjacent)
{
	return (struct dec_time_cycs){
		.in_cycs = t->in_cycs && adjacent,
		.adds = t->cbr && t->cbr_min == t->cbr && t->cbr_max == t->cbr,
	};
}

static inline void dec_time_add_cyc(struct dec_time_cycs *cycs, unsigned int clocks)
{
	cycs->told = cycs->in_cycs ? cycs->told : cycs->clocks;
	cycs->tells |= !cycs->in_cycs;
	cycs->in_cycs = cycs->any = true;
	cycs->clocks += clocks;
}

/* Take the CYCs that were added. */
void dec_time_end_cycs(struct dec_time *t, const struct dec_time_cycs *cycs);

/* Forget everything but `cycles`, because packets were skipped or another stream begins. */
void dec_time_forget(struct dec_time *t);

/*
 * Bounds of the TSC at the last packet. The bound of dec_time_hi() holds for a packet that is
 * CYC-eligible (33.3.6), and for instructions before a timing packet. The bound of dec_time_until()
 * holds for all instructions before the next timing packet. DEC_NO_BOUND means that there is no
 * bound.
 */
uint64_t dec_time_lo(const struct dec_time *t, const struct dec_time_config *c);
uint64_t dec_time_hi(const struct dec_time *t, const struct dec_time_config *c);
uint64_t dec_time_until(const struct dec_time *t);

/* Estimate the TSC at the last packet. It can lie outside of the bounds. */
uint64_t dec_time_tsc(const struct dec_time *t, const struct dec_time_config *c);

#endif /* VMM_LIBDECODE_TIME_H */
