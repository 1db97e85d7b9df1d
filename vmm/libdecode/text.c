// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The names of events and statuses. */
#include "libdecode/vptdecode.h"

const char *vptd_event_text(enum vptd_event_kind kind)
{
	static const char *const texts[VPTD_EVENT_COUNT] = {
		[VPTD_EVENT_ENABLED] = "enabled",
		[VPTD_EVENT_DISABLED] = "disabled",
		[VPTD_EVENT_ASYNC_DISABLED] = "async disabled",
		[VPTD_EVENT_ASYNC_BRANCH] = "async branch",
		[VPTD_EVENT_PAGING] = "paging",
		[VPTD_EVENT_EXEC_MODE] = "exec mode",
		[VPTD_EVENT_IFLAG] = "interrupt flag",
		[VPTD_EVENT_OVERFLOW] = "overflow",
		[VPTD_EVENT_STOP] = "stop",
		[VPTD_EVENT_TSX] = "tsx",
		[VPTD_EVENT_VMCS] = "vmcs",
		[VPTD_EVENT_PTWRITE] = "ptwrite",
		[VPTD_EVENT_EXSTOP] = "exstop",
		[VPTD_EVENT_MWAIT] = "mwait",
		[VPTD_EVENT_PWRE] = "pwre",
		[VPTD_EVENT_PWRX] = "pwrx",
		[VPTD_EVENT_CBR] = "cbr",
		[VPTD_EVENT_MNT] = "mnt",
		[VPTD_EVENT_CFE] = "cfe",
		[VPTD_EVENT_EVD] = "evd",
		[VPTD_EVENT_BLOCK] = "block",
		[VPTD_EVENT_ITEM] = "item",
		[VPTD_EVENT_SYNC] = "sync",
		[VPTD_EVENT_ERROR] = "error",
		[VPTD_EVENT_TRIG] = "trig",
		[VPTD_EVENT_TARGET] = "target",
	};

	return kind < VPTD_EVENT_COUNT ? texts[kind] : "?";
}

const char *vptd_status_text(enum vptd_status status)
{
	static const char *const texts[] = {
		[VPTD_OK] = "no error",
		[VPTD_STUCK] = "a target is missing",
		[VPTD_E_MEMORY] = "out of memory",
		[VPTD_E_HOLE] = "no code at this address",
		[VPTD_E_BAD_INSN] = "the bytes are not an instruction",
		[VPTD_E_NO_OUTCOME] = "a conditional branch has no outcome",
		[VPTD_E_NO_TARGET] = "an indirect branch has no target",
		[VPTD_E_RETURN] = "a compressed return has no call",
		[VPTD_E_LOOP] = "direct branches form an endless loop",
		[VPTD_E_PACKET] = "invalid or unexpected packet",
		[VPTD_E_ARGUMENT] = "invalid argument",
	};

	return status < sizeof(texts) / sizeof(*texts) ? texts[status] : "?";
}
