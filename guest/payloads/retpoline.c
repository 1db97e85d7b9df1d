// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls by RET, returns without a call, calls that never return. */
#include "lib/guest.h"
#include "tasks/work.h"

PAYLOAD("retpolines and other returns that match no call");

void payload(void)
{
	work_payload(work_retpoline, 40, "results by way of retpolines and chained returns");
}
