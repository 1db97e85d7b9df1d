// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random walks through random code are recorded to a file, which libipt decodes. The result must be
 * the instructions of the traced region, in order, and the events with their sources.
 */
#include "lib/suite.h"
#include "lib/walk.h"

#include "vpt/msr.h"

enum { SEEDS = 60, INSNS = 20000, VMX_SEEDS = 400, VMX_INSNS = 3000 };

static void check_walk(const struct walk_config *config, const char *kind)
{
	char why[1000];

	ck_assert_msg(walk_check(config, why, sizeof(why), NULL), "%s, seed %llu: %s", kind,
		      (unsigned long long)config->seed, why);
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

/* Walks that differ in their controls. */
static const struct {
	const char *name, *tags;
	int seeds;
	uint64_t set, clear, cr3_match;
	bool toggle, overflow;
} kinds[] = {
	{"everything", "GEN-FAR GEN-RETC GEN-CALL GEN-LAST-IP GEN-TNT-ORDER GEN-PSB-PERIOD", SEEDS,
	 0, 0, 0, false, false},
	{"no RET compression", "CTL-DISRETC", SEEDS / 4, VPT_CTL_MASK(DIS_RETC), 0, 0, false,
	 false},
	{"user only", "CTL-USER GEN-PGD GEN-PGE", SEEDS / 2, 0, VPT_CTL_MASK(OS), 0, false, false},
	{"kernel only", "CTL-OS GEN-PGD GEN-PGE", SEEDS / 2, 0, VPT_CTL_MASK(USER), 0, false,
	 false},
	{"CR3 filter", "CTL-CR3FILTER GEN-CR3", SEEDS / 2, VPT_CTL_MASK(CR3_FILTER), 0, 0x2000,
	 false, false},
	{"toggled", "GEN-DISABLE GEN-ENABLE-ORDER GEN-PSB-ON-ENABLE", SEEDS / 2, 0, 0, 0, true,
	 false},
	{"overflows", "GEN-OVF GEN-RETC-RESET", SEEDS / 2, 0, 0, 0, false, true},
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* Row: SEEDS for each kind of walk, of which the first ones are used. */
START_TEST(controls)
{
	const int kind = _i / SEEDS;
	struct walk_config config = base(_i % SEEDS);

	config.ctl = (config.ctl | kinds[kind].set) & ~kinds[kind].clear;
	config.cr3_match = kinds[kind].cr3_match;
	config.toggle = kinds[kind].toggle;
	config.overflow = kinds[kind].overflow;
	check_walk(&config, kinds[kind].name);
	TEST_PROVES(kinds[kind].tags);
}
END_TEST

static void set_range(struct walk_config *config, unsigned int n, unsigned int cfg, uint64_t a,
		      uint64_t b)
{
	config->ctl |= (uint64_t)cfg << (32 + 4 * n);
	config->addr[2 * n] = WALK_CODE_BASE + a;
	config->addr[2 * n + 1] = WALK_CODE_BASE + b;
}

/* Return a configuration of a model with address ranges. */
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

	set_range(&config, 0, 1, 0x800 + 64 * (unsigned int)_i, 0x1fff);
	if (_i % 3 == 0)
		set_range(&config, 1, 1, 0x4001, 0x5a00);
	check_walk(&config, __func__);
	TEST_PROVES("CTL-ADDRCFG EN-FILTER-TAKEN GEN-PGD-COND");
}
END_TEST

START_TEST(all_filters)
{
	struct walk_config config = ranged(_i);

	config.ctl |= VPT_CTL_MASK(CR3_FILTER);
	config.cr3_match = 0x1000;
	config.ctl &= ~(_i % 2 ? VPT_CTL_MASK(OS) : VPT_CTL_MASK(USER));
	set_range(&config, 0, 1, 0x1000, 0x5fff);
	check_walk(&config, __func__);
}
END_TEST

START_TEST(trace_stop)
{
	struct walk_config config = ranged(_i);

	set_range(&config, 0, 2, 0x7000, 0x7000 + 8 * (unsigned int)_i);
	if (_i % 2)
		set_range(&config, 1, 1, 0x1000, 0x7100);
	check_walk(&config, __func__);
	TEST_PROVES("GEN-TRACESTOP GEN-TRACESTOP-OVERLAP");
}
END_TEST

/* Many short walks. They differ in the usage, the VMX controls, and in WRMSRs by the guest. */
static struct walk_config virtualized(int row)
{
	struct walk_config config = ranged(row);

	config.insns = VMX_INSNS;
	config.vmx = (enum walk_vmx)(WALK_SYSTEM + row % 3);
	config.conceal = (uint32_t)row & VPT_VMX_CONCEAL;
	config.toggle = row % 5 == 0;
	if (row % 7 == 0)
		config.ctl |= VPT_CTL_MASK(DIS_RETC);
	/* The processor must allow TraceEn in VMX operation. */
	if (!vpt_caps_model(config.model)->vmx_pt)
		config.model = "skl";
	return config;
}

START_TEST(vmx)
{
	struct walk_config config = virtualized(_i);

	check_walk(&config, __func__);
	TEST_PROVES("VMX-ENTRY-SYSTEM VMX-EXIT-SYSTEM VMX-ENTRY-LOAD VMX-EXIT-CLEAR VMX-FAIL-EARLY "
		    "VMX-FAIL-LATE VMX-ENTRY-RISE VMX-EXIT-FALL");
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
	check_walk(&config, __func__);
}
END_TEST

START_TEST(vmx_ranges)
{
	struct walk_config config = virtualized(_i);

	set_range(&config, 0, 1, 0x800 + 64 * (unsigned int)(_i % 64), 0x4fff);
	if (_i % 4 == 3)
		set_range(&config, 1, 2, 0x7000, 0x7000 + 8 * (unsigned int)(_i % 64));
	check_walk(&config, __func__);
}
END_TEST

TEST_SUITE("roundtrip", NULL, NULL)
{
	int i;

	tcase_set_timeout(tcase, 60);
	for (i = 0; i < KINDS; i++)
		tcase_add_loop_test(tcase, controls, i * SEEDS, i * SEEDS + kinds[i].seeds);
	TEST_LOOP(tcase, SEEDS, ip_filter, all_filters, trace_stop);
	TEST_LOOP(tcase, VMX_SEEDS, vmx, vmx_contexts, vmx_ranges);
}
