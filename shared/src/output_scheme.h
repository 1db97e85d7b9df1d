/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What output.c and the output schemes need of one another. Not for callers.
 *
 * A scheme offers regions: it sets region, size, offset and int_at, and is told
 * when the region is full. output.c moves the bytes and owns the mapped stretch.
 */
#ifndef VPT_OUTPUT_SCHEME_H
#define VPT_OUTPUT_SCHEME_H

#include <vpt/output.h>

VPT_BEGIN_DECLS

/* vpt_output.int_at of a region that owes no INT. */
#define VPT_INT_NEVER (~(uint64_t)0)

/* Bits 6:0 of OUTPUT_MASK_PTRS read as one (table 33-9). */
#define VPT_LOWER_MASK 0x7fu

/* Offset in the region of the next byte. Not for STREAM. */
static inline uint64_t vpt_output_offset(const struct vpt_output *out)
{
	if (out->cur)
		return (uint64_t)(uintptr_t)out->cur + out->gpa_delta - out->region;
	return out->offset;
}

/* Raise an operational error: returns VPT_OUT_ERROR. The cursor stays. */
unsigned int vpt_output_fail(struct vpt_output *out, enum vpt_output_error why);

/* The start of each scheme, as vpt_output_start(). */
unsigned int vpt_single_start(struct vpt_output *out, const struct vpt_rtit *rtit);
unsigned int vpt_topa_start(struct vpt_output *out, const struct vpt_rtit *rtit);
unsigned int vpt_stream_start(struct vpt_output *out);

/* The last byte of a ToPA region was written: STOP, or on to the next entry. */
unsigned int vpt_topa_filled(struct vpt_output *out);

void vpt_stream_put(struct vpt_output *out, const uint8_t *bytes, size_t len);
void vpt_stream_flush(struct vpt_output *out);

VPT_END_DECLS

#endif /* VPT_OUTPUT_SCHEME_H */
