/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What time it was at each point of a stream (33.8.3.2), from its timing packets: an
 * estimate, and bounds that hold the true value.
 *
 * TSC packets, and MTC packets once a TMA has tied them to a TSC, say what time it is.
 * Between two of them CYC packets count core clocks, which are made TSC ticks by the ratio
 * in CBR, and then stretched so that they come out right at the next one. A TSC packet on
 * its own comes after time that nothing counted (a sleep, no TraceEn): up to there only CBR
 * tells, and it corrects. Of RTIT, STS is TSC and CBR in one, and MTC needs no TMA.
 *
 * The bounds take a stream at its word, with one reserve: the true core:bus ratio is
 * within 1 of what the last CBR packet says. Where nothing bounds, a bound is 0 or ~0.
 * Streams may be hostile: then times are nonsense, and nothing worse.
 */
#ifndef VMM_DECODE_TIMELINE_H
#define VMM_DECODE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/caps.h"

/* CTL from a place in the stream on. */
struct decode_timeline_session {
	uint64_t at;
	uint64_t ctl;
	bool goes_on; /* RTIT: nothing else happened; else there was no trace before it */
};

struct decode_timeline_config {
	const uint8_t *bytes; /* as long as the timeline */
	size_t len;
	const struct vpt_caps *caps;
	bool atom;					/* Atom's, and not PT's packets; */
	uint8_t errata;					/* enum vpt_atom_erratum */
	const struct decode_timeline_session *sessions; /* the first one's `at` does not count */
	size_t nsessions;				/* 0: as if all timing packets were on */
};

struct decode_when {
	bool known;    /* else nothing here counts but `cycles` */
	bool relative; /* there was no TSC packet: `tsc` began as 0 somewhere */
	uint64_t tsc;  /* the estimate, 56 bits and what they carried over */
	uint64_t lo, hi;
	uint64_t until;	 /* as `hi`, for what ran from here to the next packet */
	uint64_t cycles; /* core clocks since the stream began, by CYC */
	/* Core clocks and TSC ticks between the two times that are known around here:
	 * their ratio is that of the frequencies (33.8.3.4). 0: not known. */
	uint64_t span_cycles, span_ticks;
};

/* Over all spans whose both ends are known and that nothing interrupts. */
struct decode_timeline_sum {
	uint64_t cycles, ticks;
};

struct decode_timeline;

/* NULL: memory. `config` itself is copied, what it points to is not. */
struct decode_timeline *decode_timeline_new(const struct decode_timeline_config *config);
void decode_timeline_free(struct decode_timeline *line);

/*
 * The time at the last packet that ends at or before `offset`, timing packets included;
 * and at the last one that is not a timing packet, for a decoder that has read that far:
 * such read timing packets that belong to what comes next. Offsets must not fall.
 */
void decode_timeline_packet(struct decode_timeline *line, uint64_t offset,
			    struct decode_when *time);
void decode_timeline_flow(struct decode_timeline *line, uint64_t offset, struct decode_when *time);

/* Up to the last offset asked for. */
void decode_timeline_sum(const struct decode_timeline *line, struct decode_timeline_sum *sum);

#endif /* VMM_DECODE_TIMELINE_H */
