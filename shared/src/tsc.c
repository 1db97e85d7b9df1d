/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * TSC offsetting and scaling, exact. Products have 128 bits; nothing is divided, as
 * neither a kernel nor a freestanding host has a division of that size.
 */
#include "vpt/tsc.h"

__extension__ typedef unsigned __int128 vpti_u128;

#define VPTI_TSC_FRACTION 48 /* bits of a multiplier behind the point */
#define VPTI_TSC_PAYLOAD  56 /* bits in a TSC packet */

static vpti_u128 vpti_product(uint64_t a, uint64_t b)
{
	return (vpti_u128)a * b;
}

/* Scaled without being cut to 64 bits: below 2^80. */
static vpti_u128 vpti_scaled(const struct vpt_tsc *tsc, uint64_t host)
{
	return vpti_product(host, tsc->multiplier) >> VPTI_TSC_FRACTION;
}

uint64_t vpt_tsc_guest(const struct vpt_tsc *tsc, uint64_t host)
{
	/* [VMX-TSC-GUEST] */
	return (uint64_t)vpti_scaled(tsc, host) + tsc->offset;
}

/* The least n with n * multiplier >= product, which ~0 * multiplier is. */
static uint64_t vpti_least(uint64_t multiplier, vpti_u128 product)
{
	uint64_t low = 0, high = ~(uint64_t)0;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (vpti_product(middle, multiplier) >= product)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The host TSCs that are scaled to exactly this. */
static enum vpt_status vpti_unscale(const struct vpt_tsc *tsc, vpti_u128 scaled, uint64_t *first,
				    uint64_t *last)
{
	const vpti_u128 most = vpti_scaled(tsc, ~(uint64_t)0);
	uint64_t low;

	if (!tsc->multiplier || scaled > most)
		return VPT_E_INVAL;
	low = vpti_least(tsc->multiplier, scaled << VPTI_TSC_FRACTION);
	if (vpti_scaled(tsc, low) != scaled)
		return VPT_E_INVAL;
	*first = low;
	*last = ~(uint64_t)0;
	if (scaled < most)
		*last = vpti_least(tsc->multiplier, (scaled + 1) << VPTI_TSC_FRACTION) - 1;
	return VPT_OK;
}

enum vpt_status vpt_tsc_host(const struct vpt_tsc *tsc, uint64_t guest, uint64_t *first,
			     uint64_t *last)
{
	return vpti_unscale(tsc, guest - tsc->offset, first, last);
}

enum vpt_status vpt_tsc_host_packet(const struct vpt_tsc *tsc, uint64_t payload, uint64_t about,
				    uint64_t *first, uint64_t *last)
{
	const vpti_u128 period = VPT_BIT64(VPTI_TSC_PAYLOAD);
	const vpti_u128 near = vpti_scaled(tsc, about), most = vpti_scaled(tsc, ~(uint64_t)0);
	vpti_u128 ahead;

	if (payload >> VPTI_TSC_PAYLOAD)
		return VPT_E_INVAL;
	/* [VMX-TSC-PACKET] how far ahead of `about` the payload comes next; it came before
	 * one period earlier, but neither before TSC 0 nor after the last */
	ahead = (payload - tsc->offset - (uint64_t)near) & (VPT_BIT64(VPTI_TSC_PAYLOAD) - 1);
	if ((ahead > period / 2 || near + ahead > most) && near + ahead >= period)
		return vpti_unscale(tsc, near + ahead - period, first, last);
	return vpti_unscale(tsc, near + ahead, first, last);
}

/* offset * multiplier, the offset being signed, rounded towards 0. */
static uint64_t vpti_scale_offset(uint64_t offset, uint64_t multiplier)
{
	const bool negative = offset >> 63;
	const uint64_t size = negative ? 0 - offset : offset;
	const uint64_t scaled = (uint64_t)(vpti_product(size, multiplier) >> VPTI_TSC_FRACTION);

	return negative ? 0 - scaled : scaled;
}

struct vpt_tsc vpt_tsc_nest(const struct vpt_tsc *outer, const struct vpt_tsc *inner)
{
	const vpti_u128 both =
		vpti_product(outer->multiplier, inner->multiplier) >> VPTI_TSC_FRACTION;
	struct vpt_tsc tsc;

	/* [VMX-TSC-NEST] */
	tsc.multiplier = both >> 64 ? 0 : (uint64_t)both;
	tsc.offset = vpti_scale_offset(outer->offset, inner->multiplier) + inner->offset;
	return tsc;
}

/* value * 2^shift scaled to the nearest; false where this has more than 32 bits. */
static bool vpti_nearest(const struct vpt_tsc *tsc, uint32_t value, unsigned int shift,
			 uint32_t *result, bool *exact)
{
	const vpti_u128 product = vpti_product((uint64_t)value << shift, tsc->multiplier);
	const vpti_u128 rounded = (product + VPT_BIT64(VPTI_TSC_FRACTION - 1)) >> VPTI_TSC_FRACTION;

	*result = (uint32_t)rounded;
	*exact = !((uint64_t)product & (VPT_BIT64(VPTI_TSC_FRACTION) - 1));
	return !(rounded >> 32);
}

/*
 * EBX/EAX: EAX is doubled until EBX is exact, or for as long as both fit, so that as
 * little as possible is lost.
 */
static bool vpti_scale_ratio(const struct vpt_caps *host, const struct vpt_tsc *tsc,
			     struct vpt_caps *guest)
{
	unsigned int shift;
	uint32_t ebx;
	bool exact, found = false;

	for (shift = 0; (uint64_t)host->l15_eax << shift >> 32 == 0; shift++) {
		if (!vpti_nearest(tsc, host->l15_ebx, shift, &ebx, &exact))
			break;
		guest->l15_eax = host->l15_eax << shift;
		guest->l15_ebx = ebx;
		found = true;
		if (exact)
			break;
	}
	/* [CAPS-CRYSTAL] holds for every set of capabilities. */
	return found && guest->l15_ebx > guest->l15_eax;
}

enum vpt_status vpt_tsc_caps(const struct vpt_caps *host, const struct vpt_tsc *tsc,
			     struct vpt_caps *guest)
{
	struct vpt_caps scaled = *host;
	uint32_t nonturbo = 0;
	bool exact;

	/* [VMX-TSC-RATIO] */
	if (!tsc->multiplier)
		return VPT_E_CAPS;
	/* A ratio that is not enumerated stays that way. */
	if (host->l15_eax && !vpti_scale_ratio(host, tsc, &scaled))
		return VPT_E_CAPS;
	if (host->max_nonturbo) {
		if (!vpti_nearest(tsc, host->max_nonturbo, 0, &nonturbo, &exact) || !nonturbo ||
		    nonturbo > 0xff)
			return VPT_E_CAPS;
		scaled.max_nonturbo = (uint8_t)nonturbo;
	}
	*guest = scaled;
	return VPT_OK;
}
