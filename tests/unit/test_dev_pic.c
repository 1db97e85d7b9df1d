// SPDX-License-Identifier: GPL-2.0-or-later
/* The 8259 pair: initialisation, priorities, every kind of EOI, modes. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* 16 lines at vectors 20H and 28H, nothing masked; the local APIC passes them on. */
#define INIT4(icw4)                                                                               \
	WRITE(0xfee000f0ull, 0x1ff), WRITE(0xfee00350ull, 0x700), OUT(0x20, 0x11),                \
		OUT(0x21, 0x20), OUT(0x21, 4), OUT(0x21, icw4), OUT(0xa0, 0x11), OUT(0xa1, 0x28), \
		OUT(0xa1, 2), OUT(0xa1, icw4)
#define INIT	 INIT4(1)
#define PULSE(n) LINE(n, 1), LINE(n, 0)
#define EOI1	 OUT(0x20, 0x20)
#define EOI2	 OUT(0xa0, 0x20)
/* In service; requested: read register by OCW3. */
#define ISR1(v) OUT(0x20, 0x0b), IN(0x20, v)
#define IRR1(v) OUT(0x20, 0x0a), IN(0x20, v)
#define ISR2(v) OUT(0xa0, 0x0b), IN(0xa0, v)
#define IRR2(v) OUT(0xa0, 0x0a), IN(0xa0, v)

static const struct test_dev_step nesting[] = {
	INIT,
	IDLE,
	PULSE(5),
	IRR1(0x20),
	ACK(0x25),
	ISR1(0x20),
	IRR1(0),
	PULSE(6),
	IDLE,
	PULSE(3),
	ACK(0x23),
	ISR1(0x28),
	EOI1,
	ISR1(0x20),
	IDLE,
	EOI1,
	ACK(0x26),
	EOI1,
	ISR1(0),
	IDLE,
	EOI1,
	/* Edge: one that stays asserted does not come again. */
	LINE(3, 1),
	ACK(0x23),
	EOI1,
	IDLE,
	LINE(3, 0),
	LINE(3, 1),
	ACK(0x23),
	/* Specific EOI. */
	LINE(1, 1),
	ACK(0x21),
	OUT(0x20, 0x63),
	ISR1(2),
	OUT(0x20, 0x61),
	ISR1(0),
};

static const struct test_dev_step second_chip[] = {
	INIT,
	PULSE(12),
	IRR2(0x10),
	IRR1(4),
	ACK(0x2c),
	ISR1(4),
	ISR2(0x10),
	PULSE(1), /* of the first chip: higher */
	ACK(0x21),
	EOI1,
	PULSE(9), /* higher in the second, but the first sees its own input in service */
	IDLE,
	EOI1,
	ACK(0x29),
	EOI2,
	EOI1,
	IDLE,
	EOI2,
	IDLE,
	ISR2(0),
	/* A line that is masked in the second one never gets to the first one. */
	OUT(0xa1, 0x10),
	IN(0xa1, 0x10),
	PULSE(12),
	IRR1(0),
	IDLE,
	OUT(0xa1, 0),
	ACK(0x2c),
};

static const struct test_dev_step masks[] = {
	INIT,
	OUT(0x21, 0x08),
	PULSE(3),
	IDLE,
	IRR1(8),
	OUT(0x21, 0),
	ACK(0x23),
	EOI1,
	/* Special mask mode: what is in service and masked lets lower ones through. */
	PULSE(3),
	ACK(0x23),
	PULSE(5),
	IDLE,
	OUT(0x20, 0x68),
	IDLE,
	OUT(0x21, 0x08),
	ACK(0x25),
	EOI1,
	ISR1(8),
	OUT(0x20, 0x48),
	PULSE(5),
	IDLE,
};

static const struct test_dev_step rotation[] = {
	INIT,
	/* Input 3 is to be the lowest: those above it come first. */
	OUT(0x20, 0xc3),
	PULSE(3),
	PULSE(1),
	PULSE(5),
	ACK(0x25),
	OUT(0x20, 0xa0), /* rotate on EOI: 6 is first now, 5 last */
	PULSE(5),
	ACK(0x21),
	EOI1,
	ACK(0x23),
	EOI1,
	ACK(0x25),
	OUT(0x20, 0xe5), /* rotate on specific EOI */
	ISR1(0),
};

static const struct test_dev_step automatic[] = {
	INIT4(3),
	PULSE(3),
	ACK(0x23),
	ISR1(0),
	PULSE(5),
	ACK(0x25),
	PULSE(12),
	ACK(0x2c),
	ISR2(0),
	/* Two of the second chip, one after the other. */
	PULSE(12),
	PULSE(9),
	ACK(0x29),
	ACK(0x2c),
	IDLE,
	/* With rotation: who was served is last. */
	OUT(0x20, 0x80),
	PULSE(3),
	ACK(0x23),
	PULSE(3),
	PULSE(5),
	ACK(0x25),
	ACK(0x23),
	OUT(0x20, 0x00),
};

static const struct test_dev_step nested_fully[] = {
	INIT4(0x11), PULSE(12),	 ACK(0x2c), PULSE(9), ACK(0x29), ISR2(0x12),
	EOI2,	     ISR2(0x10), EOI2,	    EOI1,     IDLE,
};

static const struct test_dev_step levels[] = {
	INIT,
	OUT(0x4d0, 0xff),
	IN(0x4d0, 0xf8),
	OUT(0x4d1, 0xff),
	IN(0x4d1, 0xde),
	LINE(5, 1),
	ACK(0x25),
	EOI1,
	ACK(0x25), /* while it is asserted */
	LINE(5, 0),
	EOI1,
	IDLE,
	LINE(5, 1), /* and no longer when it is not */
	LINE(5, 0),
	IDLE,
	LINE(10, 1),
	ACK(0x2a),
	EOI2,
	EOI1,
	ACK(0x2a),
	LINE(10, 0),
	EOI2,
	EOI1,
	IDLE,
};

static const struct test_dev_step poll[] = {
	INIT,	  OUT(0x20, 0x0c), IN(0x20, 0x07), /* nothing */
	PULSE(6), OUT(0x20, 0x0c), IN(0x20, 0x86),  ISR1(0x40),
	IDLE,	  IN(0x20, 0x40), /* one read only */
	EOI1,	  PULSE(9),	   OUT(0xa0, 0x0c), IN(0xa0, 0x81),
	IDLE,	  ISR2(2),
};

static const struct test_dev_step initialisation[] = {
	INIT,
	OUT(0x21, 0xff),
	PULSE(3),
	OUT(0x20, 0x13), /* again: alone, with ICW4 */
	IN(0x21, 0),	 /* masks go, and edges */
	OUT(0x21, 0x47),
	OUT(0x21, 0x01), /* ICW4, since there is no ICW3 */
	IDLE,
	OUT(0x21, 0xfe),
	IN(0x21, 0xfe),
	OUT(0x21, 0),
	PULSE(3),
	ACK(0x43),	 /* low bits of ICW2 are the input's */
	OUT(0x20, 0x12), /* alone, without ICW4 */
	OUT(0x21, 0x50),
	OUT(0x21, 0x55), /* a mask */
	IN(0x21, 0x55),
};

/* A request that goes before it is acknowledged is answered as input 7. */
START_TEST(spurious)
{
	struct dev_pic pic;

	dev_pic_init(&pic);
	dev_pic_write(&pic, 0x20, 0x11);
	dev_pic_write(&pic, 0x21, 0x20);
	dev_pic_write(&pic, 0x21, 4);
	dev_pic_write(&pic, 0x21, 1);
	ck_assert(!dev_pic_intr(&pic));
	ck_assert_uint_eq(dev_pic_ack(&pic), 0x27);
	ck_assert_uint_eq(pic.chip[0].isr, 0);
	dev_pic_set(&pic, 2, true); /* the cascade is nobody's */
	dev_pic_set(&pic, 16, true);
	ck_assert(!dev_pic_intr(&pic));
}
END_TEST

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("nesting", nesting),
	TEST_DEV_SCRIPT("the second chip", second_chip),
	TEST_DEV_SCRIPT("masks", masks),
	TEST_DEV_SCRIPT("rotation", rotation),
	TEST_DEV_SCRIPT("automatic EOI", automatic),
	TEST_DEV_SCRIPT("special fully nested mode", nested_fully),
	TEST_DEV_SCRIPT("levels", levels),
	TEST_DEV_SCRIPT("poll", poll),
	TEST_DEV_SCRIPT("initialisation", initialisation),
};

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_pic");
	TCase *tc = tcase_create("pic");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, spurious);
	suite_add_tcase(s, tc);
	return s;
}
