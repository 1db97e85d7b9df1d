// SPDX-License-Identifier: GPL-2.0-or-later
/* STOP blocks: the names of their kinds, and the check of their payload. */
#include "trace/post_mortem.h"

#include <string.h>

const char *trace_stop_text(uint32_t kind)
{
	static const char *const names[] = {
		[TRACE_STOP_NONE] = "?",
		[TRACE_STOP_EXIT] = "exit",
		[TRACE_STOP_TRIPLE_FAULT] = "triple fault",
		[TRACE_STOP_HALTED] = "halted",
		[TRACE_STOP_MAX_INSNS] = "instruction limit",
		[TRACE_STOP_SNAPSHOT] = "snapshot",
		[TRACE_STOP_TIMEOUT] = "time limit",
		[TRACE_STOP_INTERRUPTED] = "interrupted",
		[TRACE_STOP_WRITER] = "file error",
		[TRACE_STOP_UNABLE] = "unable",
		[TRACE_STOP_UNTRACEABLE] = "untraceable",
		[TRACE_STOP_UNEXPLAINED] = "unexplained",
		[TRACE_STOP_HOST] = "host error",
		[TRACE_STOP_VMX] = "VM entry failed",
		[TRACE_STOP_LIMIT] = "size limit",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

const char *trace_post_mortem_take(struct trace_post_mortem *pm, const void *payload, size_t len)
{
	struct trace_post_mortem taken = {.vcpu = pm->vcpu};
	const uint8_t *at = payload;
	size_t faults, calls;

	if (len < sizeof(taken.stop))
		return "a block's length is wrong";
	memcpy(&taken.stop, at, sizeof(taken.stop));
	if (taken.stop.faults > TRACE_STOP_FAULTS || taken.stop.calls > TRACE_STOP_CALLS ||
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
