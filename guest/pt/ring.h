/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same flow into two outputs must give the same bytes. A payload traces once
 * into a buffer that has room for all, the reference, and then into the output
 * it is about.
 */
#ifndef GUEST_PT_RING_H
#define GUEST_PT_RING_H

#include "trace.h"

/* The byte that fills the pages around an output, to detect strays. */
#define RING_CANARY 0xc5

/* Trace noise(rounds) into `t`'s own buffer; false if that went wrong. */
bool ring_reference(struct trace *t, uint64_t rounds);

/* Trace the same through `drv`, whose output is set. Returns STATUS. */
uint64_t ring_trace(struct guest_drv *drv, uint64_t rounds);

/*
 * Compare a circular output with the last lap of the reference. `lap` holds the regions of the
 * output in order, lap_bytes of them. `position`, counted from the first byte of `lap`, must be
 * where the reference ends.
 */
void ring_report(const struct trace *reference, const uint8_t *lap, uint64_t lap_bytes,
		 uint64_t position);

/* Fill with the canary; is all of it still there? */
void ring_guard(uint8_t *page, uint64_t bytes);
bool ring_guard_intact(const uint8_t *page, uint64_t bytes);

#endif /* GUEST_PT_RING_H */
