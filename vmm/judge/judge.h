/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A second decoder of Intel PT, libipt, for comparison with the first. */
#ifndef VMM_JUDGE_JUDGE_H
#define VMM_JUDGE_JUDGE_H

#include "decode/flow.h"

enum judge_flow_by { DECODE_FLOW_BY_LIBVPTDECODE, DECODE_FLOW_BY_LIBIPT };

/* Returns false if this vpt was built without libipt. */
bool judge_has_libipt(void);

/*
 * Open a flow with this decoder for Intel PT, see decode_flow_open(). RTIT has only one decoder.
 * libipt's flow shows INT n, and a WRMSR that clears TraceEn, only as events. Returns -EOPNOTSUPP
 * if libipt is not built in, or if libipt cannot follow the trace. That is the case if code is not
 * in the file, or if spaces change without packets.
 */
int judge_flow_open_by(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       enum judge_flow_by by, struct decode_flow **flow);

#endif /* VMM_JUDGE_JUDGE_H */
