// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Single-range output (33.2.7.1): one circular region, described by two MSRs. */
#include "output_scheme.h"

unsigned int vpt_single_start(struct vpt_output *out, const struct vpt_rtit *rtit)
{
	out->kind = VPT_OUTPUT_SINGLE;
	out->mask = (rtit->output_mask_ptrs & VPT_MASK64(31, 0)) | VPT_LOWER_MASK;
	out->offset = rtit->output_mask_ptrs >> 32;
	out->base = rtit->output_base;
	/* Aligned, as checked below: region + offset is [SR-ADDRESS] and can't overflow. */
	out->region = out->base;
	out->size = out->mask + 1;

	/* In the manual's order, which decides when more than one applies. */
	if (out->mask & (out->mask + 1)) /* [SR-MASK-CONTIGUOUS] */
		return vpt_output_fail(out, VPT_OUT_ERR_MASK_GAP);
	if (out->base & out->mask) /* [SR-BASE-ALIGN] */
		return vpt_output_fail(out, VPT_OUT_ERR_BASE_UNALIGNED);
	if (out->offset > out->mask) /* [SR-OFFSET] */
		return vpt_output_fail(out, VPT_OUT_ERR_OFFSET_PAST_MASK);
	return VPT_OUT_OK;
}
