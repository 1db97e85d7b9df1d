// SPDX-License-Identifier: GPL-2.0-or-later
/* Jumps out of deep calls: the returns that a decoder expects never occur. */
#include "lib/guest.h"
#include "tasks/work.h"

PAYLOAD("setjmp and longjmp out of deep stacks");

void payload(void)
{
	work_payload(work_unwind, 60, "jumps out of deep stacks");
}
