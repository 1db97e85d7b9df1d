/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded items of a file made by hand (synth.h), one word per item:
 *   S, S+N  segment, after N bytes that cannot be decoded
 *   1a      instruction at SYNTH_CODE + 0x1a
 *   E1a     tracing is enabled there
 *   D, D1a  disabled by the instruction before, towards 1a
 *   A1a     disabled by an event at 1a
 *   1a>20   event at 1a that leads to 20
 *   P2000   CR3 (but not where a PSB+ repeats it)
 *   O, O1a  overflow, resolved at 1a
 *   T       TraceStop
 *   R14     core to bus ratio
 *   !...    error
 */
#ifndef TESTS_LIB_FLOWTEXT_H
#define TESTS_LIB_FLOWTEXT_H

#include "judge/judge.h"
#include "lib/synth.h"

/*
 * Check that libipt decodes vCPU 0 as `flow`, and that END is repeated. `name` is that of the row.
 */
void flowtext_is(struct trace_reader *r, enum decode_flow_unit unit, const char *name,
		 const char *flow);

/* Do the same check with one of the decoders of Intel PT. */
void flowtext_is_by(struct trace_reader *r, enum decode_flow_unit unit, enum judge_flow_by by,
		    const char *name, const char *flow);

/* Check that the decoder soon reports an ERROR for a trace with an endless loop. */
void flowtext_endless(struct trace_reader *r, enum decode_flow_unit unit);

/* Let a page change, but after all instructions of the test. */
void flowtext_change(struct synth *s);

#endif /* TESTS_LIB_FLOWTEXT_H */
