/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The I/O APIC (82093AA, with the EOI register of its successors) with 24 pins. A pin is asserted
 * or not. The polarity bit has no effect.
 */
#ifndef VMM_DEV_IOAPIC_H
#define VMM_DEV_IOAPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/lapic.h"

#define DEV_IOAPIC_ADDRESS 0xfec00000ull
#define DEV_IOAPIC_PINS	   24

struct dev_ioapic {
	uint64_t entry[DEV_IOAPIC_PINS];
	uint32_t levels; /* the levels of the pins */
	uint32_t edges;	 /* the edges still to send */
	uint32_t id;
	uint8_t select;
	uint8_t spare[3];
};

void dev_ioapic_init(struct dev_ioapic *io);
void dev_ioapic_set(struct dev_ioapic *io, unsigned int pin, bool level);

/* Return the pins that have a message to send. */
uint32_t dev_ioapic_requests(const struct dev_ioapic *io);
/* Get the message of a pin that requests. Report afterwards whether it was accepted. */
struct dev_apic_message dev_ioapic_message(const struct dev_ioapic *io, unsigned int pin);
void dev_ioapic_sent(struct dev_ioapic *io, unsigned int pin, bool accepted);
/*
 * Get the messages of the level-triggered pins, also of masked ones, whose interrupt may be in
 * service. Returns their number.
 */
size_t dev_ioapic_levels(const struct dev_ioapic *io,
			 struct dev_apic_message message[DEV_IOAPIC_PINS]);
/* Handle the EOI of a level-triggered interrupt at a local APIC. */
void dev_ioapic_eoi(struct dev_ioapic *io, uint8_t vector);
/* Returns true if the interrupts of the 8259s are delivered through this pin. */
bool dev_ioapic_takes_extint(const struct dev_ioapic *io, unsigned int pin);

/* Access the registers at `offset` in the page. */
void dev_ioapic_read(const struct dev_ioapic *io, uint32_t offset, uint32_t len, void *data);
void dev_ioapic_write(struct dev_ioapic *io, uint32_t offset, uint32_t len, const void *data);

#endif /* VMM_DEV_IOAPIC_H */
