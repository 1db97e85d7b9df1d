// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Marks in the trace file: texts of several forms on the ports of marks. The first argument is a
 * number of further marks.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("marks that a guest puts into the trace");

/* Write each byte to the next port, as /dev/port of Linux does. */
static void mark(const char *text)
{
	uint16_t port = VPT_PORT_MARK;

	while (*text)
		outb(port++, (uint8_t)*text++);
	outb(port, '\n');
}

static void mark_all(void)
{
	unsigned int i;

	mark("begin");
	/* All ports are the same, and NUL ends a text too. */
	outb(VPT_PORT_MARK + VPT_PORT_MARKS - 1, 'x');
	outl(VPT_PORT_MARK, 'y' | 'z' << 8);
	/* Too long: the rest is dropped. */
	for (i = 0; i < 300; i++)
		outb(VPT_PORT_MARK, 'a');
	outb(VPT_PORT_MARK, 0);
	mark("\33[2J");
	for (i = 0; i < boot->arg[0]; i++)
		outb(VPT_PORT_MARK, '\n');
	mark("end");
}

void payload(void)
{
	struct trace t;

	trace_long(&t, mark_all);
	report(true, "the guest runs on");
}
