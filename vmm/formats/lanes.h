/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lanes of a walk: a lane for each address space on each vCPU. */
#ifndef VMM_FORMATS_LANES_H
#define VMM_FORMATS_LANES_H

#include "formats/format.h"

/*
 * Find or make the lane of a space on the current vCPU; @space is NULL if nothing is known of it.
 * Returns 0 or -errno.
 */
int format_lanes_find(struct format_run *run, const struct trace_space *space,
		      struct format_lane **lane);
/* The side of a lane in a trace that spans a host and its guests. */
enum format_side { FORMAT_NO_SIDE, FORMAT_HOST, FORMAT_GUEST };
enum format_side format_lane_side(const struct format_lane *lane);
/* Report and count the calls of a lane from here on, or do neither. */
enum format_spans { FORMAT_NO_SPANS, FORMAT_SPANS };
void format_lane_watch(struct format_lane *lane, enum format_spans how);
void format_lanes_free(struct format_run *run);

#endif /* VMM_FORMATS_LANES_H */
