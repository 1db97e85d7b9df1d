// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Single-range output (33.2.7.1): one circular region, described by two MSRs. */
#include "output_scheme.h"

/*
 * [SR-ADDRESS] The offset is less than the size, and the base is aligned to the size, as is
 * checked. So region + offset is the base plus the offset under the mask.
 */
void vpti_single_describe(struct vpt_output *out, uint64_t base, uint64_t mask, uint64_t offset)
{
	out->kind = VPT_OUTPUT_SINGLE;
	out->base = base;
	out->mask = mask;
	out->offset = offset;
	out->region = base;
	out->size = mask + 1;
}

enum vpt_output_error vpti_single_start(struct vpt_output *out, const struct vpt_rtit *rtit,
					unsigned int *events)
{
	vpti_single_describe(out, rtit->output_base,
			     (rtit->output_mask_ptrs & VPT_MASK64(31, 0)) | VPTI_LOWER_MASK,
			     rtit->output_mask_ptrs >> 32);
	(void)events;

	/* In the manual's order, which decides when more than one applies. */
	if (out->mask & (out->mask + 1)) /* [SR-MASK-CONTIGUOUS] */
		return VPT_OUT_ERR_MASK_GAP;
	if (out->base & out->mask) /* [SR-BASE-ALIGN] */
		return VPT_OUT_ERR_BASE_UNALIGNED;
	if (out->offset > out->mask) /* [SR-OFFSET] */
		return VPT_OUT_ERR_OFFSET_PAST_MASK;
	return VPT_OUT_ERR_NONE;
}

enum vpt_output_error vpti_single_filled(struct vpt_output *out, unsigned int *events)
{
	(void)events;
	out->offset = 0; /* [SR-WRAP] */
	return VPT_OUT_ERR_NONE;
}

uint64_t vpti_single_low(const struct vpt_output *out)
{
	return out->mask;
}
