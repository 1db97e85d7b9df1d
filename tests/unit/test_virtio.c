// SPDX-License-Identifier: GPL-2.0-or-later
/* virtio devices: registers of virtio-mmio, queues and their faults, the folder, the console. */
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

#include "virtio/virtio.h"

#define RAM	(1u << 20)
#define DESC	0x1000u
#define AVAIL	0x2000u
#define USED	0x3000u
#define DATA	0x8000u
#define QUEUE	8u
#define CONSOLE 0u
#define FOLDER	1u

#define NEXT  1u
#define WRITE 2u

static struct x86_mem mem;
static struct virtio_bus bus;
static char printed[64], asked[64];
static const char *answer;
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
	};
	virtio_add_console(&bus);
	ck_assert_int_eq(virtio_add_share(&bus, "tag"), 0);
	printed_bytes = wrote_bytes = requests = 0;
	answer = "reply";
}

static void teardown(void)
{
	virtio_free(&bus);
	x86_mem_destroy(&mem);
}

static uint32_t get(unsigned int device, uint32_t offset)
{
	uint32_t value = 0x5a5a5a5a;

	ck_assert(
		virtio_mmio(&bus, VIRTIO_FIRST + device * VIRTIO_PAGE + offset, 4, false, &value));
	return value;
}

static void set(unsigned int device, uint32_t offset, uint32_t value)
{
	ck_assert(virtio_mmio(&bus, VIRTIO_FIRST + device * VIRTIO_PAGE + offset, 4, true, &value));
}

static void negotiate(unsigned int device)
{
	set(device, 0x70, 1);
	set(device, 0x70, 3);
	set(device, 0x24, 1);
	set(device, 0x20, 1); /* VERSION_1 */
	set(device, 0x70, 11);
	ck_assert_uint_eq(get(device, 0x70), 11);
}

/* Queue @n has its own pages behind those of queue 0. */
static void make_queue(unsigned int device, unsigned int n)
{
	const uint32_t at = n * 0x10000;

	set(device, 0x30, n);
	ck_assert_uint_eq(get(device, 0x34), VIRTIO_QUEUE_MAX);
	set(device, 0x38, QUEUE);
	set(device, 0x80, at + DESC);
	set(device, 0x90, at + AVAIL);
	set(device, 0xa0, at + USED);
	set(device, 0x44, 1);
	ck_assert_uint_eq(get(device, 0x44), 1);
}

static void start(unsigned int device, unsigned int queues)
{
	unsigned int i;

	negotiate(device);
	for (i = 0; i < queues; i++)
		make_queue(device, i);
	set(device, 0x70, 15);
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
	uint8_t byte = 0x5a;
	char config[8];

	ck_assert_uint_eq(get(CONSOLE, 0x0), 0x74726976);
	ck_assert_uint_eq(get(CONSOLE, 0x4), 2);
	ck_assert_uint_eq(get(CONSOLE, 0x8), 3);
	ck_assert_uint_eq(get(FOLDER, 0x8), 9);
	ck_assert_uint_eq(get(FOLDER, 0xb0), ~0u);
	ck_assert_uint_eq(get(FOLDER, 0xfc), 0);
	/* The features: 64 bits in two halves. */
	ck_assert_uint_eq(get(FOLDER, 0x10), 1);
	ck_assert_uint_eq(get(CONSOLE, 0x10), 0);
	set(FOLDER, 0x14, 1);
	ck_assert_uint_eq(get(FOLDER, 0x10), 1);
	set(FOLDER, 0x14, 2);
	ck_assert_uint_eq(get(FOLDER, 0x10), 0);
	/* The configuration has any width. Registers have one. */
	ck_assert(virtio_mmio(&bus, VIRTIO_FIRST + VIRTIO_PAGE + 0x100, 8, false, config));
	ck_assert_mem_eq(config, "\3\0tag\0\0\0", 8);
	ck_assert(virtio_mmio(&bus, VIRTIO_FIRST, 1, false, &byte));
	ck_assert_uint_eq(byte, 0);
	ck_assert(virtio_mmio(&bus, VIRTIO_FIRST + 0x70, 1, true, &byte));
	ck_assert_uint_eq(get(CONSOLE, 0x70), 0);
	ck_assert(!virtio_mmio(&bus, VIRTIO_FIRST - 1, 1, false, &byte));
	ck_assert(!virtio_mmio(&bus, VIRTIO_FIRST + 2 * VIRTIO_PAGE, 1, false, &byte));
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
	set(FOLDER, 0x70, 11);
	ck_assert_uint_eq(get(FOLDER, 0x70), 3);
	set(FOLDER, 0x24, 1);
	set(FOLDER, 0x20, 3);
	set(FOLDER, 0x70, 11);
	ck_assert_uint_eq(get(FOLDER, 0x70), 3);
	/* The driver cannot run a device whose features it has not accepted. */
	set(FOLDER, 0x70, 7);
	ck_assert_uint_eq(get(FOLDER, 0x70), 3);
	negotiate(FOLDER);
	/* They are fixed now. */
	set(FOLDER, 0x20, 0);
	set(FOLDER, 0x70, 15);
	ck_assert_uint_eq(get(FOLDER, 0x70), 15);
	set(FOLDER, 0x70, 0);
	ck_assert_uint_eq(get(FOLDER, 0x70), 0);
	set(FOLDER, 0x70, 11);
	ck_assert_uint_eq(get(FOLDER, 0x70), 3);
}
END_TEST

START_TEST(queue_registers)
{
	negotiate(FOLDER);
	set(FOLDER, 0x30, 1);
	ck_assert_uint_eq(get(FOLDER, 0x34), 0);
	set(FOLDER, 0x38, 8);
	set(FOLDER, 0x44, 1);
	ck_assert_uint_eq(get(FOLDER, 0x44), 0);
	set(FOLDER, 0x30, 0);
	/* A queue needs a size, which is a power of 2. */
	set(FOLDER, 0x44, 1);
	ck_assert_uint_eq(get(FOLDER, 0x44), 0);
	set(FOLDER, 0x38, 2 * VIRTIO_QUEUE_MAX);
	set(FOLDER, 0x38, 6);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, 0);
	set(FOLDER, 0x38, 8);
	set(FOLDER, 0x84, 1);
	set(FOLDER, 0x44, 1);
	ck_assert_uint_eq(get(FOLDER, 0x44), 1);
	/* A queue that is ready does not move. */
	set(FOLDER, 0x38, 16);
	set(FOLDER, 0x84, 0);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, 8);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].desc, 1ull << 32);
	set(FOLDER, 0x44, 0);
	ck_assert_uint_eq(bus.device[FOLDER].queue[0].size, 0);
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
	set(FOLDER, 0x50, 1); /* another queue */
	ck_assert_uint_eq(requests, 0);
	set(FOLDER, 0x50, 0);
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
	ck_assert(virtio_irq(&bus, FOLDER));
	ck_assert(!virtio_irq(&bus, CONSOLE));
	ck_assert_uint_eq(get(FOLDER, 0x60), 1);
	set(FOLDER, 0x64, 1);
	ck_assert(!virtio_irq(&bus, FOLDER));
	/* A driver that wants no interrupt gets none. Nothing is served twice. */
	put(AVAIL, "\1", 1);
	offer(0, 0);
	offer(0, 0);
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(requests, 3);
	ck_assert_uint_eq(word(USED + 2), 3);
	ck_assert(!virtio_irq(&bus, FOLDER));
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
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(requests, 2);
	ck_assert_uint_eq(word(USED + 8), 2);
	ck_assert_uint_eq(room, 0);
	ck_assert_uint_eq(get(FOLDER, 0x70), 15);
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
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(get(FOLDER, 0x70), 15 | 64);
	ck_assert_uint_eq(get(FOLDER, 0x60), 2);
	ck_assert_uint_eq(word(USED + 2), 0);
	/* Nothing more happens until the driver resets the device. */
	set(FOLDER, 0x50, 0);
	set(FOLDER, 0x70, 15);
	ck_assert_uint_eq(get(FOLDER, 0x70), 15 | 64);
	set(FOLDER, 0x70, 0);
	put(AVAIL + 2, "\0", 2);
	start(FOLDER, 1);
	put_desc(0, 0, DATA, 4, NEXT, 1);
	put_desc(0, 1, DATA + 0x200, 100, WRITE, 0);
	offer(0, 0);
	requests = 0;
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(requests, 1);
	ck_assert_uint_eq(word(USED + 2), 1);
}
END_TEST

/* Rings outside of RAM, at each address. */
START_TEST(no_ram)
{
	static const uint32_t at[] = {0x80, 0x90, 0xa0};

	negotiate(FOLDER);
	set(FOLDER, 0x38, QUEUE);
	set(FOLDER, 0x80, DESC);
	set(FOLDER, 0x90, AVAIL);
	set(FOLDER, 0xa0, USED);
	set(FOLDER, at[_i] + 4, ~0u);
	set(FOLDER, 0x44, 1);
	set(FOLDER, 0x70, 15);
	put_desc(0, 0, DATA, 4, 0, 0);
	offer(0, 0);
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(get(FOLDER, 0x70), 15 | 64);
}
END_TEST

START_TEST(not_running)
{
	make_queue(FOLDER, 0);
	put_desc(0, 0, DATA, 4, 0, 0);
	offer(0, 0);
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(requests, 0);
	start(FOLDER, 1);
	virtio_reset(&bus);
	set(FOLDER, 0x50, 0);
	ck_assert_uint_eq(requests, 0);
	ck_assert_uint_eq(get(FOLDER, 0x70), 0);
}
END_TEST

START_TEST(output)
{
	start(CONSOLE, 2);
	put(DATA, "hello", 5);
	put_desc(1, 0, DATA, 2, NEXT, 1);
	put_desc(1, 1, DATA + 2, 3, 0, 0);
	offer(1, 0);
	set(CONSOLE, 0x50, 1);
	ck_assert_uint_eq(printed_bytes, 5);
	ck_assert_mem_eq(printed, "hello", 5);
	ck_assert_uint_eq(word(0x10000 + USED + 2), 1);
	ck_assert(virtio_irq(&bus, CONSOLE));
	/* Outside of RAM. */
	put_desc(1, 0, RAM - 1, 2, 0, 0);
	offer(1, 0);
	set(CONSOLE, 0x50, 1);
	ck_assert_uint_eq(get(CONSOLE, 0x70), 15 | 64);
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
	set(CONSOLE, 0x50, 0);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 3);
	ck_assert_uint_eq(virtio_console_wants(&bus, 2), 2);
	/* To wait for bytes changes nothing. */
	ck_assert_uint_eq(word(USED + 2), 0);
	virtio_console_receive(&bus, (const uint8_t *)"abcd", 4);
	ck_assert(x86_mem_read(&mem, DATA, got, 4));
	ck_assert_mem_eq(got, "abc\0", 4);
	ck_assert_uint_eq(word(USED + 8), 3);
	ck_assert(virtio_irq(&bus, CONSOLE));
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 16);
	virtio_console_receive(&bus, (const uint8_t *)"e", 1);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
	ck_assert_uint_eq(word(USED + 2), 2);
	/* A broken queue wants nothing. A buffer outside of RAM breaks the device. */
	put_desc(0, 2, RAM, 4, WRITE, 0);
	offer(0, 2);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 4);
	virtio_console_receive(&bus, (const uint8_t *)"f", 1);
	ck_assert_uint_eq(get(CONSOLE, 0x70), 15 | 64);
	ck_assert_uint_eq(virtio_console_wants(&bus, 16), 0);
}
END_TEST

TEST_SUITE("virtio", setup, teardown)
{
	TEST_ADD(tcase, registers, tags, features, queue_registers, request, short_reply,
		 not_running, output, input);
	TEST_ROWS(tcase, broken_queue, faults);
	TEST_LOOP(tcase, 3, no_ram);
}
