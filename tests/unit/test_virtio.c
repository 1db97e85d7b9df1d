// SPDX-License-Identifier: GPL-2.0-or-later
/* virtio devices: registers of PCI, queues and their faults, the folder, the console. */
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

#include "virtio/virtio.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define RAM	      (1u << 20)
#define DESC	      0x1000u
#define AVAIL	      0x2000u
#define USED	      0x3000u
#define DATA	      0x8000u
#define QUEUE	      8u
#define CONSOLE	      0u
#define FOLDER	      1u
#define DISK	      2u
#define READ_ONLY     3u
#define RANDOM	      4u

/* BAR 0 (virtio 1.2, 4.1.4). */
enum {
	DEVICE_SELECT = 0x00,
	DEVICE = 0x04,
	DRIVER_SELECT = 0x08,
	DRIVER = 0x0c,
	CONFIG_VECTOR = 0x10,
	QUEUES = 0x12,
	STATUS = 0x14,
	QUEUE_SELECT = 0x16,
	SIZE = 0x18,
	VECTOR = 0x1a,
	ENABLE = 0x1c,
	NOTIFY_OFF = 0x1e,
	DESC_AT = 0x20,
	AVAIL_AT = 0x28,
	USED_AT = 0x30,
	ISR = 0x1000,
	CONFIG = 0x2000,
	NOTIFY = 0x3000,
};

#define SECTORS 8u
#define SECTOR	512u

#define NEXT  1u
#define WRITE 2u

static struct x86_mem mem;
static struct virtio_bus bus;
static char printed[64], asked[64];
static const char *answer;
static uint8_t image[2][SECTORS * SECTOR];
static int disk_error;
static unsigned int flushes;
static size_t printed_bytes, asked_bytes, room, wrote_bytes;
static unsigned int requests;

static void console(void *opaque, const uint8_t *bytes, size_t count)
{
	(void)opaque;
	ck_assert_uint_le(count, sizeof(printed) - printed_bytes);
	memcpy(printed + printed_bytes, bytes, count);
	printed_bytes += count;
}

static size_t share(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply, size_t most)
{
	(void)opaque;
	asked_bytes = bytes;
	room = most;
	memcpy(asked, request, bytes < sizeof(asked) ? bytes : sizeof(asked));
	memcpy(reply, answer, strlen(answer) < most ? strlen(answer) : most);
	requests++;
	return strlen(answer) < most ? strlen(answer) : most;
}

static int disk(void *opaque, unsigned int number, enum virtio_disk_access access, uint64_t offset,
		void *data, size_t bytes)
{
	(void)opaque;
	ck_assert_uint_lt(number, ARRAY_SIZE(image));
	ck_assert_uint_le(offset, sizeof(image[0]));
	ck_assert_uint_le(bytes, sizeof(image[0]) - offset);
	if (access == VIRTIO_DISK_READ)
		memcpy(data, image[number] + offset, bytes);
	else if (access == VIRTIO_DISK_WRITE)
		memcpy(image[number] + offset, data, bytes);
	else
		flushes++;
	return disk_error;
}

static void wrote(void *opaque, uint64_t gpa, uint64_t bytes)
{
	(void)opaque;
	(void)gpa;
	wrote_bytes += bytes;
}

static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
	memset(&bus, 0, sizeof(bus));
	bus.host = (struct virtio_host){
		.memory = {.mem = &mem, .wrote = wrote},
		.console = console,
		.share = share,
		.disk = disk,
	};
	ck_assert_int_eq(virtio_add_console(&bus), 0);
	ck_assert_int_eq(virtio_add_share(&bus, "tag"), 0);
	ck_assert_int_eq(virtio_add_disk(&bus, sizeof(image[0]) + SECTOR - 1, false), 0);
	ck_assert_int_eq(virtio_add_disk(&bus, sizeof(image[0]), true), 0);
	ck_assert_int_eq(virtio_add_random(&bus, 7), 0);
	memset(image[0], 1, sizeof(image[0]));
	memset(image[1], 2, sizeof(image[1]));
	disk_error = 0;
	flushes = 0;
	printed_bytes = wrote_bytes = requests = 0;
	answer = "reply";
}

static void teardown(void)
{
	virtio_free(&bus);
	x86_mem_destroy(&mem);
}

/* The widths of the registers are those of their fields. */
static uint32_t width(uint32_t offset)
{
	if (offset == STATUS || offset >= ISR)
		return 1;
	return offset >= 0x10 && offset < DESC_AT ? 2 : 4;
}

static uint32_t get(unsigned int device, uint32_t offset)
{
	uint32_t value = 0;

	virtio_pci(&bus, device, offset, width(offset), false, &value);
	return value;
}

static void set(unsigned int device, uint32_t offset, uint32_t value)
{
	virtio_pci(&bus, device, offset, width(offset), true, &value);
}

static void notify(unsigned int device, uint16_t queue)
{
	virtio_pci(&bus, device, NOTIFY + 4 * queue, sizeof(queue), true, &queue);
}

/* Take an interrupt. Returns its vector, or -1 if there is none. */
static int taken(unsigned int device)
{
	uint16_t vector;

	return virtio_take_vector(&bus, device, &vector) ? vector : -1;
}

static void negotiate(unsigned int device)
{
	set(device, STATUS, 0);
	set(device, STATUS, 1);
	set(device, STATUS, 3);
	set(device, DRIVER_SELECT, 1);
	set(device, DRIVER, 1); /* VERSION_1 */
	set(device, STATUS, 11);
	ck_assert_uint_eq(get(device, STATUS), 11);
}

/* Queue @n has its own pages behind those of queue 0. */
static void make_queue(unsigned int device, unsigned int n)
{
	const uint32_t at = n * 0x10000;

	set(device, QUEUE_SELECT, n);
	ck_assert_uint_eq(get(device, SIZE), VIRTIO_QUEUE_MAX);
	ck_assert_uint_eq(get(device, NOTIFY_OFF), n);
	set(device, VECTOR, n);
	ck_assert_uint_eq(get(device, VECTOR), n);
	set(device, SIZE, QUEUE);
	set(device, DESC_AT, at + DESC);
	set(device, AVAIL_AT, at + AVAIL);
	set(device, USED_AT, at + USED);
	set(device, ENABLE, 1);
	ck_assert_uint_eq(get(device, ENABLE), 1);
}

static void start(unsigned int device, unsigned int queues)
{
	unsigned int i;

	negotiate(device);
	for (i = 0; i < queues; i++)
		make_queue(device, i);
	set(device, STATUS, 15);
}

static void put(uint64_t gpa, const void *from, size_t bytes)
{
	ck_assert(x86_mem_write(&mem, gpa, from, bytes));
}

static void put_desc(unsigned int queue, unsigned int n, uint64_t gpa, uint32_t bytes,
		     uint16_t flags, uint16_t next)
{
	const struct {
		uint64_t gpa;
		uint32_t bytes;
		uint16_t flags, next;
	} d = {gpa, bytes, flags, next};

	put(queue * 0x10000 + DESC + n * sizeof(d), &d, sizeof(d));
}

static uint16_t word(uint64_t gpa)
{
	uint16_t value;

	ck_assert(x86_mem_read(&mem, gpa, &value, sizeof(value)));
	return value;
}

/* Make the chain that begins with descriptor @head available. */
static void offer(unsigned int queue, uint16_t head)
{
	const uint64_t avail = queue * 0x10000 + AVAIL;
	const uint16_t index = word(avail + 2), next = (uint16_t)(index + 1);

	put(avail + 4 + index % QUEUE * 2, &head, sizeof(head));
	put(avail + 2, &next, sizeof(next));
}

START_TEST(registers)
{
	uint8_t config[8];

	ck_assert_uint_eq(get(CONSOLE, QUEUES), 2);
	ck_assert_uint_eq(get(FOLDER, QUEUES), 1);
	/* The features: 64 bits in two halves. */
	ck_assert_uint_eq(get(FOLDER, DEVICE), 1);
	ck_assert_uint_eq(get(CONSOLE, DEVICE), 0);
	set(FOLDER, DEVICE_SELECT, 1);
	ck_assert_uint_eq(get(FOLDER, DEVICE), 1);
	set(FOLDER, DEVICE_SELECT, 2);
	ck_assert_uint_eq(get(FOLDER, DEVICE), 0);
	/* There are vectors for the queues, and one for the configuration. */
	ck_assert_uint_eq(get(FOLDER, CONFIG_VECTOR), VIRTIO_NO_VECTOR);
	set(FOLDER, CONFIG_VECTOR, 1);
	ck_assert_uint_eq(get(FOLDER, CONFIG_VECTOR), 1);
	set(FOLDER, CONFIG_VECTOR, 2);
	ck_assert_uint_eq(get(FOLDER, CONFIG_VECTOR), VIRTIO_NO_VECTOR);
	/* The configuration has any width. Nothing is behind it, or between the structures. */
	virtio_pci(&bus, FOLDER, CONFIG, 8, false, config);
	ck_assert_mem_eq(config, "\3\0tag\0\0\0", 8);
	virtio_pci(&bus, FOLDER, CONFIG + 0xff8, 8, false, config);
	ck_assert_mem_eq(config, "\0\0\0\0\0\0\0\0", 8);
	memset(config, 0x5a, sizeof(config));
	virtio_pci(&bus, FOLDER, 0x38, 8, false, config);
	ck_assert_mem_eq(config, "\0\0\0\0\0\0\0\0", 8);
	virtio_pci(&bus, FOLDER, 0x34, 8, true, config);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].used, 0);
}
END_TEST

/* Each capability names a structure in BAR 0 (4.1.4), and the last has no next. */
START_TEST(capabilities)
{
	static const uint8_t types[] = {1, 3, 4, 2};
	uint8_t config[256] = {0};
	unsigned int at = 0x50, i;

	virtio_pci_capabilities(config, at);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		ck_assert_uint_eq(config[at], 9);
		ck_assert_uint_eq(config[at + 2], types[i] == 2 ? 20 : 16);
		ck_assert_uint_eq(config[at + 3], types[i]);
		ck_assert_uint_eq(config[at + 4], 0);
		at = config[at + 1];
	}
	ck_assert_uint_eq(at, 0);
}
END_TEST

START_TEST(tags)
{
	struct virtio_bus other = {.count = 0};
	char tag[VIRTIO_TAG_MAX + 2];

	memset(tag, 't', sizeof(tag));
	tag[VIRTIO_TAG_MAX + 1] = 0;
	ck_assert_int_eq(virtio_add_share(&other, tag), -EINVAL);
	ck_assert_int_eq(virtio_add_share(&other, ""), -EINVAL);
	tag[VIRTIO_TAG_MAX] = 0;
	ck_assert_int_eq(virtio_add_share(&other, tag), 0);
	virtio_free(&other);
}
END_TEST

START_TEST(features)
{
	/* Without VERSION_1, and with a feature that was not offered. */
	set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(get(FOLDER, STATUS), 3);
	set(FOLDER, DRIVER_SELECT, 1);
	set(FOLDER, DRIVER, 3);
	set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(get(FOLDER, STATUS), 3);
	/* The driver cannot run a device whose features it has not accepted. */
	set(FOLDER, STATUS, 7);
	ck_assert_uint_eq(get(FOLDER, STATUS), 3);
	negotiate(FOLDER);
	/* They are fixed now. */
	set(FOLDER, DRIVER, 0);
	set(FOLDER, STATUS, 15);
	ck_assert_uint_eq(get(FOLDER, STATUS), 15);
	set(FOLDER, STATUS, 0);
	ck_assert_uint_eq(get(FOLDER, STATUS), 0);
	set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(get(FOLDER, STATUS), 3);
}
END_TEST

START_TEST(queue_registers)
{
	negotiate(FOLDER);
	set(FOLDER, QUEUE_SELECT, 1);
	ck_assert_uint_eq(get(FOLDER, SIZE), 0);
	set(FOLDER, SIZE, 8);
	set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(get(FOLDER, ENABLE), 0);
	set(FOLDER, QUEUE_SELECT, 0);
	/* The size is a power of 2. */
	set(FOLDER, SIZE, 2 * VIRTIO_QUEUE_MAX);
	set(FOLDER, SIZE, 6);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, 0);
	set(FOLDER, SIZE, 8);
	set(FOLDER, DESC_AT + 4, 1);
	set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(get(FOLDER, ENABLE), 1);
	/* A queue that is ready does not move. */
	set(FOLDER, SIZE, 16);
	set(FOLDER, DESC_AT + 4, 0);
	set(FOLDER, ENABLE, 0);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, 8);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].desc, 1ull << 32);
	ck_assert_uint_eq(get(FOLDER, ENABLE), 1);
	/* A reset of the device is the only end. A driver that sets no size gets the largest. */
	set(FOLDER, STATUS, 0);
	ck_assert_uint_eq(get(FOLDER, ENABLE), 0);
	set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, VIRTIO_QUEUE_MAX);
}
END_TEST

START_TEST(request)
{
	char reply[8] = "";

	start(FOLDER, 1);
	put(DATA, "requ", 4);
	put(DATA + 0x100, "est", 3);
	put_desc(0, 0, DATA, 4, NEXT, 3);
	put_desc(0, 3, DATA + 0x100, 3, NEXT, 1);
	put_desc(0, 1, DATA + 0x200, 2, NEXT | WRITE, 2);
	put_desc(0, 2, DATA + 0x300, 100, WRITE, 0);
	offer(0, 0);
	ck_assert_uint_eq(requests, 0);
	notify(FOLDER, 1); /* another queue */
	ck_assert_uint_eq(requests, 0);
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 1);
	ck_assert_uint_eq(asked_bytes, 7);
	ck_assert_mem_eq(asked, "request", 7);
	ck_assert_uint_eq(room, 102);
	ck_assert(x86_mem_read(&mem, DATA + 0x200, reply, 3));
	ck_assert_mem_eq(reply, "re\0", 3);
	ck_assert(x86_mem_read(&mem, DATA + 0x300, reply, 4));
	ck_assert_mem_eq(reply, "ply\0", 4);
	/* The used ring: index 1, head 0, 5 bytes. */
	ck_assert_uint_eq(word(USED + 2), 1);
	ck_assert_uint_eq(word(USED + 4), 0);
	ck_assert_uint_eq(word(USED + 8), 5);
	/* The machine learns of each byte that the device wrote. */
	ck_assert_uint_eq(wrote_bytes, 5 + 8 + 2);
	ck_assert_int_eq(taken(FOLDER), 0);
	ck_assert_int_eq(taken(FOLDER), -1);
	ck_assert_int_eq(taken(CONSOLE), -1);
	/* A read clears the register. */
	ck_assert_uint_eq(get(FOLDER, ISR), 1);
	ck_assert_uint_eq(get(FOLDER, ISR), 0);
	/* A driver that wants no interrupt gets none. Nothing is served twice. */
	put(AVAIL, "\1", 1);
	offer(0, 0);
	offer(0, 0);
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 3);
	ck_assert_uint_eq(word(USED + 2), 3);
	ck_assert_int_eq(taken(FOLDER), -1);
}
END_TEST

START_TEST(short_reply)
{
	start(FOLDER, 1);
	put_desc(0, 0, DATA, 4, NEXT, 1);
	put_desc(0, 1, DATA + 0x200, 2, WRITE, 2);
	offer(0, 0);
	put_desc(0, 3, DATA, 4, 0, 0);
	offer(0, 3);
	answer = "reply";
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 2);
	ck_assert_uint_eq(word(USED + 8), 2);
	ck_assert_uint_eq(room, 0);
	ck_assert_uint_eq(get(FOLDER, STATUS), 15);
}
END_TEST

/* Each of these functions breaks one rule in a valid chain of two descriptors. */
static void break_head(void)
{
	offer(0, QUEUE);
}

static void break_loop(void)
{
	put_desc(0, 0, DATA, 4, NEXT, 0);
	offer(0, 0);
}

static void break_next(void)
{
	put_desc(0, 0, DATA, 4, NEXT, QUEUE);
	offer(0, 0);
}

static void break_order(void)
{
	put_desc(0, 0, DATA, 4, NEXT | WRITE, 1);
	put_desc(0, 1, DATA, 4, 0, 0);
	offer(0, 0);
}

static void break_flags(void)
{
	put_desc(0, 0, DATA, 4, 4, 0); /* indirect */
	offer(0, 0);
}

static void break_index(void)
{
	put(AVAIL + 2, "\11\0", 2); /* more than the size of the queue */
}

static void break_request(void)
{
	put_desc(0, 0, RAM - 2, 4, NEXT, 1);
	offer(0, 0);
}

static void break_reply(void)
{
	put_desc(0, 1, RAM - 2, 4, WRITE, 0);
	offer(0, 0);
}

static void break_size(void)
{
	put_desc(0, 0, DATA, VIRTIO_SHARE_MAX + 1, NEXT, 1);
	offer(0, 0);
}

static void (*const faults[])(void) = {
	break_head,  break_loop,    break_next,	 break_order, break_flags,
	break_index, break_request, break_reply, break_size,
};

START_TEST(broken_queue)
{
	start(FOLDER, 1);
	put_desc(0, 0, DATA, 4, NEXT, 1);
	put_desc(0, 1, DATA + 0x200, 100, WRITE, 0);
	faults[_i]();
	notify(FOLDER, 0);
	ck_assert_uint_eq(get(FOLDER, STATUS), 15 | 64);
	ck_assert_uint_eq(get(FOLDER, ISR), 2);
	ck_assert_int_eq(taken(FOLDER), VIRTIO_NO_VECTOR);
	ck_assert_uint_eq(word(USED + 2), 0);
	/* Nothing more happens until the driver resets the device. */
	notify(FOLDER, 0);
	set(FOLDER, STATUS, 15);
	ck_assert_uint_eq(get(FOLDER, STATUS), 15 | 64);
	set(FOLDER, STATUS, 0);
	put(AVAIL + 2, "\0", 2);
	start(FOLDER, 1);
	put_desc(0, 0, DATA, 4, NEXT, 1);
	put_desc(0, 1, DATA + 0x200, 100, WRITE, 0);
	offer(0, 0);
	requests = 0;
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 1);
	ck_assert_uint_eq(word(USED + 2), 1);
}
END_TEST

/* Rings outside of RAM, at each address. */
START_TEST(no_ram)
{
	static const uint32_t at[] = {DESC_AT, AVAIL_AT, USED_AT};

	negotiate(FOLDER);
	set(FOLDER, SIZE, QUEUE);
	set(FOLDER, DESC_AT, DESC);
	set(FOLDER, AVAIL_AT, AVAIL);
	set(FOLDER, USED_AT, USED);
	set(FOLDER, at[_i] + 4, ~0u);
	set(FOLDER, ENABLE, 1);
	set(FOLDER, STATUS, 15);
	put_desc(0, 0, DATA, 4, 0, 0);
	offer(0, 0);
	notify(FOLDER, 0);
	ck_assert_uint_eq(get(FOLDER, STATUS), 15 | 64);
}
END_TEST

START_TEST(not_running)
{
	make_queue(FOLDER, 0);
	put_desc(0, 0, DATA, 4, 0, 0);
	offer(0, 0);
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 0);
	start(FOLDER, 1);
	virtio_reset(&bus);
	notify(FOLDER, 0);
	ck_assert_uint_eq(requests, 0);
	ck_assert_uint_eq(get(FOLDER, STATUS), 0);
}
END_TEST

START_TEST(output)
{
	start(CONSOLE, 2);
	put(DATA, "hello", 5);
	put_desc(1, 0, DATA, 2, NEXT, 1);
	put_desc(1, 1, DATA + 2, 3, 0, 0);
	offer(1, 0);
	notify(CONSOLE, 1);
	ck_assert_uint_eq(printed_bytes, 5);
	ck_assert_mem_eq(printed, "hello", 5);
	ck_assert_uint_eq(word(0x10000 + USED + 2), 1);
	ck_assert_int_eq(taken(CONSOLE), 1);
	/* Outside of RAM. */
	put_desc(1, 0, RAM - 1, 2, 0, 0);
	offer(1, 0);
	notify(CONSOLE, 1);
	ck_assert_uint_eq(get(CONSOLE, STATUS), 15 | 64);
	ck_assert_uint_eq(printed_bytes, 5);
}
END_TEST

START_TEST(input)
{
	char got[8];

	ck_assert(virtio_has_console(&bus));
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
	virtio_console_receive(&bus, (const uint8_t *)"lost", 4);
	start(CONSOLE, 2);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
	put_desc(0, 0, DATA, 3, WRITE, 0);
	put_desc(0, 1, DATA + 0x100, 100, WRITE, 0);
	offer(0, 0);
	offer(0, 1);
	notify(CONSOLE, 0);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 3);
	ck_assert_uint_eq(virtio_console_wants(&bus, 2), 2);
	/* To wait for bytes changes nothing. */
	ck_assert_uint_eq(word(USED + 2), 0);
	virtio_console_receive(&bus, (const uint8_t *)"abcd", 4);
	ck_assert(x86_mem_read(&mem, DATA, got, 4));
	ck_assert_mem_eq(got, "abc\0", 4);
	ck_assert_uint_eq(word(USED + 8), 3);
	ck_assert_int_eq(taken(CONSOLE), 0);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 16);
	virtio_console_receive(&bus, (const uint8_t *)"e", 1);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
	ck_assert_uint_eq(word(USED + 2), 2);
	/* A broken queue wants nothing. A buffer outside of RAM breaks the device. */
	put_desc(0, 2, RAM, 4, WRITE, 0);
	offer(0, 2);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 4);
	virtio_console_receive(&bus, (const uint8_t *)"f", 1);
	ck_assert_uint_eq(get(CONSOLE, STATUS), 15 | 64);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
}
END_TEST

/* Offer a request to a disk: its type and sector, @bytes of data at DATA, and the status. */
static void offer_request(uint32_t type, uint64_t sector, uint32_t bytes, bool in)
{
	const struct {
		uint32_t type, reserved;
		uint64_t sector;
	} head = {type, 0, sector};

	put(0x7000, &head, sizeof(head));
	put(0x7100, "\xff", 1);
	put_desc(0, 0, 0x7000, sizeof(head), NEXT, bytes ? 1 : 2);
	put_desc(0, 1, DATA, bytes, NEXT | (in ? WRITE : 0), 2);
	put_desc(0, 2, 0x7100, 1, WRITE, 0);
	offer(0, 0);
}

static uint8_t byte(uint64_t gpa)
{
	uint8_t value;

	ck_assert(x86_mem_read(&mem, gpa, &value, 1));
	return value;
}

/* Complete what is due. Returns the status of the last request. */
static uint8_t complete(void)
{
	virtio_advance(&bus, bus.now + 1000000000);
	return byte(0x7100);
}

START_TEST(disk_requests)
{
	uint8_t sectors[8];

	virtio_pci(&bus, DISK, CONFIG, 8, false, sectors);
	ck_assert_mem_eq(sectors, "\10\0\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(get(DISK, DEVICE), 1 << 1 | 1 << 2 | 1 << 9);
	start(DISK, 1);
	image[0][3 * SECTOR] = 0x33;
	offer_request(0, 3, 2 * SECTOR, true);
	notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(byte(DATA), 0x33);
	ck_assert_uint_eq(byte(DATA + 2 * SECTOR - 1), 1);
	ck_assert_uint_eq(word(USED + 8), 2 * SECTOR + 1);
	ck_assert_int_eq(taken(DISK), 0);
	put(DATA, "written", 8);
	offer_request(1, 7, SECTOR, false);
	notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_str_eq((const char *)image[0] + 7 * SECTOR, "written");
	ck_assert_uint_eq(word(USED + 4 + 8 + 4), 1);
	offer_request(4, 0, 0, false);
	notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(flushes, 1);
	offer_request(8, 0, 20, true);
	notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(byte(DATA), 'v');
}
END_TEST

/* Requests that the disk refuses with a status: 1 is an error, and 2 that there is no such request. */
static const struct refusal {
	uint32_t type;
	uint64_t sector;
	uint32_t bytes;
	bool in;
	uint8_t status;
} refusals[] = {
	{0, 8, SECTOR, true, 1},	      /* behind the end */
	{0, 7, 2 * SECTOR, true, 1},	      /* across the end */
	{0, UINT64_MAX, 2 * SECTOR, true, 1}, /* around zero */
	{0, UINT64_MAX / SECTOR + 1, SECTOR, true, 1},
	{0, 0, SECTOR - 1, true, 1}, /* a part of a sector */
	{1, 8, SECTOR, false, 1},
	{8, 0, 19, true, 1},	   /* no room for the name */
	{11, 0, SECTOR, false, 2}, /* discard, which is not offered */
};

START_TEST(disk_refuses)
{
	const struct refusal *r = &refusals[_i];

	start(DISK, 1);
	offer_request(r->type, r->sector, r->bytes, r->in);
	notify(DISK, 0);
	ck_assert_uint_eq(complete(), r->status);
	ck_assert_uint_eq(get(DISK, STATUS), 15);
	ck_assert_uint_eq(image[0][0], 1);
	ck_assert_uint_eq(image[0][sizeof(image[0]) - 1], 1);
}
END_TEST

START_TEST(disk_read_only)
{
	ck_assert_uint_eq(get(READ_ONLY, DEVICE) >> 5 & 1, 1);
	start(READ_ONLY, 1);
	offer_request(1, 0, SECTOR, false);
	notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 1);
	ck_assert_uint_eq(image[1][0], 2);
	offer_request(0, 0, SECTOR, true);
	notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(byte(DATA), 2);
	/* An error of the host. */
	disk_error = -EIO;
	offer_request(0, 0, SECTOR, true);
	notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 1);
}
END_TEST

/* A request completes at a time that follows from its size, and the next begins then. */
START_TEST(disk_time)
{
	ck_assert_uint_eq(virtio_next(&bus), VIRTIO_NEVER);
	start(DISK, 1);
	virtio_advance(&bus, 1000);
	offer_request(0, 0, SECTOR, true);
	offer(0, 0);
	notify(DISK, 0);
	ck_assert_uint_eq(virtio_next(&bus), 1000 + 20000 + (16 + 512 + 1) / 2);
	virtio_advance(&bus, virtio_next(&bus) - 1);
	ck_assert_uint_eq(word(USED + 2), 0);
	virtio_advance(&bus, virtio_next(&bus));
	ck_assert_uint_eq(word(USED + 2), 1);
	ck_assert_uint_eq(virtio_next(&bus), 1000 + 2 * (20000 + (16 + 512 + 1) / 2));
	/* A second notification changes nothing. A reset ends the request. */
	notify(DISK, 0);
	ck_assert_uint_eq(virtio_next(&bus), 1000 + 2 * (20000 + (16 + 512 + 1) / 2));
	set(DISK, STATUS, 0);
	ck_assert_uint_eq(virtio_next(&bus), VIRTIO_NEVER);
	ck_assert_uint_eq(word(USED + 2), 1);
}
END_TEST

/* Chains that are no request of a disk, and changes while the request is in flight. */
static void break_no_status(void)
{
	put_desc(0, 0, 0x7000, 16, 0, 0);
	offer(0, 0);
}

static void break_short_head(void)
{
	offer_request(0, 0, SECTOR, true);
	put_desc(0, 0, 0x7000, 15, NEXT, 1);
}

static void break_long_data(void)
{
	offer_request(0, 0, VIRTIO_DISK_MAX + 1, true);
}

static void break_outside(void)
{
	offer_request(0, 0, SECTOR, true);
	put_desc(0, 1, RAM - 1, SECTOR, NEXT | WRITE, 2);
}

static void (*const disk_faults[])(void) = {break_no_status, break_short_head, break_long_data,
					    break_outside};

START_TEST(broken_disk)
{
	start(DISK, 1);
	disk_faults[_i]();
	notify(DISK, 0);
	(void)complete();
	ck_assert_uint_eq(get(DISK, STATUS), 15 | 64);
	ck_assert_uint_eq(word(USED + 2), 0);
	ck_assert_uint_eq(virtio_next(&bus), VIRTIO_NEVER);
	set(DISK, STATUS, 0);
	put(AVAIL + 2, "\0", 2);
	start(DISK, 1);
	offer_request(0, 0, SECTOR, true);
	notify(DISK, 0);
	/* The driver takes the request back while it is in flight. */
	put(AVAIL + 2, "\0", 2);
	(void)complete();
	ck_assert_uint_eq(get(DISK, STATUS), 15 | 64);
}
END_TEST

START_TEST(random_bytes)
{
	uint8_t first[16], second[16];

	start(RANDOM, 1);
	put_desc(0, 0, DATA, sizeof(first), WRITE, 0);
	offer(0, 0);
	notify(RANDOM, 0);
	ck_assert_uint_eq(word(USED + 8), sizeof(first));
	ck_assert(x86_mem_read(&mem, DATA, first, sizeof(first)));
	offer(0, 0);
	notify(RANDOM, 0);
	ck_assert(x86_mem_read(&mem, DATA, second, sizeof(second)));
	ck_assert_mem_ne(first, second, sizeof(first));
	/* The same seed makes the same numbers. */
	bus.random = 7;
	offer(0, 0);
	notify(RANDOM, 0);
	ck_assert(x86_mem_read(&mem, DATA, second, sizeof(second)));
	ck_assert_mem_eq(first, second, sizeof(first));
	/* A longer buffer gets no more than 256 bytes. */
	put_desc(0, 0, DATA, 1000, WRITE, 0);
	offer(0, 0);
	notify(RANDOM, 0);
	ck_assert_uint_eq(word(USED + 4 + 3 * 8 + 4), 256);
	put_desc(0, 0, RAM - 1, 2, WRITE, 0);
	offer(0, 0);
	notify(RANDOM, 0);
	ck_assert_uint_eq(get(RANDOM, STATUS), 15 | 64);
}
END_TEST

START_TEST(full_bus)
{
	unsigned int i;

	for (i = 2; i < VIRTIO_DISKS; i++)
		ck_assert_int_eq(virtio_add_disk(&bus, SECTOR, false), 0);
	ck_assert_int_eq(virtio_add_disk(&bus, SECTOR, false), -ENOSPC);
	while (bus.count < VIRTIO_DEVICES)
		ck_assert_int_eq(virtio_add_random(&bus, 0), 0);
	ck_assert_int_eq(virtio_add_random(&bus, 0), -ENOSPC);
	ck_assert_int_eq(virtio_add_console(&bus), -ENOSPC);
	ck_assert_int_eq(virtio_add_share(&bus, "more"), -ENOSPC);
}
END_TEST

TEST_SUITE("virtio", setup, teardown)
{
	TEST_ADD(tcase, registers, capabilities, tags, features, queue_registers, request,
		 short_reply, not_running, output, input, disk_requests, disk_read_only, disk_time,
		 random_bytes, full_bus);
	TEST_ROWS(tcase, disk_refuses, refusals);
	TEST_ROWS(tcase, broken_disk, disk_faults);
	TEST_ROWS(tcase, broken_queue, faults);
	TEST_LOOP(tcase, 3, no_ram);
}
