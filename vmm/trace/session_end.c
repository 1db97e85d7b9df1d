// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes why a session ended. */
#include "trace/session_end.h"

#include <stddef.h>

#include "vpt/output.h"

const char *trace_session_end_text(uint32_t end, bool rtit)
{
	static const char *const text[] = {
		[TRACE_END_NONE] = "the file ends first",
		[TRACE_END_DISABLED] = "TraceEn was cleared",
		[TRACE_END_TRACE_STOP] = "TraceStop",
		[TRACE_END_TOPA_STOP] = "ToPA STOP",
		[TRACE_END_ERROR] = "an operational error",
		[TRACE_END_CLOSED] = "the trace was closed",
		[TRACE_END_LOST] = "what follows is lost",
		[TRACE_END_CHANGED] = "a register was written",
	};

	if (rtit && end == TRACE_END_DISABLED)
		return "TriggerEn was cleared";
	return end < sizeof(text) / sizeof(text[0]) ? text[end] : "unknown";
}

const char *trace_session_error_text(const struct trace_session *end)
{
	if (end->end != TRACE_END_ERROR)
		return NULL;
	return end->error < VPT_OUT_ERR_COUNT
		       ? vpt_output_error_text((enum vpt_output_error)end->error)
		       : "unknown";
}
