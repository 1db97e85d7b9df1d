/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The core crystal clock (ART) and the time-stamp counter, each from the other, with the
 * ratio P of CPUID.15H: EBX / EAX. Products of remainders have 64 bits at most.
 */
#include "vpt/clock.h"

#define VPTI_FAST_MAX 0x1ffu /* FastCounter has 9 bits (table 33-32) */

/* [TIME-NO-RATIO] */
bool vpt_clock_has_art(const struct vpt_caps *caps)
{
	return caps->l15_eax && caps->l15_ebx;
}

/* [TIME-ART] */
uint64_t vpt_clock_art(const struct vpt_caps *caps, uint64_t tsc)
{
	uint64_t num = caps->l15_ebx, den = caps->l15_eax;

	if (!vpt_clock_has_art(caps))
		return 0;
	return tsc / num * den + tsc % num * den / num;
}

uint64_t vpt_clock_tsc(const struct vpt_caps *caps, uint64_t art)
{
	uint64_t num = caps->l15_ebx, den = caps->l15_eax, rest;

	if (!vpt_clock_has_art(caps))
		return 0;
	rest = art % den * num;
	return art / den * num + rest / den + (rest % den != 0);
}

/* [TIME-FAST] */
unsigned int vpt_clock_fast(const struct vpt_caps *caps, uint64_t tsc)
{
	uint64_t since = tsc - vpt_clock_tsc(caps, vpt_clock_art(caps, tsc));

	if (!vpt_clock_has_art(caps))
		return 0;
	return since < VPTI_FAST_MAX ? (unsigned int)since : VPTI_FAST_MAX;
}
