// SPDX-License-Identifier: GPL-2.0-or-later
/* STOP blocks: the names of their kinds, and the check of their payload. */
#include "post_mortem.h"

#include <string.h>

const char *vpt_stop_text(uint32_t kind)
{
	static const char *const names[] = {
		[VPT_STOP_NONE] = "?",
		[VPT_STOP_EXIT] = "exit",
		[VPT_STOP_TRIPLE_FAULT] = "triple fault",
		[VPT_STOP_HALTED] = "halted",
		[VPT_STOP_MAX_INSNS] = "instruction limit",
		[VPT_STOP_SNAPSHOT] = "snapshot",
		[VPT_STOP_TIMEOUT] = "time limit",
		[VPT_STOP_INTERRUPTED] = "interrupted",
		[VPT_STOP_WRITER] = "file error",
		[VPT_STOP_UNABLE] = "unable",
		[VPT_STOP_UNTRACEABLE] = "untraceable",
		[VPT_STOP_UNEXPLAINED] = "unexplained",
		[VPT_STOP_HOST] = "host error",
		[VPT_STOP_VMX] = "VM entry failed",
		[VPT_STOP_LIMIT] = "size limit",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

const char *vpt_post_mortem_take(struct vpt_post_mortem *pm, const void *payload, size_t len)
{
	struct vpt_post_mortem taken = {.vcpu = pm->vcpu};
	const uint8_t *at = payload;
	size_t faults, calls;

	if (len < sizeof(taken.stop))
		return "a block's length is wrong";
	memcpy(&taken.stop, at, sizeof(taken.stop));
	if (taken.stop.faults > VPT_STOP_FAULTS || taken.stop.calls > VPT_STOP_CALLS ||
	    taken.stop.insn_len > sizeof(taken.stop.insn))
		return "a STOP block has more than there can be";
	faults = taken.stop.faults * sizeof(taken.fault[0]);
	calls = taken.stop.calls * sizeof(taken.call[0]);
	if (len != sizeof(taken.stop) + faults + calls)
		return "a block's length is wrong";
	memcpy(taken.fault, at + sizeof(taken.stop), faults);
	memcpy(taken.call, at + sizeof(taken.stop) + faults, calls);
	*pm = taken;
	return NULL;
}
