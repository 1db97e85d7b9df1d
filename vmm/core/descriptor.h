/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments: those that a selector names, and those with fixed attributes. */
#ifndef VMM_CORE_DESCRIPTOR_H
#define VMM_CORE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/arch.h"

struct core_vcpu;
struct engine_exception;

/*
 * Read the segment that a selector names. Returns false with an exception in *e. Its vector is @bad
 * if the selector is beyond its table, and @external is its EXT bit.
 */
bool core_descriptor(struct core_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		     struct x86_segment *seg, struct engine_exception *e);
struct x86_segment core_flat_segment(uint16_t selector, bool code, bool wide, uint8_t dpl);
struct x86_segment core_null_ss(uint8_t dpl);

#endif /* VMM_CORE_DESCRIPTOR_H */
