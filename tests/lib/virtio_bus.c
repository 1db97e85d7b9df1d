// SPDX-License-Identifier: GPL-2.0-or-later
/* The bus of virtio devices for tests, and the accesses of a driver. */
#include "lib/virtio_bus.h"

#include <string.h>

#include <check.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct x86_mem vio_mem;
struct virtio_bus vio_bus;
char vio_printed[64], vio_asked[64];
const char *vio_answer;
uint8_t vio_image[2][SECTORS * SECTOR];
int vio_disk_error;
uint32_t vio_features;
unsigned int vio_flushes;
size_t vio_printed_bytes, vio_asked_bytes, vio_room, vio_wrote_bytes;
unsigned int vio_requests;

static void console(void *opaque, const uint8_t *bytes, size_t count)
{
	(void)opaque;
	ck_assert_uint_le(count, sizeof(vio_printed) - vio_printed_bytes);
	memcpy(vio_printed + vio_printed_bytes, bytes, count);
	vio_printed_bytes += count;
}

static size_t share(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply, size_t most)
{
	(void)opaque;
	vio_asked_bytes = bytes;
	vio_room = most;
	memcpy(vio_asked, request, bytes < sizeof(vio_asked) ? bytes : sizeof(vio_asked));
	memcpy(reply, vio_answer, strlen(vio_answer) < most ? strlen(vio_answer) : most);
	vio_requests++;
	return strlen(vio_answer) < most ? strlen(vio_answer) : most;
}

static int disk(void *opaque, unsigned int number, enum virtio_disk_access access, uint64_t offset,
		void *data, size_t bytes)
{
	(void)opaque;
	ck_assert_uint_lt(number, ARRAY_SIZE(vio_image));
	ck_assert_uint_le(offset, sizeof(vio_image[0]));
	ck_assert_uint_le(bytes, sizeof(vio_image[0]) - offset);
	if (access == VIRTIO_DISK_READ)
		memcpy(data, vio_image[number] + offset, bytes);
	else if (access == VIRTIO_DISK_WRITE)
		memcpy(vio_image[number] + offset, data, bytes);
	else
		vio_flushes++;
	return vio_disk_error;
}

static void wrote(void *opaque, uint64_t gpa, uint64_t bytes)
{
	(void)opaque;
	(void)gpa;
	vio_wrote_bytes += bytes;
}

void vio_setup(void)
{
	ck_assert_int_eq(x86_mem_create(&vio_mem, RAM), 0);
	memset(&vio_bus, 0, sizeof(vio_bus));
	vio_bus.host = (struct virtio_host){
		.memory = {.mem = &vio_mem, .wrote = wrote},
		.console = console,
		.share = share,
		.disk = disk,
	};
	ck_assert_int_eq(virtio_add_console(&vio_bus), 0);
	ck_assert_int_eq(virtio_add_share(&vio_bus, "tag"), 0);
	ck_assert_int_eq(virtio_add_disk(&vio_bus, sizeof(vio_image[0]) + SECTOR - 1, false), 0);
	ck_assert_int_eq(virtio_add_disk(&vio_bus, sizeof(vio_image[0]), true), 0);
	ck_assert_int_eq(virtio_add_random(&vio_bus, 7), 0);
	memset(vio_image[0], 1, sizeof(vio_image[0]));
	memset(vio_image[1], 2, sizeof(vio_image[1]));
	vio_disk_error = 0;
	vio_features = 0;
	vio_flushes = 0;
	vio_printed_bytes = vio_wrote_bytes = vio_requests = 0;
	vio_answer = "reply";
}

void vio_teardown(void)
{
	virtio_free(&vio_bus);
	x86_mem_destroy(&vio_mem);
}

/* The widths of the registers are those of their fields. */
static uint32_t width(uint32_t offset)
{
	if (offset == STATUS || offset >= ISR)
		return 1;
	return offset >= 0x10 && offset < DESC_AT ? 2 : 4;
}

uint32_t vio_get(unsigned int device, uint32_t offset)
{
	uint32_t value = 0;

	virtio_pci(&vio_bus, device, offset, width(offset), false, &value);
	return value;
}

void vio_set(unsigned int device, uint32_t offset, uint32_t value)
{
	virtio_pci(&vio_bus, device, offset, width(offset), true, &value);
}

void vio_notify(unsigned int device, uint16_t queue)
{
	virtio_pci(&vio_bus, device, NOTIFY + 4 * queue, sizeof(queue), true, &queue);
}

/* Take an interrupt. Returns its vector, or -1 if there is none. */
int vio_taken(unsigned int device)
{
	uint16_t vector;

	return virtio_take_vector(&vio_bus, device, &vector) ? vector : -1;
}

void vio_negotiate(unsigned int device)
{
	vio_set(device, STATUS, 0);
	vio_set(device, STATUS, 1);
	vio_set(device, STATUS, 3);
	vio_set(device, DRIVER_SELECT, 0);
	vio_set(device, DRIVER, vio_features);
	vio_set(device, DRIVER_SELECT, 1);
	vio_set(device, DRIVER, 1); /* VERSION_1 */
	vio_set(device, STATUS, 11);
	ck_assert_uint_eq(vio_get(device, STATUS), 11);
}

/* Queue @n has its own pages behind those of queue 0. */
void vio_make_queue(unsigned int device, unsigned int n)
{
	const uint32_t at = n * 0x10000;

	vio_set(device, QUEUE_SELECT, n);
	ck_assert_uint_eq(vio_get(device, SIZE), VIRTIO_QUEUE_MAX);
	ck_assert_uint_eq(vio_get(device, NOTIFY_OFF), n);
	vio_set(device, VECTOR, n);
	ck_assert_uint_eq(vio_get(device, VECTOR), n);
	vio_set(device, SIZE, QUEUE);
	vio_set(device, DESC_AT, at + DESC);
	vio_set(device, AVAIL_AT, at + AVAIL);
	vio_set(device, USED_AT, at + USED);
	vio_set(device, ENABLE, 1);
	ck_assert_uint_eq(vio_get(device, ENABLE), 1);
}

void vio_start(unsigned int device, unsigned int queues)
{
	unsigned int i;

	vio_negotiate(device);
	for (i = 0; i < queues; i++)
		vio_make_queue(device, i);
	vio_set(device, STATUS, 15);
}

void vio_put(uint64_t gpa, const void *from, size_t bytes)
{
	ck_assert(x86_mem_write(&vio_mem, gpa, from, bytes));
}

void vio_put_desc(unsigned int queue, unsigned int n, uint64_t gpa, uint32_t bytes, uint16_t flags,
		  uint16_t next)
{
	const struct {
		uint64_t gpa;
		uint32_t bytes;
		uint16_t flags, next;
	} d = {gpa, bytes, flags, next};

	vio_put(queue * 0x10000 + DESC + n * sizeof(d), &d, sizeof(d));
}

uint16_t vio_word(uint64_t gpa)
{
	uint16_t value;

	ck_assert(x86_mem_read(&vio_mem, gpa, &value, sizeof(value)));
	return value;
}

/* Make the chain that begins with descriptor @head available. */
void vio_offer(unsigned int queue, uint16_t head)
{
	const uint64_t avail = queue * 0x10000 + AVAIL;
	const uint16_t index = vio_word(avail + 2), next = (uint16_t)(index + 1);

	vio_put(avail + 4 + index % QUEUE * 2, &head, sizeof(head));
	vio_put(avail + 2, &next, sizeof(next));
}
