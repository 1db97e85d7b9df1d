/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a session ended, in the words that all verbs use. */
#ifndef VMM_TRACE_SESSION_END_H
#define VMM_TRACE_SESSION_END_H

#include <stdbool.h>

#include "trace/format.h"

/* @end: enum trace_session_end, TRACE_END_NONE for a file that ends first. @rtit: of RTIT. */
const char *trace_session_end_text(uint32_t end, bool rtit);

/* The name of the error of an @end with TRACE_END_ERROR; NULL for every other end. */
const char *trace_session_error_text(const struct trace_session *end);

#endif /* VMM_TRACE_SESSION_END_H */
