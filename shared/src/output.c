// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Trace output: the life of an output and the way of its bytes into the current
 * region (33.2.7). Which region that is, is the scheme's affair.
 */
#include "output_scheme.h"

/* Longest stretch asked for at once: what a pointer difference can express. */
#define MAX_STRETCH ((size_t)-1 >> 1)

/* The operations of a scheme. NULL: the scheme has no regions. */
struct scheme {
	enum vpt_output_error (*start)(struct vpt_output *out, const struct vpt_rtit *rtit,
				       unsigned int *events);
	enum vpt_output_error (*filled)(struct vpt_output *out, unsigned int *events);
	uint64_t (*low)(const struct vpt_output *out);
};

/* In the order of enum vpt_output_kind, without VPT_OUTPUT_NONE. */
static const struct scheme schemes[] = {
	{vpti_single_start, vpti_single_filled, vpti_single_low},
	{vpti_topa_start, vpti_topa_filled, vpti_topa_low},
	{vpti_stream_start, NULL, NULL},
};

/* @kind is not VPT_OUTPUT_NONE. */
static const struct scheme *scheme_of(enum vpt_output_kind kind)
{
	return &schemes[(unsigned int)kind - VPT_OUTPUT_SINGLE];
}

const char *vpt_output_error_text(enum vpt_output_error err)
{
	static const char *const text[] = {
#define VPT_OUT_ERROR_ROW(name, tag, section, meaning) meaning,
#include "../spec/output_errors.def"
#undef VPT_OUT_ERROR_ROW
	};

	return (unsigned int)err < VPT_OUT_ERR_COUNT ? text[err] : "?";
}

void vpt_output_init(struct vpt_output *out, const struct vpt_caps *caps,
		     const struct vpt_mem_ops *mem, void *opaque)
{
	vpt_memset(out, 0, sizeof(*out));
	out->caps = caps;
	out->mem = mem;
	out->opaque = opaque;
}

static void report(const struct vpt_output *out, uint64_t gpa, size_t len)
{
	if (len && out->mem->committed)
		out->mem->committed(out->opaque, gpa, len);
}

void vpt_output_flush(struct vpt_output *out)
{
	if (out->kind == VPT_OUTPUT_STREAM) {
		vpti_stream_flush(out);
		return;
	}
	report(out, (uint64_t)(uintptr_t)out->committed + out->gpa_delta,
	       (size_t)(out->cur - out->committed));
	out->committed = out->cur;
}

/* Let go of the mapped stretch: its bytes are reported, the cursor stays. */
static void unmap(struct vpt_output *out)
{
	vpt_output_flush(out);
	if (out->kind != VPT_OUTPUT_STREAM)
		out->offset = vpti_output_offset(out);
	out->cur = NULL;
	out->end = NULL;
	out->committed = NULL;
}

/* Raise the operational error that a scheme found, if any. The cursor stays. */
static unsigned int fail(struct vpt_output *out, enum vpt_output_error why)
{
	if (why == VPT_OUT_ERR_NONE)
		return VPT_OUT_OK;
	unmap(out);
	out->why = why;
	out->stopped = true;
	return VPT_OUT_ERROR;
}

/* [OUT-FABRIC-WINS] */
static enum vpt_output_kind kind_of(const struct vpt_rtit *rtit)
{
	if (rtit->ctl & VPT_CTL_MASK(FABRIC_EN))
		return VPT_OUTPUT_STREAM;
	return rtit->ctl & VPT_CTL_MASK(TOPA) ? VPT_OUTPUT_TOPA : VPT_OUTPUT_SINGLE;
}

unsigned int vpt_output_start(struct vpt_output *out, const struct vpt_rtit *rtit)
{
	unsigned int events = VPT_OUT_OK;
	enum vpt_output_error err;

	vpt_output_end(out);
	out->why = VPT_OUT_ERR_NONE; /* [OUT-NO-ERROR] */
	err = scheme_of(kind_of(rtit))->start(out, rtit, &events);
	return events | fail(out, err);
}

void vpt_output_start_region(struct vpt_output *out, uint64_t base, uint64_t mask, uint64_t offset)
{
	vpt_output_end(out);
	out->why = VPT_OUT_ERR_NONE;
	vpti_single_describe(out, base, mask, offset);
}

void vpt_output_start_stream(struct vpt_output *out)
{
	unsigned int events;

	vpt_output_end(out);
	out->why = VPT_OUT_ERR_NONE;
	vpti_stream_start(out, NULL, &events);
}

/* The offset, above the current one, at which something happens. */
static uint64_t next_mark(const struct vpt_output *out)
{
	return out->int_at < out->size ? out->int_at : out->size;
}

static unsigned int reach_mark(struct vpt_output *out)
{
	unsigned int events = VPT_OUT_OK;
	enum vpt_output_error err;

	unmap(out);
	if (out->offset >= out->int_at) {
		out->int_at = VPTI_INT_NEVER;
		events = VPT_OUT_INT;
	}
	if (out->offset < out->size)
		return events;
	err = scheme_of(out->kind)->filled(out, &events);
	return events | fail(out, err);
}

/*
 * Map what follows the cursor, up to the next mark. Only done for a byte that is
 * there to be written: memory that output never reaches is never asked for.
 */
static bool map_stretch(struct vpt_output *out)
{
	uint64_t gpa, left;
	size_t want, len;
	uint8_t *host;

	unmap(out);
	if (!out->mem->map)
		return false;
	gpa = out->region + out->offset;
	left = next_mark(out) - out->offset;
	want = left < MAX_STRETCH ? (size_t)left : MAX_STRETCH;
	len = want;
	host = (uint8_t *)out->mem->map(out->opaque, gpa, &len);
	if (!host)
		return false;
	out->cur = host;
	out->end = host + (len < want ? len : want);
	out->committed = host;
	out->gpa_delta = gpa - (uint64_t)(uintptr_t)host;
	return true;
}

/*
 * Write without a mapping, up to the next mark. Returns the bytes stored, 0 if
 * the very next one is refused. The host takes a write whole or not at all, so a
 * refused one is halved until the bytes that may be stored are.
 */
static size_t write_through(struct vpt_output *out, const uint8_t *bytes, size_t len)
{
	uint64_t gpa = out->region + out->offset;
	uint64_t left = next_mark(out) - out->offset;
	size_t n = left < len ? (size_t)left : len;

	while (n && !out->mem->write(out->opaque, gpa, bytes, n))
		n /= 2;
	out->offset += n;
	report(out, gpa, n);
	return n;
}

static size_t write_mapped(struct vpt_output *out, const uint8_t *bytes, size_t len)
{
	size_t room = (size_t)(out->end - out->cur);
	size_t n = room < len ? room : len;

	vpt_memcpy(out->cur, bytes, n);
	out->cur += n;
	return n;
}

unsigned int vpt_output_put_slow(struct vpt_output *out, const void *bytes, size_t len)
{
	const uint8_t *src = (const uint8_t *)bytes;
	unsigned int events = VPT_OUT_OK;
	size_t n;

	if (out->kind == VPT_OUTPUT_STREAM) {
		vpti_stream_put(out, src, len);
		return VPT_OUT_OK;
	}
	if (out->kind == VPT_OUTPUT_NONE)
		return VPT_OUT_OK;
	while (len && !out->stopped) {
		if (out->cur != out->end || map_stretch(out))
			n = write_mapped(out, src, len);
		else
			n = write_through(out, src, len);
		if (!n) /* [OUT-REGION-MEMORY] */
			return events | fail(out, VPT_OUT_ERR_REGION_REFUSED);
		src += n;
		len -= n;
		/* [OUT-FILL-EAGER] */
		if (vpti_output_offset(out) == next_mark(out))
			events |= reach_mark(out);
	}
	return events;
}

void vpt_output_sync(const struct vpt_output *out, struct vpt_rtit *rtit)
{
	uint64_t (*low)(const struct vpt_output *out);

	if (out->kind == VPT_OUTPUT_NONE)
		return;
	low = scheme_of(out->kind)->low;
	if (!low) /* [OUT-FABRIC-MSRS] */
		return;
	/* [OUT-CURSOR-EXACT] */
	rtit->output_base = out->base;
	rtit->output_mask_ptrs = vpti_output_offset(out) << 32 | low(out);
}

void vpt_output_end(struct vpt_output *out)
{
	unmap(out);
	out->kind = VPT_OUTPUT_NONE;
	out->stopped = false;
	out->entry = 0;
	out->region = 0;
	out->size = 0;
	out->offset = 0;
	out->int_at = VPTI_INT_NEVER;
}
