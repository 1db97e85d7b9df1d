// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Controls and the checks of VM entry: every set of controls on every set that a
 * processor may allow, against the manual's conditions written down once more.
 */
#include <string.h>

#include "lib/packets.h"
#include "lib/suite.h"
#include "vpt/vmx.h"

#define BIT(n)	     (1ull << (n))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As table 33-52 and the chapters on controls print them. */
static const struct {
	unsigned int control;
	size_t field; /* 0 secondary processor-based, 1 exit, 2 entry */
	unsigned int bit;
} places[] = {
	{VPT_VMX_EXEC_CONCEAL, 0, 19},	{VPT_VMX_EXEC_USE_GPA, 0, 24},
	{VPT_VMX_EXIT_CONCEAL, 1, 24},	{VPT_VMX_EXIT_CLEAR_CTL, 1, 25},
	{VPT_VMX_ENTRY_CONCEAL, 2, 17}, {VPT_VMX_ENTRY_LOAD_CTL, 2, 18},
};

static struct vpt_vmx_fields fields_of(const uint32_t word[3])
{
	struct vpt_vmx_fields fields = {word[0], word[1], word[2]};

	return fields;
}

START_TEST(field_bit)
{
	uint32_t word[3] = {0, 0, 0};
	uint32_t expected = 0;
	struct vpt_vmx_fields fields;
	size_t i;

	word[_i / 32] = 1u << _i % 32;
	for (i = 0; i < COUNT(places); i++) {
		if (places[i].field == (size_t)_i / 32 && places[i].bit == (unsigned int)_i % 32)
			expected = places[i].control;
	}
	fields = fields_of(word);
	ck_assert_uint_eq(vpt_vmx_from_fields(&fields), expected);
	/* Clearing all takes PT's bit and no other. */
	vpt_vmx_to_fields(0, &fields);
	ck_assert_uint_eq(fields.exec2, !expected ? word[0] : 0);
	ck_assert_uint_eq(fields.exit, !expected ? word[1] : 0);
	ck_assert_uint_eq(fields.entry, !expected ? word[2] : 0);
	TEST_PROVES("VMX-EXEC-CONCEAL VMX-USE-GPA VMX-EXIT-CONCEAL VMX-EXIT-CLEAR");
	TEST_PROVES("VMX-ENTRY-CONCEAL VMX-ENTRY-LOAD");
}
END_TEST

START_TEST(fields_there_and_back)
{
	uint64_t seed = 1;
	int turn;

	ck_assert_uint_eq(COUNT(places), VPT_VMX_CONTROL_COUNT);
	for (turn = 0; turn < 100; turn++) {
		const uint32_t word[3] = {(uint32_t)test_random(&seed),
					  (uint32_t)test_random(&seed),
					  (uint32_t)test_random(&seed)};
		struct vpt_vmx_fields fields = fields_of(word);

		vpt_vmx_to_fields((uint32_t)_i, &fields);
		ck_assert_uint_eq(vpt_vmx_from_fields(&fields), (uint32_t)_i);
		ck_assert_uint_eq((fields.exec2 ^ word[0]) & ~(BIT(19) | BIT(24)), 0);
		ck_assert_uint_eq((fields.exit ^ word[1]) & ~(BIT(24) | BIT(25)), 0);
		ck_assert_uint_eq((fields.entry ^ word[2]) & ~(BIT(17) | BIT(18)), 0);
	}
}
END_TEST

START_TEST(conceal_set)
{
	ck_assert_uint_eq(VPT_VMX_CONTROLS, 63);
	ck_assert_uint_eq(VPT_VMX_CONCEAL,
			  VPT_VMX_EXEC_CONCEAL | VPT_VMX_EXIT_CONCEAL | VPT_VMX_ENTRY_CONCEAL);
}
END_TEST

/* What a VM entry is made with. */
struct entry {
	uint32_t controls, allowed;
	bool pt, ept, tracing;
};

static bool has(const struct entry *e, uint32_t control)
{
	return e->controls & control;
}

/* Each failure on its own; the first in this order is the one to be told. */
static bool fails(const struct entry *e, enum vpt_vmx_check check)
{
	size_t i;

	switch (check) {
	case VPT_VMX_NOT_ALLOWED:
		for (i = 0; i < COUNT(places); i++) {
			if (has(e, places[i].control) &&
			    (!e->pt || !(e->allowed & places[i].control)))
				return true;
		}
		return false;
	case VPT_VMX_GPA_NEEDS_EPT:
		return has(e, VPT_VMX_EXEC_USE_GPA) && !e->ept;
	case VPT_VMX_GPA_NEEDS_LOAD:
		return has(e, VPT_VMX_EXEC_USE_GPA) && !has(e, VPT_VMX_ENTRY_LOAD_CTL);
	case VPT_VMX_GPA_NEEDS_CLEAR:
		return has(e, VPT_VMX_EXEC_USE_GPA) && !has(e, VPT_VMX_EXIT_CLEAR_CTL);
	case VPT_VMX_TRACING:
		return e->tracing && has(e, VPT_VMX_ENTRY_LOAD_CTL);
	default:
		return false;
	}
}

static enum vpt_vmx_check expected_of(const struct entry *e)
{
	int check;

	for (check = VPT_VMX_OK + 1; check < VPT_VMX_CHECK_COUNT; check++) {
		if (fails(e, (enum vpt_vmx_check)check))
			return (enum vpt_vmx_check)check;
	}
	return VPT_VMX_OK;
}

static void check_entry(const struct entry *e, unsigned int seen[VPT_VMX_CHECK_COUNT])
{
	struct vpt_caps caps = *vpt_caps_model("skl");
	const struct vpt_vmx vmx = {e->controls, e->ept, ~0ull};
	enum vpt_vmx_check got;

	caps.vmx_pt = e->pt;
	/* Bits that are no control of PT's say nothing. */
	got = vpt_vmx_check_controls(&vmx, &caps, e->allowed | ~63u, e->tracing ? 1 : ~1ull);
	ck_assert_msg(got == expected_of(e), "controls %x of %x, pt %d, ept %d, tracing %d: %s",
		      e->controls, e->allowed, e->pt, e->ept, e->tracing, vpt_vmx_check_text(got));
	seen[got]++;
}

START_TEST(controls)
{
	unsigned int seen[VPT_VMX_CHECK_COUNT] = {0};
	struct entry e = {.allowed = (uint32_t)_i};
	unsigned int n;

	for (n = 0; n < 64 * 8; n++) {
		e.controls = n / 8;
		e.pt = n & 1;
		e.ept = n & 2;
		e.tracing = n & 4;
		check_entry(&e, seen);
	}
	ck_assert_uint_gt(seen[VPT_VMX_OK], 0);
	ck_assert_uint_eq(seen[VPT_VMX_GUEST_CTL], 0);
	if (_i == 63) {
		for (n = 0; n < VPT_VMX_GUEST_CTL; n++)
			ck_assert_msg(seen[n], "%s", vpt_vmx_check_text((enum vpt_vmx_check)n));
	}
	TEST_PROVES("VMX-MISC-PT VMX-CONTROL-ALLOWED VMX-GPA-EPT VMX-GPA-LOAD VMX-GPA-CLEAR");
	TEST_PROVES("VMX-ENTRY-TRACEEN");
}
END_TEST

START_TEST(allowed)
{
	struct vpt_caps caps = *vpt_caps_model("icx");

	caps.vmx_pt = 1;
	ck_assert_uint_eq(vpt_vmx_allowed(&caps, (uint32_t)_i), (uint32_t)_i);
	ck_assert_uint_eq(vpt_vmx_allowed(&caps, (uint32_t)_i | 0xffffffc0), (uint32_t)_i);
	caps.vmx_pt = 0;
	ck_assert_uint_eq(vpt_vmx_allowed(&caps, (uint32_t)_i), 0);
}
END_TEST

/* Whether an entry that loads `ctl` fails is what WRMSR says of it. */
static bool refused(const struct vpt_caps *caps, uint64_t ctl)
{
	const struct vpt_vmx load = {VPT_VMX_ENTRY_LOAD_CTL, false, ctl};
	const struct vpt_vmx others = {VPT_VMX_CONTROLS & ~VPT_VMX_ENTRY_LOAD_CTL, true, ctl};
	enum vpt_vmx_check check = vpt_vmx_check_guest(&load, caps);
	struct vpt_rtit rtit;
	enum vpt_fault fault;

	vpt_rtit_reset(&rtit);
	fault = vpt_rtit_write(&rtit, caps, 0x570, ctl, VPT_ACCESS_GUEST);
	ck_assert_int_eq(check, fault == VPT_FAULT_GP ? VPT_VMX_GUEST_CTL : VPT_VMX_OK);
	ck_assert_int_eq(vpt_rtit_ctl_ok(caps, ctl), fault == VPT_FAULT_NONE);
	/* Without the control nobody looks at the field. */
	ck_assert_int_eq(vpt_vmx_check_guest(&others, caps), VPT_VMX_OK);
	return check != VPT_VMX_OK;
}

static const struct {
	const char *model;
	uint64_t ctl;
	bool refused;
} guest_ctls[] = {
	{"skl", 0, false},
	{"skl", BIT(0) | BIT(8) | BIT(13), false},
	{"skl", BIT(0), false},
	{"bdw", BIT(0), true}, /* there is only ToPA */
	{"bdw", BIT(0) | BIT(8), false},
	{"skl", BIT(63), true},
	{"skl", BIT(18), true},
	{"skl", BIT(31), true}, /* no event trace */
	{"skl", BIT(6), true},	/* no transport */
	{"skl", 3ull << 14, false},
	{"skl", 4ull << 14, true}, /* not an MTC period */
	{"skl", 5ull << 24, false},
	{"skl", 6ull << 24, true},
	{"skl", 2ull << 32, false},
	{"skl", 3ull << 32, true},
	{"skl", 2ull << 36, false},
	{"skl", 1ull << 40, true}, /* two ranges */
	{"spr", BIT(31), false},
	{"spr", BIT(55), false},
	{"skl", BIT(55), true},
};

START_TEST(guest_ctl)
{
	const struct vpt_caps *caps = vpt_caps_model(guest_ctls[_i].model);

	ck_assert_msg(refused(caps, guest_ctls[_i].ctl) == guest_ctls[_i].refused, "%s: %lx",
		      guest_ctls[_i].model, (unsigned long)guest_ctls[_i].ctl);
	TEST_PROVES("VMX-GUEST-CTL");
}
END_TEST

START_TEST(guest_ctl_any)
{
	const struct vpt_caps *caps = vpt_caps_model(vpt_caps_model_name((unsigned int)_i));
	uint64_t seed = (uint64_t)_i;
	unsigned int bit, ok = 0;

	for (bit = 0; bit < 64; bit++)
		ok += !refused(caps, BIT(bit));
	for (bit = 0; bit < 20000; bit++) {
		uint64_t ctl = test_random(&seed) & test_random(&seed);

		ok += !refused(caps, ctl & vpt_rtit_ctl_mask(caps));
		ok += !refused(caps, ctl);
	}
	ck_assert_uint_gt(ok, 64);
	TEST_PROVES("VMX-GUEST-CTL");
}
END_TEST

START_TEST(texts)
{
	int a, b;

	for (a = 0; a < VPT_VMX_CHECK_COUNT; a++) {
		const char *text = vpt_vmx_check_text((enum vpt_vmx_check)a);

		ck_assert_uint_gt(strlen(text), 5);
		for (b = 0; b < a; b++)
			ck_assert_str_ne(text, vpt_vmx_check_text((enum vpt_vmx_check)b));
	}
	ck_assert_str_eq(vpt_vmx_check_text(VPT_VMX_GPA_NEEDS_EPT),
			 "guest-physical output needs EPT");
	ck_assert_str_eq(vpt_vmx_check_text((enum vpt_vmx_check)77), "no such check");
	/* It may be an encoding: no bit of that is reserved. */
	ck_assert_str_eq(vpt_vmx_check_text(VPT_VMX_GUEST_CTL),
			 "the guest's IA32_RTIT_CTL is a value that WRMSR refuses");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("vmx");
	TCase *fields = tcase_create("fields"), *checks = tcase_create("checks");

	tcase_add_loop_test(fields, field_bit, 0, 96);
	tcase_add_loop_test(fields, fields_there_and_back, 0, 64);
	tcase_add_test(fields, conceal_set);
	suite_add_tcase(suite, fields);

	tcase_add_loop_test(checks, controls, 0, 64);
	tcase_add_loop_test(checks, allowed, 0, 64);
	tcase_add_loop_test(checks, guest_ctl, 0, COUNT(guest_ctls));
	tcase_add_loop_test(checks, guest_ctl_any, 0, 4);
	tcase_add_test(checks, texts);
	suite_add_tcase(suite, checks);
	return suite;
}
