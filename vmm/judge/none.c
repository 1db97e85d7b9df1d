// SPDX-License-Identifier: GPL-2.0-or-later
/* Replace judge.c and all users of libipt in a vpt that is built without libipt. */
#include "judge/judge.h"

#include <errno.h>

bool judge_has_libipt(void)
{
	return false;
}

int judge_flow_open_by(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       enum judge_flow_by by, struct decode_flow **flow)
{
	if (by == DECODE_FLOW_BY_LIBIPT && !(trace_reader_info(reader)->flags & TRACE_INFO_ATOM))
		return -EOPNOTSUPP;
	return decode_flow_open(reader, vcpu, unit, flow);
}
