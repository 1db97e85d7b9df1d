/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The beginning of another generation of a ring (trace/ring.h), between two instructions of all vCPUs.
 * It is for a host's trace of PT without the model of an internal buffer.
 */
#ifndef VMM_PT_TRACER_RING_H
#define VMM_PT_TRACER_RING_H

#include "pt/tracer.h"
#include "trace/ring.h"

/* Returns true if the file has a session of the present trace. */
bool tracer_ring_is_open(const struct tracer *t);
/* Send a PSB now. */
void tracer_ring_psb(struct tracer *t, uint64_t ip);
/* Give all trace up to here to the writer, before trace_ring_turn(). @ip: the next instruction. */
void tracer_ring_end(struct tracer *t, uint64_t ip);
/*
 * Begin the generation: send a PSB if a session is open, write the state, and forget which code and
 * spaces were recorded. The caller also makes the engine forget code that it has reported. Returns 0
 * or -errno.
 */
int tracer_ring_begin(struct tracer *t, struct trace_ring *ring, uint64_t ip);

#endif /* VMM_PT_TRACER_RING_H */
