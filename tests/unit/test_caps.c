// SPDX-License-Identifier: GPL-2.0-or-later
/* Capability sets: the models, what bits mean, which sets make sense, CPUID. */
#include <string.h>

#include "lib/suite.h"
#include "vpt/caps.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Models */

struct model {
	const char *name;
	struct vpt_caps caps;
};

static const struct model models[] = {
	{"bdw", {0, 0x1, 0x1, 0, 0, 0, 0, 0, 0x306d4, 39, 48, 24, 0}},
	{"skl", {1, 0xf, 0x7, 0x02490002, 0x003f3fff, 2, 284, 24000000, 0x506e3, 39, 48, 34, 1}},
	{"icx", {1, 0xf, 0x7, 0x02490002, 0x003f1fff, 2, 208, 25000000, 0x606a6, 52, 57, 26, 1}},
	{"spr", {1, 0x1df, 0x7, 0x02490002, 0x003f003f, 2, 160, 25000000, 0x806f8, 52, 57, 20, 1}},
};

static void assert_same_set(const struct vpt_caps *a, const struct vpt_caps *b)
{
	ck_assert_uint_eq(a->l14_0_eax, b->l14_0_eax);
	ck_assert_uint_eq(a->l14_0_ebx, b->l14_0_ebx);
	ck_assert_uint_eq(a->l14_0_ecx, b->l14_0_ecx);
	ck_assert_uint_eq(a->l14_1_eax, b->l14_1_eax);
	ck_assert_uint_eq(a->l14_1_ebx, b->l14_1_ebx);
	ck_assert_uint_eq(a->l15_eax, b->l15_eax);
	ck_assert_uint_eq(a->l15_ebx, b->l15_ebx);
	ck_assert_uint_eq(a->l15_ecx, b->l15_ecx);
	ck_assert_uint_eq(a->signature, b->signature);
	ck_assert_uint_eq(a->max_phy_addr, b->max_phy_addr);
	ck_assert_uint_eq(a->lin_addr, b->lin_addr);
	ck_assert_uint_eq(a->max_nonturbo, b->max_nonturbo);
	ck_assert_uint_eq(a->vmx_pt, b->vmx_pt);
}

START_TEST(model)
{
	const struct vpt_caps *caps = vpt_caps_model(models[_i].name);
	const char *why = "untouched";

	ck_assert_ptr_nonnull(caps);
	ck_assert_str_eq(vpt_caps_model_name((unsigned int)_i), models[_i].name);
	assert_same_set(caps, &models[_i].caps);
	ck_assert_int_eq(vpt_caps_check(caps, &why), VPT_OK);
	ck_assert_str_eq(why, "untouched");
}
END_TEST

START_TEST(no_such_model)
{
	static const char *const names[] = {"", "s", "sk", "sklx", "SKL", "bdw ", "skl,icx"};
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		ck_assert_ptr_null(vpt_caps_model(names[i]));
	ck_assert_ptr_null(vpt_caps_model_name(COUNT(models)));
	ck_assert_ptr_null(vpt_caps_model_name(~0u));
}
END_TEST

/* What the bits mean, as table 33-11 has them. */

struct cap_bit {
	enum vpt_cap cap;
	char reg;
	unsigned int bit;
};

static const struct cap_bit cap_bits[] = {
	{VPT_CAP_CR3_FILTER, 'b', 0}, {VPT_CAP_PSB_CYC, 'b', 1},    {VPT_CAP_IP_FILTER, 'b', 2},
	{VPT_CAP_MTC, 'b', 3},	      {VPT_CAP_PTWRITE, 'b', 4},    {VPT_CAP_PWR_EVT, 'b', 5},
	{VPT_CAP_PSB_PMI, 'b', 6},    {VPT_CAP_EVENT, 'b', 7},	    {VPT_CAP_DIS_TNT, 'b', 8},
	{VPT_CAP_TOPA, 'c', 0},	      {VPT_CAP_TOPA_MULTI, 'c', 1}, {VPT_CAP_SINGLE_RANGE, 'c', 2},
	{VPT_CAP_FABRIC, 'c', 3},     {VPT_CAP_LIP, 'c', 31},
};

static struct vpt_caps one_bit(const struct cap_bit *at)
{
	struct vpt_caps caps = {0};

	*(at->reg == 'b' ? &caps.l14_0_ebx : &caps.l14_0_ecx) = 1u << at->bit;
	return caps;
}

/* The bit that enumerates a capability does so, alone, and nothing else does. */
START_TEST(capability_bit)
{
	struct vpt_caps caps = one_bit(&cap_bits[_i]);
	size_t i;

	ck_assert_uint_eq(COUNT(cap_bits), VPT_CAP_COUNT);
	for (i = 0; i < COUNT(cap_bits); i++)
		ck_assert_int_eq(vpt_caps_has(&caps, cap_bits[i].cap), (int)i == _i);
	ck_assert(!vpt_caps_has(&caps, VPT_CAP_COUNT));

	caps.l14_0_ebx = ~caps.l14_0_ebx;
	caps.l14_0_ecx = ~caps.l14_0_ecx;
	for (i = 0; i < COUNT(cap_bits); i++)
		ck_assert_int_eq(vpt_caps_has(&caps, cap_bits[i].cap), (int)i != _i);
	TEST_PROVES("CPUID-CR3FILTER CPUID-PSBCYC CPUID-IPFILTER CPUID-MTC CPUID-PTWRITE");
	TEST_PROVES("CPUID-PWREVT CPUID-PSBPMI CPUID-EVENT CPUID-DISTNT CPUID-TOPA CPUID-MENTRY");
	TEST_PROVES("CPUID-SNGLRNG CPUID-FABRIC CPUID-LIP");
}
END_TEST

START_TEST(range_count)
{
	static const unsigned int expected[] = {0, 1, 2, 3, 4, 4, 4, 4};
	/* What surrounds the field is of no account. */
	struct vpt_caps caps = {.l14_0_ebx = 0x4, .l14_1_eax = 0xfffffff8 | (uint32_t)_i};

	ck_assert_uint_eq(vpt_caps_ranges(&caps), expected[_i]);
	caps.l14_0_ebx = ~0x4u;
	ck_assert_uint_eq(vpt_caps_ranges(&caps), 0);
	TEST_PROVES("CAPS-RANGES-MAX");
}
END_TEST

/* One encoding in a map: legal with the bit and the capability, and no other is. */
START_TEST(encoding)
{
	unsigned int set = (unsigned int)_i, enc;
	struct vpt_caps mtc = {.l14_0_ebx = 0x8, .l14_1_eax = 1u << (16 + set)};
	struct vpt_caps cyc = {.l14_0_ebx = 0x2, .l14_1_ebx = 1u << set};
	struct vpt_caps psb = {.l14_0_ebx = 0x2, .l14_1_ebx = 1u << (16 + set)};
	struct vpt_caps orphan = {.l14_1_eax = ~0u, .l14_1_ebx = ~0u};

	for (enc = 0; enc < 40; enc++) {
		bool legal = enc == set || enc == 0;

		ck_assert_int_eq(vpt_caps_mtc_freq_ok(&mtc, enc), legal);
		ck_assert_int_eq(vpt_caps_cyc_thresh_ok(&cyc, enc), legal);
		ck_assert_int_eq(vpt_caps_psb_freq_ok(&psb, enc), legal);
		/* The halves of a register don't mix. */
		ck_assert_int_eq(vpt_caps_psb_freq_ok(&cyc, enc), enc == 0);
		ck_assert_int_eq(vpt_caps_cyc_thresh_ok(&psb, enc), enc == 0);
		ck_assert_int_eq(vpt_caps_mtc_freq_ok(&orphan, enc), enc == 0);
		ck_assert_int_eq(vpt_caps_cyc_thresh_ok(&orphan, enc), enc == 0);
		ck_assert_int_eq(vpt_caps_psb_freq_ok(&orphan, enc), enc == 0);
	}
	TEST_PROVES("CAPS-ZERO-ENCODING CAPS-MTC-MAP CAPS-CYC-MAP CAPS-PSB-MAP");
}
END_TEST

/* Which sets make sense: each row is a sound set with a few words replaced. */

enum word { NONE, EAX0, EBX0, ECX0, EAX1, EBX1, RATIO_EAX, RATIO_EBX, CRYSTAL, PHYS, LIN, VMX };

struct check {
	const char *tag;
	struct {
		enum word word;
		uint32_t value;
	} set[3];
	const char *why; /* NULL: still sound */
};

#define MANY	 "more address ranges than there are MSRs for"
#define SUBLEAF1 "CPUID.14H.1 is used but CPUID.14H.0:EAX says it is not there"
#define OUTPUT	 "no output scheme is enumerated"
#define RANGES	 "address ranges and IP filtering need each other"
#define MTC	 "MTC periods and MTC need each other"
#define CYC	 "cycle thresholds and cycle-accurate mode need each other"
#define PSB	 "PSB frequencies and configurable PSB need each other"
#define RATIO	 "CPUID.15H has one half of the crystal ratio"
#define NO_RATIO "MTC packets without a crystal ratio in CPUID.15H"
#define MTC_ZERO "MTC periods lack encoding 0, which reset leaves in MTCFreq"
#define CYC_ZERO "cycle thresholds lack encoding 0, which reset leaves in CycThresh"
#define PSB_ZERO "PSB frequencies lack encoding 0, which reset leaves in PSBFreq"
#define SLOWER	 "CPUID.15H has a crystal no slower than the TSC"
#define WIDTH	 "physical address width is not 32 to 52 bits"
#define LINEAR	 "linear address width is neither 48 nor 57 bits"

static const struct vpt_caps sound = {
	.l14_0_eax = 1,
	.l14_0_ebx = 0x1ff,
	.l14_0_ecx = 0x8000000f,
	.l14_1_eax = 0x02490002,
	.l14_1_ebx = 0x003f3fff,
	.l15_eax = 2,
	.l15_ebx = 284,
	.l15_ecx = 24000000,
	.max_phy_addr = 46,
	.lin_addr = 48,
	.max_nonturbo = 34,
	.vmx_pt = 1,
};

/* clang-format off */
static const struct check check_rows[] = {
	{ "CAPS-OUTPUT", { { NONE, 0 } }, NULL },
	{ "CAPS-SUBLEAF", { { EAX0, 2 } }, "CPUID.14H.0:EAX promises sub-leaves above 1" },
	{ "CAPS-SUBLEAF", { { EAX0, ~0u } }, "CPUID.14H.0:EAX promises sub-leaves above 1" },
	{ "CAPS-SUBLEAF1", { { EAX0, 0 } }, SUBLEAF1 },
	{ "CAPS-SUBLEAF1", { { EAX0, 0 }, { EAX1, 0 } }, SUBLEAF1 },
	{ "CAPS-SUBLEAF1", { { EAX0, 0 }, { EBX1, 0 } }, SUBLEAF1 },
	{ "CAPS-SUBLEAF1", { { EBX0, 0x1f1 }, { EAX1, 0 }, { EBX1, 0 } }, NULL },
	{ "CAPS-EBX-RESERVED", { { EBX0, 0x3ff } }, "CPUID.14H.0:EBX sets a reserved bit" },
	{ "CAPS-EBX-RESERVED", { { EBX0, 0x800001ff } }, "CPUID.14H.0:EBX sets a reserved bit" },
	{ "CAPS-ECX-RESERVED", { { ECX0, 0x1f } }, "CPUID.14H.0:ECX sets a reserved bit" },
	{ "CAPS-ECX-RESERVED", { { ECX0, 0x4000000f } }, "CPUID.14H.0:ECX sets a reserved bit" },
	{ "CAPS-OUTPUT", { { ECX0, 0 } }, OUTPUT },
	{ "CAPS-OUTPUT", { { ECX0, 0x80000000 } }, OUTPUT },
	{ "CAPS-OUTPUT", { { ECX0, 0x1 } }, NULL },
	{ "CAPS-OUTPUT", { { ECX0, 0x4 } }, NULL },
	{ "CAPS-OUTPUT", { { ECX0, 0x8 } }, NULL },
	{ "CAPS-MENTRY-TOPA", { { ECX0, 0x3 } }, NULL },
	{ "CAPS-MENTRY-TOPA", { { ECX0, 0x6 } }, "multiple ToPA entries without ToPA" },
	{ "CAPS-EAX1-RESERVED", { { EAX1, 0x0249000a } }, "CPUID.14H.1:EAX sets a reserved bit" },
	{ "CAPS-EAX1-RESERVED", { { EAX1, 0x02498002 } }, "CPUID.14H.1:EAX sets a reserved bit" },
	{ "CAPS-RANGES-MAX", { { EAX1, 0x02490004 } }, NULL },
	{ "CAPS-RANGES-MAX", { { EAX1, 0x02490005 } }, MANY },
	{ "CAPS-RANGES-MAX", { { EAX1, 0x02490007 } }, MANY },
	{ "CAPS-RANGES-IPFILTER", { { EAX1, 0x02490001 } }, NULL },
	{ "CAPS-RANGES-IPFILTER", { { EAX1, 0x02490000 } }, RANGES },
	{ "CAPS-RANGES-IPFILTER", { { EBX0, 0x1fb } }, RANGES },
	{ "CAPS-RANGES-IPFILTER", { { EBX0, 0x1fb }, { EAX1, 0x02490000 } }, NULL },
	{ "CAPS-MTC-MAP", { { EBX0, 0x1f7 } }, MTC },
	{ "CAPS-MTC-MAP", { { EAX1, 0x00000002 } }, MTC },
	{ "CAPS-ZERO-ENCODING", { { EAX1, 0x80000002 } }, MTC_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EAX1, 0xfffe0002 } }, MTC_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EAX1, 0x80010002 } }, NULL },
	{ "CAPS-MTC-MAP", { { EAX1, 0x00010002 } }, NULL },
	{ "CAPS-MTC-MAP", { { EBX0, 0x1f7 }, { EAX1, 0x00000002 } }, NULL },
	{ "CAPS-CYC-MAP", { { EBX1, 0x003f0000 } }, CYC },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0x003f8000 } }, CYC_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0x003ffffe } }, CYC_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0x003f8001 } }, NULL },
	{ "CAPS-CYC-MAP", { { EBX1, 0x003f0001 } }, NULL },
	{ "CAPS-CYC-MAP", { { EBX0, 0x1fd } }, CYC },
	{ "CAPS-PSB-MAP", { { EBX1, 0x00003fff } }, PSB },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0x80003fff } }, PSB_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0xfffe3fff } }, PSB_ZERO },
	{ "CAPS-ZERO-ENCODING", { { EBX1, 0x80013fff } }, NULL },
	{ "CAPS-PSB-MAP", { { EBX1, 0x00013fff } }, NULL },
	{ "CAPS-PSB-MAP", { { EBX0, 0x1fd }, { EBX1, 0x003f0000 } }, PSB },
	{ "CAPS-PSB-MAP", { { EBX0, 0x1fd }, { EBX1, 0 } }, NULL },
	{ "CAPS-RATIO", { { RATIO_EAX, 0 } }, RATIO },
	{ "CAPS-RATIO", { { RATIO_EBX, 0 } }, RATIO },
	{ "CAPS-MTC-RATIO", { { RATIO_EAX, 0 }, { RATIO_EBX, 0 } }, NO_RATIO },
	{ "CAPS-MTC-RATIO", { { RATIO_EAX, 0 }, { RATIO_EBX, 0 }, { CRYSTAL, 0 } }, NO_RATIO },
	{ "CAPS-RATIO", { { CRYSTAL, 0 } }, NULL },
	{ "CAPS-CRYSTAL", { { RATIO_EBX, 2 } }, SLOWER },
	{ "CAPS-CRYSTAL", { { RATIO_EBX, 1 } }, SLOWER },
	{ "CAPS-CRYSTAL", { { RATIO_EBX, 3 } }, NULL },
	{ "CAPS-MAXPHYADDR", { { PHYS, 0 } }, WIDTH },
	{ "CAPS-MAXPHYADDR", { { PHYS, 31 } }, WIDTH },
	{ "CAPS-MAXPHYADDR", { { PHYS, 32 } }, NULL },
	{ "CAPS-MAXPHYADDR", { { PHYS, 52 } }, NULL },
	{ "CAPS-MAXPHYADDR", { { PHYS, 53 } }, WIDTH },
	{ "CAPS-MAXPHYADDR", { { PHYS, 255 } }, WIDTH },
	{ "CAPS-LINADDR", { { LIN, 0 } }, LINEAR },
	{ "CAPS-LINADDR", { { LIN, 47 } }, LINEAR },
	{ "CAPS-LINADDR", { { LIN, 49 } }, LINEAR },
	{ "CAPS-LINADDR", { { LIN, 56 } }, LINEAR },
	{ "CAPS-LINADDR", { { LIN, 57 } }, NULL },
	{ "CAPS-LINADDR", { { LIN, 58 } }, LINEAR },
	{ "CAPS-VMX", { { VMX, 0 } }, NULL },
	{ "CAPS-VMX", { { VMX, 2 } }, "IA32_VMX_MISC[14] is a single bit" },
};
/* clang-format on */

static void set_word(struct vpt_caps *caps, enum word word, uint32_t value)
{
	uint32_t *const words[] = {
		[EAX0] = &caps->l14_0_eax,    [EBX0] = &caps->l14_0_ebx,
		[ECX0] = &caps->l14_0_ecx,    [EAX1] = &caps->l14_1_eax,
		[EBX1] = &caps->l14_1_ebx,    [RATIO_EAX] = &caps->l15_eax,
		[RATIO_EBX] = &caps->l15_ebx, [CRYSTAL] = &caps->l15_ecx,
	};

	if (word == PHYS)
		caps->max_phy_addr = (uint8_t)value;
	else if (word == LIN)
		caps->lin_addr = (uint8_t)value;
	else if (word == VMX)
		caps->vmx_pt = (uint8_t)value;
	else if (word != NONE)
		*words[word] = value;
}

START_TEST(check_row)
{
	const struct check *row = &check_rows[_i];
	struct vpt_caps caps = sound;
	const char *why = NULL;
	enum vpt_status expected = row->why ? VPT_E_CAPS : VPT_OK;
	size_t i;

	for (i = 0; i < COUNT(row->set); i++)
		set_word(&caps, row->set[i].word, row->set[i].value);
	ck_assert_msg(vpt_caps_check(&caps, &why) == expected, "%s, row %d: %s", row->tag, _i,
		      why ? why : "no complaint");
	ck_assert_pstr_eq(why, row->why);
	/* Nobody has to ask why. */
	ck_assert_int_eq(vpt_caps_check(&caps, NULL), expected);
	TEST_PROVES("CAPS-SUBLEAF CAPS-SUBLEAF1 CAPS-EBX-RESERVED CAPS-ECX-RESERVED CAPS-OUTPUT");
	TEST_PROVES("CAPS-MENTRY-TOPA CAPS-EAX1-RESERVED CAPS-RANGES-MAX CAPS-RANGES-IPFILTER");
	TEST_PROVES("CAPS-MTC-MAP CAPS-CYC-MAP CAPS-PSB-MAP CAPS-RATIO CAPS-CRYSTAL");
	TEST_PROVES("CAPS-MAXPHYADDR CAPS-LINADDR CAPS-VMX CAPS-ZERO-ENCODING CAPS-MTC-RATIO");
}
END_TEST

/* A processor without MTC may lack the ratio, as Broadwell does; one with MTC may not. */
START_TEST(ratio_is_for_mtc)
{
	struct vpt_caps caps = sound;
	const char *why = NULL;

	caps.l14_0_ebx &= ~0x8u;
	caps.l14_1_eax = 2;
	caps.l15_eax = caps.l15_ebx = caps.l15_ecx = 0;
	ck_assert_int_eq(vpt_caps_check(&caps, NULL), VPT_OK);
	caps.l14_0_ebx |= 0x8;
	caps.l14_1_eax |= 0x10000;
	ck_assert_int_eq(vpt_caps_check(&caps, &why), VPT_E_CAPS);
	ck_assert_str_eq(why, NO_RATIO);
	TEST_PROVES("CAPS-MTC-RATIO");
}
END_TEST

/* Each bit that the manual reserves, set in a set that is sound without it. */
START_TEST(reserved_bit)
{
	uint32_t bit = 1u << _i;
	struct vpt_caps ebx = sound, ecx = sound, eax1 = sound;

	ebx.l14_0_ebx |= bit;
	ecx.l14_0_ecx |= bit;
	eax1.l14_1_eax |= bit;
	ck_assert_int_eq(vpt_caps_check(&ebx, NULL) == VPT_OK, _i <= 8);
	ck_assert_int_eq(vpt_caps_check(&ecx, NULL) == VPT_OK, _i <= 3 || _i == 31);
	/* Bits 2:0 are the count, and five or more is too many. */
	ck_assert_int_eq(vpt_caps_check(&eax1, NULL) == VPT_OK, _i < 2 || _i > 15);
	TEST_PROVES("CAPS-EBX-RESERVED CAPS-ECX-RESERVED CAPS-EAX1-RESERVED");
}
END_TEST

/* CPUID; what the VMM would have returned is recognisable. */

/* clang-format off */
#define NOISE { 0x11111111, 0x22222222, 0x33333333, 0x44444444 }
/* clang-format on */

static const struct vpt_cpuid_regs noise = NOISE;

struct cpuid {
	const char *tag;
	bool present;
	uint32_t leaf, subleaf;
	bool shaped;
	struct vpt_cpuid_regs regs;
};

/* clang-format off */
static const struct cpuid cpuid_rows[] = {
	{ "CAPS-FEATURE", true, 7, 0, true, NOISE },
	{ "CAPS-FEATURE", false, 7, 0, true, { 0x11111111, 0x20222222, 0x33333333, 0x44444444 } },
	{ "CAPS-FEATURE", true, 7, 1, false, NOISE },
	{ "CAPS-FEATURE", false, 7, 2, false, NOISE },
	{ "CAPS-LEAF14", true, 0x14, 0, true, { 1, 0x1df, 0x7, 0 } },
	{ "CAPS-LEAF14", true, 0x14, 1, true, { 0x02490002, 0x003f003f, 0, 0 } },
	{ "CAPS-LEAF14", true, 0x14, 2, true, { 0, 0, 0, 0 } },
	{ "CAPS-LEAF14", true, 0x14, ~0u, true, { 0, 0, 0, 0 } },
	{ "CAPS-LEAF14", false, 0x14, 0, true, { 0, 0, 0, 0 } },
	{ "CAPS-LEAF14", false, 0x14, 1, true, { 0, 0, 0, 0 } },
	{ "CAPS-LEAF15", true, 0x15, 0, true, { 2, 160, 25000000, 0 } },
	{ "CAPS-LEAF15", true, 0x15, 3, true, { 2, 160, 25000000, 0 } },
	{ "CAPS-LEAF15", false, 0x15, 0, true, { 2, 160, 25000000, 0 } },
	{ "CAPS-LEAF14", true, 0, 0, false, NOISE },
	{ "CAPS-LEAF14", true, 1, 0, false, NOISE },
	{ "CAPS-LEAF14", true, 0x13, 0, false, NOISE },
	{ "CAPS-LEAF14", true, 0x16, 0, false, NOISE },
	{ "CAPS-LEAF14", true, 0x80000008, 0, false, NOISE },
};
/* clang-format on */

START_TEST(cpuid_row)
{
	const struct cpuid *row = &cpuid_rows[_i];
	struct vpt_cpuid_regs regs = noise;
	bool shaped =
		vpt_caps_cpuid(vpt_caps_model("spr"), row->present, row->leaf, row->subleaf, &regs);

	ck_assert_int_eq(shaped, row->shaped);
	ck_assert_msg(!memcmp(&regs, &row->regs, sizeof(regs)), "%s, row %d: %x %x %x %x", row->tag,
		      _i, regs.eax, regs.ebx, regs.ecx, regs.edx);
	TEST_PROVES("CAPS-FEATURE CAPS-LEAF14 CAPS-LEAF15");
}
END_TEST

START_TEST(feature_bit_is_set)
{
	struct vpt_cpuid_regs regs = {2, 0, 0, 0};

	ck_assert(vpt_caps_cpuid(vpt_caps_model("bdw"), true, 7, 0, &regs));
	ck_assert_uint_eq(regs.ebx, 1u << 25);
	ck_assert(vpt_caps_cpuid(vpt_caps_model("bdw"), false, 7, 0, &regs));
	ck_assert_uint_eq(regs.ebx, 0);
	ck_assert_uint_eq(regs.eax, 2);
	TEST_PROVES("CAPS-FEATURE");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("caps");
	TCase *tcase = tcase_create("models");

	tcase_add_loop_test(tcase, model, 0, COUNT(models));
	tcase_add_test(tcase, no_such_model);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("meaning");
	tcase_add_loop_test(tcase, capability_bit, 0, COUNT(cap_bits));
	tcase_add_loop_test(tcase, range_count, 0, 8);
	tcase_add_loop_test(tcase, encoding, 0, 16);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("check");
	tcase_add_loop_test(tcase, check_row, 0, COUNT(check_rows));
	tcase_add_test(tcase, ratio_is_for_mtc);
	tcase_add_loop_test(tcase, reserved_bit, 0, 32);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("cpuid");
	tcase_add_loop_test(tcase, cpuid_row, 0, COUNT(cpuid_rows));
	tcase_add_test(tcase, feature_bit_is_set);
	suite_add_tcase(suite, tcase);
	return suite;
}
