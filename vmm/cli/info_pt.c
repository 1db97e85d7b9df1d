// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions of Intel PT for vpt info. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/info.h"
#include "text/text.h"
#include "vpt/rtit.h"

static const struct cli_info_source sources[] = {
	{VPT_CTL_MASK(BRANCH_EN), "branches", 0},
	{VPT_CTL_MASK(TSC_EN), "tsc", 0},
	{VPT_CTL_MASK(MTC_EN), "mtc", VPT_CTL_MASK(MTC_FREQ)},
	{VPT_CTL_MASK(CYC_EN), "cyc", VPT_CTL_MASK(CYC_THRESH)},
	{VPT_CTL_MASK(PTW_EN), "ptw", 0},
	{VPT_CTL_MASK(FUP_ON_PTW), "ptw-fup", 0},
	{VPT_CTL_MASK(PWR_EVT_EN), "power", 0},
	{VPT_CTL_MASK(EVENT_EN), "events", 0},
	{VPT_CTL_MASK(CR3_FILTER), "cr3-filter", 0},
	{VPT_CTL_MASK(DIS_RETC), "no-retc", 0},
	{VPT_CTL_MASK(DIS_TNT), "no-tnt", 0},
	{0, NULL, 0},
};

static void registers(const struct trace_session *s)
{
	printf("    CTL 0x%" PRIx64 "  STATUS 0x%" PRIx64 "  OUTPUT_BASE 0x%" PRIx64
	       "  OUTPUT_MASK_PTRS 0x%" PRIx64 "\n",
	       s->ctl, s->status, s->output_base, s->output_mask_ptrs);
}

static void more(const struct trace_period *p)
{
	const struct trace_session *s = p->start;
	unsigned int n;

	if (s->cr3_match)
		printf("    CR3_MATCH 0x%" PRIx64 "\n", s->cr3_match);
	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if (s->addr[2 * n] || s->addr[2 * n + 1])
			printf("    ADDR%u_A 0x%" PRIx64 "  ADDR%u_B 0x%" PRIx64 "\n", n,
			       s->addr[2 * n], n, s->addr[2 * n + 1]);
	}
}

static void json_registers(const struct trace_period *p)
{
	const struct trace_session *s = p->start;
	unsigned int n;

	cli_info_json_register("output_base", s->output_base);
	cli_info_json_register("output_mask_ptrs", s->output_mask_ptrs);
	cli_info_json_register("cr3_match", s->cr3_match);
	fputs(",\"addr\":[", stdout);
	for (n = 0; n < 2 * VPT_MAX_RANGES; n++) {
		if (n)
			putchar(',');
		text_json_address(stdout, s->addr[n]);
	}
	putchar(']');
}

const struct cli_info_system cli_info_pt = {
	.trace = "pt",
	.sources = sources,
	.registers = registers,
	.more = more,
	.json_registers = json_registers,
};
