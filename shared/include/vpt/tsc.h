/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * TSC offsetting and scaling (33.5.2.1, 33.5.2.4, 33.8.3.3): what TSC packets of non-root
 * operation carry, exactly, and what a guest must be told for its decoder to follow.
 */
#ifndef VPT_TSC_H
#define VPT_TSC_H

#include "caps.h"

VPT_BEGIN_DECLS

/* As the VMCS has them: guest = (host * multiplier >> 48) + offset, modulo 2^64. */
struct vpt_tsc {
	uint64_t offset;
	uint64_t multiplier; /* VPT_TSC_ONE: not scaled */
};

#define VPT_TSC_ONE VPT_BIT64(48)

uint64_t vpt_tsc_guest(const struct vpt_tsc *tsc, uint64_t host);

/*
 * The host TSCs that a guest value stands for: *first to *last, both inclusive; with a
 * multiplier above one a guest value may stand for none. VPT_E_INVAL then, and for a
 * multiplier of 0. Where scaling goes beyond 64 bits, and so comes by a value again, these
 * are the first.
 */
enum vpt_status vpt_tsc_host(const struct vpt_tsc *tsc, uint64_t guest, uint64_t *first,
			     uint64_t *last) VPT_MUST_CHECK;

/*
 * The same for the 56 bits that a TSC packet has: of all guest values that end in them the
 * one nearest to what the guest has at the host TSC `about`. VPT_E_INVAL also for a
 * payload of more than 56 bits.
 */
enum vpt_status vpt_tsc_host_packet(const struct vpt_tsc *tsc, uint64_t payload, uint64_t about,
				    uint64_t *first, uint64_t *last) VPT_MUST_CHECK;

/*
 * `inner` runs on what `outer` makes of the host's: one pair for both (nested guests). The
 * multipliers' product is rounded down to 48 fraction bits, and the outer offset, which is
 * signed, scaled towards zero, as software does that writes a VMCS. Multiplier 0: the
 * product has no representation.
 */
struct vpt_tsc vpt_tsc_nest(const struct vpt_tsc *outer, const struct vpt_tsc *inner);

/*
 * Capabilities as a guest with this TSC is to see them: CPUID.15H and the
 * maximum non-turbo ratio scaled (33.5.2.4), to the nearest where there is no exact value:
 * within 2^-31 of the former, a half of the latter. VPT_E_CAPS: the scaled values have no
 * representation, or the crystal would be the faster clock; *guest is then not changed.
 */
enum vpt_status vpt_tsc_caps(const struct vpt_caps *host, const struct vpt_tsc *tsc,
			     struct vpt_caps *guest) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_TSC_H */
