// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MSR areas: where they may lie, what may be in them, and what is left when an element
 * is refused, for each way to be refused at each place.
 */
#include <string.h>

#include "lib/suite.h"
#include "vpt/vmx_list.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ELEMENTS     6

/* Limits */

START_TEST(most)
{
	ck_assert_uint_eq(vpt_msr_area_max((uint64_t)_i << 25), 512u * ((unsigned int)_i + 1));
	ck_assert_uint_eq(vpt_msr_area_max((uint64_t)_i << 25 | ~(7ull << 25)),
			  512u * ((unsigned int)_i + 1));
	TEST_PROVES("VMX-AREA-MAX");
}
END_TEST

static const struct {
	uint8_t width;
	uint64_t address;
	uint32_t count;
	bool ok;
	const char *tag;
} places[] = {
	{36, 0, 1, true, TEST_ROW_PROVES("VMX-AREA-ALIGN VMX-AREA-WIDTH")},
	{36, 0x1000, 512, true, ""},
	{36, 0x1008, 1, false, TEST_ROW_PROVES("VMX-AREA-ALIGN")},
	{36, 0x1001, 1, false, ""},
	{36, 0x1010, 1, true, ""},
	{36, 0x1001, 0, true, TEST_ROW_PROVES("VMX-AREA-EMPTY")},
	{36, ~0ull, 0, true, ""},
	{36, 0xffffffff0, 1, true, TEST_ROW_PROVES("VMX-AREA-WIDTH")},
	{36, 0xffffffff0, 2, false, ""},
	{36, 0xfffffffe0, 2, true, ""},
	{36, 0x1000000000, 1, false, ""},
	{36, 0, 0xffffffff, true, ""},
	{36, 0x10, 0xffffffff, true, ""},
	{36, 0x20, 0xffffffff, false, ""},
	{32, 0, 0x10000000, true, ""},
	{32, 0, 0x10000001, false, ""},
	{32, 0, 0xffffffff, false, ""},
	{52, 0xffffffffffff0, 1, true, ""},
	{52, 0xffffffffffff0, 2, false, ""},
	{52, 0x8000000000000000, 1, false, ""},
	{52, 0xfffffffffffffff0, 1, false, ""},
	/* 2^64 and back to 0 */
	{52, 0xfffffffffffffff0, 2, false, ""},
	{52, 0xfffffff000000000, 0xffffffff, false, ""},
	/* A width that no processor has. */
	{64, 0xfffffffffffffff0, 1, true, ""},
	{64, 0xfffffffffffffff0, 2, false, ""},
	{255, 0xfffffffffffffff0, 2, false, ""},
	{0, 0, 1, false, ""},
};

START_TEST(place)
{
	struct vpt_caps caps = *vpt_caps_model("skl");

	caps.max_phy_addr = places[_i].width;
	ck_assert_msg(vpt_msr_area_ok(&caps, places[_i].address, places[_i].count) == places[_i].ok,
		      "%u bits: %u at %lx", places[_i].width, places[_i].count,
		      (unsigned long)places[_i].address);
	TEST_PROVES(places[_i].tag);
}
END_TEST

static const enum vpt_msr_area areas[] = {VPT_AREA_ENTRY_LOAD, VPT_AREA_EXIT_STORE,
					  VPT_AREA_EXIT_LOAD};

/* Which areas take the MSR: E entry load, S exit store, L exit load. */
static const char *takers(uint32_t msr)
{
	if (msr >= 0x800 && msr <= 0x8ff)
		return "";
	switch (msr) {
	case 0x79:
	case 0x8b:
	case 0x9b:
	case 0xc0000100:
	case 0xc0000101:
		return "S";
	case 0x9e:
		return "EL";
	default:
		return "ESL";
	}
}

static bool expect_listable(enum vpt_msr_area area, uint32_t msr)
{
	return strchr(takers(msr), "ESL"[area]);
}

START_TEST(listable)
{
	static const uint32_t first[] = {0, 0xc0000000, 0x40000000, 0x80000000, 0xfffff000};
	const enum vpt_msr_area area = areas[_i];
	size_t i;
	uint32_t n;

	for (i = 0; i < COUNT(first); i++) {
		for (n = 0; n < 0x1000; n++)
			ck_assert_msg(vpt_msr_listable(area, first[i] + n) ==
					      expect_listable(area, first[i] + n),
				      "%x in area %d", first[i] + n, area);
	}
	/* Numbers of which only the low half looks like one that is refused. */
	ck_assert(vpt_msr_listable(area, 0x10800));
	ck_assert(vpt_msr_listable(area, 0x80000100));
	TEST_PROVES("VMX-AREA-BASES VMX-AREA-X2APIC VMX-AREA-SMM-LOAD VMX-AREA-SMM-STORE");
	TEST_PROVES("VMX-AREA-MICROCODE");
}
END_TEST

/* Processing */

enum refusal {
	BY_NOTHING,
	BY_FETCH,
	BY_RESERVED,
	BY_NUMBER,
	BY_FAULT,
	BY_STORE, /* exit store only */
	REFUSALS
};

struct bench {
	struct vpt_msr_entry entry[ELEMENTS];
	enum refusal how;
	uint32_t where;		    /* element that is refused */
	uint32_t fetches[ELEMENTS]; /* of each */
	uint32_t done;		    /* elements that took effect, in order */
	uint32_t limit;		    /* fetch fails from here on */
	uint32_t last;		    /* largest index asked for */
};

static bool fetch(void *opaque, uint32_t i, struct vpt_msr_entry *entry)
{
	struct bench *b = opaque;

	b->last = i;
	/* The entry is a good one, even where fetching it fails. */
	*entry = b->entry[i % ELEMENTS];
	if (i >= b->limit || (b->how == BY_FETCH && i == b->where))
		return false;
	b->fetches[i % ELEMENTS]++;
	return true;
}

static bool store(void *opaque, uint32_t i, uint64_t value)
{
	struct bench *b = opaque;

	if (b->how == BY_STORE && i == b->where)
		return false;
	ck_assert_uint_eq(i, b->done);
	ck_assert_uint_eq(value, 0x1000 + b->entry[i % ELEMENTS].index);
	b->done++;
	return true;
}

static enum vpt_fault read_msr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct bench *b = opaque;

	ck_assert_uint_eq(msr, b->entry[b->done % ELEMENTS].index);
	if (b->how == BY_FAULT && b->done == b->where)
		return VPT_FAULT_GP;
	*value = 0x1000 + msr;
	return VPT_FAULT_NONE;
}

static enum vpt_fault write_msr(void *opaque, uint32_t msr, uint64_t value)
{
	struct bench *b = opaque;

	ck_assert_uint_eq(msr, b->entry[b->done % ELEMENTS].index);
	ck_assert_uint_eq(value, b->entry[b->done % ELEMENTS].value);
	if (b->how == BY_FAULT && b->done == b->where)
		return VPT_FAULT_GP;
	b->done++;
	return VPT_FAULT_NONE;
}

static const struct vpt_msr_ops ops = {fetch, store, read_msr, write_msr};

/* As BY_NUMBER makes them: a number that the area refuses; one bit that is reserved. */
static void spoil(struct bench *b, enum vpt_msr_area area)
{
	if (b->how == BY_NUMBER)
		b->entry[b->where].index = area == VPT_AREA_EXIT_STORE ? 0x9e : 0xc0000101;
	if (b->how == BY_RESERVED)
		b->entry[b->where].reserved = 1u << (b->where * 6 + 1);
}

static struct bench bench_of(enum vpt_msr_area area, enum refusal how, uint32_t where)
{
	struct bench b = {.how = how, .where = where, .limit = ~0u};
	uint32_t i;

	for (i = 0; i < ELEMENTS; i++) {
		b.entry[i].index = 0x100 + i;
		b.entry[i].value = 0x77770000 + i;
	}
	spoil(&b, area);
	return b;
}

START_TEST(refusal)
{
	const enum vpt_msr_area area = areas[_i / (REFUSALS * ELEMENTS)];
	const enum refusal how = (enum refusal)(_i / ELEMENTS % REFUSALS);
	const uint32_t where = (uint32_t)_i % ELEMENTS;
	struct bench b = bench_of(area, how, where);
	bool all = how == BY_NOTHING || (how == BY_STORE && area != VPT_AREA_EXIT_STORE);
	uint32_t i, failed = vpt_msr_area_run(area, ELEMENTS, &ops, &b);

	ck_assert_uint_eq(failed, all ? 0 : where + 1);
	ck_assert_uint_eq(b.done, all ? ELEMENTS : where);
	for (i = 0; i < ELEMENTS; i++) {
		bool read = all || i < where || (i == where && how != BY_FETCH);

		ck_assert_uint_eq(b.fetches[i], read);
	}
	TEST_PROVES("VMX-AREA-ORDER VMX-AREA-RESERVED VMX-AREA-FAULT");
}
END_TEST

START_TEST(count)
{
	const enum vpt_msr_area area = areas[_i];
	struct bench b = bench_of(area, BY_NOTHING, 0);
	uint32_t n;

	for (n = 0; n <= ELEMENTS; n++) {
		b = bench_of(area, BY_NOTHING, 0);
		ck_assert_uint_eq(vpt_msr_area_run(area, n, &ops, &b), 0);
		ck_assert_uint_eq(b.done, n);
	}
	/* A count beyond all memory ends where memory does. */
	b = bench_of(area, BY_NOTHING, 0);
	b.limit = 100000;
	ck_assert_uint_eq(vpt_msr_area_run(area, 0xffffffff, &ops, &b), 100001);
	ck_assert_uint_eq(b.last, 100000);
	ck_assert_uint_eq(b.done, 100000);
}
END_TEST

START_TEST(abort_codes)
{
	ck_assert_uint_eq(vpt_msr_area_abort(VPT_AREA_ENTRY_LOAD), 0);
	ck_assert_uint_eq(vpt_msr_area_abort(VPT_AREA_EXIT_STORE), 1);
	ck_assert_uint_eq(vpt_msr_area_abort(VPT_AREA_EXIT_LOAD), 4);
	TEST_PROVES("VMX-AREA-ABORT");
}
END_TEST

/* PT's own MSRs in an area */

struct machine {
	struct vpt_rtit rtit;
	const struct vpt_msr_entry *list;
	struct vpt_msr_entry stored[4];
};

static bool machine_fetch(void *opaque, uint32_t i, struct vpt_msr_entry *entry)
{
	struct machine *m = opaque;

	*entry = m->list[i];
	return true;
}

static bool machine_store(void *opaque, uint32_t i, uint64_t value)
{
	struct machine *m = opaque;

	m->stored[i].value = value;
	return true;
}

static enum vpt_fault machine_rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct machine *m = opaque;

	return vpt_rtit_read(&m->rtit, vpt_caps_model("skl"), msr, value);
}

static enum vpt_fault machine_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct machine *m = opaque;

	return vpt_rtit_write(&m->rtit, vpt_caps_model("skl"), msr, value, VPT_ACCESS_GUEST);
}

static const struct vpt_msr_ops machine_ops = {machine_fetch, machine_store, machine_rdmsr,
					       machine_wrmsr};

static const struct {
	const char *what;
	uint64_t ctl; /* as the area begins */
	struct vpt_msr_entry list[4];
	uint32_t failed;
	uint64_t ctl_after, base_after;
} rtit_lists[] = {
	{"CTL last",
	 0,
	 {{0x560, 0, 0x1000}, {0x571, 0, 0}, {0x561, 0, 0x7f}, {0x570, 0, 1}},
	 0,
	 1,
	 0x1000},
	{"CTL first",
	 0,
	 {{0x570, 0, 1}, {0x560, 0, 0x1000}, {0x571, 0, 0}, {0x561, 0, 0}},
	 2,
	 1,
	 0},
	{"cleared, set",
	 1,
	 {{0x570, 0, 0}, {0x560, 0, 0x1000}, {0x570, 0, 1}, {0x570, 0, 1}},
	 0,
	 1,
	 0x1000},
	{"while set",
	 1,
	 {{0x560, 0, 0x1000}, {0x570, 0, 0}, {0x570, 0, 0}, {0x570, 0, 0}},
	 1,
	 1,
	 0},
	{"other CTL", 1, {{0x570, 0, 1}, {0x570, 0, 5}, {0x570, 0, 0}, {0x570, 0, 0}}, 2, 1, 0},
	{"reserved bit",
	 0,
	 {{0x560, 0, 0x80}, {0x570, 0, 1ull << 63}, {0x570, 0, 1}, {0x570, 0, 1}},
	 2,
	 0,
	 0x80},
	{"absent", 0, {{0x560, 0, 0x80}, {0x584, 0, 0}, {0x570, 0, 1}, {0x570, 0, 1}}, 2, 0, 0x80},
};

START_TEST(rtit_list)
{
	struct machine m = {.list = rtit_lists[_i].list};

	vpt_rtit_reset(&m.rtit);
	m.rtit.ctl = rtit_lists[_i].ctl;
	ck_assert_msg(vpt_msr_area_run(VPT_AREA_EXIT_LOAD, 4, &machine_ops, &m) ==
			      rtit_lists[_i].failed,
		      "%s", rtit_lists[_i].what);
	ck_assert_uint_eq(m.rtit.ctl, rtit_lists[_i].ctl_after);
	ck_assert_uint_eq(m.rtit.output_base, rtit_lists[_i].base_after);
	TEST_PROVES("VMX-AREA-FAULT VMX-AREA-ORDER");
}
END_TEST

/* Storing is allowed at any time: while TraceEn is set too. */
START_TEST(rtit_store)
{
	static const struct vpt_msr_entry list[] = {
		{0x570, 0, 9}, {0x560, 0, 9}, {0x561, 0, 9}, {0x584, 0, 9}};
	struct machine m = {.list = list};

	vpt_rtit_reset(&m.rtit);
	m.rtit.ctl = 5;
	m.rtit.output_base = 0x4000;
	ck_assert_uint_eq(vpt_msr_area_run(VPT_AREA_EXIT_STORE, 4, &machine_ops, &m), 4);
	ck_assert_uint_eq(m.stored[0].value, 5);
	ck_assert_uint_eq(m.stored[1].value, 0x4000);
	ck_assert_uint_eq(m.stored[2].value, 0x7f);
	ck_assert_uint_eq(m.stored[3].value, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("vmx_list");
	TCase *limits = tcase_create("limits"), *run = tcase_create("run");

	tcase_add_loop_test(limits, most, 0, 8);
	tcase_add_loop_test(limits, place, 0, COUNT(places));
	tcase_add_loop_test(limits, listable, 0, COUNT(areas));
	suite_add_tcase(suite, limits);

	tcase_add_loop_test(run, refusal, 0, COUNT(areas) * REFUSALS * ELEMENTS);
	tcase_add_loop_test(run, count, 0, COUNT(areas));
	tcase_add_test(run, abort_codes);
	tcase_add_loop_test(run, rtit_list, 0, COUNT(rtit_lists));
	tcase_add_test(run, rtit_store);
	suite_add_tcase(suite, run);
	return suite;
}
