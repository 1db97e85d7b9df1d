// SPDX-License-Identifier: GPL-2.0-or-later
/* Recursion that repeatedly overflows the return stack of RET compression. */
#include "lib/guest.h"
#include "tasks/work.h"

PAYLOAD("recursion, mutual too, far deeper than 64 calls");

void payload(void)
{
	work_payload(work_recursion, 24, "results of recursion");
}
