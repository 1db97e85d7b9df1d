// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random walks through random code, recorded to a file and decoded by libipt: every
 * instruction that was executed in the traced region, in order, none missing, none
 * extra; and every event with its source.
 */
#include "lib/suite.h"
#include "lib/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "decode/flow.h"
#include "vpt/msr.h"

enum {
	SEEDS = 60,
	INSNS = 20000,
	VMX_SEEDS = 400,
	VMX_INSNS = 3000,
	/* More instructions than there can be between two that send something. */
	TAIL_MAX = 40,
};

struct compare {
	const struct walk_config *config;
	const struct walk_result *walk;
	size_t next; /* item that must come next */
};

static void describe(const struct compare *c, const char *what, uint64_t ip)
{
	size_t i, from = c->next > 6 ? c->next - 6 : 0;

	fprintf(stderr, "seed %llu: item %zu of %zu: decoder has %s %llx; expected around here:\n",
		(unsigned long long)c->config->seed, c->next, c->walk->count, what,
		(unsigned long long)ip);
	for (i = from; i < c->walk->count && i < c->next + 4; i++)
		fprintf(stderr, "  %c %zu %s %llx\n", i == c->next ? '>' : ' ', i,
			c->walk->items[i].kind == WALK_INSN    ? "insn"
			: c->walk->items[i].kind == WALK_EVENT ? "event"
							       : "lost",
			(unsigned long long)c->walk->items[i].ip);
}

static const struct walk_item *skip_tail(struct compare *c)
{
	unsigned int tail = 0;

	while (c->next < c->walk->count && c->walk->items[c->next].kind == WALK_INSN &&
	       tail++ < TAIL_MAX)
		c->next++;
	return &c->walk->items[c->next];
}

static void take(struct compare *c, enum walk_kind kind, uint64_t ip)
{
	const struct walk_item *item = &c->walk->items[c->next];

	/* The instructions since the last packet before a loss: a decoder that looks
	 * ahead leaves them out, one that does not goes on to the next branch. */
	if (c->next < c->walk->count && item->kind == WALK_LOST && kind == WALK_INSN)
		return;
	if (kind == WALK_LOST)
		item = skip_tail(c);
	if (c->next == c->walk->count || item->kind != kind ||
	    (kind != WALK_LOST && item->ip != ip)) {
		describe(c, kind == WALK_INSN ? "insn" : kind == WALK_EVENT ? "event" : "lost", ip);
		ck_abort_msg("decoded flow differs");
	}
	c->next++;
}

/* FUP and TIP.PGD are an event that left the context, or the WRMSR that ends a trace. */
static bool is_event_at(const struct compare *c, uint64_t ip)
{
	return c->next < c->walk->count && c->walk->items[c->next].kind == WALK_EVENT &&
	       c->walk->items[c->next].ip == ip;
}

static void take_item(struct compare *c, const struct vpt_item *item)
{
	if (item->kind == VPT_ITEM_ERROR) {
		describe(c, item->text, item->ip);
		ck_abort_msg("seed %llu: %s at offset %#llx", (unsigned long long)c->config->seed,
			     item->text, (unsigned long long)item->offset);
	} else if (item->kind == VPT_ITEM_INSN) {
		take(c, WALK_INSN, item->ip);
	} else if (item->kind != VPT_ITEM_EVENT) {
		return;
	} else if (item->event == VPT_FLOW_ASYNC_BRANCH ||
		   (item->event == VPT_FLOW_ASYNC_DISABLED && is_event_at(c, item->ip))) {
		take(c, WALK_EVENT, item->ip);
	} else if (item->event == VPT_FLOW_OVERFLOW) {
		take(c, WALK_LOST, 0);
	}
}

static void check_walk(const struct walk_config *config)
{
	char path[] = "/tmp/vpt-walk-XXXXXX", why[160];
	int fd = mkstemp(path);
	struct walk_result *walk;
	struct compare c = {.config = config};
	struct vpt_reader *reader;
	struct vpt_flow *flow;
	struct vpt_item item;

	ck_assert_int_ge(fd, 0);
	close(fd);
	walk = walk_run(config);
	walk_save(config, walk, path);
	c.walk = walk;
	ck_assert_msg(!vpt_reader_open(path, &reader, why, sizeof(why)), "%s", why);
	unlink(path);
	ck_assert_int_eq(vpt_flow_open(reader, 0, VPT_FLOW_INSNS, &flow), 0);
	do {
		ck_assert_int_eq(vpt_flow_next(flow, &item), 0);
		take_item(&c, &item);
	} while (item.kind != VPT_ITEM_END);
	if (config->vmx)
		ck_assert(walk->stopped || (walk->entries && walk->exits));
	if (c.next != walk->count)
		describe(&c, "the end", 0);
	ck_assert_uint_eq(c.next, walk->count);
	vpt_flow_close(flow);
	vpt_reader_close(reader);
	walk_free(walk);
}

static const char *const models[] = {"bdw", "skl", "icx", "spr"};

static struct walk_config base(int row)
{
	return (struct walk_config){
		.seed = (uint64_t)row + 1,
		.model = models[row % 4],
		.insns = INSNS,
		.ctl = VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN),
	};
}

START_TEST(everything)
{
	struct walk_config config = base(_i);

	VPT_PROVES("GEN-FAR GEN-RETC GEN-CALL GEN-LAST-IP GEN-TNT-ORDER GEN-PSB-PERIOD");
	check_walk(&config);
}
END_TEST

START_TEST(no_ret_compression)
{
	struct walk_config config = base(_i);

	VPT_PROVES("CTL-DISRETC");
	config.ctl |= VPT_CTL_MASK(DIS_RETC);
	check_walk(&config);
}
END_TEST

START_TEST(user_only)
{
	struct walk_config config = base(_i);

	VPT_PROVES("CTL-USER GEN-PGD GEN-PGE");
	config.ctl &= ~VPT_CTL_MASK(OS);
	check_walk(&config);
}
END_TEST

START_TEST(kernel_only)
{
	struct walk_config config = base(_i);

	VPT_PROVES("CTL-OS GEN-PGD GEN-PGE");
	config.ctl &= ~VPT_CTL_MASK(USER);
	check_walk(&config);
}
END_TEST

START_TEST(cr3_filter)
{
	struct walk_config config = base(_i);

	VPT_PROVES("CTL-CR3FILTER GEN-CR3");
	config.ctl |= VPT_CTL_MASK(CR3_FILTER);
	config.cr3_match = 0x2000;
	check_walk(&config);
}
END_TEST

static void set_range(struct walk_config *config, unsigned int n, unsigned int cfg, uint64_t a,
		      uint64_t b)
{
	config->ctl |= (uint64_t)cfg << (32 + 4 * n);
	config->addr[2 * n] = WALK_CODE_BASE + a;
	config->addr[2 * n + 1] = WALK_CODE_BASE + b;
}

/* A model with address ranges; the row chooses where they lie. */
static struct walk_config ranged(int row)
{
	struct walk_config config = base(row);

	if (row % 4 == 0)
		config.model = "skl";
	return config;
}

START_TEST(ip_filter)
{
	struct walk_config config = ranged(_i);

	VPT_PROVES("CTL-ADDRCFG EN-FILTER-TAKEN GEN-PGD-COND");
	set_range(&config, 0, 1, 0x800 + 64 * (unsigned int)_i, 0x1fff);
	if (_i % 3 == 0)
		set_range(&config, 1, 1, 0x4001, 0x5a00);
	check_walk(&config);
}
END_TEST

START_TEST(all_filters)
{
	struct walk_config config = ranged(_i);

	config.ctl |= VPT_CTL_MASK(CR3_FILTER);
	config.cr3_match = 0x1000;
	config.ctl &= ~(_i % 2 ? VPT_CTL_MASK(OS) : VPT_CTL_MASK(USER));
	set_range(&config, 0, 1, 0x1000, 0x5fff);
	check_walk(&config);
}
END_TEST

START_TEST(trace_stop)
{
	struct walk_config config = ranged(_i);

	VPT_PROVES("GEN-TRACESTOP GEN-TRACESTOP-OVERLAP");
	set_range(&config, 0, 2, 0x7000, 0x7000 + 8 * (unsigned int)_i);
	if (_i % 2)
		set_range(&config, 1, 1, 0x1000, 0x7100);
	check_walk(&config);
}
END_TEST

START_TEST(toggled)
{
	struct walk_config config = base(_i);

	VPT_PROVES("GEN-DISABLE GEN-ENABLE-ORDER GEN-PSB-ON-ENABLE");
	config.toggle = true;
	check_walk(&config);
}
END_TEST

START_TEST(overflows)
{
	struct walk_config config = base(_i);

	VPT_PROVES("GEN-OVF GEN-RETC-RESET");
	config.overflow = true;
	check_walk(&config);
}
END_TEST

/* Short walks, but many: usages, what is concealed, filters, and a guest's own WRMSRs. */
static struct walk_config virtualized(int row)
{
	struct walk_config config = ranged(row);

	config.insns = VMX_INSNS;
	config.vmx = (enum walk_vmx)(WALK_SYSTEM + row % 3);
	config.conceal = (uint32_t)row & VPT_VMX_CONCEAL;
	config.toggle = row % 5 == 0;
	if (row % 7 == 0)
		config.ctl |= VPT_CTL_MASK(DIS_RETC);
	/* Only processors that allow TraceEn in VMX operation. */
	if (!vpt_caps_model(config.model)->vmx_pt)
		config.model = "skl";
	return config;
}

START_TEST(vmx)
{
	struct walk_config config = virtualized(_i);

	VPT_PROVES("VMX-ENTRY-SYSTEM VMX-EXIT-SYSTEM VMX-ENTRY-LOAD VMX-EXIT-CLEAR VMX-FAIL-EARLY "
		   "VMX-FAIL-LATE VMX-ENTRY-RISE VMX-EXIT-FALL");
	check_walk(&config);
}
END_TEST

START_TEST(vmx_contexts)
{
	struct walk_config config = virtualized(_i);

	if (_i & 1) {
		config.ctl |= VPT_CTL_MASK(CR3_FILTER);
		config.cr3_match = _i & 2 ? 0x1000 : 0x2000;
	} else {
		config.ctl &= ~(_i & 2 ? VPT_CTL_MASK(OS) : VPT_CTL_MASK(USER));
	}
	check_walk(&config);
}
END_TEST

START_TEST(vmx_ranges)
{
	struct walk_config config = virtualized(_i);

	set_range(&config, 0, 1, 0x800 + 64 * (unsigned int)(_i % 64), 0x4fff);
	if (_i % 4 == 3)
		set_range(&config, 1, 2, 0x7000, 0x7000 + 8 * (unsigned int)(_i % 64));
	check_walk(&config);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("roundtrip");
	TCase *tcase = tcase_create("walks");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, everything, 0, SEEDS);
	tcase_add_loop_test(tcase, no_ret_compression, 0, SEEDS / 4);
	tcase_add_loop_test(tcase, user_only, 0, SEEDS / 2);
	tcase_add_loop_test(tcase, kernel_only, 0, SEEDS / 2);
	tcase_add_loop_test(tcase, cr3_filter, 0, SEEDS / 2);
	tcase_add_loop_test(tcase, ip_filter, 0, SEEDS);
	tcase_add_loop_test(tcase, all_filters, 0, SEEDS);
	tcase_add_loop_test(tcase, trace_stop, 0, SEEDS);
	tcase_add_loop_test(tcase, toggled, 0, SEEDS / 2);
	tcase_add_loop_test(tcase, overflows, 0, SEEDS / 2);
	tcase_add_loop_test(tcase, vmx, 0, VMX_SEEDS);
	tcase_add_loop_test(tcase, vmx_contexts, 0, VMX_SEEDS);
	tcase_add_loop_test(tcase, vmx_ranges, 0, VMX_SEEDS);
	suite_add_tcase(suite, tcase);
	return suite;
}
