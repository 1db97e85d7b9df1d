// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The devices of an old PC. Two 8259s deliver the interrupts of an 8254 and of a real-time clock,
 * in a computation and in HLT. There is a serial port.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("8259 and 8254 interrupts, the real-time clock, the serial port");

#define PIC1	 0x20
#define PIC2	 0xa0
#define PIT	 0x40
#define RTC	 0x70
#define COM1	 0x3f8
#define VEC_PIC1 0x30u
#define VEC_PIC2 0x38u
#define IRQ_PIT	 0u
#define IRQ_RTC	 8u
/* Shortest and longest time between ticks, in the 8254's clocks of 838 ns. */
#define TICK_MIN 120u
#define TICK_MAX 60000u

static void pic_mask(uint16_t masked)
{
	outb(PIC1 + 1, (uint8_t)masked);
	outb(PIC2 + 1, (uint8_t)(masked >> 8));
}

static void pic_init(void)
{
	/* ICW1: ICW4 follows; ICW2: vectors; ICW3: cascade at 2; ICW4: 8086. */
	outb(PIC1, 0x11);
	outb(PIC1 + 1, VEC_PIC1);
	outb(PIC1 + 1, 4);
	outb(PIC1 + 1, 1);
	outb(PIC2, 0x11);
	outb(PIC2 + 1, VEC_PIC2);
	outb(PIC2 + 1, 2);
	outb(PIC2 + 1, 1);
	pic_mask(0xffff);
}

static bool pic_there(void)
{
	bool there;

	outb(PIC1 + 1, 0xa5);
	there = inb(PIC1 + 1) == 0xa5;
	outb(PIC1 + 1, 0x5a);
	there &= inb(PIC1 + 1) == 0x5a;
	outb(PIC1 + 1, 0xff);
	return there;
}

/* Read the interrupts that are in service, or requested. */
static uint8_t pic_read(uint16_t pic, bool service)
{
	outb(pic, service ? 0x0b : 0x0a);
	return inb(pic);
}

static volatile uint32_t pit_ticks, rtc_ticks;
static bool served = true;

static void on_pit(struct trap_frame *f)
{
	(void)f;
	pit_ticks++;
	served &= pic_read(PIC1, true) == 1 << IRQ_PIT;
	outb(PIC1, 0x20);
}

static uint8_t rtc_read(uint8_t index)
{
	outb(RTC, index);
	return inb(RTC + 1);
}

static void rtc_write(uint8_t index, uint8_t value)
{
	outb(RTC, index);
	outb(RTC + 1, value);
}

static void on_rtc(struct trap_frame *f)
{
	(void)f;
	rtc_ticks++;
	served &= (rtc_read(0xc) & 0xc0) == 0xc0;
	outb(PIC2, 0x20);
	outb(PIC1, 0x20);
}

static uint16_t pit_count(void)
{
	uint16_t count;

	outb(PIT + 3, 0x00);
	count = inb(PIT);
	return (uint16_t)(count | inb(PIT) << 8);
}

static void pit_start(uint8_t mode, uint32_t count)
{
	outb(PIT + 3, (uint8_t)(0x30 | mode << 1));
	outb(PIT, (uint8_t)count);
	outb(PIT, (uint8_t)(count >> 8));
}

static struct {
	bool pit_counts, pit_masked, pit_once, pit_periodic, rtc_time, rtc_periodic;
	bool serial_loop, serial_ready;
	uint64_t disturbed;
} ok;
static uint64_t want;

/* Many times the expected duration. */
#define PATIENCE 3000u

static bool compute_until(volatile uint32_t *ticks, uint32_t n)
{
	unsigned int i;

	sti();
	for (i = 0; i < PATIENCE && *ticks < n; i++)
		ok.disturbed += digest(3) != want;
	cli();
	return *ticks >= n;
}

static void halt_until(volatile uint32_t *ticks, uint32_t n)
{
	while (*ticks < n) {
		sti_hlt();
		cli();
	}
}

/* Return a number of ticks that leaves time to compute on a processor of any speed. */
static uint32_t tick_length(void)
{
	uint32_t clocks;

	pit_start(2, 65535);
	clocks = pit_count();
	ok.disturbed += digest(3) != want;
	clocks = (clocks - pit_count()) & 0xffff;
	if (clocks > TICK_MAX / 8)
		return TICK_MAX;
	return 8 * clocks < TICK_MIN ? TICK_MIN : 8 * clocks;
}

static void pit(void)
{
	uint32_t length = tick_length();
	uint16_t first, now, lowest;
	unsigned int i;

	/* Count down, and request an interrupt that is masked. */
	pit_start(2, length);
	first = lowest = pit_count();
	for (i = 0; i < 100000 && lowest == first; i++) {
		now = pit_count();
		if (now < lowest)
			lowest = now;
	}
	ok.pit_counts = first <= length && lowest < first;
	for (i = 0; i < 1000000 && !(pic_read(PIC1, false) & 1); i++)
		;
	sti();
	__asm__ volatile("nop; nop");
	cli();
	ok.pit_masked = pit_ticks == 0 && pic_read(PIC1, false) & 1;

	pic_mask((uint16_t) ~(1u << IRQ_PIT));
	ok.pit_periodic = compute_until(&pit_ticks, 5);
	if (!ok.pit_periodic)
		return;
	halt_until(&pit_ticks, 10);

	/* One-shot mode. First let pending requests in. */
	pit_start(0, length);
	sti();
	__asm__ volatile("nop; nop");
	cli();
	pit_ticks = 0;
	if (!compute_until(&pit_ticks, 1))
		return;
	for (i = 0; i < 20; i++)
		ok.disturbed += digest(3) != want;
	sti();
	__asm__ volatile("nop; nop");
	cli();
	ok.pit_once = pit_ticks == 1;
	pic_mask(0xffff);
}

static bool in_range(uint8_t index, uint8_t low, uint8_t high, bool binary)
{
	uint8_t value = rtc_read(index);

	if (!binary) {
		if ((value & 0xf) > 9 || value >> 4 > 9)
			return false;
		value = (uint8_t)((value >> 4) * 10 + (value & 0xf));
	}
	return value >= low && value <= high;
}

static void rtc(void)
{
	uint8_t b = rtc_read(0xb);
	bool binary = b & 4;
	unsigned int i;

	for (i = 0; i < 1000000 && rtc_read(0xa) & 0x80; i++)
		;
	ok.rtc_time = rtc_read(0xd) & 0x80 && in_range(0, 0, 59, binary) &&
		      in_range(2, 0, 59, binary) && in_range(7, 1, 31, binary) &&
		      in_range(8, 1, 12, binary) && in_range(9, 0, 99, binary);

	pic_mask((uint16_t) ~(1u << IRQ_RTC | 1u << 2));
	rtc_write(0xa, 0x2a); /* 64 times a second */
	(void)rtc_read(0xc);
	rtc_write(0xb, b | 0x40);
	halt_until(&rtc_ticks, 5);
	ok.rtc_periodic = true;
	rtc_write(0xb, b & (uint8_t)~0x40);
	(void)rtc_read(0xc);
	pic_mask(0xffff);
}

static void serial(void)
{
	static const char text[] = "vpt: a line through the serial port\r\n";
	unsigned int i;

	outb(COM1 + 3, 0x80); /* the divisor: 115200 */
	outb(COM1, 1);
	outb(COM1 + 1, 0);
	outb(COM1 + 3, 0x03); /* 8N1 */
	outb(COM1 + 2, 0x07);
	outb(COM1 + 4, 0x13); /* loopback: sent bytes are received */
	outb(COM1, 0x5a);
	for (i = 0; i < 100000 && !(inb(COM1 + 5) & 1); i++)
		;
	ok.serial_loop = inb(COM1 + 5) & 1 && inb(COM1) == 0x5a && !(inb(COM1 + 5) & 1);
	outb(COM1 + 4, 0x03);
	ok.serial_ready = true;
	for (i = 0; text[i]; i++) {
		unsigned int wait = 0;

		while (!(inb(COM1 + 5) & 0x20) && ++wait < 1000000)
			;
		ok.serial_ready &= wait < 1000000;
		outb(COM1, (uint8_t)text[i]);
	}
}

static bool serial_there(void)
{
	outb(COM1 + 7, 0x5a);
	if (inb(COM1 + 7) != 0x5a)
		return false;
	outb(COM1 + 7, 0xa5);
	return inb(COM1 + 7) == 0xa5;
}

/* With a local APIC, the 8259s use its LINT0. */
static void wire(void)
{
	uint64_t cr3, apic = rdmsr(MSR_APIC_BASE) & VPT_MASK64(51, 12);

	cr3 = paging_new_space();
	paging_map(cr3, apic, (void *)(uintptr_t)apic, PTE_WRITE | PTE_UNCACHED | PTE_NX);
	write_cr3(cr3);
	*(volatile uint32_t *)(apic + 0xf0) = 0x1ff;  /* on */
	*(volatile uint32_t *)(apic + 0x350) = 0x700; /* ExtINT */
}

static bool has_serial;

static void work(void)
{
	pic_init();
	pit();
	rtc();
	if (has_serial)
		serial();
}

void payload(void)
{
	struct trace t;

	if (!pic_there()) {
		report_skip("no 8259 at port 20H");
		return;
	}
	if (cpu_has(CPU_APIC))
		wire();
	has_serial = serial_there();
	want = digest(3);
	idt_hook(VEC_PIC1 + IRQ_PIT, on_pit);
	idt_hook(VEC_PIC2 + IRQ_RTC - 8, on_rtc);
	trace_long(&t, work);
	report(ok.pit_counts, "8254: counts down");
	report(ok.pit_masked, "8259: a masked interrupt is requested, and does not come");
	report(ok.pit_periodic, "8254: again and again, computing and in HLT");
	report(ok.pit_once, "8254: once");
	report(!ok.disturbed, "a computation is not disturbed");
	report(ok.rtc_time, "clock: a time of day");
	report(ok.rtc_periodic, "clock: interrupts through the second 8259");
	report(served, "the 8259 and the clock say what is being handled");
	if (!has_serial) {
		report_skip("no serial port at 3F8H");
		return;
	}
	report(ok.serial_loop, "serial port: what is sent comes back");
	report(ok.serial_ready, "serial port: takes a line");
}
