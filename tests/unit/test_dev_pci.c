// SPDX-License-Identifier: GPL-2.0-or-later
/* The PCI bus: configuration by ports and by memory, BARs and MSI-X. */
#include "lib/suite.h"

#include <string.h>

#include "dev/pci.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BAR_BYTES     0x8000u
#define TABLE	      0x4000u
#define ECAM(n)	      (DEV_PCI_ECAM + ((uint64_t)(n) << 15))

static struct dev_pci pci;
static struct dev_pci_function *function;
static struct dev_apic_message sent[8];
static unsigned int messages;

static void message(void *opaque, const struct dev_apic_message *m)
{
	(void)opaque;
	ck_assert_uint_lt(messages, ARRAY_SIZE(sent));
	sent[messages++] = *m;
}

static void setup(void)
{
	const struct dev_pci_config config = {
		.vendor = 0x1af4,
		.device = 0x1042,
		.subsystem = 0x1100,
		.class_code = 0x010000,
		.bar_bytes = BAR_BYTES,
		.msix_at = TABLE,
		.vectors = 2,
	};

	memset(&pci, 0, sizeof(pci));
	pci.message = message;
	messages = 0;
	function = dev_pci_add(&pci, &config);
	ck_assert_ptr_nonnull(function);
	ck_assert_ptr_nonnull(dev_pci_add(&pci, &config));
	function = &pci.function[1];
	dev_pci_reset(&pci);
}

static uint32_t in(unsigned int device, unsigned int at, uint8_t size)
{
	uint32_t value = 0x80000000u | device << 11 | (at & 0xfc);

	ck_assert(dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, false, &value));
	value = 0;
	ck_assert(dev_pci_io(&pci, (uint16_t)(DEV_PCI_DATA + (at & 3)), size, true, &value));
	return value;
}

static void out(unsigned int device, unsigned int at, uint8_t size, uint32_t value)
{
	uint32_t address = 0x80000000u | device << 11 | (at & 0xfc);

	ck_assert(dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, false, &address));
	ck_assert(dev_pci_io(&pci, (uint16_t)(DEV_PCI_DATA + (at & 3)), size, false, &value));
}

static uint32_t read_ecam(uint64_t gpa, uint32_t len)
{
	uint32_t value = 0;

	ck_assert(dev_pci_ecam(&pci, gpa, len, false, &value));
	return value;
}

START_TEST(identity)
{
	ck_assert_uint_eq(in(0, 0, 4), 0x00081b36);
	ck_assert_uint_eq(in(0, 8, 4) >> 8, 0x060000);
	ck_assert_uint_eq(in(1, 0, 4), 0x10421af4);
	ck_assert_uint_eq(in(1, 2, 2), 0x1042);
	ck_assert_uint_eq(in(1, 11, 1), 1);
	ck_assert_uint_eq(in(1, 0x2e, 2), 0x1100);
	ck_assert_uint_eq(in(1, 0x3d, 1), 0); /* no interrupt line */
	ck_assert_uint_eq(in(2, 0, 4), 0x10421af4);
	ck_assert_uint_eq(in(3, 0, 4), ~0u);
	ck_assert_uint_eq(in(1 << 5, 0, 4), ~0u); /* another bus */
	/* Identities do not change. */
	out(1, 0, 4, 0);
	ck_assert_uint_eq(in(1, 0, 4), 0x10421af4);
}
END_TEST

START_TEST(ports)
{
	uint32_t value = ~0u;

	/* CF9H is the reset port, which is not that of PCI. */
	ck_assert(!dev_pci_io(&pci, DEV_PCI_ADDRESS + 1, 1, false, &value));
	ck_assert(!dev_pci_io(&pci, DEV_PCI_ADDRESS, 2, true, &value));
	ck_assert(!dev_pci_io(&pci, DEV_PCI_ADDRESS - 1, 1, true, &value));
	ck_assert(!dev_pci_io(&pci, DEV_PCI_DATA + 2, 4, true, &value));
	ck_assert(dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, false, &value));
	ck_assert(dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, true, &value));
	ck_assert_uint_eq(value, 0x80fffffc);
	/* Without the enable bit there is no device. */
	value = 0;
	ck_assert(dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, false, &value));
	ck_assert(dev_pci_io(&pci, DEV_PCI_DATA, 4, true, &value));
	ck_assert_uint_eq(value, ~0u);
	/* A bus without devices has no ports. */
	memset(&pci, 0, sizeof(pci));
	ck_assert(!dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, true, &value));
	ck_assert(!dev_pci_ecam(&pci, DEV_PCI_ECAM, 4, false, &value));
}
END_TEST

START_TEST(ecam)
{
	uint64_t value = 0x0406;

	ck_assert_uint_eq(read_ecam(ECAM(1), 4), 0x10421af4);
	ck_assert_uint_eq(read_ecam(ECAM(1) + 3, 1), 0x10);
	ck_assert_uint_eq(read_ecam(ECAM(3), 4), ~0u);
	ck_assert_uint_eq(read_ecam(ECAM(1) + 0x1000, 2), 0xffff); /* another function */
	ck_assert_uint_eq(read_ecam(ECAM(1) + DEV_PCI_CONFIG, 4), 0);
	ck_assert_uint_eq(read_ecam(ECAM(1) + 1, 4), 0); /* not aligned */
	ck_assert(dev_pci_ecam(&pci, ECAM(1) + 4, 2, true, &value));
	ck_assert_uint_eq(in(1, 4, 2), 0x0406);
	/* Eight bytes are not an access to configuration space. */
	ck_assert(dev_pci_ecam(&pci, ECAM(1), 8, false, &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(!dev_pci_ecam(&pci, DEV_PCI_ECAM - 1, 1, false, &value));
	ck_assert(!dev_pci_ecam(&pci, DEV_PCI_ECAM + DEV_PCI_ECAM_BYTES, 1, false, &value));
}
END_TEST

START_TEST(bar)
{
	uint32_t offset = 1;

	ck_assert_uint_eq(in(1, 0x10, 4), DEV_PCI_WINDOW);
	ck_assert_uint_eq(in(2, 0x10, 4), DEV_PCI_WINDOW + BAR_BYTES);
	ck_assert_uint_eq(dev_pci_at(&pci, DEV_PCI_WINDOW, &offset), 0);
	/* Software finds the size, and moves the BAR. */
	out(1, 0x10, 4, ~0u);
	ck_assert_uint_eq(in(1, 0x10, 4), -BAR_BYTES);
	out(1, 0x10, 4, 0xe1230000u | 0x1234);
	ck_assert_uint_eq(in(1, 0x10, 4), 0xe1230000u);
	out(1, 4, 2, 2);
	ck_assert_uint_eq(dev_pci_at(&pci, 0xe1230000u, &offset), 1);
	ck_assert_uint_eq(offset, 0);
	ck_assert_uint_eq(dev_pci_at(&pci, 0xe1230000u + BAR_BYTES - 1, &offset), 1);
	ck_assert_uint_eq(offset, BAR_BYTES - 1);
	ck_assert_uint_eq(dev_pci_at(&pci, 0xe1230000u + BAR_BYTES, &offset), 0);
	ck_assert_uint_eq(dev_pci_at(&pci, 0xe1230000u - 1, &offset), 0);
	/* The other BARs do not exist. */
	out(1, 0x14, 4, ~0u);
	ck_assert_uint_eq(in(1, 0x14, 4), 0);
	dev_pci_reset(&pci);
	ck_assert_uint_eq(in(1, 0x10, 4), DEV_PCI_WINDOW);
	ck_assert_uint_eq(in(1, 4, 2), 0);
}
END_TEST

static void write_table(uint32_t offset, uint32_t value)
{
	ck_assert(dev_pci_msix(&pci, function, TABLE + offset, 4, true, &value));
}

static uint32_t read_table(uint32_t offset)
{
	uint32_t value = 0;

	ck_assert(dev_pci_msix(&pci, function, TABLE + offset, 4, false, &value));
	return value;
}

START_TEST(capability)
{
	ck_assert_uint_eq(in(1, 6, 2), 0x10);
	ck_assert_uint_eq(in(1, 0x34, 1), DEV_PCI_MSIX);
	ck_assert_uint_eq(in(1, DEV_PCI_MSIX, 4), DEV_PCI_NEXT << 8 | 0x11 | 1 << 16);
	ck_assert_uint_eq(in(1, DEV_PCI_MSIX + 4, 4), TABLE);
	ck_assert_uint_eq(in(1, DEV_PCI_MSIX + 8, 4), TABLE + 0x1000);
	/* Only two bits of the control are writable. */
	out(1, DEV_PCI_MSIX + 2, 2, 0xffff);
	ck_assert_uint_eq(in(1, DEV_PCI_MSIX + 2, 2), 0xc001);
}
END_TEST

START_TEST(vectors)
{
	write_table(0x10, 0xfee03000);
	write_table(0x14, 0);
	write_table(0x18, 0x4155);
	/* MSI-X is off, so nothing is sent, now or later. */
	dev_pci_raise(&pci, function, 1);
	out(1, DEV_PCI_MSIX + 2, 2, 0x8000);
	write_table(0x1c, 0);
	ck_assert_uint_eq(messages, 0);
	dev_pci_raise(&pci, function, 1);
	ck_assert_uint_eq(messages, 1);
	ck_assert_uint_eq(sent[0].dest, 3);
	ck_assert_uint_eq(sent[0].vector, 0x55);
	ck_assert_uint_eq(sent[0].mode, 1);
	ck_assert_uint_eq(sent[0].logical, 0);
	/* A masked vector is pending until its mask, or that of the function, is cleared. */
	write_table(0x1c, 1);
	dev_pci_raise(&pci, function, 1);
	ck_assert_uint_eq(messages, 1);
	ck_assert_uint_eq(read_table(0x1000), 2);
	out(1, DEV_PCI_MSIX + 2, 2, 0xc000);
	write_table(0x1c, 0);
	ck_assert_uint_eq(messages, 1);
	out(1, DEV_PCI_MSIX + 2, 2, 0x8000);
	ck_assert_uint_eq(messages, 2);
	ck_assert_uint_eq(read_table(0x1000), 0);
	/* A vector without entry, and an address that is not that of local APICs. */
	dev_pci_raise(&pci, function, 2);
	dev_pci_raise(&pci, function, 0xffff);
	write_table(0x10, 0xfed03000);
	dev_pci_raise(&pci, function, 1);
	write_table(0x10, 0xfee03000);
	write_table(0x14, 1);
	dev_pci_raise(&pci, function, 1);
	ck_assert_uint_eq(messages, 2);
}
END_TEST

START_TEST(table)
{
	uint64_t value = 0x123456789abcdef0ull;
	uint8_t byte = 0x5a;

	ck_assert_uint_eq(read_table(0xc), 1);
	ck_assert(dev_pci_msix(&pci, function, TABLE, 8, true, &value));
	ck_assert_uint_eq(read_table(0), 0x9abcdef0);
	ck_assert_uint_eq(read_table(4), 0x12345678);
	write_table(0xc, ~0u);
	ck_assert_uint_eq(read_table(0xc), 1);
	/* Behind the entries, and with another width. */
	write_table(0x20, ~0u);
	ck_assert_uint_eq(read_table(0x20), 0);
	ck_assert(dev_pci_msix(&pci, function, TABLE, 1, false, &byte));
	ck_assert_uint_eq(byte, 0);
	ck_assert(!dev_pci_msix(&pci, function, TABLE - 4, 4, false, &value));
	ck_assert(!dev_pci_msix(&pci, function, TABLE + 0x2000, 4, false, &value));
}
END_TEST

START_TEST(saved)
{
	uint8_t state[4096];
	const size_t bytes = dev_pci_saved_bytes(&pci);
	unsigned int at;

	ck_assert_uint_le(bytes, sizeof(state));
	out(1, 4, 2, 6);
	out(1, 0x10, 4, 0xe1230000u);
	out(1, DEV_PCI_MSIX + 2, 2, 0x8000);
	write_table(0, 0xfee01000);
	write_table(8, 0x31);
	dev_pci_raise(&pci, function, 0);
	dev_pci_save(&pci, state);
	dev_pci_reset(&pci);
	ck_assert(!dev_pci_load(&pci, state, bytes - 1));
	ck_assert(dev_pci_load(&pci, state, bytes));
	ck_assert_uint_eq(in(1, 0x10, 4), 0xe1230000u);
	ck_assert_uint_eq(read_table(0x1000), 1);
	write_table(0xc, 0);
	ck_assert_uint_eq(messages, 1);
	ck_assert_uint_eq(sent[0].vector, 0x31);
	/* A bit that software cannot write, in the identity of the host bridge. */
	for (at = 8; at < 12; at++) {
		state[at] ^= 1;
		ck_assert(!dev_pci_load(&pci, state, bytes));
		state[at] ^= 1;
	}
	/* A pending bit without vector. */
	state[8 + 256] = 1;
	ck_assert(!dev_pci_load(&pci, state, bytes));
}
END_TEST

START_TEST(full)
{
	const struct dev_pci_config config = {.vendor = 1, .vectors = DEV_PCI_VECTORS + 1};
	const struct dev_pci_config small = {.vendor = 1};

	ck_assert_ptr_null(dev_pci_add(&pci, &config));
	while (pci.count < DEV_PCI_FUNCTIONS)
		ck_assert_ptr_nonnull(dev_pci_add(&pci, &small));
	ck_assert_ptr_null(dev_pci_add(&pci, &small));
}
END_TEST

/* A bus without devices. */
START_TEST(bridge_alone)
{
	uint8_t state[4096];
	uint32_t value = 0;

	memset(&pci, 0, sizeof(pci));
	ck_assert(!dev_pci_io(&pci, DEV_PCI_ADDRESS, 4, true, &value));
	dev_pci_add_bridge(&pci);
	dev_pci_add_bridge(&pci);
	ck_assert_uint_eq(pci.count, 1);
	dev_pci_reset(&pci);
	ck_assert_uint_eq(in(0, 0x00, 4), 0x00081b36);
	ck_assert_uint_eq(in(0, 0x08, 4), 0x06000001);
	ck_assert_uint_eq(in(1, 0x00, 4), ~0u);
	/* The bridge has no BAR and does not respond. */
	out(0, 0x10, 4, ~0u);
	ck_assert_uint_eq(in(0, 0x10, 4), 0);
	ck_assert_uint_eq(dev_pci_at(&pci, DEV_PCI_WINDOW, &value), 0);
	ck_assert_uint_le(dev_pci_saved_bytes(&pci), sizeof(state));
	dev_pci_save(&pci, state);
	ck_assert(dev_pci_load(&pci, state, dev_pci_saved_bytes(&pci)));
}
END_TEST

TEST_SUITE("dev_pci", setup, NULL)
{
	TEST_ADD(tcase, identity, ports, ecam, bar, capability, vectors, table, saved, full,
		 bridge_alone);
}
