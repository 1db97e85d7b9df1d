// SPDX-License-Identifier: GPL-2.0-or-later
/* 8254: modes, accesses, latches; interrupts of channel 0; port 61H. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include "dev/clock.h"

/* Line 0 comes through the 8259 at 20H. */
#define INIT                                                                       \
	WRITE(0xfee000f0ull, 0x1ff), WRITE(0xfee00350ull, 0x700), OUT(0x20, 0x13), \
		OUT(0x21, 0x20), OUT(0x21, 0x03)
#define TICKS(n)       ((uint64_t)(((n)*1000000000ull + 1193181) / 1193182))
#define AT(n)	       TIME(TICKS(n))
#define COUNT(port, n) OUT(port, (n)&0xff), OUT(port, (n) >> 8)
#define READS(port, n) IN(port, (n)&0xff), IN(port, (n) >> 8)

static const struct test_dev_step mode0[] = {
	INIT,
	OUT(0x43, 0x30),
	NEVER,
	OUT(0x40, 100),
	NEVER,
	OUT(0x40, 0),
	NEXT(TICKS(100)),
	AT(40),
	READS(0x40, 60),
	AT(99),
	IDLE,
	AT(100),
	ACK(0x20),
	NEVER,
	AT(102),
	READS(0x40, 0xfffe), /* goes on and wraps */
	/* A new count restarts it; its first byte stops it. */
	OUT(0x40, 50),
	NEVER,
	AT(200),
	OUT(0x40, 1),
	NEXT(TICKS(506)),
	OUT(0x43, 0x30),
	NEVER,
};

static const struct test_dev_step mode2[] = {
	INIT,
	OUT(0x43, 0x34), /* OUT goes high */
	ACK(0x20),
	COUNT(0x40, 1193),
	NEXT(TICKS(1193)),
	AT(1192),
	IDLE,
	READS(0x40, 1),
	AT(1193),
	ACK(0x20),
	READS(0x40, 1193),
	NEXT(TICKS(2386)),
	AT(11930000), /* many periods */
	ACK(0x20),
	IDLE,
	NEXT(TICKS(11931193)),
	/* 0 is 65536. */
	COUNT(0x40, 0),
	NEXT(TICKS(11995536)),
	READS(0x40, 0),
	AT(11930001),
	READS(0x40, 0xffff),
};

static const struct test_dev_step mode3[] = {
	INIT,
	OUT(0x43, 0x36),
	ACK(0x20),
	COUNT(0x40, 10),
	NEXT(TICKS(10)),
	AT(2),
	READS(0x40, 6),
	AT(4),
	READS(0x40, 2),
	AT(5),
	READS(0x40, 10),
	AT(9),
	READS(0x40, 2),
	IDLE,
	AT(10),
	ACK(0x20),
	NEXT(TICKS(20)),
	/* Mode 7 is mode 3. */
	OUT(0x43, 0x3e),
	COUNT(0x40, 100),
	NEXT(TICKS(110)),
};

/* A strobe: one tick low after the count. */
static const struct test_dev_step mode4[] = {
	INIT,
	OUT(0x43, 0x38),
	ACK(0x20),
	COUNT(0x40, 20),
	NEXT(TICKS(21)),
	AT(20),
	OUT(0x43, 0xe2),
	IN(0x40, 0x38),
	AT(21),
	ACK(0x20),
	OUT(0x43, 0xe2),
	IN(0x40, 0xb8),
	NEVER,
	READS(0x40, 0xffff),
};

static const struct test_dev_step accesses[] = {
	/* The low byte only; the high byte only. */
	OUT(0x43, 0x94),
	OUT(0x42, 50),
	IN(0x42, 50),
	IN(0x42, 50),
	OUT(0x43, 0xa0),
	OUT(0x42, 2),
	IN(0x42, 2),
	/* Latched: what it was, once, whatever is latched meanwhile. */
	OUT(0x43, 0x74),
	COUNT(0x41, 0x1234),
	OUT(0x43, 0x40),
	AT(0x20),
	OUT(0x43, 0x40),
	READS(0x41, 0x1234),
	READS(0x41, 0x1214),
	/* Read-back: count and status of two channels, status first. */
	OUT(0x43, 0xb4),
	OUT(0x43, 0xcc),
	IN(0x42, 0xf4), /* OUT, no count yet, both bytes, mode 2 */
	READS(0x42, 0),
	IN(0x41, 0xb4),
	READS(0x41, 0x1214),
	/* BCD. */
	OUT(0x43, 0x71),
	COUNT(0x41, 0x1000),
	AT(0x21),
	READS(0x41, 0x0999),
	OUT(0x43, 0xe4),
	IN(0x41, 0x31),
	IN(0x43, 0xff),
};

/* Channel 2: its gate is bit 0 of port 61H, its OUT bit 5; bit 4 changes every 15.085 us. */
static const struct test_dev_step speaker[] = {
	IN(0x61, 0),
	OUT(0x43, 0xb0),
	COUNT(0x42, 1000),
	AT(100),
	READS(0x42, 1000), /* held */
	OUT(0x61, 0x01),
	AT(600),
	READS(0x42, 500),
	OUT(0x61, 0x00),
	AT(5000),
	READS(0x42, 500),
	OUT(0x61, 0xf1),
	AT(5499),
	OUT(0x43, 0xe8),
	IN(0x42, 0x30),
	AT(5500),
	OUT(0x43, 0xe8),
	IN(0x42, 0xb0),
	TIME(15085ull * 400),
	IN(0x61, 0x21),
	TIME(15085ull * 401),
	IN(0x61, 0x31),
	OUT(0x61, 0x02),
	IN(0x61, 0x32),
	/* One-shot by the gate. */
	OUT(0x43, 0xb2),
	COUNT(0x42, 0x0064),
	OUT(0x43, 0xe8),
	IN(0x42, 0xb2),
	OUT(0x61, 1),
	OUT(0x43, 0xe8),
	IN(0x42, 0x32),
	AT(7300), /* it began between 7217 and 7218 */
	OUT(0x43, 0xe8),
	IN(0x42, 0x32),
	AT(7330),
	OUT(0x43, 0xe8),
	IN(0x42, 0xb2),
	/* A square wave stops high. */
	OUT(0x43, 0xb6),
	COUNT(0x42, 10),
	AT(7337),
	OUT(0x43, 0xe8),
	IN(0x42, 0x36),
	OUT(0x61, 0),
	OUT(0x43, 0xe8),
	IN(0x42, 0xb6),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("mode 0", mode0),      TEST_DEV_SCRIPT("mode 2", mode2),
	TEST_DEV_SCRIPT("mode 3", mode3),      TEST_DEV_SCRIPT("mode 4", mode4),
	TEST_DEV_SCRIPT("accesses", accesses), TEST_DEV_SCRIPT("port 61H", speaker),
};

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

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_pit");
	TCase *tc = tcase_create("pit");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_loop_test(tc, rises_where_planned, 0, sizeof(waves) / sizeof(waves[0]));
	tcase_add_test(tc, square_waves);
	suite_add_tcase(s, tc);
	return s;
}
