// SPDX-License-Identifier: GPL-2.0-or-later
/* Open the flow of the chosen decoder. */
#include "judge/judge.h"

#include "judge/ipt_flow.h"

#include <errno.h>

bool judge_has_libipt(void)
{
	return true;
}

int judge_flow_open_by(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
		       enum judge_flow_by by, struct decode_flow **flow)
{
	size_t switches;

	if (by == DECODE_FLOW_BY_LIBVPTDECODE || trace_reader_info(reader)->flags & TRACE_INFO_ATOM)
		return decode_flow_open(reader, vcpu, unit, flow);
	trace_reader_switches(reader, vcpu, &switches);
	if (trace_reader_source(reader) || switches)
		return -EOPNOTSUPP;
	return judge_ipt_flow_open(reader, vcpu, unit, flow);
}
