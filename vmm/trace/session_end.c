// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a session ended, as text. */
#include "session_end.h"

#include <stddef.h>

#include "vpt/output.h"

const char *vpt_session_end_text(uint32_t end, bool rtit)
{
	static const char *const text[] = {
		[VPT_END_NONE] = "the file ends first",
		[VPT_END_DISABLED] = "TraceEn was cleared",
		[VPT_END_TRACE_STOP] = "TraceStop",
		[VPT_END_TOPA_STOP] = "ToPA STOP",
		[VPT_END_ERROR] = "an operational error",
		[VPT_END_CLOSED] = "the trace was closed",
		[VPT_END_LOST] = "what follows is lost",
		[VPT_END_CHANGED] = "a register was written",
	};

	if (rtit && end == VPT_END_DISABLED)
		return "TriggerEn was cleared";
	return end < sizeof(text) / sizeof(text[0]) ? text[end] : "unknown";
}

const char *vpt_session_error_text(const struct vpt_session *end)
{
	if (end->end != VPT_END_ERROR)
		return NULL;
	return end->error < VPT_OUT_ERR_COUNT
		       ? vpt_output_error_text((enum vpt_output_error)end->error)
		       : "unknown";
}
