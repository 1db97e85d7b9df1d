// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any accesses of a guest to virtio devices, and any queues in its RAM. No access may
 * leave RAM, a device may not write more than the room of a chain, and each access must end. The
 * input is operations, each a byte and its operands (missing bytes are 0).
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "virtio/virtio.h"

#define MAX_OPERATIONS 400
#define RAM	       0x10000u
/* Rings of the two queues of a device that set_up() makes. */
#define RINGS  0x1000u
#define DISKS  1u
#define DISK   0x4000u
#define STATUS 0x14u
#define NOTIFY 0x3000u

static uint64_t replies;

static void console(void *opaque, const uint8_t *bytes, size_t count)
{
	volatile uint8_t sum = 0;
	size_t i;

	(void)opaque;
	for (i = 0; i < count; i++)
		sum = (uint8_t)(sum + bytes[i]);
}

static size_t share(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply, size_t room)
{
	const size_t used = bytes < room ? bytes : room;

	(void)opaque;
	REQUIRE(bytes <= VIRTIO_SHARE_MAX && room <= VIRTIO_SHARE_MAX);
	memcpy(reply, request, used);
	replies++;
	return used;
}

static void frame(void *opaque, const uint8_t *bytes, size_t count)
{
	volatile uint8_t sum = 0;

	(void)opaque;
	REQUIRE(count <= VIRTIO_FRAME_MAX);
	while (count--)
		sum = (uint8_t)(sum + bytes[count]);
	replies++;
}

static void wrote(void *opaque, uint64_t gpa, uint64_t bytes)
{
	(void)opaque;
	REQUIRE(gpa <= RAM && bytes && bytes <= RAM - gpa);
}

static int disk(void *opaque, unsigned int number, enum virtio_disk_access access, uint64_t offset,
		void *data, size_t bytes)
{
	(void)opaque;
	REQUIRE(number < DISKS && offset <= DISK && bytes <= DISK - offset);
	if (access == VIRTIO_DISK_READ)
		memset(data, 0x11, bytes);
	replies++;
	return (int)(offset / 512 % 3) - 1;
}

static void set(struct virtio_bus *bus, unsigned int device, uint32_t offset, uint32_t len,
		uint64_t value)
{
	virtio_pci(bus, device, offset, len, true, &value);
}

/*
 * Set a device up as a driver does, so that most inputs reach the queues. @how has the features of
 * queues in bits 0 and 1. With bit 2 the indices are about to wrap, as after many chains.
 */
static void set_up(struct virtio_bus *bus, unsigned int device, uint32_t size, uint8_t how)
{
	unsigned int n;

	set(bus, device, STATUS, 1, 0);
	set(bus, device, 0x08, 4, 0);
	set(bus, device, 0x0c, 4, (how & 3u) << 28);
	set(bus, device, 0x08, 4, 1);
	set(bus, device, 0x0c, 4, 1);
	set(bus, device, STATUS, 1, 11);
	for (n = 0; n < VIRTIO_QUEUES; n++) {
		const uint32_t at = RINGS * (1 + 4 * n);

		set(bus, device, 0x16, 2, n);
		set(bus, device, 0x18, 2, size);
		set(bus, device, 0x1a, 2, n);
		set(bus, device, 0x20, 8, at);
		set(bus, device, 0x28, 8, at + RINGS);
		set(bus, device, 0x30, 8, at + 2 * RINGS);
		set(bus, device, 0x1c, 2, 1);
		if (how & 4)
			bus->device[device].queue[n].taken = bus->device[device].queue[n].given =
				0xfffe;
	}
	set(bus, device, STATUS, 1, 15);
}

static void do_access(struct virtio_bus *bus, struct input *in, unsigned int device, bool write)
{
	const uint32_t offset = (uint32_t)take(in, 2) % VIRTIO_PCI_BAR;
	const uint32_t len = (uint32_t)take(in, 1) % 9;
	uint8_t data[9];
	uint32_t i;

	memset(data, 0x5a, sizeof(data));
	for (i = 0; write && i < len; i++)
		data[i] = (uint8_t)take(in, 1);
	virtio_pci(bus, device, offset, len, write, data);
	REQUIRE(write || data[len] == 0x5a);
}

static void do_receive(struct virtio_bus *bus)
{
	static const uint8_t bytes[16] = "0123456789abcde";
	size_t wants = virtio_console_wants(bus, sizeof(bytes));

	REQUIRE(wants <= sizeof(bytes));
	if (wants)
		virtio_console_receive(bus, bytes, wants);
	if (virtio_net_wants(bus))
		virtio_net_receive(bus, bytes, sizeof(bytes));
}

static void take_vectors(struct virtio_bus *bus, unsigned int device)
{
	uint16_t vector;

	while (virtio_take_vector(bus, device, &vector))
		REQUIRE(vector < VIRTIO_VECTORS || vector == VIRTIO_NO_VECTOR);
}

static void operate(struct virtio_bus *bus, const struct x86_mem *mem, struct input *in)
{
	const uint8_t op = (uint8_t)take(in, 1);
	const unsigned int device = (op >> 3 & 7) % bus->count;
	const size_t n = op >> 3;
	uint8_t bytes[64];
	size_t i;

	switch (op & 7) {
	case 0:
		do_access(bus, in, device, op & 0x20);
		break;
	case 1:
		set_up(bus, device, 1u << (op >> 5), (uint8_t)take(in, 1));
		break;
	case 2:
		set(bus, device, NOTIFY + 4u * (op >> 5 & 1), 2, op >> 5 & 1);
		break;
	case 3:
		do_receive(bus);
		take_vectors(bus, device);
		break;
	case 4:
		set(bus, device, (uint32_t)take(in, 1) & 0x3f, 1u << (op >> 5 & 3), take(in, 8));
		break;
	case 5:
		virtio_advance(bus, bus->now + take(in, 2));
		break;
	default:
		for (i = 0; i < n; i++)
			bytes[i] = (uint8_t)take(in, 1);
		(void)x86_mem_write(mem, take(in, 2), bytes, n);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct virtio_bus bus;
	struct x86_mem mem;
	unsigned int n;

	REQUIRE(!x86_mem_create(&mem, RAM));
	memset(&bus, 0, sizeof(bus));
	bus.host = (struct virtio_host){
		.memory = {.mem = &mem, .wrote = wrote},
		.console = console,
		.frame = frame,
		.share = share,
		.disk = disk,
	};
	REQUIRE(!virtio_add_console(&bus) && !virtio_add_share(&bus, "fuzz") &&
		!virtio_add_disk(&bus, DISK, false) && !virtio_add_random(&bus, 1) &&
		!virtio_add_net(&bus));
	for (n = 0; in.left && n < MAX_OPERATIONS; n++) {
		replies = 0;
		operate(&bus, &mem, &in);
		/* One access serves at most as many chains as a queue has. */
		REQUIRE(replies <= VIRTIO_QUEUE_MAX);
	}
	virtio_free(&bus);
	x86_mem_destroy(&mem);
	return 0;
}
