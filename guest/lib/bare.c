// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the console and the end of a bare-metal guest on another emulator. */
#include "bare.h"

#include "cpu.h"
#include "printk.h"
#include "vpt/abi/boot.h"

#define COM1	      0x3f8
#define COM1_LCR      (COM1 + 3)
#define COM1_LSR      (COM1 + 5)
#define LCR_8N1	      0x03
#define LSR_THR_EMPTY 0x20
#define LSR_IDLE      0x40

void bare_console_init(void)
{
	outb(COM1_LCR, LCR_8N1);
}

void bare_console_put(char c)
{
	while (!(inb(COM1_LSR) & LSR_THR_EMPTY))
		;
	outb(COM1, (uint8_t)c);
}

static void drain(void)
{
	while (!(inb(COM1_LSR) & LSR_IDLE))
		;
}

void bare_exit(uint32_t status)
{
	static const uint8_t no_idt[10];

	drain();
	if (inl(VPT_PORT_BED) == VPT_BED_ID)
		outl(VPT_PORT_BED, VPT_BED_OFF | status << 8);
	printk("vpt: end %u\n", status);
	drain();
	/* This is QEMU's port for its exit device. */
	outl(VPT_PORT_EXIT, status);
	for (;;)
		__asm__ volatile("lidt %0\n ud2" : : "m"(no_idt));
}
