// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices together: routes of interrupts, wide accesses, resets, snapshots. */
#include "lib/devscript.h"
#include "lib/suite.h"

#include <string.h>

#include "dev/clock.h"

#define PIC_INIT(icw4) "20=11 21=20 21=4 21=" icw4 " a0=11 a1=28 a1=2 a1=" icw4 " "

/* clang-format off */
static const struct test_dev_script scripts[] = {
	/* As a system without APICs finds it: the 8259s speak to the processor. */
	{"without APIC",
	 PIC_INIT("1") "rise3 idle " /* LINT0 is masked after reset */
	 "msr:1b=fee00100 ack:23 20=20 idle msr:1b=fee00900 fall3 rise3 idle on l:350=700 "
	 "ack:23"},
	/* ExtINT goes before what the local APIC has, whatever its priority. */
	{"ExtINT",
	 PIC_INIT("3") "on l:350=700 rise3 l:300=400f0 ack:23 ack:f0 idle "
	 "fall3 rise3 ack:23 " /* F0H in service does not matter */
	 "idle"},
	/* The three ways of line 0 to a processor, as an operating system tries them. */
	{"the timer's ways",
	 PIC_INIT("3") "on 21=ff pin2=30 43=34 ack:30 eoi 40=e8 40=3 next:838096 time:838096 "
	 "ack:30 eoi "
	 /* By the 8259 and pin 0 of the I/O APIC. */
	 "pin2=10030 pin0=700 21=fe ack:20 time:1676192 ack:20 idle "
	 /* By the 8259 and LINT0 as if it were a fixed interrupt. */
	 "pin0=10700 l:350=31 time:2514288 ack:31 eoi idle"},
	/* LINT0 as a level: remote IRR until it is ended, and again while it is asserted. */
	{"LINT0",
	 PIC_INIT("1") "on l:350=8041 rise5 l:350?c041 ack:41 eoi l:350?c041 21=ff ack:41 eoi "
	 "l:350?8041 idle"},
	{"resets",
	 "64=d1 resets:0/0 64=fe resets:1/0 64?ff 92=2 resets:1/0 92=3 resets:2/0 92=3 "
	 "resets:2/0 92?3 92=0 92?2 cf9=2 resets:2/0 cf9=6 resets:3/0 cf9?6 cf9=6 resets:3/0 "
	 "cf9=0 cf9=e resets:4/0"},
	{"nobody there",
	 "60?ff cf8?ff 2f8?ff 0?ff ffff?ff msr:6e0?0 @fed00000?5a5a5a5a @fec01000?5a5a5a5a"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

static struct dev_platform p;

static void setup(void)
{
	const struct dev_platform_config config = {
		.mem_bytes = 64 << 20,
		.epoch = 1,
		.apic_hz = 25000000,
		.max_phy_addr = 39,
		.cpus = 1,
	};

	dev_platform_init(&p, &config);
}

START_TEST(other_msrs)
{
	uint64_t value;

	ck_assert_int_eq(dev_platform_rdmsr(&p, 0, 0x10, &value), DEV_PLATFORM_OTHER);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0, 0x900, 0), DEV_PLATFORM_OTHER);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0, 0x7ff, 0), DEV_PLATFORM_OTHER);
	/* Neither x2APIC nor the deadline is there without their configuration. */
	ck_assert_int_eq(dev_platform_rdmsr(&p, 0, 0x6e0, &value), DEV_PLATFORM_GP);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0, 0x6e0, 0), DEV_PLATFORM_GP);
	ck_assert_int_eq(dev_platform_wrmsr(&p, 0, 0x1b, 0xfee00d00), DEV_PLATFORM_GP);
}
END_TEST

/* Two bytes at 70H are an index and its data. */
START_TEST(wide_accesses)
{
	uint32_t value = 0x7740;

	ck_assert(dev_platform_io(&p, 0x70, 2, false, &value));
	value = 0;
	ck_assert(dev_platform_io(&p, 0x70, 2, true, &value));
	ck_assert_uint_eq(value, 0x77ff);
	value = 0x11223344;
	ck_assert(dev_platform_io(&p, 0x1f, 4, true, &value));
	ck_assert_uint_eq(value, 0xff0000ff);
	/* CF9H is part of the configuration address here. */
	value = ~0u;
	ck_assert(!dev_platform_io(&p, 0xcf8, 4, false, &value));
	ck_assert(!dev_platform_io(&p, 0xffff, 4, true, &value));
	ck_assert(!dev_platform_io(&p, 0x80, 0, true, &value));
}
END_TEST

START_TEST(time_goes_forwards)
{
	dev_platform_advance(&p, 0, 1000);
	dev_platform_advance(&p, 0, 999);
	ck_assert_uint_eq(p.now, 1000);
	dev_platform_advance(&p, 0, UINT64_MAX);
	ck_assert_uint_eq(p.now, UINT64_MAX);
}
END_TEST

START_TEST(virtual_wire)
{
	uint32_t value = 3;

	dev_platform_virtual_wire(&p);
	dev_platform_io(&p, 0x21, 1, false, &value);
	dev_platform_line(&p, 5, true);
	ck_assert(dev_platform_pending(&p, 0));
	ck_assert_uint_eq(dev_platform_ack(&p, 0), p.pic.chip[0].base + 5);
	dev_lapic_lint(&p.lapic[0], 1, true);
	ck_assert(dev_platform_nmi(&p, 0));
	dev_platform_ack_nmi(&p, 0);
	dev_lapic_lint(&p.lapic[0], 1, true); /* an edge only */
	ck_assert(!dev_platform_nmi(&p, 0));
}
END_TEST

static struct dev_apic_message sent;
static unsigned int sends, redirections;

static bool send(void *opaque, const struct dev_apic_message *message)
{
	(void)opaque;
	sent = *message;
	sends++;
	return true;
}

static void redirected(void *opaque)
{
	(void)opaque;
	redirections++;
}

static void set_pin(unsigned int pin, uint32_t entry)
{
	uint32_t select = 0x10 + 2 * pin;

	ck_assert(dev_platform_mmio(&p, 0, DEV_IOAPIC_ADDRESS, 4, true, &select));
	ck_assert(dev_platform_mmio(&p, 0, DEV_IOAPIC_ADDRESS + 0x10, 4, true, &entry));
}

/* Messages go to the host's local APICs, which report the end of a level. The others do not respond. */
START_TEST(local_apics_outside)
{
	struct dev_apic_message level[DEV_IOAPIC_PINS];
	uint32_t id;

	p.host.send = send;
	p.host.redirected = redirected;
	set_pin(5, 1u << 15 | 0x41);
	set_pin(7, 1u << 16 | 1u << 15 | 0x42); /* masked, but maybe in service */
	set_pin(6, 0x43);
	ck_assert_uint_eq(redirections, 6);
	ck_assert_uint_eq(dev_ioapic_levels(&p.ioapic, level), 2);
	ck_assert_uint_eq(level[0].vector, 0x41);
	ck_assert_uint_eq(level[1].vector, 0x42);
	dev_platform_line(&p, 5, true);
	ck_assert_uint_eq(sends, 1);
	ck_assert(sent.vector == 0x41 && sent.level);
	dev_platform_eoi(&p, 0x42);
	ck_assert_uint_eq(sends, 1);
	dev_platform_eoi(&p, 0x41);
	ck_assert_uint_eq(sends, 2);
	ck_assert(!dev_platform_pending(&p, 1));
	ck_assert(!dev_platform_mmio(&p, 0, DEV_LAPIC_ADDRESS, 4, false, &id));
}
END_TEST

static uint32_t com1(unsigned int reg, bool in, uint32_t value)
{
	dev_platform_io(&p, (uint16_t)(0x3f8 + reg), 1, in, &value);
	return value;
}

/* A guest wants bytes if its interrupt is on, or if it polls. The FIFO bounds their number. */
START_TEST(who_wants_input)
{
	const uint8_t text[20] = "0123456789abcdefghi";

	ck_assert_uint_eq(dev_platform_wants(&p), 0);
	com1(1, false, 1);
	ck_assert_uint_eq(dev_platform_wants(&p), 0);
	com1(4, false, 8);
	ck_assert_uint_eq(dev_platform_wants(&p), 1);
	com1(2, false, 1);
	ck_assert_uint_eq(dev_platform_wants(&p), 16);
	com1(1, false, 0);
	ck_assert_uint_eq(dev_platform_wants(&p), 0);

	/* A driver that prints reads LSR once for each byte. */
	com1(5, true, 0);
	com1(0, false, 'x');
	com1(5, true, 0);
	ck_assert_uint_eq(dev_platform_wants(&p), 0);
	com1(5, true, 0);
	ck_assert_uint_eq(dev_platform_wants(&p), 16);
	dev_platform_receive(&p, text, 10);
	ck_assert_uint_eq(dev_platform_wants(&p), 6);
	ck_assert_uint_eq(com1(0, true, 0), '0');
	ck_assert_uint_eq(dev_platform_wants(&p), 0);

	/* Loopback disconnects the line. */
	com1(5, true, 0);
	com1(5, true, 0);
	ck_assert_uint_eq(dev_platform_wants(&p), 7);
	com1(4, false, 0x10);
	com1(5, true, 0);
	com1(5, true, 0);
	ck_assert_uint_eq(dev_platform_wants(&p), 0);
}
END_TEST

/* What was saved goes on in another as it would have here. */
START_TEST(snapshots)
{
	static uint8_t bytes[sizeof(p) + 64], again[sizeof(p) + 64];
	size_t size = dev_platform_saved_bytes(&p), i;
	struct dev_platform q, before;
	uint32_t value;

	ck_assert_uint_le(size, sizeof(bytes));
	value = 0x1ff;
	dev_platform_mmio(&p, 0, 0xfee000f0, 4, true, &value);
	value = 0x20040;
	dev_platform_mmio(&p, 0, 0xfee00320, 4, true, &value);
	value = 1000;
	dev_platform_mmio(&p, 0, 0xfee00380, 4, true, &value);
	dev_platform_advance(&p, 0, 100000);
	ck_assert(!dev_platform_save(&p, bytes, size - 1));
	ck_assert(dev_platform_save(&p, bytes, size));

	memset(&q, 0x77, sizeof(q));
	q.cpus = 2;
	ck_assert(!dev_platform_load(&q, bytes, size));
	q.cpus = 1;
	before = q;
	ck_assert(!dev_platform_load(&q, bytes, size - 1));
	ck_assert(!dev_platform_load(&q, bytes, size + 1));
	for (i = 0; i < 16; i++) {
		bytes[i] ^= 1;
		ck_assert(!dev_platform_load(&q, bytes, size));
		bytes[i] ^= 1;
	}
	ck_assert(!memcmp(&q, &before, sizeof(q)));
	bytes[16 + offsetof(struct dev_platform, rtc.epoch) + 7] ^= 0x40;
	ck_assert(!dev_platform_load(&q, bytes, size));
	bytes[16 + offsetof(struct dev_platform, rtc.epoch) + 7] ^= 0x40;
	memset(&q.host, 0, sizeof(q.host));
	ck_assert(dev_platform_load(&q, bytes, size));
	ck_assert_uint_eq(dev_platform_next(&q, 0), dev_platform_next(&p, 0));
	dev_platform_advance(&p, 0, 200000);
	dev_platform_advance(&q, 0, 200000);
	ck_assert_uint_eq(dev_platform_ack(&q, 0), 0x40);
	ck_assert_uint_eq(dev_platform_ack(&p, 0), 0x40);
	dev_platform_save(&p, bytes, size);
	dev_platform_save(&q, again, size);
	ck_assert_mem_eq(bytes, again, size);
}
END_TEST

static const struct {
	uint64_t ns, hz, ticks, back;
} clocks[] = {
	{0, 1193182, 0, 0},
	{838, 1193182, 0, 0},
	{839, 1193182, 1, 839},
	{1000000000, 1193182, 1193182, 1000000000},
	{40, 25000000, 1, 40},
	{79, 25000000, 1, 40},
	{UINT64_MAX, 24000000, 442721857769029238, 18446744073709551584u},
};

START_TEST(clock_conversions)
{
	uint64_t ticks = dev_clock_ticks(clocks[_i].ns, clocks[_i].hz);

	ck_assert_uint_eq(ticks, clocks[_i].ticks);
	ck_assert_uint_eq(dev_clock_ns(ticks, clocks[_i].hz), clocks[_i].back);
	ck_assert(dev_clock_ns(UINT64_MAX, 1000) == DEV_NEVER);
	ck_assert(dev_clock_ns(1, 0) == DEV_NEVER);
}
END_TEST

TEST_SUITE("dev_platform", setup, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ADD(tcase, other_msrs, wide_accesses, time_goes_forwards, virtual_wire,
		 local_apics_outside, who_wants_input, snapshots);
	TEST_ROWS(tcase, clock_conversions, clocks);
}
