/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gap in the recording of a host's trace of PT, between two instructions of all vCPUs. The unit goes
 * on, and code is still recorded. The session ends with TRACE_END_LOST, and another begins after the
 * gap, whose counter has the instructions that are missing. No model of an internal buffer.
 */
#ifndef VMM_PT_TRACER_DROP_H
#define VMM_PT_TRACER_DROP_H

#include "pt/tracer.h"

/* Record what is due, and then no more trace. @ip: the next instruction. */
void tracer_drop_begin(struct tracer *t, uint64_t ip);
/* Return the number of bytes in all gaps so far. */
uint64_t tracer_drop_bytes(const struct tracer *t);
/* Record trace again, from a PSB on. A session that is not open begins with a PSB. */
void tracer_drop_end(struct tracer *t, uint64_t ip);

#endif /* VMM_PT_TRACER_DROP_H */
