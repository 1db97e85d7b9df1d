/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The interface between output.c and the output schemes. Not for callers.
 *
 * A scheme supplies regions: it sets region, size, offset and int_at. output.c moves bytes, owns
 * the mapped stretch, and calls the scheme when the region is full. No scheme calls output.c. A scheme
 * returns an operational error as a value.
 */
#ifndef VPTI_OUTPUT_SCHEME_H
#define VPTI_OUTPUT_SCHEME_H

#include <vpt/output.h>

VPT_BEGIN_DECLS

/* vpt_output.int_at of a region that owes no INT. */
#define VPTI_INT_NEVER (~(uint64_t)0)

/* Bits 6:0 of OUTPUT_MASK_PTRS read as one (table 33-9). */
#define VPTI_LOWER_MASK 0x7fu

/* Offset in the region of the next byte. Not for STREAM. */
static inline uint64_t vpti_output_offset(const struct vpt_output *out)
{
	if (out->cur)
		return (uint64_t)(uintptr_t)out->cur + out->gpa_delta - out->region;
	return out->offset;
}

/* Single range. The region is to be described as if the registers held these values. */
void vpti_single_describe(struct vpt_output *out, uint64_t base, uint64_t mask, uint64_t offset);

/*
 * Start each scheme from the registers. Returns the operational error, or
 * VPT_OUT_ERR_NONE. Sets VPT_OUT_INT in @events if an INT is due at once.
 */
enum vpt_output_error vpti_single_start(struct vpt_output *out, const struct vpt_rtit *rtit,
					unsigned int *events);
enum vpt_output_error vpti_topa_start(struct vpt_output *out, const struct vpt_rtit *rtit,
				      unsigned int *events);
enum vpt_output_error vpti_stream_start(struct vpt_output *out, const struct vpt_rtit *rtit,
					unsigned int *events);

/*
 * The last byte of a region was written: wrap, stop, or open the next region. Returns the
 * operational error, or VPT_OUT_ERR_NONE. Sets VPT_OUT_STOP or VPT_OUT_INT in @events.
 */
enum vpt_output_error vpti_single_filled(struct vpt_output *out, unsigned int *events);
enum vpt_output_error vpti_topa_filled(struct vpt_output *out, unsigned int *events);

/* Returns bits 31:0 of OUTPUT_MASK_PTRS for the cursor. */
uint64_t vpti_single_low(const struct vpt_output *out);
uint64_t vpti_topa_low(const struct vpt_output *out);

/* The transport stages bytes and hands them on. */
void vpti_stream_put(struct vpt_output *out, const uint8_t *bytes, size_t len);
void vpti_stream_flush(struct vpt_output *out);

VPT_END_DECLS

#endif /* VPTI_OUTPUT_SCHEME_H */
