/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a stream one by one, with the begin of each group, and the time.
 *
 * A group is all packets of one branch or event, such as PIP, MODE and FUP. The last packet of a
 * group is a TNT or a kind of TIP. Within a group, such as between FUP and TIP, perf accepts no TSC
 * packet. A PSB+ ends a group.
 */
#ifndef VMM_EXPORT_SCAN_H
#define VMM_EXPORT_SCAN_H

#include "libdecode/time.h"
#include "vpt/caps.h"
#include "vpt/packet.h"

#define EXPORT_SCAN_NONE UINT64_MAX

struct export_scan {
	const uint8_t *bytes;
	size_t len;
	const struct vpt_caps *caps;
	unsigned int mtc_freq; /* MTCFreq of the current session */

	uint64_t at;	/* the offset of the next packet */
	uint64_t group; /* the offset of that packet's group */
	bool in_psb;

	bool has_tsc;
	uint64_t tsc; /* the time from TSC and MTC packets */
	struct dec_time time;

	struct vpt_parser parser;
};

/*
 * Start a segment. The caller sets bytes, caps and mtc_freq and clears the rest before the first
 * segment. The time continues from the previous segment.
 */
void export_scan_segment(struct export_scan *s, uint64_t begin, uint64_t end);

/*
 * Read the next packet. Returns false at the end. After bytes that form no packet, reading resumes
 * at the next PSB.
 */
bool export_scan_next(struct export_scan *s, struct vpt_packet *packet, uint64_t *at);

/*
 * Find the PSB after which no code is 16-bit. Returns EXPORT_SCAN_NONE if none is left. *bits16 is
 * set if there is any 16-bit code.
 */
uint64_t export_scan_start(const uint8_t *bytes, size_t len, bool *bits16);

#endif /* VMM_EXPORT_SCAN_H */
