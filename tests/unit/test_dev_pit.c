// SPDX-License-Identifier: GPL-2.0-or-later
/* 8254: modes, accesses, latches; interrupts of channel 0; port 61H. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include "dev/clock.h"

/* Line 0 comes through the 8259 at 20H. */
#define INIT "on l:350=700 20=13 21=20 21=3 "

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"mode 0",
	 INIT "43=30 never 40=64 never 40=0 next:100t time:40t count0?60 time:99t idle "
	 "time:100t ack:20 never time:102t count0?65534 " /* goes on and wraps */
	 /* A new count restarts it; its first byte stops it. */
	 "40=32 never time:200t 40=1 next:506t 43=30 never"},
	{"mode 2",
	 INIT "43=34 " /* OUT goes high */
	 "ack:20 count0=1193 next:1193t time:1192t idle count0?1 time:1193t ack:20 count0?1193 "
	 "next:2386t time:11930000t " /* many periods */
	 "ack:20 idle next:11931193t "
	 /* 0 is 65536. */
	 "count0=0 next:11995536t count0?0 time:11930001t count0?65535"},
	{"mode 3",
	 INIT "43=36 ack:20 count0=10 next:10t time:2t count0?6 time:4t count0?2 time:5t "
	 "count0?10 time:9t count0?2 idle time:10t ack:20 next:20t "
	 /* Mode 7 is mode 3. */
	 "43=3e count0=100 next:110t"},
	/* A strobe: one tick low after the count. */
	{"mode 4",
	 INIT "43=38 ack:20 count0=20 next:21t time:20t 43=e2 40?38 time:21t ack:20 43=e2 "
	 "40?b8 never count0?65535"},
	{"accesses",
	 /* The low byte only; the high byte only. */
	 "43=94 42=32 42?32 42?32 43=a0 42=2 42?2 "
	 /* Latched: what it was, once, whatever is latched meanwhile. */
	 "43=74 count1=4660 43=40 time:32t 43=40 count1?4660 count1?4628 "
	 /* Read-back: count and status of two channels, status first. */
	 "43=b4 43=cc 42?f4 " /* OUT, no count yet, both bytes, mode 2 */
	 "count2?0 41?b4 count1?4628 "
	 /* BCD. */
	 "43=71 41=0 41=10 time:33t 41?99 41?9 43=e4 41?31 43?ff"},
	/* Channel 2: its gate is bit 0 of port 61H, its OUT bit 5; bit 4 changes every 15.085 us. */
	{"port 61H",
	 "61?0 43=b0 count2=1000 time:100t count2?1000 " /* held */
	 "61=1 time:600t count2?500 61=0 time:5000t count2?500 61=f1 time:5499t 43=e8 42?30 "
	 "time:5500t 43=e8 42?b0 time:6034000 61?21 time:6049085 61?31 61=2 61?32 "
	 /* One-shot by the gate. */
	 "43=b2 count2=100 43=e8 42?b2 61=1 "
	 "43=e8 42?32 time:7300t " /* it began between 7217 and 7218 */
	 "43=e8 42?32 time:7330t 43=e8 42?b2 "
	 /* A square wave stops high. */
	 "43=b6 count2=10 time:7337t 43=e8 42?36 61=0 43=e8 42?b6"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

/* Interrupts and OUT by looking at every tick must be the same. */
static const struct {
	unsigned int mode, count;
} waves[] = {{0, 1}, {0, 7}, {2, 2}, {2, 9}, {3, 2}, {3, 3}, {3, 8}, {3, 9}, {4, 1}, {4, 6}};

START_TEST(rises_where_planned)
{
	struct dev_pit pit;
	unsigned int tick;
	bool last, now;

	dev_pit_init(&pit);
	dev_pit_write(&pit, 0x43, (uint8_t)(0x10 | waves[_i].mode << 1));
	dev_pit_write(&pit, 0x40, (uint8_t)waves[_i].count);
	last = dev_pit_out(&pit, 0);
	for (tick = 1; tick < 100; tick++) {
		bool planned = dev_pit_next(&pit) == dev_clock_ns(tick, DEV_PIT_HZ);

		dev_pit_advance(&pit, dev_clock_ns(tick, DEV_PIT_HZ));
		now = dev_pit_out(&pit, 0);
		ck_assert_msg((now && !last) == planned, "mode %u count %u tick %u", waves[_i].mode,
			      waves[_i].count, tick);
		ck_assert(pit.rose == planned);
		pit.rose = false;
		last = now;
	}
}
END_TEST

/* Half of the time high; the odd tick is high too. */
START_TEST(square_waves)
{
	unsigned int count, tick, high;

	for (count = 2; count < 12; count++) {
		struct dev_pit pit;

		dev_pit_init(&pit);
		dev_pit_write(&pit, 0x43, 0x16);
		dev_pit_write(&pit, 0x40, (uint8_t)count);
		for (tick = 0, high = 0; tick < 10 * count; tick++) {
			dev_pit_advance(&pit, dev_clock_ns(tick, DEV_PIT_HZ));
			high += dev_pit_out(&pit, 0);
		}
		ck_assert_uint_eq(high, 10 * ((count + 1) / 2));
	}
}
END_TEST

TEST_SUITE("dev_pit", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ROWS(tcase, rises_where_planned, waves);
	TEST_ADD(tcase, square_waves);
}
