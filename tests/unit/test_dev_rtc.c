// SPDX-License-Identifier: GPL-2.0-or-later
/* Real-time clock: the time and setting it, interrupts, what the CMOS says. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include "dev/clock.h"

#define S	  1000000000ull
#define PUT(n, v) OUT(0x70, n), OUT(0x71, v)
#define GET(n, v) OUT(0x70, n), IN(0x71, v)
/* Line 8 through both 8259s: vector 28H. */
#define INIT                                                                                   \
	WRITE(0xfee000f0ull, 0x1ff), WRITE(0xfee00350ull, 0x700), OUT(0x20, 0x11),             \
		OUT(0x21, 0x20), OUT(0x21, 4), OUT(0x21, 3), OUT(0xa0, 0x11), OUT(0xa1, 0x28), \
		OUT(0xa1, 2), OUT(0xa1, 3)
/* The n-th tick of the crystal. */
#define CRYSTAL(n) ((uint64_t)(((n)*S + 32767) / 32768))

static const struct test_dev_step reading[] = {
	GET(0, 0),
	GET(2, 0),
	GET(4, 0),
	GET(6, 4), /* a Wednesday */
	GET(7, 1),
	GET(8, 1),
	GET(9, 0x25),
	GET(0x32, 0x20),
	GET(0xa, 0x26),
	GET(0xb, 0x02),
	GET(0xc, 0),
	GET(0xd, 0x80),
	TIME(59 * S),
	GET(0, 0x59),
	TIME(60 * S),
	GET(0, 0),
	GET(2, 1),
	TIME(86399 * S),
	GET(4, 0x23),
	GET(2, 0x59),
	/* The same in binary, and with twelve hours. */
	PUT(0xb, 0x06),
	GET(4, 23),
	GET(2, 59),
	PUT(0xb, 0x04),
	GET(4, 0x8b),
	PUT(0xb, 0x00),
	GET(4, 0x91),
	TIME(86400 * S),
	GET(4, 0x12),
	GET(7, 2),
	GET(6, 5),
	TIME((86400 + 43200) * S),
	GET(4, 0x92),
};

static const struct test_dev_step update_in_progress[] = {
	TIME(S - 244001), GET(0xa, 0x26), GET(0, 0), TIME(S - 244000), GET(0xa, 0xa6), GET(0, 0),
	TIME(S),	  GET(0xa, 0x26), GET(0, 1), PUT(0xa, 0xa6),   GET(0xa, 0x26),
};

static const struct test_dev_step setting[] = {
	TIME(S / 4),
	PUT(0xb, 0x82), /* stop, set */
	PUT(0, 0x58),
	PUT(2, 0x59),
	PUT(4, 0x23),
	PUT(7, 0x28),
	PUT(8, 2),
	PUT(9, 0x24),
	PUT(0x32, 0x20),
	PUT(6, 1),
	TIME(10 * S),
	GET(0, 0x58),
	GET(7, 0x28),
	TIME(10 * S + S / 4),
	PUT(0xb, 0x02), /* go: seconds begin when they did before */
	GET(0, 0x58),
	TIME(11 * S),
	GET(0, 0x59),
	GET(8, 2),
	TIME(12 * S),
	GET(0, 0),
	GET(7, 0x29),
	GET(8, 2),
	GET(6, 5), /* a leap year, a Thursday */
	TIME((12 + 86400) * S),
	GET(7, 1),
	GET(8, 3),
	/* While it runs, too. */
	PUT(9, 0x99),
	GET(9, 0x99),
	GET(7, 1),
	/* Held by its divider; then the first second is half a one. */
	PUT(0xa, 0x76),
	TIME((100 + 86400) * S),
	GET(0, 0),
	PUT(0xa, 0x26),
	TIME((100 + 86400) * S + S / 2 - 1),
	GET(0, 0),
	TIME((100 + 86400) * S + S / 2),
	GET(0, 1),
};

static const struct test_dev_step periodic[] = {
	INIT,
	NEVER,
	PUT(0xb, 0x42), /* 1024 Hz: every 32 ticks */
	NEXT(CRYSTAL(32)),
	TIME(CRYSTAL(32) - 1),
	IDLE,
	TIME(CRYSTAL(32)),
	ACK(0x28),
	NEVER, /* until it is answered */
	TIME(CRYSTAL(96)),
	IDLE,
	GET(0xc, 0xc0),
	GET(0xc, 0),
	NEXT(CRYSTAL(128)),
	TIME(CRYSTAL(128)),
	ACK(0x28),
	GET(0xc, 0xc0),
	PUT(0xa, 0x2f), /* 2 Hz */
	NEXT(CRYSTAL(16384)),
	PUT(0xa, 0x21), /* 256 Hz, as 8 */
	NEXT(CRYSTAL(256)),
	PUT(0xa, 0x22),
	NEXT(CRYSTAL(256)),
	PUT(0xa, 0x23), /* 8192 Hz */
	NEXT(CRYSTAL(132)),
	PUT(0xa, 0x20),
	NEVER,
	PUT(0xa, 0x26),
	PUT(0xb, 0x02),
	NEVER,
	/* The flag comes without the interrupt, too; allowing it makes it. */
	TIME(S / 2),
	GET(0xc, 0x40),
	TIME(S - 1),
	PUT(0xb, 0x42),
	ACK(0x28),
};

static const struct test_dev_step updates[] = {
	INIT,		PUT(0xb, 0x12), NEXT(S),     TIME(S),	  ACK(0x28),
	GET(0xc, 0xd0), GET(0, 1),	NEXT(2 * S), TIME(2 * S), ACK(0x28),
	GET(0xc, 0xd0), PUT(0xb, 0x92), NEVER, /* setting it ends them */
	GET(0xb, 0x82), PUT(0xb, 0x02), NEVER,
};

static const struct test_dev_step alarms[] = {
	INIT,
	PUT(1, 0x05),
	PUT(3, 0xff),
	PUT(5, 0xc0),
	PUT(0xb, 0x22),
	NEXT(S),
	TIME(4 * S),
	IDLE,
	GET(0xc, 0x50),
	TIME(5 * S),
	ACK(0x28),
	GET(0xc, 0xf0),
	TIME(64 * S),
	IDLE,
	TIME(65 * S), /* every minute */
	ACK(0x28),
	GET(0xc, 0xf0),
	/* 07:30:05, some time of a long gap. */
	PUT(3, 0x30),
	PUT(5, 0x07),
	TIME(27004 * S),
	IDLE,
	TIME(90000 * S),
	ACK(0x28),
	GET(0xc, 0xf0),
	/* A time that is none. */
	PUT(1, 0x77),
	TIME(900000 * S),
	IDLE,
};

/* 64 MiB; index bit 7 does nothing. */
static const struct test_dev_step memory[] = {
	GET(0x15, 0x80), GET(0x16, 0x02), GET(0x17, 0x00), GET(0x18, 0xfc), GET(0x30, 0x00),
	GET(0x31, 0xfc), GET(0x34, 0x00), GET(0x35, 0x03), GET(0x5b, 0),    PUT(0x40, 0x12),
	GET(0xc0, 0x12), PUT(0x0c, 0xff), GET(0x0c, 0),	   PUT(0x0d, 0),    GET(0x0d, 0x80),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("reading", reading),
	TEST_DEV_SCRIPT("update in progress", update_in_progress),
	TEST_DEV_SCRIPT("setting", setting),
	TEST_DEV_SCRIPT("periodic interrupt", periodic),
	TEST_DEV_SCRIPT("update interrupt", updates),
	TEST_DEV_SCRIPT("alarm", alarms),
	TEST_DEV_SCRIPT("memory", memory),
};

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

START_TEST(large_memory)
{
	struct dev_rtc rtc;

	dev_rtc_init(&rtc, 0, 6ull << 30);
	ck_assert_uint_eq(rtc.cmos[0x17] | rtc.cmos[0x18] << 8, 0xffff);
	ck_assert_uint_eq(rtc.cmos[0x34] | rtc.cmos[0x35] << 8, 0xff00);
	ck_assert_uint_eq(rtc.cmos[0x5b] | rtc.cmos[0x5c] << 8, 0x8000);
	ck_assert_uint_eq(rtc.cmos[0x5d], 0);
	dev_rtc_init(&rtc, 0, 512 << 10);
	ck_assert_uint_eq(rtc.cmos[0x17] | rtc.cmos[0x18] << 8, 0);
}
END_TEST

START_TEST(dates_there_and_back)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	struct dev_date date = {1583, 1, 1};
	int64_t day = dev_days_of(&date);

	for (; date.year < 2500; day++) {
		bool leap = date.year % 4 == 0 && (date.year % 100 || date.year % 400 == 0);
		unsigned int last = (unsigned int)lengths[date.month - 1];
		struct dev_date is = dev_date_of(day);

		ck_assert(is.year == date.year && is.month == date.month && is.day == date.day);
		ck_assert_int_eq(dev_days_of(&date), day);
		last += date.month == 2 && leap;
		if (date.day++ < last)
			continue;
		date.day = 1;
		date.year += date.month == 12;
		date.month = date.month % 12 + 1;
	}
	date = (struct dev_date){1970, 1, 1};
	ck_assert_int_eq(dev_days_of(&date), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_rtc");
	TCase *tc = tcase_create("rtc");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, large_memory);
	tcase_add_test(tc, dates_there_and_back);
	suite_add_tcase(s, tc);
	return s;
}
