// SPDX-License-Identifier: GPL-2.0-or-later
/* virtio devices: registers of PCI, queues and their faults, the folder, the console. */
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

#include "lib/virtio_bus.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(registers)
{
	uint8_t config[8];

	ck_assert_uint_eq(vio_get(CONSOLE, QUEUES), 2);
	ck_assert_uint_eq(vio_get(FOLDER, QUEUES), 1);
	/* The features: 64 bits in two halves. */
	ck_assert_uint_eq(vio_get(FOLDER, DEVICE), FEATURE_INDIRECT | FEATURE_EVENT | 1);
	ck_assert_uint_eq(vio_get(CONSOLE, DEVICE), FEATURE_INDIRECT | FEATURE_EVENT);
	ck_assert_uint_eq(vio_get(RANDOM, DEVICE), FEATURE_INDIRECT | FEATURE_EVENT);
	vio_set(FOLDER, DEVICE_SELECT, 1);
	ck_assert_uint_eq(vio_get(FOLDER, DEVICE), 1);
	vio_set(FOLDER, DEVICE_SELECT, 2);
	ck_assert_uint_eq(vio_get(FOLDER, DEVICE), 0);
	/* There are vectors for the queues, and one for the configuration. */
	ck_assert_uint_eq(vio_get(FOLDER, CONFIG_VECTOR), VIRTIO_NO_VECTOR);
	vio_set(FOLDER, CONFIG_VECTOR, 1);
	ck_assert_uint_eq(vio_get(FOLDER, CONFIG_VECTOR), 1);
	vio_set(FOLDER, CONFIG_VECTOR, 2);
	ck_assert_uint_eq(vio_get(FOLDER, CONFIG_VECTOR), VIRTIO_NO_VECTOR);
	/* The configuration has any width. Nothing is behind it, or between the structures. */
	virtio_pci(&vio_bus, FOLDER, CONFIG, 8, false, config);
	ck_assert_mem_eq(config, "\3\0tag\0\0\0", 8);
	virtio_pci(&vio_bus, FOLDER, CONFIG + 0xff8, 8, false, config);
	ck_assert_mem_eq(config, "\0\0\0\0\0\0\0\0", 8);
	memset(config, 0x5a, sizeof(config));
	virtio_pci(&vio_bus, FOLDER, 0x38, 8, false, config);
	ck_assert_mem_eq(config, "\0\0\0\0\0\0\0\0", 8);
	virtio_pci(&vio_bus, FOLDER, 0x34, 8, true, config);
	ck_assert_uint_eq(vio_bus.device[FOLDER].queue[0].used, 0);
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
	vio_set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 3);
	vio_set(FOLDER, DRIVER_SELECT, 1);
	vio_set(FOLDER, DRIVER, 3);
	vio_set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 3);
	/* The driver cannot run a device whose features it has not accepted. */
	vio_set(FOLDER, STATUS, 7);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 3);
	vio_negotiate(FOLDER);
	/* They are fixed now. */
	vio_set(FOLDER, DRIVER, 0);
	vio_set(FOLDER, STATUS, 15);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15);
	vio_set(FOLDER, STATUS, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 0);
	vio_set(FOLDER, STATUS, 11);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 3);
}
END_TEST

START_TEST(queue_registers)
{
	vio_negotiate(FOLDER);
	vio_set(FOLDER, QUEUE_SELECT, 1);
	ck_assert_uint_eq(vio_get(FOLDER, SIZE), 0);
	vio_set(FOLDER, SIZE, 8);
	vio_set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(vio_get(FOLDER, ENABLE), 0);
	vio_set(FOLDER, QUEUE_SELECT, 0);
	/* The size is a power of 2. */
	vio_set(FOLDER, SIZE, 2 * VIRTIO_QUEUE_MAX);
	vio_set(FOLDER, SIZE, 6);
	ck_assert_uint_eq(vio_bus.device[FOLDER].queue[0].size, 0);
	vio_set(FOLDER, SIZE, 8);
	vio_set(FOLDER, DESC_AT + 4, 1);
	vio_set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(vio_get(FOLDER, ENABLE), 1);
	/* A queue that is ready does not move. */
	vio_set(FOLDER, SIZE, 16);
	vio_set(FOLDER, DESC_AT + 4, 0);
	vio_set(FOLDER, ENABLE, 0);
	ck_assert_uint_eq(vio_bus.device[FOLDER].queue[0].size, 8);
	ck_assert_uint_eq(vio_bus.device[FOLDER].queue[0].desc, 1ull << 32);
	ck_assert_uint_eq(vio_get(FOLDER, ENABLE), 1);
	/* A reset of the device is the only end. A driver that sets no size gets the largest. */
	vio_set(FOLDER, STATUS, 0);
	ck_assert_uint_eq(vio_get(FOLDER, ENABLE), 0);
	vio_set(FOLDER, ENABLE, 1);
	ck_assert_uint_eq(vio_bus.device[FOLDER].queue[0].size, VIRTIO_QUEUE_MAX);
}
END_TEST

START_TEST(request)
{
	char reply[8] = "";

	vio_start(FOLDER, 1);
	vio_put(DATA, "requ", 4);
	vio_put(DATA + 0x100, "est", 3);
	vio_put_desc(0, 0, DATA, 4, NEXT, 3);
	vio_put_desc(0, 3, DATA + 0x100, 3, NEXT, 1);
	vio_put_desc(0, 1, DATA + 0x200, 2, NEXT | WRITE, 2);
	vio_put_desc(0, 2, DATA + 0x300, 100, WRITE, 0);
	vio_offer(0, 0);
	ck_assert_uint_eq(vio_requests, 0);
	vio_notify(FOLDER, 1); /* another queue */
	ck_assert_uint_eq(vio_requests, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 1);
	ck_assert_uint_eq(vio_asked_bytes, 7);
	ck_assert_mem_eq(vio_asked, "request", 7);
	ck_assert_uint_eq(vio_room, 102);
	ck_assert(x86_mem_read(&vio_mem, DATA + 0x200, reply, 3));
	ck_assert_mem_eq(reply, "re\0", 3);
	ck_assert(x86_mem_read(&vio_mem, DATA + 0x300, reply, 4));
	ck_assert_mem_eq(reply, "ply\0", 4);
	/* The used ring: index 1, head 0, 5 bytes. */
	ck_assert_uint_eq(vio_word(USED + 2), 1);
	ck_assert_uint_eq(vio_word(USED + 4), 0);
	ck_assert_uint_eq(vio_word(USED + 8), 5);
	/* The machine learns of each byte that the device wrote. */
	ck_assert_uint_eq(vio_wrote_bytes, 5 + 8 + 2);
	ck_assert_int_eq(vio_taken(FOLDER), 0);
	ck_assert_int_eq(vio_taken(FOLDER), -1);
	ck_assert_int_eq(vio_taken(CONSOLE), -1);
	/* A read clears the register. */
	ck_assert_uint_eq(vio_get(FOLDER, ISR), 1);
	ck_assert_uint_eq(vio_get(FOLDER, ISR), 0);
	/* A driver that wants no interrupt gets none. Nothing is served twice. */
	vio_put(AVAIL, "\1", 1);
	vio_offer(0, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 3);
	ck_assert_uint_eq(vio_word(USED + 2), 3);
	ck_assert_int_eq(vio_taken(FOLDER), -1);
}
END_TEST

START_TEST(short_reply)
{
	vio_start(FOLDER, 1);
	vio_put_desc(0, 0, DATA, 4, NEXT, 1);
	vio_put_desc(0, 1, DATA + 0x200, 2, WRITE, 2);
	vio_offer(0, 0);
	vio_put_desc(0, 3, DATA, 4, 0, 0);
	vio_offer(0, 3);
	vio_answer = "reply";
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 2);
	ck_assert_uint_eq(vio_word(USED + 8), 2);
	ck_assert_uint_eq(vio_room, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15);
}
END_TEST

/* Each of these functions breaks one rule in a valid chain of two descriptors. */
static void break_head(void)
{
	vio_offer(0, QUEUE);
}

static void break_loop(void)
{
	vio_put_desc(0, 0, DATA, 4, NEXT, 0);
	vio_offer(0, 0);
}

static void break_next(void)
{
	vio_put_desc(0, 0, DATA, 4, NEXT, QUEUE);
	vio_offer(0, 0);
}

static void break_order(void)
{
	vio_put_desc(0, 0, DATA, 4, NEXT | WRITE, 1);
	vio_put_desc(0, 1, DATA, 4, 0, 0);
	vio_offer(0, 0);
}

static void break_flags(void)
{
	vio_put_desc(0, 0, DATA, 16, INDIRECT, 0); /* a feature not accepted */
	vio_offer(0, 0);
}

static void break_index(void)
{
	vio_put(AVAIL + 2, "\11\0", 2); /* more than the size of the queue */
}

static void break_request(void)
{
	vio_put_desc(0, 0, RAM - 2, 4, NEXT, 1);
	vio_offer(0, 0);
}

static void break_reply(void)
{
	vio_put_desc(0, 1, RAM - 2, 4, WRITE, 0);
	vio_offer(0, 0);
}

static void break_size(void)
{
	vio_put_desc(0, 0, DATA, VIRTIO_SHARE_MAX + 1, NEXT, 1);
	vio_offer(0, 0);
}

static void (*const faults[])(void) = {
	break_head,  break_loop,    break_next,	 break_order, break_flags,
	break_index, break_request, break_reply, break_size,
};

START_TEST(broken_queue)
{
	vio_start(FOLDER, 1);
	vio_put_desc(0, 0, DATA, 4, NEXT, 1);
	vio_put_desc(0, 1, DATA + 0x200, 100, WRITE, 0);
	faults[_i]();
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15 | 64);
	ck_assert_uint_eq(vio_get(FOLDER, ISR), 2);
	ck_assert_int_eq(vio_taken(FOLDER), VIRTIO_NO_VECTOR);
	ck_assert_uint_eq(vio_word(USED + 2), 0);
	/* Nothing more happens until the driver resets the device. */
	vio_notify(FOLDER, 0);
	vio_set(FOLDER, STATUS, 15);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15 | 64);
	vio_set(FOLDER, STATUS, 0);
	vio_put(AVAIL + 2, "\0", 2);
	vio_start(FOLDER, 1);
	vio_put_desc(0, 0, DATA, 4, NEXT, 1);
	vio_put_desc(0, 1, DATA + 0x200, 100, WRITE, 0);
	vio_offer(0, 0);
	vio_requests = 0;
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 1);
	ck_assert_uint_eq(vio_word(USED + 2), 1);
}
END_TEST

/* Rings outside of RAM, at each address. */
START_TEST(no_ram)
{
	static const uint32_t at[] = {DESC_AT, AVAIL_AT, USED_AT};

	vio_negotiate(FOLDER);
	vio_set(FOLDER, SIZE, QUEUE);
	vio_set(FOLDER, DESC_AT, DESC);
	vio_set(FOLDER, AVAIL_AT, AVAIL);
	vio_set(FOLDER, USED_AT, USED);
	vio_set(FOLDER, at[_i] + 4, ~0u);
	vio_set(FOLDER, ENABLE, 1);
	vio_set(FOLDER, STATUS, 15);
	vio_put_desc(0, 0, DATA, 4, 0, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15 | 64);
}
END_TEST

START_TEST(not_running)
{
	vio_make_queue(FOLDER, 0);
	vio_put_desc(0, 0, DATA, 4, 0, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 0);
	vio_start(FOLDER, 1);
	virtio_reset(&vio_bus);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 0);
}
END_TEST

START_TEST(output)
{
	vio_start(CONSOLE, 2);
	vio_put(DATA, "hello", 5);
	vio_put_desc(1, 0, DATA, 2, NEXT, 1);
	vio_put_desc(1, 1, DATA + 2, 3, 0, 0);
	vio_offer(1, 0);
	vio_notify(CONSOLE, 1);
	ck_assert_uint_eq(vio_printed_bytes, 5);
	ck_assert_mem_eq(vio_printed, "hello", 5);
	ck_assert_uint_eq(vio_word(0x10000 + USED + 2), 1);
	ck_assert_int_eq(vio_taken(CONSOLE), 1);
	/* Outside of RAM. */
	vio_put_desc(1, 0, RAM - 1, 2, 0, 0);
	vio_offer(1, 0);
	vio_notify(CONSOLE, 1);
	ck_assert_uint_eq(vio_get(CONSOLE, STATUS), 15 | 64);
	ck_assert_uint_eq(vio_printed_bytes, 5);
}
END_TEST

START_TEST(input)
{
	char got[8];

	ck_assert(virtio_has_console(&vio_bus));
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 0);
	virtio_console_receive(&vio_bus, (const uint8_t *)"lost", 4);
	vio_start(CONSOLE, 2);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 0);
	vio_put_desc(0, 0, DATA, 3, WRITE, 0);
	vio_put_desc(0, 1, DATA + 0x100, 100, WRITE, 0);
	vio_offer(0, 0);
	vio_offer(0, 1);
	vio_notify(CONSOLE, 0);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 3);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 2), 2);
	/* To wait for bytes changes nothing. */
	ck_assert_uint_eq(vio_word(USED + 2), 0);
	virtio_console_receive(&vio_bus, (const uint8_t *)"abcd", 4);
	ck_assert(x86_mem_read(&vio_mem, DATA, got, 4));
	ck_assert_mem_eq(got, "abc\0", 4);
	ck_assert_uint_eq(vio_word(USED + 8), 3);
	ck_assert_int_eq(vio_taken(CONSOLE), 0);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 16);
	virtio_console_receive(&vio_bus, (const uint8_t *)"e", 1);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 0);
	ck_assert_uint_eq(vio_word(USED + 2), 2);
	/* A broken queue wants nothing. A buffer outside of RAM breaks the device. */
	vio_put_desc(0, 2, RAM, 4, WRITE, 0);
	vio_offer(0, 2);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 4);
	virtio_console_receive(&vio_bus, (const uint8_t *)"f", 1);
	ck_assert_uint_eq(vio_get(CONSOLE, STATUS), 15 | 64);
	ck_assert_uint_eq(virtio_console_wants(&vio_bus, 16), 0);
}
END_TEST

START_TEST(random_bytes)
{
	uint8_t first[16], second[16];

	vio_start(RANDOM, 1);
	vio_put_desc(0, 0, DATA, sizeof(first), WRITE, 0);
	vio_offer(0, 0);
	vio_notify(RANDOM, 0);
	ck_assert_uint_eq(vio_word(USED + 8), sizeof(first));
	ck_assert(x86_mem_read(&vio_mem, DATA, first, sizeof(first)));
	vio_offer(0, 0);
	vio_notify(RANDOM, 0);
	ck_assert(x86_mem_read(&vio_mem, DATA, second, sizeof(second)));
	ck_assert_mem_ne(first, second, sizeof(first));
	/* The same seed makes the same numbers. */
	vio_bus.random = 7;
	vio_offer(0, 0);
	vio_notify(RANDOM, 0);
	ck_assert(x86_mem_read(&vio_mem, DATA, second, sizeof(second)));
	ck_assert_mem_eq(first, second, sizeof(first));
	/* A longer buffer gets no more than 256 bytes. */
	vio_put_desc(0, 0, DATA, 1000, WRITE, 0);
	vio_offer(0, 0);
	vio_notify(RANDOM, 0);
	ck_assert_uint_eq(vio_word(USED + 4 + 3 * 8 + 4), 256);
	vio_put_desc(0, 0, RAM - 1, 2, WRITE, 0);
	vio_offer(0, 0);
	vio_notify(RANDOM, 0);
	ck_assert_uint_eq(vio_get(RANDOM, STATUS), 15 | 64);
}
END_TEST

START_TEST(full_bus)
{
	unsigned int i;

	for (i = 2; i < VIRTIO_DISKS; i++)
		ck_assert_int_eq(virtio_add_disk(&vio_bus, SECTOR, false), 0);
	ck_assert_int_eq(virtio_add_disk(&vio_bus, SECTOR, false), -ENOSPC);
	while (vio_bus.count < VIRTIO_DEVICES)
		ck_assert_int_eq(virtio_add_random(&vio_bus, 0), 0);
	ck_assert_int_eq(virtio_add_random(&vio_bus, 0), -ENOSPC);
	ck_assert_int_eq(virtio_add_console(&vio_bus), -ENOSPC);
	ck_assert_int_eq(virtio_add_share(&vio_bus, "more"), -ENOSPC);
}
END_TEST

TEST_SUITE("virtio", vio_setup, vio_teardown)
{
	TEST_ADD(tcase, registers, capabilities, tags, features, queue_registers, request,
		 short_reply, not_running, output, input, random_bytes, full_bus);
	TEST_ROWS(tcase, broken_queue, faults);
	TEST_LOOP(tcase, 3, no_ram);
}
