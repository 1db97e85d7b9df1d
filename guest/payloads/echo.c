// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines that arrive on COM1. The first argument selects how the guest waits for them: 1 polls, 2
 * halts until the port's interrupt, 3 also has a ticking timer, and 0 expects no input. Each line is
 * printed with the time of its arrival, and the line "end" ends the guest. The second argument is a
 * number of instructions that the guest computes after each byte, so that the FIFO fills.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("lines that arrive on the serial port");

#define PIC1	   0x20
#define PIC2	   0xa0
#define PIT	   0x40
#define COM1	   0x3f8
#define VEC_PIC1   0x30u
#define VEC_PIC2   0x38u
#define VEC_COM1   (VEC_PIC1 + 4)
#define LSR_READY  1
#define LSR_OVER   2
#define PIT_CLOCKS 11932 /* 10 ms */
#define LINE_MAX   80

enum how { NO_INPUT, POLL, INTERRUPT, TICKING };

static uint64_t bytes, overruns, ticks, interrupts, disturbed, want;
static char line[LINE_MAX];
static unsigned int used;
static bool ended;

static void end_line(void)
{
	line[used] = 0;
	printk("%lu: %s\n", (unsigned long)rdtsc(), line);
	ended = used == 3 && !memcmp(line, "end", 3);
	used = 0;
}

static void take(char c)
{
	uint64_t i;

	bytes++;
	for (i = 0; i < boot->arg[1]; i++)
		disturbed += digest(3) != want;
	if (c == '\n' || c == '\r')
		end_line();
	else if (used < LINE_MAX - 1)
		line[used++] = c;
}

static void drain(void)
{
	uint8_t status;

	for (;;) {
		status = inb(COM1 + 5);
		overruns += !!(status & LSR_OVER);
		if (!(status & LSR_READY))
			return;
		take((char)inb(COM1));
	}
}

static void on_serial(struct trap_frame *f)
{
	(void)f;
	interrupts++;
	(void)inb(COM1 + 2);
	drain();
	outb(PIC1, 0x20);
}

static void on_tick(struct trap_frame *f)
{
	(void)f;
	ticks++;
	outb(PIC1, 0x20);
}

static void pic_init(uint8_t masked)
{
	outb(PIC1, 0x11);
	outb(PIC1 + 1, VEC_PIC1);
	outb(PIC1 + 1, 4);
	outb(PIC1 + 1, 1);
	outb(PIC2, 0x11);
	outb(PIC2 + 1, VEC_PIC2);
	outb(PIC2 + 1, 2);
	outb(PIC2 + 1, 1);
	outb(PIC1 + 1, masked);
	outb(PIC2 + 1, 0xff);
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

static void serial_init(bool interrupt)
{
	outb(COM1 + 3, 0x80); /* the divisor: 115200 */
	outb(COM1, 1);
	outb(COM1 + 1, 0);
	outb(COM1 + 3, 0x03); /* 8N1 */
	outb(COM1 + 2, 0x87); /* FIFOs, an interrupt at 8 bytes */
	outb(COM1 + 4, 0x0b);
	outb(COM1 + 1, interrupt);
}

static void work(void)
{
	const uint64_t how = boot->arg[0];

	serial_init(how != POLL);
	if (how == TICKING) {
		outb(PIT + 3, 0x34);
		outb(PIT, PIT_CLOCKS & 0xff);
		outb(PIT, PIT_CLOCKS >> 8);
	}
	while (!ended) {
		if (how == POLL) {
			drain();
			continue;
		}
		sti_hlt();
		cli();
	}
}

static void poll_once(void)
{
	serial_init(false);
	drain();
}

void payload(void)
{
	struct trace t;

	if (boot->arg[0] == NO_INPUT) {
		trace_long(&t, poll_once);
		report(!bytes, "no byte arrives");
		return;
	}
	want = digest(3);
	pic_init(boot->arg[0] == TICKING ? 0xee : 0xef);
	if (cpu_has(CPU_APIC))
		wire();
	idt_hook(VEC_PIC1, on_tick);
	idt_hook(VEC_COM1, on_serial);
	trace_long(&t, work);
	printk("%lu bytes, %lu interrupts, %lu ticks\n", (unsigned long)bytes,
	       (unsigned long)interrupts, (unsigned long)ticks);
	report(!overruns, "no byte is lost");
	report(!disturbed, "a computation is not disturbed");
}
