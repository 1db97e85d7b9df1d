/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Trace output (33.2.7) for single-range, ToPA and the trace transport: the address of the next
 * byte. It is exact at every wrap, END, STOP, INT and error.
 *
 * The cursor is loaded from OUTPUT_BASE and OUTPUT_MASK_PTRS when TraceEn rises. Nothing is kept
 * across that edge, since drivers rewrite tables between runs. Bytes reach memory at once: there is
 * no internal buffer.
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

/* The results of an output, as bits. */
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

/* Returns static text for an error, for example "ToPA entry sets a reserved bit". */
const char *vpt_output_error_text(enum vpt_output_error err);

/*
 * On a processor with one ToPA entry the PMI is raised this many bytes before the region is full
 * (33.2.7.2).
 */
#define VPT_TOPA_PMI_MARGIN 512u

struct vpt_output {
	/* The hot part: mapped memory [cur, end) for the next bytes. */
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
 * Give the trace transport a buffer of at least 64 bytes, and a function that takes the bytes in
 * order. Without them STREAM drops all bytes.
 */
void vpt_output_set_stream(struct vpt_output *out, void *stage, size_t size,
			   void (*stream)(void *opaque, const void *bytes, size_t len));

/*
 * Start output when TraceEn rises: choose the scheme from CTL, load the cursor from the MSRs, check
 * it and fetch the first entry. Returns VPT_OUT_OK, or VPT_OUT_ERROR with `why`, or VPT_OUT_INT as
 * a put would.
 *
 * Must not be called while STATUS has Stopped or Error set: a cursor after a ToPA STOP is not a
 * valid start.
 */
unsigned int vpt_output_start(struct vpt_output *out, const struct vpt_rtit *rtit);

/*
 * Start output for a unit with other registers, which keeps its own cursor. The output is one
 * circular region, or the trace transport. `mask` is the size of the region less one. The size is
 * 2^n bytes, `base` is aligned to it, and `offset` is inside.
 */
void vpt_output_start_region(struct vpt_output *out, uint64_t base, uint64_t mask, uint64_t offset);
void vpt_output_start_stream(struct vpt_output *out);

/* Put `len` bytes that cross the end of the mapped memory, or for which none is mapped. */
unsigned int vpt_output_put_slow(struct vpt_output *out, const void *bytes, size_t len) VPT_COLD;

/*
 * Append a packet. Returns a set of vpt_output_event. After STOP or ERROR the bytes that did not
 * fit are lost, so a packet may be cut. Later bytes are lost too.
 */
static inline unsigned int vpt_output_put(struct vpt_output *out, const void *bytes, size_t len)
{
	/* Strictly less, since a full region needs the slow path. */
	if (vpt_likely(len <= VPT_COPY_SHORT_MAX && len < (size_t)(out->end - out->cur))) {
		vpt_copy_short(out->cur, (const uint8_t *)bytes, len);
		out->cur += len;
		return VPT_OUT_OK;
	}
	return vpt_output_put_slow(out, bytes, len);
}

/* Returns the number of bytes that are put and not yet reported, for snapshots. */
uint64_t vpt_output_unreported(const struct vpt_output *out);

/*
 * Set the number of unreported bytes of an output that was started at the saved place. They are already
 * in memory, or in the stage. Returns VPT_E_INVAL or VPT_E_NOSPC if there cannot be so many.
 */
enum vpt_status vpt_output_resume(struct vpt_output *out, uint64_t unreported) VPT_MUST_CHECK;

/* Report (commit) every byte put so far. The cursor does not change. */
void vpt_output_flush(struct vpt_output *out);

/*
 * Store the cursor in OUTPUT_BASE and OUTPUT_MASK_PTRS, exact to the byte, as the processor does
 * before TraceEn is clear. STREAM changes nothing.
 */
void vpt_output_sync(const struct vpt_output *out, struct vpt_rtit *rtit);

/* End output when TraceEn falls: flush, drop the mapping and every cached entry. Sync first. */
void vpt_output_end(struct vpt_output *out);

VPT_END_DECLS

#endif /* VPT_OUTPUT_H */
