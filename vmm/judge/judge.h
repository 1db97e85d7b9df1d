/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A second decoder of Intel PT, to hold the first one against: libipt. */
#ifndef VMM_JUDGE_JUDGE_H
#define VMM_JUDGE_JUDGE_H

#include "decode/flow.h"

enum judge_flow_by { DECODE_FLOW_BY_LIBVPTDECODE, DECODE_FLOW_BY_LIBIPT };

/* Is libipt there? Not if this vpt was built without it. */
bool judge_has_libipt(void);

/*
 * As decode_flow_open(), with the decoder to use for Intel PT; RTIT has one. libipt's flow shows INT n,
 * and a WRMSR that clears TraceEn, as events alone. -EOPNOTSUPP: libipt is not there, or it cannot
 * follow: code comes from elsewhere than the file, or spaces change without packets.
 */
int judge_flow_open_by(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       enum judge_flow_by by, struct decode_flow **flow);

#endif /* VMM_JUDGE_JUDGE_H */
