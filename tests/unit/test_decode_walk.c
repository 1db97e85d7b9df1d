// SPDX-License-Identifier: GPL-2.0-or-later
/* Random walks, as trace files: what is decoded of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "oracle/hold.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "lib/walk.h"
#include "vpt/msr.h"

/*
 * With all kinds of filters the generator's packets must give what was walked. One that changes code makes for the other decoder.
 */
static const struct {
	const char *model;
	uint64_t ctl; /* beside BranchEn */
	uint64_t cr3_match;
	uint64_t from, to; /* range 0 */
	bool toggle;
} walks[] = {
	{"skl", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER), 0, 0, 0, false},
	{"bdw", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER), 0, 0, 0, true},
	{"skl", VPT_CTL_MASK(USER), 0, 0, 0, true},
	{"spr", VPT_CTL_MASK(OS), 0, 0, 0, false},
	{"icx", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(CR3_FILTER), 0x2000, 0, 0,
	 false},
	{"skl", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | 1ull << VPT_CTL_ADDR0_CFG_SHIFT, 0, 0x800,
	 0x1fff, false},
	{"icx", VPT_CTL_MASK(USER) | 1ull << VPT_CTL_ADDR0_CFG_SHIFT, 0, 0x1000, 0x4fff, false},
	{"spr", VPT_CTL_MASK(OS) | VPT_CTL_MASK(CR3_FILTER) | 1ull << VPT_CTL_ADDR0_CFG_SHIFT,
	 0x1000, 0x1000, 0x5fff, false},
	{"skl",
	 VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(CR3_FILTER) |
		 1ull << VPT_CTL_ADDR0_CFG_SHIFT,
	 0x2000, 0, 0x5fff, false},
	{"skl", VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | 2ull << VPT_CTL_ADDR0_CFG_SHIFT, 0, 0x7000,
	 0x7010, false},
};

#define WALK_SEEDS 4

static void walk_to_file(struct synth *s, const struct walk_config *config,
			 const struct walk_result *walk, bool change)
{
	bool os = config->ctl & VPT_CTL_MASK(OS);
	uint64_t cr3;
	unsigned int i;

	/* Without PIPs there can only be one address space. */
	for (cr3 = 0x1000; cr3 <= (os ? 0x2000 : 0x1000); cr3 += 0x1000) {
		for (i = 0; i < WALK_CODE_SIZE; i += TRACE_CODE_BYTES) {
			memcpy(s->page, walk->code + i, TRACE_CODE_BYTES);
			synth_page_at(s, cr3, WALK_CODE_BASE + i);
		}
	}
	if (change) {
		s->insns = 1 << 30;
		synth_page_at(s, 0x1000, WALK_CODE_BASE);
		s->insns = 0;
	}
	s->session.ctl = config->ctl;
	s->session.cr3_match = config->cr3_match;
	memcpy(s->session.addr, config->addr, sizeof(s->session.addr));
	synth_start(s, 0, 0);
	ck_assert_int_eq(trace_writer_trace(s->w, 0, UINT64_MAX, walk->trace, walk->trace_len), 0);
	synth_stop(s, TRACE_END_CLOSED, 0, 0);
}

static void check_walk(int row, bool change)
{
	struct walk_config config = {
		.seed = (uint64_t)row + 1,
		.model = walks[row / WALK_SEEDS].model,
		.insns = 10000,
		.ctl = walks[row / WALK_SEEDS].ctl | VPT_CTL_MASK(BRANCH_EN),
		.cr3_match = walks[row / WALK_SEEDS].cr3_match,
		.addr = {WALK_CODE_BASE + walks[row / WALK_SEEDS].from,
			 WALK_CODE_BASE + walks[row / WALK_SEEDS].to},
		.toggle = walks[row / WALK_SEEDS].toggle,
	};
	struct walk_result *walk = walk_run(&config);
	struct oracle_hold hold = {.holds = false};
	struct trace_reader *r;
	struct decode_flow *flow;
	struct decode_item item;
	struct synth s;
	size_t n = 0;

	synth_open(&s);
	walk_to_file(&s, &config, walk, change);
	r = synth_read(&s);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &flow), 0);
	for (;;) {
		const struct walk_item *want;
		bool event;

		while (n < walk->count && walk->items[n].kind == WALK_OFF)
			n++;
		want = &walk->items[n];
		ck_assert_int_eq(oracle_hold_next(&hold, flow, &item), 0);
		if (item.kind == DECODE_ITEM_END)
			break;
		ck_assert_msg(item.kind != DECODE_ITEM_ERROR, "row %d, item %zu of %zu, %#lx: %s",
			      row, n, walk->count, item.ip, item.text);
		event = item.kind == DECODE_ITEM_EVENT &&
			(item.event == DECODE_FLOW_ASYNC_BRANCH ||
			 item.event == DECODE_FLOW_ASYNC_DISABLED);
		if (item.kind != DECODE_ITEM_INSN && !event)
			continue;
		/* The WRMSR that ends a trace, or the host that does. */
		if (event && item.event == DECODE_FLOW_ASYNC_DISABLED &&
		    (n == walk->count || want->kind != WALK_EVENT || want->ip != item.ip))
			continue;
		ck_assert_uint_lt(n, walk->count);
		ck_assert_msg(want->ip == item.ip && want->kind == (event ? WALK_EVENT : WALK_INSN),
			      "row %d, item %zu: %#lx, not %#lx", row, n, item.ip, want->ip);
		n++;
	}
	ck_assert_uint_eq(n, walk->count);
	decode_flow_close(flow);
	trace_reader_close(r);
	synth_done(&s);
	walk_free(walk);
}

START_TEST(walk)
{
	check_walk(_i, false);
}
END_TEST

START_TEST(walk_changing)
{
	check_walk(_i, true);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

TEST_SUITE("decode_walk", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_LOOP(tcase, COUNT(walks) * WALK_SEEDS, walk, walk_changing);
}
