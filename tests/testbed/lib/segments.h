/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The segments of a KVM guest in 64-bit mode at CPL 0. */
#ifndef BED_TESTBED_SEGMENTS_H
#define BED_TESTBED_SEGMENTS_H

#include <linux/kvm.h>

/* Set flat segments: selector 8 for code, 16 for data. */
static inline void set_flat_segments(struct kvm_sregs *sregs)
{
	const struct kvm_segment code = {.limit = 0xffffffff,
					 .selector = 8,
					 .type = 11,
					 .present = 1,
					 .s = 1,
					 .l = 1,
					 .g = 1};
	const struct kvm_segment data = {.limit = 0xffffffff,
					 .selector = 16,
					 .type = 3,
					 .present = 1,
					 .s = 1,
					 .db = 1,
					 .g = 1};

	sregs->cs = code;
	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss = data;
}

#endif
