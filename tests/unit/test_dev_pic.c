// SPDX-License-Identifier: GPL-2.0-or-later
/* The 8259 pair: initialisation, priorities, every kind of EOI, modes. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* 16 lines at vectors 20H and 28H, nothing masked; the local APIC passes them on. */
#define INIT4(icw4) "on l:350=700 20=11 21=20 21=4 21=" icw4 " a0=11 a1=28 a1=2 a1=" icw4 " "
#define INIT	    INIT4("1")

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

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"nesting",
	 INIT "idle pulse5 irr1?20 ack:25 isr1?20 irr1?0 pulse6 idle pulse3 ack:23 isr1?28 "
	 "eoi1 isr1?20 idle eoi1 ack:26 eoi1 isr1?0 idle eoi1 "
	 /* Edge: one that stays asserted does not come again. */
	 "rise3 ack:23 eoi1 idle fall3 rise3 ack:23 "
	 /* Specific EOI. */
	 "rise1 ack:21 20=63 isr1?2 20=61 isr1?0"},
	{"the second chip",
	 INIT "pulse12 irr2?10 irr1?4 ack:2c "
	 "isr1?4 isr2?10 pulse1 " /* of the first chip: higher */
	 "ack:21 eoi1 "
	 "pulse10 " /* higher in the second, but the first sees its own input in service */
	 "idle eoi1 ack:2a eoi2 eoi1 idle eoi2 idle isr2?0 "
	 /* A line that is masked in the second one never gets to the first one. */
	 "a1=10 a1?10 pulse12 irr1?0 idle a1=0 ack:2c"},
	{"masks",
	 INIT "21=8 pulse3 idle irr1?8 21=0 ack:23 eoi1 "
	 /* Special mask mode: what is in service and masked lets lower ones through. */
	 "pulse3 ack:23 pulse5 idle 20=68 idle 21=8 ack:25 eoi1 isr1?8 20=48 pulse5 idle"},
	{"rotation",
	 INIT
	 /* Input 3 is to be the lowest: those above it come first. */
	 "20=c3 pulse3 pulse1 "
	 "pulse5 ack:25 20=a0 " /* rotate on EOI: 6 is first now, 5 last */
	 "pulse5 ack:21 eoi1 ack:23 eoi1 ack:25 20=e5 " /* rotate on specific EOI */
	 "isr1?0"},
	{"automatic EOI",
	 INIT4("3") "pulse3 ack:23 isr1?0 pulse5 ack:25 pulse12 ack:2c isr2?0 "
	 /* Two of the second chip, one after the other. */
	 "pulse12 pulse10 ack:2a ack:2c idle "
	 /* With rotation: who was served is last. */
	 "20=80 pulse3 ack:23 pulse3 pulse5 ack:25 ack:23 20=0"},
	{"special fully nested mode",
	 INIT4("11") "pulse12 ack:2c pulse10 ack:2a isr2?14 eoi2 isr2?10 eoi2 eoi1 idle"},
	{"levels",
	 INIT "4d0=ff 4d0?f8 4d1=ff 4d1?de rise5 "
	 "ack:25 eoi1 ack:25 " /* while it is asserted */
	 "fall5 eoi1 idle rise5 " /* and no longer when it is not */
	 "fall5 idle rise10 ack:2a eoi2 eoi1 ack:2a fall10 eoi2 eoi1 idle"},
	{"poll",
	 INIT "20=c 20?7 " /* nothing */
	 "pulse6 20=c 20?86 isr1?40 idle 20?40 " /* one read only */
	 "eoi1 pulse10 a0=c a0?82 idle isr2?4"},
	{"initialisation",
	 INIT "21=ff pulse3 20=13 " /* again: alone, with ICW4 */
	 "21?0 " /* masks go, and edges */
	 "21=47 21=1 " /* ICW4, since there is no ICW3 */
	 "idle 21=fe 21?fe 21=0 pulse3 ack:43 " /* low bits of ICW2 are the input's */
	 "20=12 " /* alone, without ICW4 */
	 "21=50 21=55 " /* a mask */
	 "21?55"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

TEST_SUITE("dev_pic", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ADD(tcase, spurious);
}
