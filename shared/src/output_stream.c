// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The trace transport (33.2.7.3): bytes are staged and handed on in order. There
 * is no cursor and nothing that could go wrong.
 */
#include "output_scheme.h"

void vpt_output_set_stream(struct vpt_output *out, void *stage, size_t size,
			   void (*stream)(void *opaque, const void *bytes, size_t len))
{
	out->stage = (uint8_t *)stage;
	out->stage_size = stage ? size : 0;
	out->stream = stream;
}

enum vpt_output_error vpti_stream_start(struct vpt_output *out, const struct vpt_rtit *rtit,
					unsigned int *events)
{
	(void)rtit;
	(void)events;
	out->kind = VPT_OUTPUT_STREAM;
	if (out->stream && out->stage_size) {
		out->cur = out->stage;
		out->end = out->stage + out->stage_size;
	}
	return VPT_OUT_ERR_NONE;
}

void vpti_stream_flush(struct vpt_output *out)
{
	size_t len;

	if (!out->cur)
		return;
	len = (size_t)(out->cur - out->stage);
	out->cur = out->stage;
	if (len)
		out->stream(out->opaque, out->stage, len);
}

void vpti_stream_put(struct vpt_output *out, const uint8_t *bytes, size_t len)
{
	size_t room, n;

	if (!out->cur)
		return;
	while (len) {
		room = (size_t)(out->end - out->cur);
		n = len < room ? len : room;
		vpt_memcpy(out->cur, bytes, n);
		out->cur += n;
		bytes += n;
		len -= n;
		if (out->cur == out->end)
			vpti_stream_flush(out);
	}
}
