// SPDX-License-Identifier: GPL-2.0-or-later
/* I/O APIC: redirection of pins to messages. */
#include "dev/ioapic.h"

#include <string.h>

#define OFFSET_SELECT 0x00
#define OFFSET_WINDOW 0x10
#define OFFSET_EOI    0x40

#define REG_ID	    0x00
#define REG_VERSION 0x01
#define REG_ARB	    0x02
#define REG_TABLE   0x10

#define VERSION (0x20u | (DEV_IOAPIC_PINS - 1) << 16)

#define ENTRY_LOGICAL  (1ull << 11)
#define ENTRY_REMOTE   (1ull << 14)
#define ENTRY_LEVEL    (1ull << 15)
#define ENTRY_MASKED   (1ull << 16)
#define ENTRY_WRITABLE 0xff0000000001afffull

static unsigned int mode(uint64_t entry)
{
	return entry >> 8 & 7;
}

/* NMI and INIT are edge-triggered, and ExtINT is never sent. */
static bool is_level(uint64_t entry)
{
	return entry & ENTRY_LEVEL && mode(entry) <= DEV_APIC_LOWEST;
}

void dev_ioapic_init(struct dev_ioapic *io)
{
	unsigned int i;

	memset(io, 0, sizeof(*io));
	for (i = 0; i < DEV_IOAPIC_PINS; i++)
		io->entry[i] = ENTRY_MASKED;
}

/* Set the level of a pin. An edge at a masked pin is lost. */
void dev_ioapic_set(struct dev_ioapic *io, unsigned int pin, bool level)
{
	uint32_t bit;

	if (pin >= DEV_IOAPIC_PINS)
		return;
	bit = 1u << pin;
	if (level && !(io->levels & bit) && !(io->entry[pin] & ENTRY_MASKED) &&
	    !is_level(io->entry[pin]))
		io->edges |= bit;
	io->levels = level ? io->levels | bit : io->levels & ~bit;
}

uint32_t dev_ioapic_requests(const struct dev_ioapic *io)
{
	uint32_t requests = io->edges, left = io->levels;

	for (; left; left &= left - 1) {
		uint64_t entry = io->entry[__builtin_ctz(left) % DEV_IOAPIC_PINS];

		if (is_level(entry) && !(entry & (ENTRY_MASKED | ENTRY_REMOTE)))
			requests |= left & -left;
	}
	return requests & ((1u << DEV_IOAPIC_PINS) - 1);
}

struct dev_apic_message dev_ioapic_message(const struct dev_ioapic *io, unsigned int pin)
{
	uint64_t entry = io->entry[pin % DEV_IOAPIC_PINS];

	return (struct dev_apic_message){
		.dest = (uint32_t)(entry >> 56),
		.vector = (uint8_t)entry,
		.mode = (uint8_t)mode(entry),
		.logical = (entry & ENTRY_LOGICAL) != 0,
		.level = is_level(entry),
	};
}

size_t dev_ioapic_levels(const struct dev_ioapic *io,
			 struct dev_apic_message message[DEV_IOAPIC_PINS])
{
	size_t count = 0;
	unsigned int pin;

	for (pin = 0; pin < DEV_IOAPIC_PINS; pin++)
		if (is_level(io->entry[pin]))
			message[count++] = dev_ioapic_message(io, pin);
	return count;
}

void dev_ioapic_sent(struct dev_ioapic *io, unsigned int pin, bool accepted)
{
	uint64_t *entry = &io->entry[pin % DEV_IOAPIC_PINS];

	io->edges &= ~(1u << pin % DEV_IOAPIC_PINS);
	if (accepted && is_level(*entry))
		*entry |= ENTRY_REMOTE;
}

void dev_ioapic_eoi(struct dev_ioapic *io, uint8_t vector)
{
	unsigned int i;

	for (i = 0; i < DEV_IOAPIC_PINS; i++)
		if (is_level(io->entry[i]) && (uint8_t)io->entry[i] == vector)
			io->entry[i] &= ~ENTRY_REMOTE;
}

bool dev_ioapic_takes_extint(const struct dev_ioapic *io, unsigned int pin)
{
	uint64_t entry = io->entry[pin % DEV_IOAPIC_PINS];

	return !(entry & ENTRY_MASKED) && mode(entry) == DEV_APIC_EXTINT;
}

static uint32_t read_reg(const struct dev_ioapic *io)
{
	unsigned int n = io->select - REG_TABLE;

	switch (io->select) {
	case REG_ID:
	case REG_ARB:
		return io->id;
	case REG_VERSION:
		return VERSION;
	default:
		if (io->select < REG_TABLE || n >= 2 * DEV_IOAPIC_PINS)
			return 0;
		return (uint32_t)(io->entry[n / 2] >> (n & 1) * 32);
	}
}

/*
 * Write half of an entry. A change to edge-triggered clears Remote IRR. Software ends an interrupt
 * without an EOI in this way.
 */
static void write_entry(struct dev_ioapic *io, unsigned int pin, bool high, uint32_t value)
{
	uint64_t *entry = &io->entry[pin], kept = *entry & ENTRY_REMOTE;
	unsigned int shift = high ? 32 : 0;

	*entry = (*entry & ~(0xffffffffull << shift)) | (uint64_t)value << shift;
	*entry = (*entry & ENTRY_WRITABLE) | kept;
	if (!is_level(*entry))
		*entry &= ~ENTRY_REMOTE;
	if (*entry & ENTRY_MASKED || is_level(*entry))
		io->edges &= ~(1u << pin);
}

static void write_reg(struct dev_ioapic *io, uint32_t value)
{
	unsigned int n = io->select - REG_TABLE;

	if (io->select == REG_ID)
		io->id = value & 0x0f000000;
	else if (io->select >= REG_TABLE && n < 2 * DEV_IOAPIC_PINS)
		write_entry(io, n / 2, n & 1, value);
}

void dev_ioapic_read(const struct dev_ioapic *io, uint32_t offset, uint32_t len, void *data)
{
	uint32_t skip = offset & 15, value = 0;
	uint8_t lane[16] = {0};

	memset(data, 0, len);
	if ((offset & ~15u) == OFFSET_SELECT)
		value = io->select;
	else if ((offset & ~15u) == OFFSET_WINDOW)
		value = read_reg(io);
	memcpy(lane, &value, sizeof(value));
	memcpy(data, lane + skip, len < 16 - skip ? len : 16 - skip);
}

void dev_ioapic_write(struct dev_ioapic *io, uint32_t offset, uint32_t len, const void *data)
{
	uint32_t value = 0;

	if (!len || len > sizeof(value))
		return;
	memcpy(&value, data, len);
	if (offset == OFFSET_SELECT)
		io->select = (uint8_t)value;
	else if (offset == OFFSET_EOI)
		dev_ioapic_eoi(io, (uint8_t)value);
	else if (offset == OFFSET_WINDOW && len == sizeof(value))
		write_reg(io, value);
}
