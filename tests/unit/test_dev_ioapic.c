// SPDX-License-Identifier: GPL-2.0-or-later
/* I/O APIC: edges, levels with remote IRR, delivery modes, registers. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"registers",
	 "reg:1?170020 reg:0?0 reg:0=ffffffff reg:0?f000000 reg:2?f000000 reg:1=0 reg:1?170020 "
	 "pin0?10000 pin23?10000 reg:3f?0 pin23=ffffffff "
	 "pin23?1afff " /* delivery status and remote IRR are for reading only */
	 "reg:3f=ffffffff reg:3f?ff000000 reg:40?0 " /* past the last pin */
	 "reg:40=ffffffff reg:ff?0 @fec00000?ff @fec00004=1 " /* nothing there */
	 "@fec00000?ff @fec00020?0"},
	{"edge",
	 "on pin11=51 rise11 ack:51 eoi idle rise11 " /* the line is still high: no edge */
	 "idle fall11 rise11 fall11 ack:51 " /* a pending edge is delivered although the line has fallen */
	 "rise11 eoi ack:51 eoi "
	 /* An edge on a masked pin is lost. */
	 "fall11 pin11=10051 rise11 pin11=51 idle fall11 rise11 ack:51 eoi pin11?51"},
	{"level",
	 "on pin10=8060 rise10 pin10?c060 " /* remote IRR */
	 "l:1b0?1 " /* TMR */
	 "ack:60 idle fall10 rise10 pin10?c060 eoi ack:60 " /* the line is still asserted: delivered again */
	 "pin10?c060 fall10 eoi idle pin10?8060 "
	 /* A level on a masked pin is delivered when the pin is unmasked. */
	 "pin10=18060 rise10 idle pin10=8060 ack:60 "
	 /* EOI of another vector; the EOI register; a change to edge. */
	 "l:300=40070 ack:70 eoi pin10?c060 fall10 @fec00040=61 pin10?c060 @fec00040=60 "
	 "pin10?8060 eoi rise10 ack:60 fall10 pin10?c060 pin10=60 pin10?60 pin10=8060 "
	 "pin10?8060 eoi idle"},
	{"local APIC off",
	 /* A level that the local APIC does not accept stays pending. */
	 "pin10=8060 rise10 pin10?8060 idle on pin10?c060 ack:60"},
	{"delivery modes",
	 "on pin5=155 " /* lowest priority */
	 "rise5 ack:55 eoi pin6=466 " /* NMI */
	 "rise6 nmi idle pin7=8466 " /* NMI is edge-triggered even if the entry selects level */
	 "rise7 nmi no-nmi pin7?8466 pin9=266 " /* SMI: nobody takes it */
	 "rise9 pin12=500 rise12 resets:0/1 "
	 /* For another processor. */
	 "pin-high13=1000000 pin13=77 rise13 idle "
	 /* An invalid vector. */
	 "pin14=f rise14 idle l:280=0 l:280?40 "
	 /* Logical destination. */
	 "l:d0=4000000 pin-high15=4000000 pin15=878 rise15 ack:78"},
	/* Logical destinations of eight bits reach an x2APIC of the first cluster. */
	{"to an x2APIC",
	 "msr:1b=fee00d00 msr:80f=1ff pin-high15=1000000 pin15=878 rise15 ack:78 msr:80b=0 "
	 "pin-high14=ff000000 pin14=79 rise14 ack:79"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

START_TEST(odd_accesses)
{
	struct dev_ioapic io;
	uint8_t data[16] = {0x10};

	dev_ioapic_init(&io);
	dev_ioapic_write(&io, 0, 1, data);
	ck_assert_uint_eq(io.select, 0x10);
	data[0] = 0x77;
	dev_ioapic_write(&io, 0x10, 2, data);
	dev_ioapic_write(&io, 0x10, 8, data);
	dev_ioapic_write(&io, 0x11, 4, data);
	ck_assert_uint_eq(io.entry[0], 0x10000);
	dev_ioapic_read(&io, 0x12, 1, data);
	ck_assert_uint_eq(data[0], 1);
	dev_ioapic_set(&io, DEV_IOAPIC_PINS, true);
	ck_assert_uint_eq(io.levels, 0);
}
END_TEST

TEST_SUITE("dev_ioapic", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ADD(tcase, odd_accesses);
}
