// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any sequence of guest accesses to the devices, with time passing in between. No
 * access may leave the devices' own state. Time must never go backwards, and every due event must
 * be handled. The input is operations, each a byte and its operands (missing bytes are 0).
 */
#include <string.h>

#include "dev/clock.h"
#include "dev/platform.h"
#include "fuzz/bytes.h"

#define MAX_OPERATIONS 400

static bool damaged;

/* 4 GHz. */
static uint64_t tsc_time(void *opaque, unsigned int cpu, uint64_t tsc)
{
	(void)opaque;
	(void)cpu;
	return tsc / 4 + (tsc % 4 != 0);
}

/* The port never wants more than the room of its FIFO. */
static void do_receive(struct dev_platform *p, struct input *in)
{
	unsigned int wants = dev_platform_wants(p);
	uint8_t byte;

	REQUIRE(wants <= DEV_SERIAL_FIFO);
	for (; wants && in->left && *in->at & 1; wants--) {
		byte = (uint8_t)take(in, 1);
		dev_platform_receive(p, &byte, 1);
	}
}

static uint16_t take_port(struct input *in)
{
	static const uint16_t ports[] = {0x20,	0x21,  0xa0,  0xa1,  0x4d0, 0x4d1, 0x40, 0x41,
					 0x42,	0x43,  0x61,  0x64,  0x70,  0x71,  0x92, 0xcf9,
					 0x3f8, 0x3f9, 0x3fa, 0x3fb, 0x3fc, 0x3fd, 0x3fe};
	uint8_t n = (uint8_t)take(in, 1);

	return n < sizeof(ports) / sizeof(ports[0]) ? ports[n] : (uint16_t)(n << 8 | take(in, 1));
}

static void do_io(struct dev_platform *p, struct input *in, bool is_in)
{
	uint16_t port = take_port(in);
	uint8_t size = (uint8_t)take(in, 1);
	uint32_t value;

	size = size < 0xc0 ? 1 : size;
	value = (uint32_t)take(in, size < 4 ? size : 4);
	dev_platform_io(p, port, size, is_in, &value);
}

static void do_mmio(struct dev_platform *p, struct input *in, bool write)
{
	uint8_t where = (uint8_t)take(in, 1), len = (uint8_t)take(in, 1) % 65;
	uint64_t base = where & 1 ? DEV_IOAPIC_ADDRESS : p->lapic[0].base & ~0xfffull;
	uint8_t data[65];
	uint32_t i;

	memset(data, 0x5a, sizeof(data));
	len = len >= 48 ? len - 48 : 4;
	for (i = 0; i < len && write; i++)
		data[i] = (uint8_t)take(in, 1);
	dev_platform_mmio(p, 0, base + (where & 2 ? take(in, 2) & 0xfff : (where >> 2) * 16u), len,
			  write, data);
	REQUIRE(write || data[len] == 0x5a);
}

static void do_msr(struct dev_platform *p, struct input *in, bool write)
{
	uint32_t n = (uint32_t)take(in, 1), msr = n < 0xf0 ? 0x800 + n : n & 1 ? 0x1b : 0x6e0;
	uint64_t value = take(in, 1) & 1 ? take(in, 8) : take(in, 4);

	if (msr == X86_MSR_APIC_BASE && n & 2)
		value = 0xfee00000 | (value & 0xc00);
	if (write)
		REQUIRE(dev_platform_wrmsr(p, 0, msr, value) != DEV_PLATFORM_OTHER);
	else
		REQUIRE(dev_platform_rdmsr(p, 0, msr, &value) != DEV_PLATFORM_OTHER);
}

static void do_time(struct dev_platform *p, struct input *in)
{
	uint8_t how = (uint8_t)take(in, 1);
	uint64_t next = dev_platform_next(p, 0), before = p->now, to;

	if (how & 1 && next != DEV_NEVER)
		to = next;
	else
		to = p->now + (take(in, 3) << (how >> 3));
	dev_platform_advance(p, 0, to);
	REQUIRE(p->now >= before && (to < before || p->now == to));
}

static void do_interrupt(struct dev_platform *p)
{
	bool pending = dev_platform_pending(p, 0);
	uint8_t vector;

	if (dev_platform_nmi(p, 0))
		dev_platform_ack_nmi(p, 0);
	REQUIRE(!dev_platform_nmi(p, 0));
	if (!pending)
		return;
	vector = dev_platform_ack(p, 0);
	/* The 8259s can be programmed to any vectors, even below 16. */
	REQUIRE(damaged || vector >= 16 || (vector & 0xf8) == (p->pic.chip[0].base & 0xf8) ||
		(vector & 0xf8) == (p->pic.chip[1].base & 0xf8));
}

static void do_save(struct dev_platform *p)
{
	static char one[sizeof(*p) + 64], two[sizeof(*p) + 64];
	struct dev_platform copy = *p;
	size_t bytes = dev_platform_saved_bytes(p);

	REQUIRE(dev_platform_save(p, one, sizeof(one)));
	memset(&copy, 0xa5, offsetof(struct dev_platform, host));
	copy.cpus = p->cpus;
	REQUIRE(!dev_platform_load(&copy, one, bytes - 1));
	REQUIRE(dev_platform_load(&copy, one, bytes));
	REQUIRE(dev_platform_save(&copy, two, sizeof(two)) && !memcmp(one, two, bytes));
	REQUIRE(dev_platform_next(&copy, 0) == dev_platform_next(p, 0));
}

/* Load a state that no guest can reach. It must do no harm, but its times may be arbitrary. */
static void do_damage(struct dev_platform *p, struct input *in)
{
	static uint8_t bytes[sizeof(*p) + 64];
	size_t size = dev_platform_saved_bytes(p);
	unsigned int n;

	REQUIRE(dev_platform_save(p, bytes, sizeof(bytes)));
	for (n = 0; n < 8; n++)
		bytes[16 + take(in, 2) % (size - 16)] = (uint8_t)take(in, 1);
	if (dev_platform_load(p, bytes, size))
		damaged = true;
}

static void operate(struct dev_platform *p, struct input *in)
{
	uint8_t op = (uint8_t)take(in, 1);

	switch (op & 15) {
	case 0 ... 4:
		do_io(p, in, op & 1);
		break;
	case 5 ... 8:
		do_mmio(p, in, op & 0x10);
		break;
	case 9:
		do_msr(p, in, op & 0x10);
		break;
	case 10 ... 12:
		do_time(p, in);
		break;
	case 13:
		do_interrupt(p);
		break;
	case 14:
		if (op == 0xfe)
			do_damage(p, in);
		dev_platform_line(p, op >> 4, take(in, 1) & 1);
		break;
	default:
		if (op & 0x10)
			dev_platform_pmi(p, 0);
		if (op & 0x20)
			do_receive(p, in);
		if (op & 0x40)
			dev_platform_set_cr8(p, 0, op >> 4);
		if (op & 0x80)
			do_save(p);
		break;
	}
	REQUIRE(damaged || dev_platform_next(p, 0) > p->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dev_platform p;
	struct input in = {data, size};
	struct dev_platform_config config = {
		.mem_bytes = 64 << 20,
		.epoch = 1735689600,
		.apic_hz = 24000000,
		.max_phy_addr = 39,
		.x2apic = true,
		.cpus = 1,
		.host = {.tsc_time = tsc_time},
	};
	unsigned int n;

	damaged = false;
	if (take(&in, 1) & 1)
		config.host.tsc_time = NULL;
	dev_platform_init(&p, &config);
	for (n = 0; in.left && n < MAX_OPERATIONS; n++)
		operate(&p, &in);
	return 0;
}
