// SPDX-License-Identifier: GPL-2.0-or-later
/* In the place of judge.c and of all that knows libipt, in a vpt that is built without it. */
#include "judge.h"

#include <errno.h>

bool vpt_judge_has_libipt(void)
{
	return false;
}

int vpt_flow_open_by(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		     enum vpt_flow_by by, struct vpt_flow **flow)
{
	if (by == VPT_FLOW_BY_LIBIPT && !(vpt_reader_info(reader)->flags & VPT_INFO_RTIT))
		return -EOPNOTSUPP;
	return vpt_flow_open(reader, vcpu, unit, flow);
}
