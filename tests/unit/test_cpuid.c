// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUID as a guest sees it. */
#include "lib/suite.h"

#include <string.h>

#include "core/clock.h"
#include "core/vcpu.h"

/* What an AMD host under a hypervisor might offer. */
static const struct engine_cpuid_entry host[] = {
	{0, 0, false, 0x10, 0x68747541, 0x444d4163, 0x69746e65},
	{1, 0, false, 0xb00f21, 0x03020800, 0xffffffff, 0xffffffff},
	{7, 0, true, 1, 0xffffffff, 0x104, 0},
	{7, 1, true, 0x30, 0, 0, 0},
	{0xd, 0, true, 7, 0x340, 0x340, 0},
	{0x14, 0, true, 1, 0xff, 0xff, 0},
	{0x40000000, 0, false, 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d},
	{0x80000000, 0, false, 0x80000021, 0, 0, 0},
	{0x80000001, 0, false, 0xb00f21, 0xffffffff, 0xffffffff, 0xffffffff},
	{0x80000008, 0, false, 0x3030, 0xffffffff, 0xffffffff, 0},
	{0x8000001e, 0, false, 1, 2, 3, 4},
};

static struct engine_cpuid_entry table[CORE_CPUID_ROOM];
static size_t count;

static const struct vpt_caps *shape(const char *model, bool present)
{
	const struct vpt_caps *caps = vpt_caps_model(model);

	count = sizeof(host) / sizeof(host[0]);
	memcpy(table, host, sizeof(host));
	core_cpuid_shape(table, &count, caps, present);
	return caps;
}

static const struct engine_cpuid_entry *leaf(uint32_t function, uint32_t subleaf)
{
	return core_cpuid_find(table, count, function, subleaf);
}

START_TEST(pt_is_the_models)
{
	const struct vpt_caps *caps = shape(vpt_caps_model_name((unsigned int)_i), true);

	ck_assert(leaf(7, 0)->ebx & 1u << 25);
	ck_assert_uint_eq(leaf(0x14, 0)->eax, caps->l14_0_eax);
	ck_assert_uint_eq(leaf(0x14, 0)->ebx, caps->l14_0_ebx);
	ck_assert_uint_eq(leaf(0x14, 0)->ecx, caps->l14_0_ecx);
	ck_assert_uint_eq(leaf(0x14, 1)->eax, caps->l14_1_eax);
	ck_assert_uint_eq(leaf(0x14, 1)->ebx, caps->l14_1_ebx);
	ck_assert_uint_eq(leaf(1, 0)->eax, caps->signature);
	ck_assert_uint_eq(leaf(0x80000008, 0)->eax & 0xff, caps->max_phy_addr);
	ck_assert_uint_eq(leaf(0x80000008, 0)->eax >> 8 & 0xff, caps->lin_addr);
}
END_TEST

/* P1, the crystal and the TSC are one processor's; the first one tells no crystal. */
START_TEST(clocks_agree)
{
	static const struct {
		const char *model;
		uint32_t p1, tsc_mhz, last;
	} want[] = {{"bdw", 24, 2400, 0x14},
		    {"skl", 34, 3408, 0x16},
		    {"icx", 26, 2600, 0x1f},
		    {"spr", 20, 2000, 0x1f}};
	const struct vpt_caps *caps = shape(want[_i].model, true);
	bool crystal = caps->l15_ebx;

	ck_assert_str_eq(vpt_caps_model_name((unsigned int)_i), want[_i].model);
	ck_assert_uint_eq(caps->max_nonturbo, want[_i].p1);
	ck_assert_uint_eq(core_clock_tsc_hz(caps), want[_i].tsc_mhz * 1000000ull);
	/* That of a bus clock of 100 MHz, but for a hundredth of one clock. */
	ck_assert_uint_ge(want[_i].tsc_mhz, want[_i].p1 * 100);
	ck_assert_uint_lt(want[_i].tsc_mhz, want[_i].p1 * 100 + 10);
	ck_assert_int_eq(crystal, _i > 0);
	ck_assert_uint_eq(leaf(0, 0)->eax, want[_i].last);
	if (!crystal) {
		ck_assert_ptr_null(leaf(0x15, 0));
		ck_assert_ptr_null(leaf(0x16, 0));
		return;
	}
	ck_assert_uint_eq(leaf(0x15, 0)->eax, caps->l15_eax);
	ck_assert_uint_eq(leaf(0x15, 0)->ebx, caps->l15_ebx);
	ck_assert_uint_eq(leaf(0x15, 0)->ecx, caps->l15_ecx);
	ck_assert_uint_eq(leaf(0x16, 0)->eax, want[_i].p1 * 100);
	ck_assert_uint_eq(leaf(0x16, 0)->ebx, want[_i].p1 * 100);
	ck_assert_uint_eq(leaf(0x16, 0)->ecx, 100);
}
END_TEST

/* The host's own PT must not shine through either. */
START_TEST(pt_is_hidden)
{
	shape("skl", false);
	ck_assert(!(leaf(7, 0)->ebx & 1u << 25));
	ck_assert_uint_eq(leaf(0x14, 0)->ebx | leaf(0x14, 0)->ecx | leaf(0x14, 1)->eax, 0);
}
END_TEST

START_TEST(it_is_an_intel_processor)
{
	char vendor[12];

	shape("icx", true);
	memcpy(vendor, &leaf(0, 0)->ebx, 4);
	memcpy(vendor + 4, &leaf(0, 0)->edx, 4);
	memcpy(vendor + 8, &leaf(0, 0)->ecx, 4);
	ck_assert_mem_eq(vendor, "GenuineIntel", 12);
	ck_assert_uint_ge(leaf(0, 0)->eax, 0x16);
	ck_assert_uint_eq(leaf(0x80000000, 0)->eax, 0x80000008);
	ck_assert_ptr_null(leaf(0x8000001e, 0));
	ck_assert_ptr_null(leaf(0x40000000, 0));
}
END_TEST

static const struct {
	const char *name;
	uint32_t leaf;
	char reg;
	unsigned int bit;
	bool kept;
} bits[] = {
	{"MONITOR", 1, 'c', 3, false},
	{"VMX", 1, 'c', 5, false},
	{"x2APIC", 1, 'c', 21, false},
	{"TSC deadline", 1, 'c', 24, false},
	{"XSAVE", 1, 'c', 26, true},
	{"hypervisor", 1, 'c', 31, false},
	{"APIC", 1, 'd', 9, false},
	{"HTT", 1, 'd', 28, false},
	{"SSE2", 1, 'd', 26, true},
	{"HLE", 7, 'b', 4, false},
	{"RTM", 7, 'b', 11, false},
	{"BMI2", 7, 'b', 8, true},
	{"SMEP", 7, 'b', 7, true},
	{"SVM", 0x80000001, 'c', 2, false},
	{"SSE4A", 0x80000001, 'c', 6, false},
	{"LAHF", 0x80000001, 'c', 0, true},
	{"NX", 0x80000001, 'd', 20, true},
	{"LM", 0x80000001, 'd', 29, true},
	{"MMXEXT", 0x80000001, 'd', 22, false},
};

START_TEST(what_the_machine_lacks_is_not_offered)
{
	const struct engine_cpuid_entry *e;
	uint32_t value;

	shape("spr", true);
	e = leaf(bits[_i].leaf, 0);
	value = bits[_i].reg == 'b' ? e->ebx : bits[_i].reg == 'c' ? e->ecx : e->edx;
	ck_assert_msg((value >> bits[_i].bit & 1) == bits[_i].kept, "%s", bits[_i].name);
}
END_TEST

START_TEST(other_leaves_pass)
{
	shape("skl", true);
	ck_assert_mem_eq(leaf(0xd, 0), &host[4], sizeof(host[4]));
	ck_assert_mem_eq(leaf(7, 1), &host[3], sizeof(host[3]));
	ck_assert_ptr_null(leaf(0x14, 2));
}
END_TEST

/* Of XSAVES' component, what the engine has, the model had, and the guest may use. */
START_TEST(pt_state_for_xsaves)
{
	static const struct engine_cpuid_entry engine[] = {
		{0xd, 0, true, 7, 0x340, 0x340, 0},
		{0xd, 1, true, 0xf, 0, 1 << 8 | 1 << 11, 0},
		{0xd, 8, true, 128, 0, 1, 0},
	};
	static const struct {
		const char *model;
		bool pt, xsaves, component;
	} rows[] = {
		{"bdw", true, false, false},
		{"skl", false, true, false},
		{"skl", true, true, true},
		{"spr", true, true, true},
	};

	count = sizeof(engine) / sizeof(engine[0]);
	memcpy(table, engine, sizeof(engine));
	core_cpuid_xstate(table, &count, vpt_caps_model(rows[_i].model), rows[_i].pt);
	ck_assert_uint_eq(leaf(0xd, 1)->eax, rows[_i].xsaves ? 0xf : 7);
	ck_assert_uint_eq(leaf(0xd, 1)->ecx, 1 << 11 | rows[_i].component << 8);
	ck_assert_int_eq(!!leaf(0xd, 8), rows[_i].component);
	ck_assert_uint_eq(count, rows[_i].component ? 3 : 2);
}
END_TEST

/* Kilobytes of the caches of leaf 4: L1 data, L1 instructions, L2, L3. */
static const struct {
	const char *model;
	uint32_t kbytes[4], ways[4];
} caches[] = {
	{"bdw", {32, 32, 256, 4096}, {8, 8, 8, 16}},
	{"skl", {32, 32, 256, 8192}, {8, 8, 4, 16}},
	{"icx", {48, 32, 1280, 49152}, {12, 8, 20, 12}},
	{"spr", {48, 32, 2048, 107520}, {12, 8, 16, 15}},
};

START_TEST(caches_of_leaf_4)
{
	static const uint32_t types[4] = {0x121, 0x122, 0x143, 0x163};
	uint32_t i;

	shape(caches[_i].model, true);
	for (i = 0; i < 4; i++) {
		const struct engine_cpuid_entry *e = leaf(4, i);
		uint32_t line = (e->ebx & 0xfff) + 1, ways = (e->ebx >> 22) + 1;

		/* Shared by one thread, in a package of one core. */
		ck_assert_uint_eq(e->eax, types[i]);
		ck_assert_uint_eq(line, 64);
		ck_assert_uint_eq(ways, caches[_i].ways[i]);
		ck_assert_uint_eq(e->ebx >> 12 & 0x3ff, 0);
		ck_assert_uint_eq(line * ways * (e->ecx + 1) >> 10, caches[_i].kbytes[i]);
	}
	ck_assert_ptr_null(leaf(4, 4));
}
END_TEST

/* One thread in one core, as leaf 1 has it, whose x2APIC ID is the APIC ID. */
START_TEST(topology)
{
	static const struct {
		uint32_t ebx, ecx;
	} levels[] = {{1, 0x100}, {1, 0x201}, {0, 2}};
	static const struct {
		const char *model;
		uint32_t leaf;
		bool has;
	} rows[] = {{"bdw", 0xb, true},	 {"skl", 0xb, true},   {"icx", 0xb, true},
		    {"spr", 0xb, true},	 {"bdw", 0x1f, false}, {"skl", 0x1f, false},
		    {"icx", 0x1f, true}, {"spr", 0x1f, true}};
	uint32_t i;

	shape(rows[_i].model, true);
	ck_assert_uint_eq(leaf(1, 0)->ebx >> 16, 1);
	ck_assert_uint_eq(leaf(1, 0)->edx >> 28 & 1, 0);
	ck_assert_int_eq(leaf(0, 0)->eax >= rows[_i].leaf, rows[_i].has);
	for (i = 0; i < 3; i++) {
		const struct engine_cpuid_entry *e = leaf(rows[_i].leaf, i);

		ck_assert_int_eq(!!e, rows[_i].has);
		if (!e)
			continue;
		ck_assert_uint_eq(e->eax | e->edx, 0);
		ck_assert_uint_eq(e->ebx, levels[i].ebx);
		ck_assert_uint_eq(e->ecx, levels[i].ecx);
	}
	ck_assert_uint_eq(leaf(6, 0)->eax, 4);
}
END_TEST

/* The features that the software CPU has on every host, by model. */
static const struct {
	const char *name;
	uint32_t leaf;
	char reg;
	unsigned int bit;
	bool has[4]; /* bdw, skl, icx, spr */
} added[] = {
	{"TSC_ADJUST", 7, 'b', 1, {true, true, true, true}},
	{"RDRAND", 1, 'c', 30, {true, true, true, true}},
	{"RDSEED", 7, 'b', 18, {true, true, true, true}},
	{"ARCH_CAPABILITIES", 7, 'd', 29, {false, false, true, true}},
};

START_TEST(features_of_models)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const struct vpt_caps *caps = vpt_caps_model(vpt_caps_model_name(i));
		const struct engine_cpuid_entry *e;
		uint32_t value;

		memset(table, 0, sizeof(table));
		table[0].leaf = 1;
		table[1].leaf = 7;
		table[1].by_subleaf = true;
		count = 2;
		core_cpuid_features(table, 2, caps);
		e = leaf(added[_i].leaf, 0);
		value = added[_i].reg == 'b' ? e->ebx : added[_i].reg == 'c' ? e->ecx : e->edx;
		ck_assert_msg((value >> added[_i].bit & 1) == added[_i].has[i], "%s",
			      added[_i].name);
	}
}
END_TEST

/* A machine with the leaves 1, 7 and 0DH, and a changed register of the table that it is to have. */
static const struct engine_cpuid_entry mine[] = {
	{0, 0, false, 0x16, 1, 2, 3},	{1, 0, false, 0x506e3, 0x10800, 0xff, 0xff},
	{7, 0, true, 1, 0xf0, 0, 0},	{0xd, 0, true, 7, 0x340, 0x340, 0},
	{0xd, 1, true, 1, 0x340, 0, 0}, {0xd, 2, true, 0x100, 0x240, 0, 0},
};

static const struct gives_row {
	unsigned int entry; /* of `mine` */
	char reg;
	uint32_t value;
	const char *gap; /* the register of the gap; NULL: there is none */
} gives_rows[] = {
	{0, 'a', 0xd, NULL},	{0, 'a', 0x17, "EAX"},	{0, 'b', 2, "EBX"},
	{1, 'a', 0, "EAX"},	{1, 'b', 0, "EBX"},	{1, 'c', 0x0f, NULL},
	{1, 'c', 0, NULL},	{1, 'c', 0x1ff, "ECX"}, {1, 'd', 0xfe, NULL},
	{1, 'd', 0x100, "EDX"}, {2, 'a', 0, NULL},	{2, 'a', 2, "EAX"},
	{2, 'b', 0x10, NULL},	{2, 'b', 0xf1, "EBX"},	{3, 'a', 3, NULL},
	{3, 'a', 0xf, "EAX"},	{3, 'b', 0x240, NULL},	{3, 'c', 0x240, NULL},
	{3, 'd', 1, "EDX"},	{4, 'a', 0, NULL},	{4, 'a', 3, "EAX"},
	{4, 'b', 0, NULL},	{5, 'a', 0x80, "EAX"},	{5, 'b', 0x340, "EBX"},
};

START_TEST(a_machine_gives_a_table)
{
	const struct gives_row *row = &gives_rows[_i];
	struct engine_cpuid_entry theirs[sizeof(mine) / sizeof(mine[0])];
	struct engine_cpuid_entry *e = &theirs[row->entry];
	struct core_cpuid_gap gap = {0};
	const size_t n = sizeof(mine) / sizeof(mine[0]);

	memcpy(theirs, mine, sizeof(mine));
	ck_assert(core_cpuid_gives(mine, n, theirs, n, &gap));
	*(row->reg == 'a'   ? &e->eax
	  : row->reg == 'b' ? &e->ebx
	  : row->reg == 'c' ? &e->ecx
			    : &e->edx) = row->value;
	ck_assert_int_eq(core_cpuid_gives(mine, n, theirs, n, &gap), !row->gap);
	ck_assert_int_eq(gap.found, !!row->gap);
	if (!row->gap)
		return;
	ck_assert_str_eq(gap.reg, row->gap);
	ck_assert_uint_eq(gap.leaf, e->leaf);
	ck_assert_uint_eq(gap.subleaf, e->subleaf);
	ck_assert_uint_eq(gap.wanted, row->value);
}
END_TEST

/* The table may have fewer leaves than the machine, and no other leaves. */
START_TEST(a_machine_lacks_a_leaf)
{
	const size_t n = sizeof(mine) / sizeof(mine[0]);
	struct core_cpuid_gap gap = {0};

	ck_assert(core_cpuid_gives(mine, n, mine, n - 1, &gap));
	ck_assert(!core_cpuid_gives(mine, n - 1, mine, n, &gap));
	ck_assert(gap.found);
	ck_assert_ptr_null(gap.reg);
	ck_assert_uint_eq(gap.leaf, 0xd);
	ck_assert_uint_eq(gap.subleaf, 2);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("cpuid");
	TCase *tc = tcase_create("cpuid");
	int models = 0;

	while (vpt_caps_model_name((unsigned int)models))
		models++;
	tcase_add_loop_test(tc, pt_is_the_models, 0, models);
	tcase_add_loop_test(tc, clocks_agree, 0, models);
	tcase_add_test(tc, pt_is_hidden);
	tcase_add_loop_test(tc, pt_state_for_xsaves, 0, 4);
	tcase_add_test(tc, it_is_an_intel_processor);
	tcase_add_loop_test(tc, what_the_machine_lacks_is_not_offered, 0,
			    (int)(sizeof(bits) / sizeof(bits[0])));
	tcase_add_test(tc, other_leaves_pass);
	tcase_add_loop_test(tc, caches_of_leaf_4, 0, 4);
	tcase_add_loop_test(tc, topology, 0, 8);
	tcase_add_loop_test(tc, features_of_models, 0, (int)(sizeof(added) / sizeof(added[0])));
	tcase_add_loop_test(tc, a_machine_gives_a_table, 0,
			    (int)(sizeof(gives_rows) / sizeof(gives_rows[0])));
	tcase_add_test(tc, a_machine_lacks_a_leaf);
	suite_add_tcase(suite, tc);
	return suite;
}
