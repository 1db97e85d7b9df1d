/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same flow into two outputs must give the same bytes. A payload traces once into a large
 * buffer, the reference, and then into the output under test.
 */
#ifndef GUEST_PT_RING_H
#define GUEST_PT_RING_H

#include "trace.h"

/* The byte that fills the pages around an output, to detect strays. */
#define RING_CANARY 0xc5

/* Trace noise(rounds) into `t`'s own buffer. Returns false on failure. */
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

/* ring_guard() fills a page with the canary, and ring_guard_intact() checks it. */
void ring_guard(uint8_t *page, uint64_t bytes);
bool ring_guard_intact(const uint8_t *page, uint64_t bytes);

#endif /* GUEST_PT_RING_H */
