/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a stream one by one, with the begin of each group, and the time.
 *
 * A group is all packets of one branch or event, such as PIP, MODE and FUP. The last is a TNT or a
 * kind of TIP. Within a group perf takes no TSC packet, such as between FUP and TIP. A PSB+ ends a
 * group.
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
	unsigned int mtc_freq; /* MTCFreq of the session that is being read */

	uint64_t at;	/* the next packet */
	uint64_t group; /* where that packet's group begins */
	bool in_psb;

	bool has_tsc;
	uint64_t tsc; /* the time, as far as TSC and MTC packets tell */
	struct dec_time time;

	struct vpt_parser parser;
};

/* Zero but bytes, caps and mtc_freq, or in use: go on there, whatever the packets before were. */
void export_scan_segment(struct export_scan *s, uint64_t begin, uint64_t end);

/*
 * Read the next packet. False at the end; what begins no packet is left out up to the
 * next PSB.
 */
bool export_scan_next(struct export_scan *s, struct vpt_packet *packet, uint64_t *at);

/*
 * The PSB from which on no code is 16 bits wide, EXPORT_SCAN_NONE if none is left then;
 * *bits16 says if there was such code at all.
 */
uint64_t export_scan_start(const uint8_t *bytes, size_t len, bool *bits16);

#endif /* VMM_EXPORT_SCAN_H */
