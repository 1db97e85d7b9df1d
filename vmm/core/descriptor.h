/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments, as a selector or the core names them. */
#ifndef VMM_CORE_DESCRIPTOR_H
#define VMM_CORE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/arch.h"

struct vpt_vcpu;
struct vpt_exception;

/*
 * The segment that a selector names. `bad`: the vector of the
 * exception if there is none, `external` its EXT bit.
 */
bool vpt_descriptor(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		    struct vpt_segment *seg, struct vpt_exception *e);
struct vpt_segment vpt_flat_segment(uint16_t selector, bool code, bool wide, uint8_t dpl);
struct vpt_segment vpt_null_ss(uint8_t dpl);

#endif /* VMM_CORE_DESCRIPTOR_H */
