// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest that works, and traces nothing, until somebody ends it. */
#include <stdio.h>

#include "machine.h"
#include "traces.h"

void load(void)
{
	struct machine machine;

	machine_open(&machine, 0, PLAN_ALL, UINT64_MAX);
	machine_start(&machine);
	while (machine_step(&machine))
		;
	fail("the guest has come to its end");
}
