/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * I/O APIC (82093AA, with the EOI register of its successors): 24 pins. A pin is
 * asserted or not: what that is as a voltage (the polarity bit) is not modelled.
 */
#ifndef VMM_DEV_IOAPIC_H
#define VMM_DEV_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "dev/lapic.h"

#define VPT_IOAPIC_ADDRESS 0xfec00000ull
#define VPT_IOAPIC_PINS	   24

struct vpt_ioapic {
	uint64_t entry[VPT_IOAPIC_PINS];
	uint32_t levels; /* of the pins */
	uint32_t edges;	 /* to be sent */
	uint32_t id;
	uint8_t select;
	uint8_t spare[3];
};

void vpt_ioapic_init(struct vpt_ioapic *io);
void vpt_ioapic_set(struct vpt_ioapic *io, unsigned int pin, bool level);

/* The pins that have something to send. */
uint32_t vpt_ioapic_requests(const struct vpt_ioapic *io);
/* What one of them sends; then say whether it was accepted. */
struct vpt_apic_message vpt_ioapic_message(const struct vpt_ioapic *io, unsigned int pin);
void vpt_ioapic_sent(struct vpt_ioapic *io, unsigned int pin, bool accepted);
/* A local APIC has ended a level-triggered interrupt. */
void vpt_ioapic_eoi(struct vpt_ioapic *io, uint8_t vector);
/* Is this pin the way by which the 8259s interrupt? */
bool vpt_ioapic_takes_extint(const struct vpt_ioapic *io, unsigned int pin);

/* `offset` into the page. */
void vpt_ioapic_read(const struct vpt_ioapic *io, uint32_t offset, uint32_t len, void *data);
void vpt_ioapic_write(struct vpt_ioapic *io, uint32_t offset, uint32_t len, const void *data);

#endif /* VMM_DEV_IOAPIC_H */
