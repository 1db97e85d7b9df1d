// SPDX-License-Identifier: GPL-2.0-or-later
/* The PCI bus: configuration space, BARs and MSI-X. */
#include "dev/pci.h"

#include <stddef.h>
#include <string.h>

#define ENABLE		0x80000000u
#define COMMAND		0x04u
#define COMMAND_MEMORY	0x0002u
#define COMMAND_BITS	0x0406u /* memory, master, and INTx off */
#define STATUS_LIST	0x0010u
#define BAR0		0x10u
#define LIST		0x34u
#define LINE		0x3cu
#define MSIX_CONTROL	(DEV_PCI_MSIX + 2)
#define MSIX_MASK	0x4000u
#define MSIX_ENABLE	0x8000u
#define MSIX_ID		0x11
#define PBA_BEHIND	0x1000u
#define VECTOR_MASK	1u
#define HOST_VENDOR	0x1b36 /* of QEMU's generic host bridge with ECAM */
#define HOST_DEVICE	0x0008
#define CLASS_BRIDGE	0x060000u
#define MESSAGE_ADDRESS 0xfee00000ull

static uint16_t get16(const struct dev_pci_function *f, unsigned int at)
{
	return (uint16_t)(f->config[at] | f->config[at + 1] << 8);
}

static void put(struct dev_pci_function *f, unsigned int at, uint32_t value, unsigned int bytes)
{
	memcpy(f->config + at, &value, bytes);
}

static void add(struct dev_pci *pci, const struct dev_pci_config *c)
{
	struct dev_pci_function *f = &pci->function[pci->count++];

	*f = (struct dev_pci_function){
		.bar_bytes = c->bar_bytes, .msix_at = c->msix_at, .vectors = c->vectors};
	put(f, 0x00, c->vendor, 2);
	put(f, 0x02, c->device, 2);
	put(f, 0x08, c->class_code << 8 | 1, 4);
	put(f, 0x2c, c->vendor, 2);
	put(f, 0x2e, c->subsystem, 2);
	if (!c->vectors)
		return;
	put(f, COMMAND + 2, STATUS_LIST, 2);
	put(f, LIST, DEV_PCI_MSIX, 1);
	put(f, DEV_PCI_MSIX, MSIX_ID | DEV_PCI_NEXT << 8, 2);
	put(f, MSIX_CONTROL, c->vectors - 1, 2);
	put(f, DEV_PCI_MSIX + 4, c->msix_at, 4);
	put(f, DEV_PCI_MSIX + 8, c->msix_at + PBA_BEHIND, 4);
}

void dev_pci_add_bridge(struct dev_pci *pci)
{
	const struct dev_pci_config bridge = {
		.vendor = HOST_VENDOR, .device = HOST_DEVICE, .class_code = CLASS_BRIDGE};

	if (!pci->count)
		add(pci, &bridge);
}

struct dev_pci_function *dev_pci_add(struct dev_pci *pci, const struct dev_pci_config *config)
{
	dev_pci_add_bridge(pci);
	if (pci->count == DEV_PCI_FUNCTIONS || config->vectors > DEV_PCI_VECTORS)
		return NULL;
	add(pci, config);
	return &pci->function[pci->count - 1];
}

void dev_pci_reset(struct dev_pci *pci)
{
	uint32_t at = DEV_PCI_WINDOW;
	unsigned int i, n;

	pci->address = 0;
	for (i = 0; i < pci->count; i++) {
		struct dev_pci_function *f = &pci->function[i];

		put(f, COMMAND, 0, 2);
		put(f, LINE, 0, 1);
		f->pending = 0;
		for (n = 0; n < f->vectors; n++)
			f->vector[n] = (struct dev_pci_vector){.control = VECTOR_MASK};
		if (f->vectors)
			put(f, MSIX_CONTROL, f->vectors - 1, 2);
		if (!f->bar_bytes)
			continue;
		at = (at + f->bar_bytes - 1) & -f->bar_bytes;
		put(f, BAR0, at, 4);
		at += f->bar_bytes;
	}
}

static bool is_masked(const struct dev_pci_function *f, uint32_t vector)
{
	return get16(f, MSIX_CONTROL) & MSIX_MASK || f->vector[vector].control & VECTOR_MASK;
}

static void send(struct dev_pci *pci, const struct dev_pci_vector *v)
{
	const struct dev_apic_message message = {
		.dest = (uint32_t)(v->address >> 12) & 0xff,
		.vector = (uint8_t)v->data,
		.mode = v->data >> 8 & 7,
		.logical = v->address >> 2 & 1,
	};

	if ((v->address & ~0xfffffull) == MESSAGE_ADDRESS && pci->message)
		pci->message(pci->opaque, &message);
}

/* Send the pending messages that are no longer masked. */
static void send_pending(struct dev_pci *pci, struct dev_pci_function *f)
{
	uint32_t i;

	if (!(get16(f, MSIX_CONTROL) & MSIX_ENABLE))
		return;
	for (i = 0; i < f->vectors; i++) {
		if (!(f->pending >> i & 1) || is_masked(f, i))
			continue;
		f->pending &= ~(1u << i);
		send(pci, &f->vector[i]);
	}
}

void dev_pci_raise(struct dev_pci *pci, struct dev_pci_function *f, uint32_t vector)
{
	if (vector >= f->vectors || !(get16(f, MSIX_CONTROL) & MSIX_ENABLE))
		return;
	f->pending |= 1u << vector;
	send_pending(pci, f);
}

/* The bits of a byte of configuration space that software can write. */
static uint8_t writable(const struct dev_pci_function *f, unsigned int at)
{
	if (at - COMMAND < 2)
		return (uint8_t)(COMMAND_BITS >> 8 * (at - COMMAND));
	if (at - BAR0 < 4)
		return (uint8_t)(-f->bar_bytes >> 8 * (at - BAR0));
	if (at == MSIX_CONTROL + 1 && f->vectors)
		return (MSIX_MASK | MSIX_ENABLE) >> 8;
	return at == LINE ? 0xff : 0;
}

static void write_config(struct dev_pci *pci, struct dev_pci_function *f, unsigned int at,
			 uint8_t size, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < size; i++, at++) {
		const uint8_t bits = writable(f, at);

		f->config[at] = (uint8_t)((f->config[at] & ~bits) | (value >> 8 * i & bits));
	}
	send_pending(pci, f);
}

/* Returns the function that port CF8H selects, or NULL. There is one bus, without multifunctions. */
static struct dev_pci_function *selected(struct dev_pci *pci)
{
	const uint32_t n = pci->address >> 11 & 0x1fff;

	if (!(pci->address & ENABLE) || pci->address >> 8 & 7 || n >= pci->count)
		return NULL;
	return &pci->function[n];
}

bool dev_pci_io(struct dev_pci *pci, uint16_t port, uint8_t size, bool in, uint32_t *value)
{
	struct dev_pci_function *f;
	unsigned int at;

	if (!pci->count || port < DEV_PCI_ADDRESS || port + size > DEV_PCI_DATA + 4)
		return false;
	if (port < DEV_PCI_DATA) {
		if (port != DEV_PCI_ADDRESS || size != 4)
			return false;
		if (in)
			*value = pci->address;
		else
			pci->address = *value & 0x80fffffc;
		return true;
	}
	f = selected(pci);
	at = (pci->address & 0xfc) + (port & 3);
	if (in) {
		*value = ~0u;
		if (f) {
			*value = 0;
			memcpy(value, f->config + at, size);
		}
	} else if (f) {
		write_config(pci, f, at, size, *value);
	}
	return true;
}

bool dev_pci_ecam(struct dev_pci *pci, uint64_t gpa, uint32_t len, bool write, void *data)
{
	const uint64_t offset = gpa - DEV_PCI_ECAM;
	const unsigned int at = offset & 0xfff;
	struct dev_pci_function *f;
	uint32_t value = 0;

	if (!pci->count || gpa < DEV_PCI_ECAM || offset >= DEV_PCI_ECAM_BYTES)
		return false;
	f = offset >> 12 & 7 || offset >> 15 >= pci->count ? NULL : &pci->function[offset >> 15];
	if (!write)
		memset(data, f ? 0 : 0xff, len);
	/* Behind the configuration space of PCI there are no capabilities: those bytes are 0. */
	if (!f || len > sizeof(value) || at % len || at >= DEV_PCI_CONFIG)
		return true;
	if (write) {
		memcpy(&value, data, len);
		write_config(pci, f, at, (uint8_t)len, value);
	} else {
		memcpy(data, f->config + at, len);
	}
	return true;
}

unsigned int dev_pci_at(const struct dev_pci *pci, uint64_t gpa, uint32_t *offset)
{
	unsigned int i;

	for (i = 1; i < pci->count; i++) {
		const struct dev_pci_function *f = &pci->function[i];
		uint32_t bar;

		memcpy(&bar, f->config + BAR0, sizeof(bar));
		if (!(get16(f, COMMAND) & COMMAND_MEMORY) || gpa < bar || gpa - bar >= f->bar_bytes)
			continue;
		*offset = (uint32_t)(gpa - bar);
		return i;
	}
	return 0;
}

bool dev_pci_msix(struct dev_pci *pci, struct dev_pci_function *f, uint32_t offset, uint32_t len,
		  bool write, void *data)
{
	const uint32_t bytes = f->vectors * sizeof(f->vector[0]);
	uint32_t at = offset - f->msix_at;
	uint64_t pba = f->pending;

	if (!f->vectors || offset < f->msix_at || at >= 2 * PBA_BEHIND)
		return false;
	if (!write)
		memset(data, 0, len);
	/* Accesses have four or eight bytes. Others read 0 and write nothing. */
	if ((len != 4 && len != 8) || at % len)
		return true;
	if (at >= PBA_BEHIND) {
		if (!write && at - PBA_BEHIND + len <= sizeof(pba))
			memcpy(data, (const uint8_t *)&pba + (at - PBA_BEHIND), len);
	} else if (at < bytes) {
		uint8_t *entry = (uint8_t *)f->vector + at;

		memcpy(write ? entry : data, write ? data : entry, len);
		f->vector[at / sizeof(f->vector[0])].control &= VECTOR_MASK;
		if (write)
			send_pending(pci, f);
	}
	return true;
}

/* The part of a function that a snapshot has. */
struct saved {
	uint8_t config[DEV_PCI_CONFIG];
	uint32_t pending, spare;
	struct dev_pci_vector vector[DEV_PCI_VECTORS];
};

size_t dev_pci_saved_bytes(const struct dev_pci *pci)
{
	return sizeof(uint64_t) + pci->count * sizeof(struct saved);
}

void dev_pci_save(const struct dev_pci *pci, void *to)
{
	const uint64_t address = pci->address;
	unsigned int i;

	memcpy(to, &address, sizeof(address));
	for (i = 0; i < pci->count; i++) {
		const struct dev_pci_function *f = &pci->function[i];
		struct saved saved = {.pending = f->pending};

		memcpy(saved.config, f->config, sizeof(saved.config));
		memcpy(saved.vector, f->vector, sizeof(saved.vector));
		memcpy((char *)to + sizeof(address) + i * sizeof(saved), &saved, sizeof(saved));
	}
}

/* Returns true if only bits that software can write differ from those of the function. */
static bool makes_sense(const struct dev_pci_function *f, const struct saved *saved)
{
	unsigned int i;

	for (i = 0; i < DEV_PCI_CONFIG; i++)
		if ((saved->config[i] ^ f->config[i]) & ~writable(f, i))
			return false;
	for (i = 0; i < DEV_PCI_VECTORS; i++)
		if (saved->vector[i].control & ~VECTOR_MASK)
			return false;
	return saved->pending < 1u << f->vectors;
}

bool dev_pci_load(struct dev_pci *pci, const void *from, size_t bytes)
{
	struct saved saved[DEV_PCI_FUNCTIONS];
	uint64_t address;
	unsigned int i;

	if (bytes != dev_pci_saved_bytes(pci))
		return false;
	memcpy(&address, from, sizeof(address));
	memcpy(saved, (const char *)from + sizeof(address), bytes - sizeof(address));
	for (i = 0; i < pci->count; i++)
		if (!makes_sense(&pci->function[i], &saved[i]))
			return false;
	pci->address = (uint32_t)address & 0x80fffffc;
	for (i = 0; i < pci->count; i++) {
		struct dev_pci_function *f = &pci->function[i];

		memcpy(f->config, saved[i].config, sizeof(f->config));
		memcpy(f->vector, saved[i].vector, sizeof(f->vector));
		f->pending = saved[i].pending;
	}
	return true;
}
