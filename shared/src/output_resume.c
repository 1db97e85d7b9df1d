// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Output that is saved with bytes put but not yet reported, and gone on with. */
#include "vpt/output.h"

uint64_t vpt_output_unreported(const struct vpt_output *out)
{
	if (!out->cur)
		return 0;
	return (uint64_t)(out->cur -
			  (out->kind == VPT_OUTPUT_STREAM ? out->stage : out->committed));
}

/* Map the stretch that the bytes not yet reported are in. */
static bool map_unreported(struct vpt_output *out, uint64_t unreported)
{
	uint64_t first = out->offset - unreported;
	uint64_t mark = out->int_at < out->size ? out->int_at : out->size;
	size_t want = (size_t)(mark - first), len = want;
	uint8_t *host;

	if (!out->mem->map)
		return false;
	host = (uint8_t *)out->mem->map(out->opaque, out->region + first, &len);
	if (!host || len < unreported)
		return false;
	out->cur = host + unreported;
	out->end = host + (len < want ? len : want);
	out->committed = host;
	out->gpa_delta = out->region + first - (uint64_t)(uintptr_t)host;
	return true;
}

enum vpt_status vpt_output_resume(struct vpt_output *out, uint64_t unreported)
{
	if (!unreported)
		return VPT_OK;
	if (out->kind == VPT_OUTPUT_STREAM) {
		/* A stage that is full would have been handed on. */
		if (!out->cur || unreported >= out->stage_size)
			return VPT_E_NOSPC;
		out->cur += unreported;
		return VPT_OK;
	}
	if (unreported > out->offset)
		return VPT_E_INVAL;
	return map_unreported(out, unreported) ? VPT_OK : VPT_E_NOSPC;
}
