/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flow of INSNS that another thread decodes ahead. Its items and runs are those of
 * decode_flow_open(), in the same order, for all traces.
 */
#ifndef VMM_DECODE_THREADED_H
#define VMM_DECODE_THREADED_H

#include "decode/flow.h"

/*
 * Open the flow. Its INSN items have no class, target, space and time. decode_flow_keep_time(),
 * decode_flow_merge() and decode_flow_grow() must not be called. The reader must not have a source
 * of code. Without threads this is decode_flow_open(). Returns 0 or -errno.
 */
int decode_threaded_open(struct trace_reader *reader, unsigned int vcpu, struct decode_flow **flow);

#endif /* VMM_DECODE_THREADED_H */
