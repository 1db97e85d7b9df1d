// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions of Atom's RTIT for vpt info. */
#include <stdio.h>

#include "cli/atom_regs.h"
#include "cli/info.h"
#include "trace/atom_session.h"

static const struct cli_info_source sources[] = {
	{VPT_ATOM_MASK(CTL, TRACE_EN), "branches", 0},
	{VPT_ATOM_MASK(CTL, STS_EN), "sts", 0},
	{VPT_ATOM_MASK(CTL, STS_ON_CR3), "sts-on-cr3", 0},
	{VPT_ATOM_MASK(CTL, MTC_EN), "mtc", VPT_ATOM_MASK(CTL, MTC_RANGE)},
	{VPT_ATOM_MASK(CTL, CYCLE_ACC), "cyc", 0},
	{VPT_ATOM_MASK(CTL, CR3_EN), "cr3-filter", 0},
	{VPT_ATOM_MASK(CTL, CMPRS_RET), "retc", 0},
	{VPT_ATOM_MASK(CTL, LESS_PKTS), "less-pkts", 0},
	{0, NULL, 0},
};

static void registers(const struct trace_session *s)
{
	cli_atom_regs_text(stdout, "    ", s, NULL);
}

/* Print the state at the end that a decoder needs, such as outcomes that were not sent. */
static void more(const struct trace_period *p)
{
	if (p->end)
		cli_atom_regs_text(stdout, "    at the end ", p->end, p->start);
}

static void json_registers(const struct trace_period *p)
{
	cli_atom_regs_json(stdout, p);
}

const struct cli_info_system cli_info_atom = {
	.trace = "rtit",
	.sources = sources,
	.registers = registers,
	.more = more,
	.json_registers = json_registers,
};
