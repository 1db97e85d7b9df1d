// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices together: routes of interrupts, wide accesses, resets, snapshots. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include <string.h>

#include "dev/clock.h"

#define L(reg)	      (0xfee00000ull + (reg))
#define IO	      0xfec00000ull
#define ON	      WRITE(L(0xf0), 0x1ff)
#define EOI	      WRITE(L(0xb0), 0)
#define PIN(n, value) WRITE(IO, 0x10 + 2 * (n)), WRITE(IO + 0x10, value)
#define PIC_INIT(icw4)                                                                    \
	OUT(0x20, 0x11), OUT(0x21, 0x20), OUT(0x21, 4), OUT(0x21, icw4), OUT(0xa0, 0x11), \
		OUT(0xa1, 0x28), OUT(0xa1, 2), OUT(0xa1, icw4)

/* As a system without APICs finds it: the 8259s speak to the processor. */
static const struct test_dev_step without_apic[] = {
	PIC_INIT(1),
	LINE(3, 1),
	IDLE, /* LINT0 is masked after reset */
	WRMSR(0x1b, 0xfee00100),
	ACK(0x23),
	OUT(0x20, 0x20),
	IDLE,
	WRMSR(0x1b, 0xfee00900),
	LINE(3, 0),
	LINE(3, 1),
	IDLE,
	ON,
	WRITE(L(0x350), 0x700),
	ACK(0x23),
};

/* ExtINT goes before what the local APIC has, whatever its priority. */
static const struct test_dev_step extint_first[] = {
	PIC_INIT(3),
	ON,
	WRITE(L(0x350), 0x700),
	LINE(3, 1),
	WRITE(L(0x300), 0x400f0),
	ACK(0x23),
	ACK(0xf0),
	IDLE,
	LINE(3, 0),
	LINE(3, 1),
	ACK(0x23), /* F0H in service does not matter */
	IDLE,
};

/* The three ways of line 0 to a processor, as an operating system tries them. */
static const struct test_dev_step timer_routes[] = {
	PIC_INIT(3),
	ON,
	OUT(0x21, 0xff),
	PIN(2, 0x30),
	OUT(0x43, 0x34),
	ACK(0x30),
	EOI,
	OUT(0x40, 0xe8),
	OUT(0x40, 0x03),
	NEXT(838096),
	TIME(838096),
	ACK(0x30),
	EOI,
	/* By the 8259 and pin 0 of the I/O APIC. */
	PIN(2, 0x10030),
	PIN(0, 0x700),
	OUT(0x21, 0xfe),
	ACK(0x20),
	TIME(2 * 838096ull),
	ACK(0x20),
	IDLE,
	/* By the 8259 and LINT0 as if it were a fixed interrupt. */
	PIN(0, 0x10700),
	WRITE(L(0x350), 0x31),
	TIME(3 * 838096ull),
	ACK(0x31),
	EOI,
	IDLE,
};

/* LINT0 as a level: remote IRR until it is ended, and again while it is asserted. */
static const struct test_dev_step lint0_level[] = {
	PIC_INIT(1),
	ON,
	WRITE(L(0x350), 0x8041),
	LINE(5, 1),
	READ(L(0x350), 0xc041),
	ACK(0x41),
	EOI,
	READ(L(0x350), 0xc041),
	OUT(0x21, 0xff),
	ACK(0x41),
	EOI,
	READ(L(0x350), 0x8041),
	IDLE,
};

static const struct test_dev_step resets[] = {
	OUT(0x64, 0xd1), RESETS(0, 0),	   OUT(0x64, 0xfe),  RESETS(1, 0), IN(0x64, 0xff),
	OUT(0x92, 0x02), RESETS(1, 0),	   OUT(0x92, 0x03),  RESETS(2, 0), OUT(0x92, 0x03),
	RESETS(2, 0),	 IN(0x92, 3),	   OUT(0x92, 0x00),  IN(0x92, 2),  OUT(0xcf9, 0x02),
	RESETS(2, 0),	 OUT(0xcf9, 0x06), RESETS(3, 0),     IN(0xcf9, 6), OUT(0xcf9, 0x06),
	RESETS(3, 0),	 OUT(0xcf9, 0x00), OUT(0xcf9, 0x0e), RESETS(4, 0),
};

static const struct test_dev_step nobody[] = {
	IN(0x60, 0xff),
	IN(0xcf8, 0xff),
	IN(0x2f8, 0xff),
	IN(0, 0xff),
	IN(0xffff, 0xff),
	RDMSR(0x6e0, 0),
	READ(0xfed00000ull, 0x5a5a5a5a),
	READ(0xfec01000ull, 0x5a5a5a5a),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("without APIC", without_apic),
	TEST_DEV_SCRIPT("ExtINT", extint_first),
	TEST_DEV_SCRIPT("the timer's ways", timer_routes),
	TEST_DEV_SCRIPT("LINT0", lint0_level),
	TEST_DEV_SCRIPT("resets", resets),
	TEST_DEV_SCRIPT("nobody there", nobody),
};

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

static struct dev_platform p;

static void setup(void)
{
	const struct dev_platform_config config = {
		.mem_bytes = 64 << 20, .epoch = 1, .apic_hz = 25000000, .max_phy_addr = 39};

	dev_platform_init(&p, &config);
}

START_TEST(other_msrs)
{
	uint64_t value;

	ck_assert_int_eq(dev_platform_rdmsr(&p, 0x10, &value), DEV_PLATFORM_OTHER);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0x900, 0), DEV_PLATFORM_OTHER);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0x7ff, 0), DEV_PLATFORM_OTHER);
	/* Neither x2APIC nor the deadline is there without their configuration. */
	ck_assert_int_eq(dev_platform_rdmsr(&p, 0x6e0, &value), DEV_PLATFORM_GP);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0x6e0, 0), DEV_PLATFORM_GP);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0x1b, 0xfee00d00), DEV_PLATFORM_GP);
}
END_TEST

/* Two bytes at 70H are an index and its data. */
START_TEST(wide_accesses)
{
	uint32_t value = 0x7740;

	ck_assert(dev_platform_io(&p, 0x70, 2, false, &value));
	value = 0;
	ck_assert(dev_platform_io(&p, 0x70, 2, true, &value));
	ck_assert_uint_eq(value, 0x77ff);
	value = 0x11223344;
	ck_assert(dev_platform_io(&p, 0x1f, 4, true, &value));
	ck_assert_uint_eq(value, 0xff0000ff);
	/* CF9H is part of the configuration address here. */
	value = ~0u;
	ck_assert(!dev_platform_io(&p, 0xcf8, 4, false, &value));
	ck_assert(!dev_platform_io(&p, 0xffff, 4, true, &value));
	ck_assert(!dev_platform_io(&p, 0x80, 0, true, &value));
}
END_TEST

START_TEST(time_goes_forwards)
{
	dev_platform_advance(&p, 1000);
	dev_platform_advance(&p, 999);
	ck_assert_uint_eq(p.now, 1000);
	dev_platform_advance(&p, UINT64_MAX);
	ck_assert_uint_eq(p.now, UINT64_MAX);
}
END_TEST

START_TEST(virtual_wire)
{
	uint32_t value = 3;

	dev_platform_virtual_wire(&p);
	dev_platform_io(&p, 0x21, 1, false, &value);
	dev_platform_line(&p, 5, true);
	ck_assert(dev_platform_pending(&p));
	ck_assert_uint_eq(dev_platform_ack(&p), p.pic.chip[0].base + 5);
	dev_lapic_lint(&p.lapic, 1, true);
	ck_assert(dev_platform_nmi(&p));
	dev_platform_ack_nmi(&p);
	dev_lapic_lint(&p.lapic, 1, true); /* an edge only */
	ck_assert(!dev_platform_nmi(&p));
}
END_TEST

START_TEST(who_listens)
{
	uint32_t on = 1, out2 = 8;

	dev_platform_io(&p, 0x3f9, 1, false, &on);
	dev_platform_io(&p, 0x3fc, 1, false, &out2);
	ck_assert(!dev_platform_listens(&p));
}
END_TEST

/* What was saved goes on in another as it would have here. */
START_TEST(snapshots)
{
	static uint8_t bytes[sizeof(p) + 64], again[sizeof(p) + 64];
	size_t size = dev_platform_saved_bytes(), i;
	struct dev_platform q;
	uint32_t value;

	ck_assert_uint_le(size, sizeof(bytes));
	value = 0x1ff;
	dev_platform_mmio(&p, 0xfee000f0, 4, true, &value);
	value = 0x20040;
	dev_platform_mmio(&p, 0xfee00320, 4, true, &value);
	value = 1000;
	dev_platform_mmio(&p, 0xfee00380, 4, true, &value);
	dev_platform_advance(&p, 100000);
	ck_assert(!dev_platform_save(&p, bytes, size - 1));
	ck_assert(dev_platform_save(&p, bytes, size));

	memset(&q, 0x77, sizeof(q));
	ck_assert(!dev_platform_load(&q, bytes, size - 1));
	ck_assert(!dev_platform_load(&q, bytes, size + 1));
	for (i = 0; i < 16; i++) {
		bytes[i] ^= 1;
		ck_assert(!dev_platform_load(&q, bytes, size));
		bytes[i] ^= 1;
	}
	for (i = 0; i < sizeof(q); i++)
		ck_assert_uint_eq(((uint8_t *)&q)[i], 0x77);
	bytes[16 + offsetof(struct dev_platform, rtc.epoch) + 7] ^= 0x40;
	ck_assert(!dev_platform_load(&q, bytes, size));
	bytes[16 + offsetof(struct dev_platform, rtc.epoch) + 7] ^= 0x40;
	memset(&q.host, 0, sizeof(q.host));
	ck_assert(dev_platform_load(&q, bytes, size));
	ck_assert_uint_eq(dev_platform_next(&q), dev_platform_next(&p));
	dev_platform_advance(&p, 200000);
	dev_platform_advance(&q, 200000);
	ck_assert_uint_eq(dev_platform_ack(&q), 0x40);
	ck_assert_uint_eq(dev_platform_ack(&p), 0x40);
	dev_platform_save(&p, bytes, size);
	dev_platform_save(&q, again, size);
	ck_assert_mem_eq(bytes, again, size);
}
END_TEST

static const struct {
	uint64_t ns, hz, ticks, back;
} clocks[] = {
	{0, 1193182, 0, 0},
	{838, 1193182, 0, 0},
	{839, 1193182, 1, 839},
	{1000000000, 1193182, 1193182, 1000000000},
	{40, 25000000, 1, 40},
	{79, 25000000, 1, 40},
	{UINT64_MAX, 24000000, 442721857769029238, 18446744073709551584u},
};

START_TEST(clock_conversions)
{
	uint64_t ticks = dev_clock_ticks(clocks[_i].ns, clocks[_i].hz);

	ck_assert_uint_eq(ticks, clocks[_i].ticks);
	ck_assert_uint_eq(dev_clock_ns(ticks, clocks[_i].hz), clocks[_i].back);
	ck_assert(dev_clock_ns(UINT64_MAX, 1000) == DEV_NEVER);
	ck_assert(dev_clock_ns(1, 0) == DEV_NEVER);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_platform");
	TCase *tc = tcase_create("platform");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, other_msrs);
	tcase_add_test(tc, wide_accesses);
	tcase_add_test(tc, time_goes_forwards);
	tcase_add_test(tc, virtual_wire);
	tcase_add_test(tc, who_listens);
	tcase_add_test(tc, snapshots);
	tcase_add_loop_test(tc, clock_conversions, 0, sizeof(clocks) / sizeof(clocks[0]));
	suite_add_tcase(s, tc);
	return s;
}
