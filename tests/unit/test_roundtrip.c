// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random walks through random code, recorded to a file and decoded by libipt: every
 * instruction that was executed in the traced region, in order, none missing, none
 * extra; and every event with its source.
 */
#include "lib/suite.h"
#include "lib/walk.h"

#include "vpt/msr.h"

enum { SEEDS = 60, INSNS = 20000, VMX_SEEDS = 400, VMX_INSNS = 3000 };

static void check_walk(const struct walk_config *config)
{
	char why[1000];

	ck_assert_msg(walk_check(config, why, sizeof(why), NULL), "seed %llu: %s",
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

START_TEST(everything)
{
	struct walk_config config = base(_i);

	check_walk(&config);
	TEST_PROVES("GEN-FAR GEN-RETC GEN-CALL GEN-LAST-IP GEN-TNT-ORDER GEN-PSB-PERIOD");
}
END_TEST

START_TEST(no_ret_compression)
{
	struct walk_config config = base(_i);

	config.ctl |= VPT_CTL_MASK(DIS_RETC);
	check_walk(&config);
	TEST_PROVES("CTL-DISRETC");
}
END_TEST

START_TEST(user_only)
{
	struct walk_config config = base(_i);

	config.ctl &= ~VPT_CTL_MASK(OS);
	check_walk(&config);
	TEST_PROVES("CTL-USER GEN-PGD GEN-PGE");
}
END_TEST

START_TEST(kernel_only)
{
	struct walk_config config = base(_i);

	config.ctl &= ~VPT_CTL_MASK(USER);
	check_walk(&config);
	TEST_PROVES("CTL-OS GEN-PGD GEN-PGE");
}
END_TEST

START_TEST(cr3_filter)
{
	struct walk_config config = base(_i);

	config.ctl |= VPT_CTL_MASK(CR3_FILTER);
	config.cr3_match = 0x2000;
	check_walk(&config);
	TEST_PROVES("CTL-CR3FILTER GEN-CR3");
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

	set_range(&config, 0, 1, 0x800 + 64 * (unsigned int)_i, 0x1fff);
	if (_i % 3 == 0)
		set_range(&config, 1, 1, 0x4001, 0x5a00);
	check_walk(&config);
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
	check_walk(&config);
}
END_TEST

START_TEST(trace_stop)
{
	struct walk_config config = ranged(_i);

	set_range(&config, 0, 2, 0x7000, 0x7000 + 8 * (unsigned int)_i);
	if (_i % 2)
		set_range(&config, 1, 1, 0x1000, 0x7100);
	check_walk(&config);
	TEST_PROVES("GEN-TRACESTOP GEN-TRACESTOP-OVERLAP");
}
END_TEST

START_TEST(toggled)
{
	struct walk_config config = base(_i);

	config.toggle = true;
	check_walk(&config);
	TEST_PROVES("GEN-DISABLE GEN-ENABLE-ORDER GEN-PSB-ON-ENABLE");
}
END_TEST

START_TEST(overflows)
{
	struct walk_config config = base(_i);

	config.overflow = true;
	check_walk(&config);
	TEST_PROVES("GEN-OVF GEN-RETC-RESET");
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

	check_walk(&config);
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

Suite *test_suite(void)
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
