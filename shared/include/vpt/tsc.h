/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * TSC offsetting and scaling (33.5.2.1, 33.5.2.4, 33.8.3.3): the exact TSC of packets in non-root
 * operation, and the CPUID values that the decoder of a guest needs.
 */
#ifndef VPT_TSC_H
#define VPT_TSC_H

#include "caps.h"

VPT_BEGIN_DECLS

/* The fields of the VMCS: guest = (host * multiplier >> 48) + offset, modulo 2^64. */
struct vpt_tsc {
	uint64_t offset;
	uint64_t multiplier; /* VPT_TSC_ONE: not scaled */
};

#define VPT_TSC_ONE VPT_BIT64(48)

uint64_t vpt_tsc_guest(const struct vpt_tsc *tsc, uint64_t host);

/*
 * Returns the host TSCs that give a guest value, *first to *last, both inclusive. Returns
 * VPT_E_INVAL if the multiplier is 0, or if no host TSC gives the value, which a multiplier above
 * one can cause. If scaling exceeds 64 bits, so that values repeat, returns the first ones.
 */
enum vpt_status vpt_tsc_host(const struct vpt_tsc *tsc, uint64_t guest, uint64_t *first,
			     uint64_t *last) VPT_MUST_CHECK;

/*
 * The same for the 56 bits of a TSC packet. Of all guest values that end in `payload` it takes the
 * one nearest to the guest value at the host TSC `about`. Returns VPT_E_INVAL also for a payload of
 * more than 56 bits.
 */
enum vpt_status vpt_tsc_host_packet(const struct vpt_tsc *tsc, uint64_t payload, uint64_t about,
				    uint64_t *first, uint64_t *last) VPT_MUST_CHECK;

/*
 * Combine the pairs of nested guests: `inner` applies to the TSC that `outer` makes. The product of
 * the multipliers is rounded down to 48 fraction bits. The outer offset is signed and scaled
 * towards zero, as by software that writes a VMCS. A multiplier of 0 in the result means that the
 * product has no representation.
 */
struct vpt_tsc vpt_tsc_nest(const struct vpt_tsc *outer, const struct vpt_tsc *inner);

/*
 * Compute the capabilities that a guest with this TSC shall see: CPUID.15H and the maximum
 * non-turbo ratio, scaled (33.5.2.4). Values are rounded to the nearest, within 2^-31 for CPUID.15H
 * and a half for the ratio.
 *
 * Returns VPT_E_CAPS with *guest unchanged if the scaled values have no representation, or if the
 * crystal would be the faster clock.
 */
enum vpt_status vpt_tsc_caps(const struct vpt_caps *host, const struct vpt_tsc *tsc,
			     struct vpt_caps *guest) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_TSC_H */
