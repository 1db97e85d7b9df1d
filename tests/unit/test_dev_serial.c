// SPDX-License-Identifier: GPL-2.0-or-later
/* 16550A at COM1: both directions, FIFOs, the causes of interrupts, loopback. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* Line 4 by the 8259: vector 24H. OUT2 lets the interrupt through. */
#define INIT                                                                       \
	WRITE(0xfee000f0ull, 0x1ff), WRITE(0xfee00350ull, 0x700), OUT(0x20, 0x13), \
		OUT(0x21, 0x20), OUT(0x21, 0x03), OUT(0x3fc, 0x0b)
#define DATA 0x3f8
#define IER  0x3f9
#define IIR  0x3fa
#define FCR  0x3fa
#define LCR  0x3fb
#define MCR  0x3fc
#define LSR  0x3fd
#define MSR  0x3fe
/* Four characters of ten bits at 115200. */
#define PAUSE 347223ull

static const struct test_dev_step registers[] = {
	IN(IER, 0),	 IN(IIR, 1),	   IN(LCR, 0),	    IN(MCR, 0),	    IN(LSR, 0x60),
	IN(MSR, 0xb0),	 OUT(0x3ff, 0x5a), IN(0x3ff, 0x5a), OUT(IER, 0xff), IN(IER, 0x0f),
	OUT(MCR, 0xff),	 IN(MCR, 0x1f),	   OUT(LCR, 0x83),  IN(DATA, 12),   IN(IER, 0),
	OUT(DATA, 0x34), OUT(IER, 0x12),   IN(DATA, 0x34),  IN(IER, 0x12),  PRINTS(-1),
	OUT(LCR, 0x03),	 IN(IER, 0x0f),	   OUT(LSR, 0xff),  IN(LSR, 0x60),
};

static const struct test_dev_step output[] = {
	INIT,
	OUT(DATA, 'a'),
	PRINTS('a'),
	PRINTS(-1),
	IN(LSR, 0x60),
	IDLE,
	/* Asking for it tells that the transmitter is empty; reading IIR says enough. */
	OUT(IER, 2),
	ACK(0x24),
	IN(IIR, 2),
	IN(IIR, 1),
	IDLE,
	OUT(DATA, 'b'),
	ACK(0x24),
	/* One not read about and one more to send: an edge again. */
	OUT(DATA, 'c'),
	ACK(0x24),
	IN(IIR, 2),
	OUT(IER, 0),
	OUT(IER, 2),
	ACK(0x24),
	/* Without OUT2 nothing comes through. */
	OUT(MCR, 0x03),
	OUT(DATA, 'd'),
	IDLE,
	OUT(MCR, 0x0b),
	ACK(0x24),
};

static const struct test_dev_step input[] = {
	INIT,
	TYPE('x'),
	IN(LSR, 0x61),
	IDLE,
	OUT(IER, 1),
	ACK(0x24),
	IN(IIR, 4),
	IN(DATA, 'x'),
	IN(IIR, 1),
	IN(LSR, 0x60),
	IN(DATA, 'x'), /* what was there */
	/* Without the FIFO one at a time: the next is fetched when this is read. */
	TYPE('1'),
	TYPE('2'),
	ACK(0x24),
	IN(DATA, '1'),
	IN(LSR, 0x61),
	ACK(0x24),
	IN(DATA, '2'),
	IN(LSR, 0x60),
	NEVER,
};

static const struct test_dev_step fifo[] = {
	INIT,
	OUT(LCR, 0x83),
	OUT(DATA, 1),
	OUT(IER, 0),
	OUT(LCR, 0x03),
	OUT(FCR, 0x41), /* trigger at 4 */
	IN(IIR, 0xc1),
	OUT(IER, 1),
	TYPE('1'),
	TYPE('2'),
	IDLE,
	NEXT(PAUSE),
	TIME(1000),
	TYPE('3'),
	NEXT(1000 + PAUSE), /* each begins the pause anew */
	TYPE('4'),
	ACK(0x24),
	IN(IIR, 0xc4),
	NEVER,
	IN(DATA, '1'),
	IN(IIR, 0xc1), /* below the trigger */
	NEXT(1000 + PAUSE),
	TIME(1000 + PAUSE),
	ACK(0x24),
	IN(IIR, 0xcc),
	NEVER,
	IN(DATA, '2'),
	IN(IIR, 0xc1),
	NEXT(1000 + 2 * PAUSE),
	IN(DATA, '3'),
	IN(DATA, '4'),
	NEVER,
	IN(LSR, 0x60),
	IN(DATA, 0),
	/* Emptied by command, and by going. */
	TYPE('5'),
	OUT(FCR, 0x43),
	IN(LSR, 0x60),
	TYPE('6'),
	OUT(FCR, 0),
	IN(LSR, 0x60),
	IN(IIR, 1),
};

static const struct test_dev_step loopback[] = {
	INIT,
	OUT(MCR, 0x1f),
	IN(MSR, 0xf0),
	OUT(MCR, 0x1a),
	IN(MSR, 0x96), /* DSR and RI went: a delta and a trailing edge */
	IN(MSR, 0x90),
	OUT(DATA, 'z'),
	PRINTS(-1),
	IN(LSR, 0x61),
	TYPE('q'), /* waits outside */
	IN(DATA, 'z'),
	IN(LSR, 0x60),
	/* Overrun, and its interrupt before all others. */
	OUT(DATA, '1'),
	OUT(IER, 0x0f),
	OUT(DATA, '2'),
	IN(IIR, 6),
	IN(LSR, 0x63),
	IN(IIR, 4),
	IN(DATA, '1'),
	IN(IIR, 2),
	OUT(MCR, 0x18),
	IN(IIR, 0),
	IN(MSR, 0x81),
	IN(IIR, 1),
	OUT(MCR, 0x0b),
	IN(LSR, 0x61),
	IN(DATA, 'q'),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("registers", registers), TEST_DEV_SCRIPT("output", output),
	TEST_DEV_SCRIPT("input", input),	 TEST_DEV_SCRIPT("FIFO", fifo),
	TEST_DEV_SCRIPT("loopback", loopback),
};

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

static const struct {
	uint8_t fcr;
	unsigned int level;
} triggers[] = {{0x00, 1}, {0x01, 1}, {0x41, 4}, {0x81, 8}, {0xc1, 14}};

START_TEST(trigger_levels)
{
	struct dev_serial s;
	unsigned int n;

	dev_serial_init(&s);
	dev_serial_write(&s, 4, 0x08);
	dev_serial_write(&s, 1, 0x01);
	dev_serial_write(&s, 2, triggers[_i].fcr);
	for (n = 1; n <= triggers[_i].level; n++) {
		ck_assert(dev_serial_listens(&s));
		dev_serial_receive(&s, 'x');
		ck_assert(dev_serial_irq(&s) == (n == triggers[_i].level));
	}
}
END_TEST

START_TEST(bytes_keep_their_order)
{
	struct dev_serial s;
	unsigned int in = 0, out = 0, round;

	dev_serial_init(&s);
	dev_serial_write(&s, 2, 0x01);
	for (round = 0; round < 50; round++) {
		while (in - out < 1 + round % DEV_SERIAL_FIFO)
			dev_serial_receive(&s, (uint8_t)in++);
		ck_assert_uint_eq(dev_serial_room(&s), DEV_SERIAL_FIFO - (in - out));
		while (in - out > round % 3)
			ck_assert_uint_eq(dev_serial_read(&s, 0), (uint8_t)out++);
	}
	/* One too many is lost, and said so. */
	dev_serial_write(&s, 2, 0x03);
	for (in = 0; in <= DEV_SERIAL_FIFO; in++)
		dev_serial_receive(&s, (uint8_t)in);
	ck_assert_uint_eq(dev_serial_read(&s, 5), 0x63);
	for (out = 0; out < DEV_SERIAL_FIFO; out++)
		ck_assert_uint_eq(dev_serial_read(&s, 0), out);
	ck_assert_uint_eq(dev_serial_read(&s, 5), 0x60);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_serial");
	TCase *tc = tcase_create("serial");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_loop_test(tc, trigger_levels, 0, sizeof(triggers) / sizeof(triggers[0]));
	tcase_add_test(tc, bytes_keep_their_order);
	suite_add_tcase(s, tc);
	return s;
}
