// SPDX-License-Identifier: GPL-2.0-or-later
/* Run a guest that works without a trace until the program is killed. */
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
	fail("the guest has ended");
}
