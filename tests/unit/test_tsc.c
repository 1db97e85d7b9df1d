// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TSC offsetting and scaling, forth and back, against products made of 32-bit halves.
 */
#include <string.h>

#include "lib/packets.h"
#include "lib/suite.h"
#include "vpt/tsc.h"

#define BIT(n)	     (1ull << (n))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ONE	     BIT(48)
#define LAST	     (~0ull)
#define PAYLOAD	     (BIT(56) - 1)

struct wide {
	uint64_t high, low;
};

/* As one multiplies by hand. */
static struct wide multiply(uint64_t a, uint64_t b)
{
	const uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
	const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	const uint64_t other = a0 * b1 + (middle & 0xffffffff);
	struct wide w = {a1 * b1 + (middle >> 32) + (other >> 32),
			 other << 32 | (a0 * b0 & 0xffffffff)};

	return w;
}

/* Scaled: bits 127:48 of the product. */
static struct wide scaled_of(const struct vpt_tsc *tsc, uint64_t host)
{
	const struct wide w = multiply(host, tsc->multiplier);
	struct wide s = {w.high >> 48, w.high << 16 | w.low >> 48};

	return s;
}

static uint64_t guest_of(const struct vpt_tsc *tsc, uint64_t host)
{
	return scaled_of(tsc, host).low + tsc->offset;
}

static struct vpt_tsc any_tsc(uint64_t *seed)
{
	static const uint64_t multipliers[] = {1,	3,	 ONE - 1, ONE,	   ONE + 1,
					       2 * ONE, ONE / 2, LAST,	  BIT(63), 7 * ONE + 5};
	uint64_t r = test_random(seed);
	struct vpt_tsc tsc = {test_random(seed), test_random(seed) >> (r & 63)};

	if (r >> 8 & 1)
		tsc.multiplier = multipliers[(r >> 16) % COUNT(multipliers)];
	if (r >> 9 & 1)
		tsc.multiplier = ONE / 4 + (test_random(seed) & (2 * ONE - 1));
	if (r >> 10 & 1)
		tsc.offset = 0 - (tsc.offset >> 20);
	tsc.multiplier += !tsc.multiplier;
	return tsc;
}

static const struct {
	struct vpt_tsc tsc;
	uint64_t host, guest;
} rows[] = {
	{{0, ONE}, 0, 0},
	{{0, ONE}, LAST, LAST},
	{{5, ONE}, LAST, 4},
	{{0 - 1000ull, ONE}, 999, LAST},
	{{0, 2 * ONE}, BIT(63), 0},
	{{0, 2 * ONE}, 21, 42},
	{{0, ONE / 2}, 43, 21},
	{{1, ONE / 2}, LAST, BIT(63)},
	{{0, ONE - 1}, 1, 0},
	{{0, ONE - 1}, ONE, ONE - 1},
	{{0, LAST}, LAST, BIT(17) * -1},
	{{0, 3 * ONE / 2}, 3, 4},
	{{0, 0}, 12345, 0},
};

START_TEST(row)
{
	ck_assert_uint_eq(vpt_tsc_guest(&rows[_i].tsc, rows[_i].host), rows[_i].guest);
	ck_assert_uint_eq(guest_of(&rows[_i].tsc, rows[_i].host), rows[_i].guest);
	TEST_PROVES("VMX-TSC-GUEST");
}
END_TEST

/* `first` to `last` are the values around `host` that give the same, all of them. */
static void check_run(const struct vpt_tsc *tsc, uint64_t first, uint64_t last, uint64_t host)
{
	const struct wide s = scaled_of(tsc, host);
	struct wide e;

	ck_assert_msg(first <= host && host <= last, "%lx is not in %lx to %lx",
		      (unsigned long)host, (unsigned long)first, (unsigned long)last);
	e = scaled_of(tsc, first);
	ck_assert(e.high == s.high && e.low == s.low);
	e = scaled_of(tsc, last);
	ck_assert(e.high == s.high && e.low == s.low);
	e = scaled_of(tsc, first - 1);
	ck_assert(!first || e.high != s.high || e.low != s.low);
	e = scaled_of(tsc, last + 1);
	ck_assert(last == LAST || e.high != s.high || e.low != s.low);
}

START_TEST(back)
{
	uint64_t seed = (uint64_t)_i, first, last;
	unsigned int n, again = 0;

	for (n = 0; n < 2000; n++) {
		struct vpt_tsc tsc = any_tsc(&seed);
		uint64_t r = test_random(&seed), host = test_random(&seed) >> (r & 63);
		uint64_t guest = guest_of(&tsc, host);

		if (r >> 8 & 1)
			host = LAST - host, guest = guest_of(&tsc, host);
		ck_assert_uint_eq(vpt_tsc_guest(&tsc, host), guest);
		if (scaled_of(&tsc, host).high) {
			/* Beyond 64 bits: the first run is another, if there is one. */
			if (vpt_tsc_host(&tsc, guest, &first, &last) == VPT_OK) {
				ck_assert_uint_lt(last, host);
				ck_assert_uint_eq(guest_of(&tsc, first), guest);
				check_run(&tsc, first, last, first);
				again++;
			}
			continue;
		}
		ck_assert_int_eq(vpt_tsc_host(&tsc, guest, &first, &last), VPT_OK);
		check_run(&tsc, first, last, host);
	}
	ck_assert_uint_gt(again, 0);
	TEST_PROVES("VMX-TSC-GUEST");
}
END_TEST

/* Guest values between those of two host TSCs stand for none. */
START_TEST(gap)
{
	uint64_t seed = (uint64_t)_i, first = 7, last = 8;
	unsigned int n, gaps = 0;

	for (n = 0; n < 1000; n++) {
		struct vpt_tsc tsc = {test_random(&seed),
				      2 * ONE + (test_random(&seed) >> (8 + n % 32))};
		uint64_t host = test_random(&seed) >> 24;
		uint64_t guest = guest_of(&tsc, host), next = guest_of(&tsc, host + 1);

		if (scaled_of(&tsc, host + 1).high || next - guest < 2)
			continue;
		gaps++;
		guest += 1 + test_random(&seed) % (next - guest - 1);
		ck_assert_int_eq(vpt_tsc_host(&tsc, guest, &first, &last), VPT_E_INVAL);
		ck_assert_int_eq(vpt_tsc_host_packet(&tsc, guest & PAYLOAD, host, &first, &last),
				 VPT_E_INVAL);
	}
	ck_assert_uint_gt(gaps, 100);
	ck_assert(first == 7 && last == 8);
}
END_TEST

static const struct {
	struct vpt_tsc tsc;
	uint64_t guest;
	enum vpt_status status;
	uint64_t first, last;
} backs[] = {
	{{0, ONE}, 0, VPT_OK, 0, 0},
	{{0, ONE}, LAST, VPT_OK, LAST, LAST},
	{{100, ONE}, 99, VPT_OK, LAST, LAST},
	{{0, ONE / 2}, 21, VPT_OK, 42, 43},
	{{0, ONE / 2}, BIT(63) - 1, VPT_OK, LAST - 1, LAST},
	{{0, ONE / 2}, BIT(63), VPT_E_INVAL, 0, 0},
	{{0, 1}, 0, VPT_OK, 0, ONE - 1},
	{{0, 1}, 0xffff, VPT_OK, 0xffff000000000000, LAST},
	{{0, 1}, 0x10000, VPT_E_INVAL, 0, 0},
	{{0, 2 * ONE}, 42, VPT_OK, 21, 21},
	{{0, 2 * ONE}, 43, VPT_E_INVAL, 0, 0},
	{{0, LAST}, 0, VPT_OK, 0, 0},
	{{0, LAST}, 1, VPT_E_INVAL, 0, 0},
	{{0, LAST}, 0xffff, VPT_OK, 1, 1},
	{{0, 0}, 0, VPT_E_INVAL, 0, 0},
	{{5, 0}, 5, VPT_E_INVAL, 0, 0},
};

START_TEST(back_row)
{
	uint64_t first = 0, last = 0;

	ck_assert_int_eq(vpt_tsc_host(&backs[_i].tsc, backs[_i].guest, &first, &last),
			 backs[_i].status);
	ck_assert_uint_eq(first, backs[_i].first);
	ck_assert_uint_eq(last, backs[_i].last);
}
END_TEST

/* A packet at `host`, looked for from up to nearly half of the 2^56 away. */
START_TEST(packet)
{
	uint64_t seed = (uint64_t)_i, first, last;
	unsigned int n, checked = 0;

	for (n = 0; n < 2000; n++) {
		struct vpt_tsc tsc = any_tsc(&seed);
		uint64_t r = test_random(&seed), host = test_random(&seed) >> (r & 63);
		uint64_t about = host + (test_random(&seed) >> (r >> 8 & 63));
		struct wide a, h = scaled_of(&tsc, host);
		uint64_t apart;

		if (r >> 16 & 1)
			about = host - (about - host);
		a = scaled_of(&tsc, about);
		apart = a.high > h.high || (a.high == h.high && a.low > h.low) ? a.low - h.low
									       : h.low - a.low;
		/* Both on the same side of where 64 bits end, so that low halves tell. */
		if (a.high != h.high || apart >= BIT(55))
			continue;
		checked++;
		ck_assert_int_eq(vpt_tsc_host_packet(&tsc, guest_of(&tsc, host) & PAYLOAD, about,
						     &first, &last),
				 VPT_OK);
		check_run(&tsc, first, last, host);
	}
	ck_assert_uint_gt(checked, 500);
	TEST_PROVES("VMX-TSC-PACKET");
}
END_TEST

static const struct {
	struct vpt_tsc tsc;
	uint64_t payload, about;
	enum vpt_status status;
	uint64_t first, last;
} packets[] = {
	{{0, ONE}, 0x10, 0x20, VPT_OK, 0x10, 0x10},
	{{0, ONE}, 0x10, BIT(56) + 5, VPT_OK, BIT(56) + 0x10, BIT(56) + 0x10},
	{{0, ONE}, 0x10, BIT(56) - 5, VPT_OK, BIT(56) + 0x10, BIT(56) + 0x10},
	{{0, ONE}, PAYLOAD, BIT(56) + 5, VPT_OK, PAYLOAD, PAYLOAD},
	/* Nothing comes before TSC 0, nor after the last. */
	{{0, ONE}, PAYLOAD, 5, VPT_OK, PAYLOAD, PAYLOAD},
	{{0, ONE}, 3, LAST, VPT_OK, LAST - PAYLOAD + 3, LAST - PAYLOAD + 3},
	/* Just as far either way: the later one. */
	{{0, ONE}, BIT(55), BIT(56), VPT_OK, BIT(56) + BIT(55), BIT(56) + BIT(55)},
	{{0, ONE}, BIT(55) + 1, BIT(56), VPT_OK, BIT(55) + 1, BIT(55) + 1},
	{{0x100, ONE / 2}, 0x115, 0x30, VPT_OK, 42, 43},
	{{0 - 0x100ull, ONE}, PAYLOAD, 0, VPT_OK, 0xff, 0xff},
	{{0, 2 * ONE}, 7, 5, VPT_E_INVAL, 0, 0},
	/* Where the product has more than 64 bits. */
	{{0, 2 * ONE}, 6, BIT(63) + 1, VPT_OK, BIT(63) + 3, BIT(63) + 3},
	{{0, ONE}, BIT(56), 0, VPT_E_INVAL, 0, 0},
	{{0, ONE}, LAST, 0, VPT_E_INVAL, 0, 0},
	{{0, 0}, 0, 0, VPT_E_INVAL, 0, 0},
	/* So slow that 56 bits are never reached. */
	{{0, 1}, 0xffff, 0, VPT_OK, 0xffff000000000000, LAST},
	{{0, 1}, 0x10000, 0, VPT_E_INVAL, 0, 0},
};

START_TEST(packet_row)
{
	uint64_t first = 0, last = 0;

	ck_assert_int_eq(vpt_tsc_host_packet(&packets[_i].tsc, packets[_i].payload,
					     packets[_i].about, &first, &last),
			 packets[_i].status);
	ck_assert_uint_eq(first, packets[_i].first);
	ck_assert_uint_eq(last, packets[_i].last);
	TEST_PROVES("VMX-TSC-PACKET");
}
END_TEST

static const struct {
	struct vpt_tsc outer, inner, both;
} nests[] = {
	{{0, ONE}, {0, ONE}, {0, ONE}},
	{{7, ONE}, {5, ONE}, {12, ONE}},
	{{0 - 7ull, ONE}, {5, ONE}, {0 - 2ull, ONE}},
	{{7, 2 * ONE}, {5, ONE / 2}, {8, ONE}},
	{{7, ONE / 2}, {5, 2 * ONE}, {19, ONE}},
	{{0 - 7ull, ONE / 2}, {5, ONE / 2}, {2, ONE / 4}},
	{{BIT(62), ONE}, {0, 3 * ONE}, {3 * BIT(62), 3 * ONE}},
	{{0, 3}, {0, ONE / 2}, {0, 1}},
	/* Beyond 64 bits, and nothing left. */
	{{0, BIT(56)}, {0, BIT(56)}, {0, 0}},
	{{0, BIT(56)}, {0, BIT(56) + BIT(50)}, {0, 0}},
	{{0, BIT(56)}, {0, BIT(56) - 1}, {0, LAST - 255}},
	{{0, 1}, {0, ONE - 1}, {0, 0}},
};

START_TEST(nest)
{
	struct vpt_tsc both = vpt_tsc_nest(&nests[_i].outer, &nests[_i].inner);

	ck_assert_uint_eq(both.multiplier, nests[_i].both.multiplier);
	ck_assert_uint_eq(both.offset, nests[_i].both.offset);
	TEST_PROVES("VMX-TSC-NEST");
}
END_TEST

/* One pair gives what two steps give, up to what rounding loses. */
START_TEST(nest_any)
{
	uint64_t seed = (uint64_t)_i;
	unsigned int n;

	for (n = 0; n < 2000; n++) {
		const struct vpt_tsc outer = {test_random(&seed) >> 24,
					      ONE / 4 + (test_random(&seed) & (2 * ONE - 1))};
		struct vpt_tsc inner = {test_random(&seed),
					ONE / 4 + (test_random(&seed) & (2 * ONE - 1))};
		uint64_t host = test_random(&seed) >> 17;
		struct vpt_tsc both;
		int64_t error;

		if (n & 1)
			inner.multiplier = ONE;
		both = vpt_tsc_nest(&outer, &inner);
		error = (int64_t)(guest_of(&both, host) - guest_of(&inner, guest_of(&outer, host)));
		if (n & 1)
			ck_assert_int_eq(error, 0);
		/* Three roundings, the multiplier's on a TSC of less than 2^47. */
		ck_assert_msg(error >= -4 && error <= 4, "%ld", (long)error);
	}
	TEST_PROVES("VMX-TSC-NEST");
}
END_TEST

static const struct {
	const char *model;
	uint64_t multiplier;
	enum vpt_status status;
	uint32_t eax, ebx;
	uint8_t nonturbo;
} ratios[] = {
	{"skl", ONE, VPT_OK, 2, 284, 34},
	{"skl", 2 * ONE, VPT_OK, 2, 568, 68},
	{"skl", ONE / 2, VPT_OK, 2, 142, 17},
	{"skl", ONE / 8, VPT_OK, 4, 71, 4},
	{"icx", ONE, VPT_OK, 2, 208, 26},
	{"icx", ONE / 32, VPT_OK, 4, 13, 1},
	{"icx", 8 * ONE, VPT_OK, 2, 1664, 208},
	{"icx", 16 * ONE, VPT_E_CAPS, 0, 0, 0},	 /* P1 beyond 8 bits */
	{"icx", ONE / 64, VPT_E_CAPS, 0, 0, 0},	 /* P1 of 0 */
	{"icx", ONE / 104, VPT_E_CAPS, 0, 0, 0}, /* crystal and TSC the same */
	{"icx", 0, VPT_E_CAPS, 0, 0, 0},
	{"icx", LAST, VPT_E_CAPS, 0, 0, 0},
	{"icx", 1, VPT_E_CAPS, 0, 0, 0},
	{"bdw", ONE / 2, VPT_OK, 0, 0, 12}, /* no leaf 15H */
	{"bdw", 0, VPT_E_CAPS, 0, 0, 0},
};

START_TEST(ratio)
{
	const struct vpt_caps *host = vpt_caps_model(ratios[_i].model);
	const struct vpt_tsc tsc = {0x1234, ratios[_i].multiplier};
	struct vpt_caps guest, expected;
	const char *why = "";

	memset(&guest, 0x3c, sizeof(guest));
	expected = guest;
	ck_assert_int_eq(vpt_tsc_caps(host, &tsc, &guest), ratios[_i].status);
	if (ratios[_i].status == VPT_OK) {
		expected = *host;
		expected.l15_eax = ratios[_i].eax;
		expected.l15_ebx = ratios[_i].ebx;
		expected.max_nonturbo = ratios[_i].nonturbo;
		ck_assert_msg(vpt_caps_check(&guest, &why) == VPT_OK, "%s", why);
	}
	ck_assert_uint_eq(guest.l15_eax, expected.l15_eax);
	ck_assert_uint_eq(guest.l15_ebx, expected.l15_ebx);
	ck_assert(!memcmp(&guest, &expected, sizeof(guest)));
	TEST_PROVES("VMX-TSC-RATIO");
}
END_TEST

/* 128-bit values as what they are when 64 bits of a float's are enough to compare. */
static long double as_float(uint64_t value)
{
	return (long double)value;
}

START_TEST(ratio_any)
{
	uint64_t seed = (uint64_t)_i;
	unsigned int n, good = 0;

	for (n = 0; n < 5000; n++) {
		struct vpt_caps host = *vpt_caps_model("icx"), guest;
		const struct vpt_tsc tsc = {0, test_random(&seed) >> (8 + n % 16)};
		long double wanted, got;

		host.l15_eax = 1 + (uint32_t)(test_random(&seed) >> (33 + n % 31));
		host.l15_ebx = host.l15_eax + 1 + (uint32_t)(test_random(&seed) >> 33);
		host.max_nonturbo = 0;
		if (vpt_tsc_caps(&host, &tsc, &guest) != VPT_OK)
			continue;
		good++;
		ck_assert_uint_gt(guest.l15_ebx, guest.l15_eax);
		ck_assert_uint_eq(guest.max_nonturbo, 0);
		wanted = as_float(host.l15_ebx) / as_float(host.l15_eax) *
			 as_float(tsc.multiplier) / as_float(ONE);
		got = as_float(guest.l15_ebx) / as_float(guest.l15_eax);
		ck_assert_msg(got > wanted * (1 - 0x1p-31L) && got < wanted * (1 + 0x1p-31L),
			      "%u/%u", guest.l15_ebx, guest.l15_eax);
	}
	ck_assert_uint_gt(good, 500);
	TEST_PROVES("VMX-TSC-RATIO");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("tsc");
	TCase *values = tcase_create("values"), *caps = tcase_create("caps");

	tcase_add_loop_test(values, row, 0, COUNT(rows));
	tcase_add_loop_test(values, back, 0, 8);
	tcase_add_loop_test(values, gap, 0, 8);
	tcase_add_loop_test(values, back_row, 0, COUNT(backs));
	tcase_add_loop_test(values, packet, 0, 8);
	tcase_add_loop_test(values, packet_row, 0, COUNT(packets));
	tcase_add_loop_test(values, nest, 0, COUNT(nests));
	tcase_add_loop_test(values, nest_any, 0, 8);
	suite_add_tcase(suite, values);

	tcase_add_loop_test(caps, ratio, 0, COUNT(ratios));
	tcase_add_loop_test(caps, ratio_any, 0, 8);
	suite_add_tcase(suite, caps);
	return suite;
}
