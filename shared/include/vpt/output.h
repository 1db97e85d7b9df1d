/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Trace output (33.2.7): where the next byte goes, for single-range, ToPA and
 * the trace transport, byte-exact at every wrap, END, STOP, INT and error.
 *
 * The cursor is loaded from OUTPUT_BASE and OUTPUT_MASK_PTRS when TraceEn rises
 * and nothing is kept across that edge, since drivers rewrite tables between
 * runs. Bytes reach memory as they are put: there is no internal buffer.
 */
#ifndef VPT_OUTPUT_H
#define VPT_OUTPUT_H

#include "mem.h"
#include "rtit.h"

VPT_BEGIN_DECLS

enum vpt_output_kind {
	VPT_OUTPUT_NONE = 0,
	VPT_OUTPUT_SINGLE, /* single range, circular (33.2.7.1) */
	VPT_OUTPUT_TOPA,   /* tables of regions (33.2.7.2) */
	VPT_OUTPUT_STREAM, /* trace transport (33.2.7.3): bytes to a callback */
};

/* What putting bytes led to. Bits: several may come at once. */
enum vpt_output_event {
	VPT_OUT_OK = 0,
	VPT_OUT_STOP = 1 << 0,	/* ToPA STOP region is full: nothing more is taken */
	VPT_OUT_INT = 1 << 1,	/* a ToPA INT region is full: a PMI is due */
	VPT_OUT_ERROR = 1 << 2, /* operational error, see `why` */
};

/* Which operational error (33.3.10): for messages; the guest sees one bit. */
enum vpt_output_error {
#define VPT_OUT_ERROR_ROW(name, tag, section, meaning) VPT_OUT_ERR_##name,
#include "../../spec/output_errors.def"
#undef VPT_OUT_ERROR_ROW
	VPT_OUT_ERR_COUNT
};

/* Static text for an error, e.g. "ToPA entry sets a reserved bit". */
const char *vpt_output_error_text(enum vpt_output_error err);

/*
 * On a processor with one ToPA entry the PMI comes before the region is full
 * (33.2.7.2); this many bytes before.
 */
#define VPT_TOPA_PMI_MARGIN 512u

struct vpt_output {
	/* The hot part: a mapped stretch [cur, end) that bytes can go straight to. */
	uint8_t *cur;
	uint8_t *end;
	uint8_t *committed; /* bytes of the stretch below here were reported */
	uint64_t gpa_delta; /* gpa of a byte = (uintptr_t)pointer + gpa_delta */

	enum vpt_output_kind kind;
	enum vpt_output_error why;
	bool stopped; /* STOP or error: all further bytes are dropped */

	const struct vpt_caps *caps;
	const struct vpt_mem_ops *mem;
	void *opaque;

	uint64_t base;	       /* single: region base; ToPA: current table */
	uint64_t mask;	       /* single: region size - 1 */
	uint64_t table_offset; /* ToPA: byte offset of the current entry */
	uint64_t entry;	       /* ToPA: the current entry as fetched */
	uint64_t region;       /* gpa of the current region's first byte */
	uint64_t size;	       /* bytes in the current region */
	uint64_t offset;       /* of the next byte, while no stretch is mapped */
	uint64_t int_at;       /* offset that makes the region's INT due, ~0: none owed */

	/* STREAM: host memory that bytes are staged in before `flush`. */
	uint8_t *stage;
	size_t stage_size;
	void (*stream)(void *opaque, const void *bytes, size_t len);
};

/*
 * Prepare an output that is not running. `caps`, `mem` and `opaque` must outlive
 * it. The struct is the caller's; there is nothing to release.
 */
void vpt_output_init(struct vpt_output *out, const struct vpt_caps *caps,
		     const struct vpt_mem_ops *mem, void *opaque);

/*
 * Give the trace transport a place to stage bytes (size at least 64) and a
 * function that takes them in order. Without it STREAM drops what it gets.
 */
void vpt_output_set_stream(struct vpt_output *out, void *stage, size_t size,
			   void (*stream)(void *opaque, const void *bytes, size_t len));

/*
 * TraceEn rises: choose the scheme from CTL, load the cursor from the MSRs,
 * check it and fetch the first entry. Not to be called while STATUS says Stopped
 * or Error: the cursor that a ToPA STOP leaves is one that cannot be started from.
 * Returns VPT_OUT_OK, or VPT_OUT_ERROR with `why`, or VPT_OUT_INT as a put would.
 */
unsigned int vpt_output_start(struct vpt_output *out, const struct vpt_rtit *rtit);

/*
 * For units with other registers, who see to the cursor themselves: start with one circular
 * region, `mask` being its size less one, 2^n of them, `base` aligned to that, `offset` inside;
 * or with the trace transport.
 */
void vpt_output_start_region(struct vpt_output *out, uint64_t base, uint64_t mask, uint64_t offset);
void vpt_output_start_stream(struct vpt_output *out);

/* Put `len` bytes that cross the end of the mapped stretch, or have none. */
unsigned int vpt_output_put_slow(struct vpt_output *out, const void *bytes, size_t len) VPT_COLD;

/*
 * Append a packet. Returns a set of vpt_output_event. After STOP or ERROR the
 * bytes that did not fit are lost (a packet may be cut), and so is everything
 * put later.
 */
static inline unsigned int vpt_output_put(struct vpt_output *out, const void *bytes, size_t len)
{
	/* Strictly less than the room: a region filled to the brim has consequences. */
	if (vpt_likely(len <= VPT_COPY_SHORT_MAX && len < (size_t)(out->end - out->cur))) {
		vpt_copy_short(out->cur, (const uint8_t *)bytes, len);
		out->cur += len;
		return VPT_OUT_OK;
	}
	return vpt_output_put_slow(out, bytes, len);
}

/*
 * For snapshots: bytes put and not yet reported. And output that was started where the saved
 * one was goes on as if so many had been put: they are in memory, or in the stage, already.
 * VPT_E_INVAL, VPT_E_NOSPC: there cannot be so many.
 */
uint64_t vpt_output_unreported(const struct vpt_output *out);
enum vpt_status vpt_output_resume(struct vpt_output *out, uint64_t unreported) VPT_MUST_CHECK;

/* Report (commit) every byte put so far; the cursor does not move. */
void vpt_output_flush(struct vpt_output *out);

/*
 * Store the cursor in OUTPUT_BASE and OUTPUT_MASK_PTRS, exact to the byte, as
 * the processor does by the time TraceEn is clear. No change for STREAM.
 */
void vpt_output_sync(const struct vpt_output *out, struct vpt_rtit *rtit);

/* TraceEn falls: flush, drop the mapping and every cached entry. Sync first. */
void vpt_output_end(struct vpt_output *out);

VPT_END_DECLS

#endif /* VPT_OUTPUT_H */
