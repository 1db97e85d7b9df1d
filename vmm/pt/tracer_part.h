/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording of a run in parts. Each part is a .vpt file that can be decoded and verified
 * alone. A part ends behind PSB+, and the next part begins with a copy of this PSB+. So every
 * instruction is in exactly one part. The tracer needs TRACER_CONFIG_PARTS, and
 * TRACER_CONFIG_BLOCKS.
 */
#ifndef VMM_PT_TRACER_PART_H
#define VMM_PT_TRACER_PART_H

#include "pt/tracer.h"

/*
 * Return how many bytes of trace the unit sends before the next PSB. Returns 0 if no session is
 * open, and UINT64_MAX if no PSB will come.
 */
uint64_t tracer_part_distance(const struct tracer *t);

/* The caller's knowledge for tracer_part_fits(). */
enum tracer_part_flags {
	/* Since the last call one instruction has retired, and no exception was delivered. */
	TRACER_PART_RETIRED = 1 << 0,
	/* Between two sessions, accept that the next one may not begin with a PSB. */
	TRACER_PART_ANYWHERE = 1 << 1,
};

/*
 * Returns true if a part can end before the instruction at @ip. In a session the trace must end
 * with a PSB+ whose address is @ip, and @flags must have RETIRED. Between two sessions
 * PacketByteCnt must be 0, so that the next one begins with a PSB. No session may have begun
 * without a PSB before, because the guest restores PacketByteCnt. A session without a PSB cannot be
 * decoded before its first PSB. With ANYWHERE these two conditions are waived.
 */
bool tracer_part_fits(struct tracer *t, uint64_t ip, uint32_t flags);

/*
 * Continue the recording in the file of @next, before the instruction at @ip. The caller has
 * found that tracer_part_fits(), has written to @next what precedes the trace, and then closes the
 * old writer. The caller also makes the engine forget code that it has reported. Returns 0 or
 * -errno.
 */
int tracer_part_begin(struct tracer *t, struct trace_writer *next, uint64_t ip);

#endif /* VMM_PT_TRACER_PART_H */
