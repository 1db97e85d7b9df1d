// SPDX-License-Identifier: GPL-2.0-or-later
/* Real-time clock: the time and setting it, interrupts, what the CMOS says. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include "dev/clock.h"

/* Line 8 through both 8259s: vector 28H. */
#define INIT "on l:350=700 20=11 21=20 21=4 21=3 a0=11 a1=28 a1=2 a1=3 "

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"reading",
	 "cmos:0?0 cmos:2?0 cmos:4?0 cmos:6?4 " /* a Wednesday */
	 "cmos:7?1 cmos:8?1 cmos:9?25 cmos:32?20 cmos:a?26 cmos:b?2 cmos:c?0 cmos:d?80 "
	 "time:59s cmos:0?59 time:60s cmos:0?0 cmos:2?1 time:86399s cmos:4?23 cmos:2?59 "
	 /* The same in binary, and with twelve hours. */
	 "cmos:b=6 cmos:4?17 cmos:2?3b cmos:b=4 cmos:4?8b cmos:b=0 cmos:4?91 time:86400s "
	 "cmos:4?12 cmos:7?2 cmos:6?5 time:129600s cmos:4?92"},
	{"update in progress",
	 "time:1s-244001 cmos:a?26 cmos:0?0 time:1s-244000 cmos:a?a6 cmos:0?0 time:1s "
	 "cmos:a?26 cmos:0?1 cmos:a=a6 cmos:a?26"},
	{"setting",
	 "time:250ms cmos:b=82 " /* stop, set */
	 "cmos:0=58 cmos:2=59 cmos:4=23 cmos:7=28 cmos:8=2 cmos:9=24 cmos:32=20 cmos:6=1 "
	 "time:10s cmos:0?58 "
	 "cmos:7?28 time:10s+250ms cmos:b=2 " /* go: seconds begin when they did before */
	 "cmos:0?58 time:11s cmos:0?59 cmos:8?2 time:12s cmos:0?0 "
	 "cmos:7?29 cmos:8?2 cmos:6?5 " /* a leap year, a Thursday */
	 "time:86412s cmos:7?1 cmos:8?3 "
	 /* While it runs, too. */
	 "cmos:9=99 cmos:9?99 cmos:7?1 "
	 /* Held by its divider; then the first second is half a one. */
	 "cmos:a=76 time:86500s cmos:0?0 cmos:a=26 time:86500s+500ms-1 cmos:0?0 "
	 "time:86500s+500ms cmos:0?1"},
	{"periodic interrupt",
	 INIT "never cmos:b=42 " /* 1024 Hz: every 32 ticks */
	 "next:32c time:32c-1 idle time:32c ack:28 never " /* until it is answered */
	 "time:96c idle cmos:c?c0 cmos:c?0 next:128c time:128c "
	 "ack:28 cmos:c?c0 cmos:a=2f " /* 2 Hz */
	 "next:16384c cmos:a=21 " /* 256 Hz, as 8 */
	 "next:256c cmos:a=22 next:256c cmos:a=23 " /* 8192 Hz */
	 "next:132c cmos:a=20 never cmos:a=26 cmos:b=2 never "
	 /* The flag comes without the interrupt, too; allowing it makes it. */
	 "time:500ms cmos:c?40 time:1s-1 cmos:b=42 ack:28"},
	{"update interrupt",
	 INIT "cmos:b=12 next:1s time:1s ack:28 cmos:c?d0 cmos:0?1 next:2s time:2s ack:28 "
	 "cmos:c?d0 cmos:b=92 never " /* setting it ends them */
	 "cmos:b?82 cmos:b=2 never"},
	{"alarm",
	 INIT "cmos:1=5 cmos:3=ff cmos:5=c0 cmos:b=22 next:1s time:4s idle cmos:c?50 time:5s "
	 "ack:28 cmos:c?f0 time:64s idle time:65s " /* every minute */
	 "ack:28 cmos:c?f0 "
	 /* 07:30:05, some time of a long gap. */
	 "cmos:3=30 cmos:5=7 time:27004s idle time:90000s ack:28 cmos:c?f0 "
	 /* A time that is none. */
	 "cmos:1=77 time:900000s idle"},
	/* 64 MiB; index bit 7 does nothing. */
	{"memory",
	 "cmos:15?80 cmos:16?2 cmos:17?0 cmos:18?fc cmos:30?0 cmos:31?fc cmos:34?0 cmos:35?3 "
	 "cmos:5b?0 cmos:40=12 cmos:c0?12 cmos:c=ff cmos:c?0 cmos:d=0 cmos:d?80"},
};
/* clang-format on */

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
	ck_assert_uint_eq(rtc.cmos[0x34] | rtc.cmos[0x35] << 8, 0xbf00);
	ck_assert_uint_eq(rtc.cmos[0x5b] | rtc.cmos[0x5c] << 8, 0xc000);
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

TEST_SUITE("dev_rtc", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ADD(tcase, large_memory, dates_there_and_back);
}
