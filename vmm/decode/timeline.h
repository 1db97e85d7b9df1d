/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compute the time at each point of a stream (33.8.3.2) from its timing packets: an estimate, and
 * bounds of the true value.
 *
 * TSC packets have the time, and so do MTC packets once a TMA has tied them to a TSC. Between two
 * of these, CYC packets count core clocks. The ratio in CBR converts the clocks to TSC ticks, which
 * are then scaled to match the next known time. A TSC packet outside a PSB+ follows time that was
 * not counted, such as a sleep or clear TraceEn. Up to such a packet only CBR gives the ratio, and
 * the packet corrects the time. In RTIT, STS has both TSC and CBR, and MTC needs no TMA.
 *
 * The bounds assume that the stream is correct, with one exception. The true core:bus ratio is
 * within 1 of the last CBR packet. A missing bound is 0 or ~0. A hostile stream leads to
 * meaningless times, but to no other harm.
 */
#ifndef VMM_DECODE_TIMELINE_H
#define VMM_DECODE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/caps.h"

/* The value of CTL from an offset in the stream on. */
struct decode_timeline_session {
	uint64_t at;
	uint64_t ctl;
	bool goes_on; /* RTIT: the session continues the previous one; otherwise tracing was off */
};

struct decode_timeline_config {
	const uint8_t *bytes; /* must stay valid as long as the timeline */
	size_t len;
	const struct vpt_caps *caps;
	bool atom;					/* the packets are Atom's instead of PT's */
	uint8_t errata;					/* enum vpt_atom_erratum */
	const struct decode_timeline_session *sessions; /* `at` of the first session is ignored */
	size_t nsessions;				/* 0: all timing packets count as enabled */
};

struct decode_when {
	bool known;    /* if clear, only `cycles` is valid */
	bool relative; /* no TSC packet came, and `tsc` counts from an arbitrary 0 */
	uint64_t tsc;  /* the estimate: 56 bits, and the carry of wraps */
	uint64_t lo, hi;
	uint64_t until;	 /* like `hi`, for instructions from here to the next packet */
	uint64_t cycles; /* core clocks since the start of the stream, by CYC */
	/*
	 * The core clocks and TSC ticks between the two known times around this point. Their ratio
	 * is that of the frequencies (33.8.3.4). 0 if not known.
	 */
	uint64_t span_cycles, span_ticks;
};

/* The sums over all uninterrupted spans between two known times. */
struct decode_timeline_sum {
	uint64_t cycles, ticks;
};

struct decode_timeline;

/*
 * Create a timeline. `config` is copied, except for the memory that it points to. Returns NULL if
 * there is no memory.
 */
struct decode_timeline *decode_timeline_new(const struct decode_timeline_config *config);
void decode_timeline_free(struct decode_timeline *line);

/*
 * Get the time at the last packet that ends at or before `offset`. The first function includes
 * timing packets. The second function excludes them, for a decoder that has read up to `offset`.
 * Such a decoder reads ahead timing packets of later items. Offsets must not decrease.
 */
void decode_timeline_packet(struct decode_timeline *line, uint64_t offset,
			    struct decode_when *time);
void decode_timeline_flow(struct decode_timeline *line, uint64_t offset, struct decode_when *time);

/* Get the sums up to the last requested offset. */
void decode_timeline_sum(const struct decode_timeline *line, struct decode_timeline_sum *sum);

#endif /* VMM_DECODE_TIMELINE_H */
