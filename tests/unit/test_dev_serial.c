// SPDX-License-Identifier: GPL-2.0-or-later
/* 16550A at COM1: both directions, FIFOs, the causes of interrupts, loopback. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* Line 4 by the 8259: vector 24H. OUT2 lets the interrupt through. */
#define INIT "on l:350=700 20=13 21=20 21=3 mcr=b "

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"registers",
	 "ier?0 iir?1 lcr?0 mcr?0 lsr?60 modem?b0 3ff=5a 3ff?5a ier=ff ier?f mcr=ff mcr?1f "
	 "lcr=83 data?c ier?0 data=34 ier=12 data?34 ier?12 silent lcr=3 ier?f lsr=ff lsr?60"},
	{"output",
	 INIT "data='a prints:a silent lsr?60 idle "
	 /* Asking for it tells that the transmitter is empty; reading IIR says enough. */
	 "ier=2 ack:24 iir?2 iir?1 idle data='b ack:24 "
	 /* One not read about and one more to send: an edge again. */
	 "data='c ack:24 iir?2 ier=0 ier=2 ack:24 "
	 /* Without OUT2 nothing comes through. */
	 "mcr=3 data='d idle mcr=b ack:24"},
	{"input",
	 INIT "type:x lsr?61 idle ier=1 ack:24 iir?4 data?'x "
	 "iir?1 lsr?60 data?'x " /* what was there */
	 /* Without the FIFO one at a time: the next is fetched when this is read. */
	 "type:1 type:2 ack:24 data?'1 lsr?61 ack:24 data?'2 lsr?60 never"},
	{"FIFO",
	 INIT "lcr=83 data=1 ier=0 lcr=3 fcr=41 " /* trigger at 4 */
	 "iir?c1 ier=1 type:1 type:2 idle next:347223 "
	 "time:1000 type:3 next:348223 " /* each begins the pause anew */
	 "type:4 ack:24 iir?c4 never data?'1 iir?c1 " /* below the trigger */
	 "next:348223 time:348223 ack:24 iir?cc never data?'2 iir?c1 next:695446 data?'3 "
	 "data?'4 never lsr?60 data?0 "
	 /* Emptied by command, and by going. */
	 "type:5 fcr=43 lsr?60 type:6 fcr=0 lsr?60 iir?1"},
	{"loopback",
	 INIT "mcr=1f "
	 "modem?f0 mcr=1a modem?96 " /* DSR and RI went: a delta and a trailing edge */
	 "modem?90 data='z silent lsr?61 type:q " /* waits outside */
	 "data?'z lsr?60 "
	 /* Overrun, and its interrupt before all others. */
	 "data='1 ier=f data='2 iir?6 lsr?63 iir?4 data?'1 iir?2 mcr=18 iir?0 modem?81 iir?1 "
	 "mcr=b lsr?61 data?'q"},
};
/* clang-format on */

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

TEST_SUITE("dev_serial", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ROWS(tcase, trigger_levels, triggers);
	TEST_ADD(tcase, bytes_keep_their_order);
}
