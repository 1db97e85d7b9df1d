// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Table of physical addresses (33.2.7.2): regions that entries in guest memory
 * name. An entry is read when the cursor reaches it, once, and all that follows
 * is derived from that copy; none is kept for later.
 */
#include "output_scheme.h"

/* Table 33-3, figure 33-2. */
#define ENTRY_END	 VPT_BIT64(0)
#define ENTRY_INT	 VPT_BIT64(2)
#define ENTRY_STOP	 VPT_BIT64(4)
#define ENTRY_SIZE_SHIFT 6
#define ENTRY_SIZE	 VPT_MASK64(9, 6)
#define ENTRY_BASE	 VPT_MASK64(51, 12)
#define ENTRY_RESERVED	 (VPT_BIT64(1) | VPT_BIT64(3) | VPT_BIT64(5) | VPT_MASK64(11, 10))

#define ENTRY_BYTES 8u
#define PAGE_BYTES  4096u

/* proc_trace_table_offset is bits 27:3, from MaskOrTableOffset. */
#define TABLE_OFFSET_MASK VPT_MASK64(27, 3)

/* Is this a processor whose tables hold one output entry and an END? */
static bool one_entry(const struct vpt_output *out)
{
	return !vpt_caps_has(out->caps, VPT_CAP_TOPA_MULTI);
}

/* Does `gpa` have bits that the processor has no address lines for? */
static bool too_wide(const struct vpt_output *out, uint64_t gpa)
{
	return gpa >> out->caps->max_phy_addr;
}

static uint64_t region_size(uint64_t entry)
{
	return (uint64_t)PAGE_BYTES << ((entry & ENTRY_SIZE) >> ENTRY_SIZE_SHIFT); /* [TOPA-SIZE] */
}

static enum vpt_output_error judge_end(const struct vpt_output *out, uint64_t entry)
{
	/* Also what bounds the walk: an END never leads to another END. */
	if (!out->table_offset) /* [TOPA-END-FIRST] */
		return VPT_OUT_ERR_END_FIRST;
	if (entry & (ENTRY_STOP | ENTRY_INT)) /* [TOPA-END-STOPINT] */
		return VPT_OUT_ERR_END_WITH_STOP_INT;
	if (one_entry(out) && (entry & ENTRY_BASE) != out->base) /* [TOPA-SINGLE-BASE] */
		return VPT_OUT_ERR_SINGLE_END_BASE;
	/* Size counts for nothing here [TOPA-END-SIZE]. */
	return VPT_OUT_ERR_NONE;
}

static enum vpt_output_error judge_region(const struct vpt_output *out, uint64_t entry)
{
	/* The rule names entry 1; an index above it is as much a second region. */
	if (one_entry(out) && out->table_offset) /* [TOPA-SINGLE-NOEND] */
		return VPT_OUT_ERR_SINGLE_NO_END;
	if ((entry & ENTRY_BASE) & (region_size(entry) - 1)) /* [TOPA-REGION-ALIGN] */
		return VPT_OUT_ERR_REGION_UNALIGNED;
	return VPT_OUT_ERR_NONE;
}

/*
 * The manual leaves open which error is reported for an entry with several ("ToPA errors"). This
 * function first checks reserved bits and the address width. It then checks 4b, 4a and 4c ii for an
 * END entry, and 4c i and alignment for any other entry.
 */
static enum vpt_output_error judge(const struct vpt_output *out, uint64_t entry)
{
	if (entry & ENTRY_RESERVED) /* [TOPA-RESERVED] */
		return VPT_OUT_ERR_ENTRY_RESERVED;
	if (too_wide(out, entry & ~(uint64_t)(PAGE_BYTES - 1))) /* [TOPA-MAXPHYADDR] */
		return VPT_OUT_ERR_ADDRESS_WIDTH;
	if (entry & ENTRY_END)
		return judge_end(out, entry);
	return judge_region(out, entry);
}

static uint64_t get_le64(const uint8_t *bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < ENTRY_BYTES; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

/* Read and judge the entry that the cursor points at. */
static enum vpt_output_error fetch(struct vpt_output *out)
{
	uint64_t gpa = out->base + out->table_offset;
	uint8_t raw[ENTRY_BYTES];

	/* [TOPA-TABLE-MEMORY]; the width check also keeps the sum from wrapping. */
	if (too_wide(out, out->base) || too_wide(out, gpa) ||
	    !out->mem->read(out->opaque, gpa, raw, sizeof(raw)))
		return VPT_OUT_ERR_TABLE_REFUSED;
	/* [TOPA-FETCH] */
	out->entry = get_le64(raw);
	return judge(out, out->entry);
}

/*
 * Where the region's INT is due. With one region the PMI has to come before the
 * trace wraps over itself [TOPA-SINGLE-PMI], else when it is full [TOPA-INT].
 */
static uint64_t int_offset(const struct vpt_output *out)
{
	if (!(out->entry & ENTRY_INT))
		return VPTI_INT_NEVER;
	return one_entry(out) ? out->size - VPT_TOPA_PMI_MARGIN : out->size;
}

/*
 * The cursor has come to an entry: follow it if it is an END, then open the
 * region. An error leaves the cursor at the entry that has it [TOPA-ERROR-CURSOR].
 */
static enum vpt_output_error open_region(struct vpt_output *out, unsigned int *events)
{
	enum vpt_output_error err = fetch(out);

	if (err == VPT_OUT_ERR_NONE && (out->entry & ENTRY_END)) {
		/* [TOPA-END] */
		out->base = out->entry & ENTRY_BASE;
		out->table_offset = 0;
		out->offset = 0;
		err = fetch(out);
	}
	if (err != VPT_OUT_ERR_NONE)
		return err;

	out->region = out->entry & ENTRY_BASE;
	out->size = region_size(out->entry);
	if (out->offset >= out->size) /* [TOPA-OFFSET] */
		return VPT_OUT_ERR_OFFSET_PAST_REGION;
	out->int_at = int_offset(out);
	if (out->offset >= out->int_at) {
		out->int_at = VPTI_INT_NEVER;
		*events |= VPT_OUT_INT;
	}
	return VPT_OUT_ERR_NONE;
}

enum vpt_output_error vpti_topa_start(struct vpt_output *out, const struct vpt_rtit *rtit,
				      unsigned int *events)
{
	/* [TOPA-CURSOR-LOAD] */
	out->kind = VPT_OUTPUT_TOPA;
	out->base = rtit->output_base;
	out->table_offset = (rtit->output_mask_ptrs >> 7 << 3) & TABLE_OFFSET_MASK;
	out->offset = rtit->output_mask_ptrs >> 32;

	/* From the MSR only: an END's base has no bits below 12 [TOPA-TABLE-ALIGN]. */
	if (out->base & (PAGE_BYTES - 1))
		return VPT_OUT_ERR_TABLE_UNALIGNED;
	return open_region(out, events);
}

enum vpt_output_error vpti_topa_filled(struct vpt_output *out, unsigned int *events)
{
	if (out->entry & ENTRY_STOP) {
		/*
		 * The cursor stays here, and OutputOffset becomes the size [TOPA-STOP]. The
		 * manual gives two values. Its note on re-enabling and the arithmetic of
		 * drivers need the one past the end.
		 */
		out->stopped = true;
		*events |= VPT_OUT_STOP;
		return VPT_OUT_ERR_NONE;
	}
	/* [TOPA-ADVANCE], and from the last entry there can be [TOPA-TABLE-WRAP]. */
	out->offset = 0;
	out->table_offset = (out->table_offset + ENTRY_BYTES) & TABLE_OFFSET_MASK;
	return open_region(out, events);
}

uint64_t vpti_topa_low(const struct vpt_output *out)
{
	return out->table_offset >> 3 << 7 | VPTI_LOWER_MASK;
}
