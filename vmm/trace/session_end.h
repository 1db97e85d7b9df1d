/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reason for the end of a session, in the words of all verbs. */
#ifndef VMM_TRACE_SESSION_END_H
#define VMM_TRACE_SESSION_END_H

#include <stdbool.h>

#include "trace/format.h"

/* @end: enum trace_session_end, TRACE_END_NONE if the file ends first. @rtit: the trace is RTIT. */
const char *trace_session_end_text(uint32_t end, bool rtit);

/* Return the name of the error of an @end with TRACE_END_ERROR; NULL for every other end. */
const char *trace_session_error_text(const struct trace_session *end);

#endif /* VMM_TRACE_SESSION_END_H */
