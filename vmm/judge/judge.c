// SPDX-License-Identifier: GPL-2.0-or-later
#include "judge.h"

#include "ipt_flow.h"

#include <errno.h>

bool vpt_judge_has_libipt(void)
{
	return true;
}

int vpt_flow_open_by(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		     enum vpt_flow_by by, struct vpt_flow **flow)
{
	size_t switches;

	if (by == VPT_FLOW_BY_LIBVPTDECODE || vpt_reader_info(reader)->flags & VPT_INFO_RTIT)
		return vpt_flow_open(reader, vcpu, unit, flow);
	vpt_reader_switches(reader, vcpu, &switches);
	if (vpt_reader_source(reader) || switches)
		return -EOPNOTSUPP;
	return vpt_ipt_flow_open(reader, vcpu, unit, flow);
}
