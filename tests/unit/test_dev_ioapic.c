// SPDX-License-Identifier: GPL-2.0-or-later
/* I/O APIC: edges, levels with remote IRR, delivery modes, registers. */
#include "lib/devscript.h"
#include "lib/suite.h"

#define L(reg)	      (0xfee00000ull + (reg))
#define IO	      0xfec00000ull
#define ON	      WRITE(L(0xf0), 0x1ff)
#define EOI	      WRITE(L(0xb0), 0)
#define REG(n)	      WRITE(IO, n)
#define PUT(n, value) REG(n), WRITE(IO + 0x10, value)
#define GET(n, value) REG(n), READ(IO + 0x10, value)
/* The low half of the entry of a pin. */
#define PIN(n, low)    PUT(0x10 + 2 * (n), low)
#define PIN_IS(n, low) GET(0x10 + 2 * (n), low)

static const struct test_dev_step registers[] = {
	GET(1, 0x170020),
	GET(0, 0),
	PUT(0, ~0u),
	GET(0, 0x0f000000),
	GET(2, 0x0f000000),
	PUT(1, 0),
	GET(1, 0x170020),
	PIN_IS(0, 0x10000),
	PIN_IS(23, 0x10000),
	GET(0x3f, 0),
	PIN(23, 0xffffffff),
	PIN_IS(23, 0x1afff), /* delivery status and remote IRR are for reading only */
	PUT(0x3f, ~0u),
	GET(0x3f, 0xff000000),
	GET(0x40, 0), /* past the last pin */
	PUT(0x40, ~0u),
	GET(0xff, 0),
	READ(IO, 0xff),
	WRITE(IO + 4, 1), /* nothing there */
	READ(IO, 0xff),
	READ(IO + 0x20, 0),
};

static const struct test_dev_step edge[] = {
	ON,
	PIN(11, 0x51),
	LINE(11, 1),
	ACK(0x51),
	EOI,
	IDLE,
	LINE(11, 1), /* still high: no edge */
	IDLE,
	LINE(11, 0),
	LINE(11, 1),
	LINE(11, 0),
	ACK(0x51), /* it was, so it comes */
	LINE(11, 1),
	EOI,
	ACK(0x51),
	EOI,
	/* What comes while it is masked is lost. */
	LINE(11, 0),
	PIN(11, 0x10051),
	LINE(11, 1),
	PIN(11, 0x51),
	IDLE,
	LINE(11, 0),
	LINE(11, 1),
	ACK(0x51),
	EOI,
	PIN_IS(11, 0x51),
};

static const struct test_dev_step level[] = {
	ON,
	PIN(10, 0x8060),
	LINE(10, 1),
	PIN_IS(10, 0xc060), /* remote IRR */
	READ(L(0x1b0), 1),  /* TMR */
	ACK(0x60),
	IDLE,
	LINE(10, 0),
	LINE(10, 1),
	PIN_IS(10, 0xc060),
	EOI,
	ACK(0x60), /* still asserted: again */
	PIN_IS(10, 0xc060),
	LINE(10, 0),
	EOI,
	IDLE,
	PIN_IS(10, 0x8060),
	/* Masked while asserted: it comes when it no longer is. */
	PIN(10, 0x18060),
	LINE(10, 1),
	IDLE,
	PIN(10, 0x8060),
	ACK(0x60),
	/* EOI of another vector; the EOI register; a change to edge. */
	WRITE(L(0x300), 0x40070),
	ACK(0x70),
	EOI,
	PIN_IS(10, 0xc060),
	LINE(10, 0),
	WRITE(IO + 0x40, 0x61),
	PIN_IS(10, 0xc060),
	WRITE(IO + 0x40, 0x60),
	PIN_IS(10, 0x8060),
	EOI,
	LINE(10, 1),
	ACK(0x60),
	LINE(10, 0),
	PIN_IS(10, 0xc060),
	PIN(10, 0x60),
	PIN_IS(10, 0x60),
	PIN(10, 0x8060),
	PIN_IS(10, 0x8060),
	EOI,
	IDLE,
};

static const struct test_dev_step local_apic_off[] = {
	/* What the local APIC does not take waits, if it is a level. */
	PIN(10, 0x8060), LINE(10, 1), PIN_IS(10, 0x8060), IDLE, ON, PIN_IS(10, 0xc060), ACK(0x60),
};

static const struct test_dev_step modes[] = {
	ON,
	PIN(5, 0x155), /* lowest priority */
	LINE(5, 1),
	ACK(0x55),
	EOI,
	PIN(6, 0x466), /* NMI */
	LINE(6, 1),
	NMI(1),
	IDLE,
	PIN(7, 0x8466), /* NMI is an edge whatever the entry says */
	LINE(7, 1),
	NMI(1),
	NMI(0),
	PIN_IS(7, 0x8466),
	PIN(9, 0x266), /* SMI: nobody takes it */
	LINE(9, 1),
	PIN(12, 0x500),
	LINE(12, 1),
	RESETS(0, 1),
	/* For another processor. */
	PUT(0x10 + 2 * 13 + 1, 0x01000000),
	PIN(13, 0x77),
	LINE(13, 1),
	IDLE,
	/* A vector that is none. */
	PIN(14, 0x0f),
	LINE(14, 1),
	IDLE,
	WRITE(L(0x280), 0),
	READ(L(0x280), 0x40),
	/* Logical destination. */
	WRITE(L(0xd0), 0x04000000),
	PUT(0x10 + 2 * 15 + 1, 0x04000000),
	PIN(15, 0x878),
	LINE(15, 1),
	ACK(0x78),
};

/* Logical destinations of eight bits reach an x2APIC of the first cluster. */
static const struct test_dev_step x2apic[] = {
	WRMSR(0x1b, 0xfee00d00),
	WRMSR(0x80f, 0x1ff),
	PUT(0x10 + 2 * 15 + 1, 0x01000000),
	PIN(15, 0x878),
	LINE(15, 1),
	ACK(0x78),
	WRMSR(0x80b, 0),
	PUT(0x10 + 2 * 14 + 1, 0xff000000),
	PIN(14, 0x79),
	LINE(14, 1),
	ACK(0x79),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("registers", registers),  TEST_DEV_SCRIPT("edge", edge),
	TEST_DEV_SCRIPT("level", level),	  TEST_DEV_SCRIPT("local APIC off", local_apic_off),
	TEST_DEV_SCRIPT("delivery modes", modes), TEST_DEV_SCRIPT("to an x2APIC", x2apic),
};

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

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_ioapic");
	TCase *tc = tcase_create("ioapic");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, odd_accesses);
	suite_add_tcase(s, tc);
	return s;
}
