// SPDX-License-Identifier: GPL-2.0-or-later
/* virtio disks: requests, their time, refusals, faults, and the state in snapshots. */
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

#include "lib/virtio_bus.h"

/* Offer a request to a disk: its type and sector, @bytes of data at DATA, and the status. */
static void offer_request(uint32_t type, uint64_t sector, uint32_t bytes, bool in)
{
	const struct {
		uint32_t type, reserved;
		uint64_t sector;
	} head = {type, 0, sector};

	vio_put(0x7000, &head, sizeof(head));
	vio_put(0x7100, "\xff", 1);
	vio_put_desc(0, 0, 0x7000, sizeof(head), NEXT, bytes ? 1 : 2);
	vio_put_desc(0, 1, DATA, bytes, NEXT | (in ? WRITE : 0), 2);
	vio_put_desc(0, 2, 0x7100, 1, WRITE, 0);
	vio_offer(0, 0);
}

static uint8_t byte(uint64_t gpa)
{
	uint8_t value;

	ck_assert(x86_mem_read(&vio_mem, gpa, &value, 1));
	return value;
}

/* Complete what is due. Returns the status of the last request. */
static uint8_t complete(void)
{
	virtio_advance(&vio_bus, vio_bus.now + 1000000000);
	return byte(0x7100);
}

START_TEST(disk_requests)
{
	uint8_t sectors[8];

	virtio_pci(&vio_bus, DISK, CONFIG, 8, false, sectors);
	ck_assert_mem_eq(sectors, "\10\0\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(vio_get(DISK, DEVICE),
			  FEATURE_INDIRECT | FEATURE_EVENT | 1 << 1 | 1 << 2 | 1 << 9);
	vio_start(DISK, 1);
	vio_image[0][3 * SECTOR] = 0x33;
	offer_request(0, 3, 2 * SECTOR, true);
	vio_notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(byte(DATA), 0x33);
	ck_assert_uint_eq(byte(DATA + 2 * SECTOR - 1), 1);
	ck_assert_uint_eq(vio_word(USED + 8), 2 * SECTOR + 1);
	ck_assert_int_eq(vio_taken(DISK), 0);
	vio_put(DATA, "written", 8);
	offer_request(1, 7, SECTOR, false);
	vio_notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_str_eq((const char *)vio_image[0] + 7 * SECTOR, "written");
	ck_assert_uint_eq(vio_word(USED + 4 + 8 + 4), 1);
	offer_request(4, 0, 0, false);
	vio_notify(DISK, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(vio_flushes, 1);
	offer_request(8, 0, 20, true);
	vio_notify(DISK, 0);
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

	vio_start(DISK, 1);
	offer_request(r->type, r->sector, r->bytes, r->in);
	vio_notify(DISK, 0);
	ck_assert_uint_eq(complete(), r->status);
	ck_assert_uint_eq(vio_get(DISK, STATUS), 15);
	ck_assert_uint_eq(vio_image[0][0], 1);
	ck_assert_uint_eq(vio_image[0][sizeof(vio_image[0]) - 1], 1);
}
END_TEST

START_TEST(disk_read_only)
{
	ck_assert_uint_eq(vio_get(READ_ONLY, DEVICE) >> 5 & 1, 1);
	vio_start(READ_ONLY, 1);
	offer_request(1, 0, SECTOR, false);
	vio_notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 1);
	ck_assert_uint_eq(vio_image[1][0], 2);
	offer_request(0, 0, SECTOR, true);
	vio_notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 0);
	ck_assert_uint_eq(byte(DATA), 2);
	/* An error of the host. */
	vio_disk_error = -EIO;
	offer_request(0, 0, SECTOR, true);
	vio_notify(READ_ONLY, 0);
	ck_assert_uint_eq(complete(), 1);
}
END_TEST

/* A request completes at a time that follows from its size, and the next begins then. */
START_TEST(disk_time)
{
	ck_assert_uint_eq(virtio_next(&vio_bus), VIRTIO_NEVER);
	vio_start(DISK, 1);
	virtio_advance(&vio_bus, 1000);
	offer_request(0, 0, SECTOR, true);
	vio_offer(0, 0);
	vio_notify(DISK, 0);
	ck_assert_uint_eq(virtio_next(&vio_bus), 1000 + 20000 + (16 + 512 + 1) / 2);
	virtio_advance(&vio_bus, virtio_next(&vio_bus) - 1);
	ck_assert_uint_eq(vio_word(USED + 2), 0);
	virtio_advance(&vio_bus, virtio_next(&vio_bus));
	ck_assert_uint_eq(vio_word(USED + 2), 1);
	ck_assert_uint_eq(virtio_next(&vio_bus), 1000 + 2 * (20000 + (16 + 512 + 1) / 2));
	/* A second notification changes nothing. A reset ends the request. */
	vio_notify(DISK, 0);
	ck_assert_uint_eq(virtio_next(&vio_bus), 1000 + 2 * (20000 + (16 + 512 + 1) / 2));
	vio_set(DISK, STATUS, 0);
	ck_assert_uint_eq(virtio_next(&vio_bus), VIRTIO_NEVER);
	ck_assert_uint_eq(vio_word(USED + 2), 1);
}
END_TEST

/* Chains that are no request of a disk, and changes while the request is in flight. */
static void break_no_status(void)
{
	vio_put_desc(0, 0, 0x7000, 16, 0, 0);
	vio_offer(0, 0);
}

static void break_short_head(void)
{
	offer_request(0, 0, SECTOR, true);
	vio_put_desc(0, 0, 0x7000, 15, NEXT, 1);
}

static void break_long_data(void)
{
	offer_request(0, 0, VIRTIO_DISK_MAX + 1, true);
}

static void break_outside(void)
{
	offer_request(0, 0, SECTOR, true);
	vio_put_desc(0, 1, RAM - 1, SECTOR, NEXT | WRITE, 2);
}

static void (*const disk_faults[])(void) = {break_no_status, break_short_head, break_long_data,
					    break_outside};

START_TEST(broken_disk)
{
	vio_start(DISK, 1);
	disk_faults[_i]();
	vio_notify(DISK, 0);
	(void)complete();
	ck_assert_uint_eq(vio_get(DISK, STATUS), 15 | 64);
	ck_assert_uint_eq(vio_word(USED + 2), 0);
	ck_assert_uint_eq(virtio_next(&vio_bus), VIRTIO_NEVER);
	vio_set(DISK, STATUS, 0);
	vio_put(AVAIL + 2, "\0", 2);
	vio_start(DISK, 1);
	offer_request(0, 0, SECTOR, true);
	vio_notify(DISK, 0);
	/* The driver takes the request back while it is in flight. */
	vio_put(AVAIL + 2, "\0", 2);
	(void)complete();
	ck_assert_uint_eq(vio_get(DISK, STATUS), 15 | 64);
}
END_TEST

/* A snapshot has the request in flight: the loaded devices complete it at the same time. */
START_TEST(saved)
{
	uint8_t state[4096];
	struct virtio_device disk_was;
	size_t bytes = virtio_saved_bytes(&vio_bus);

	ck_assert_uint_le(bytes, sizeof(state));
	vio_start(DISK, 1);
	virtio_advance(&vio_bus, 1000);
	offer_request(0, 0, SECTOR, true);
	vio_notify(DISK, 0);
	virtio_save(&vio_bus, state);
	disk_was = vio_bus.device[DISK];
	virtio_reset(&vio_bus);
	vio_bus.now = vio_bus.random = 0;
	ck_assert(!virtio_load(&vio_bus, state, bytes - 1));
	ck_assert(virtio_load(&vio_bus, state, bytes));
	ck_assert_mem_eq(&vio_bus.device[DISK], &disk_was, sizeof(disk_was));
	ck_assert_uint_eq(vio_bus.random, 7);
	ck_assert_uint_eq(virtio_next(&vio_bus), 1000 + 20000 + (16 + 512 + 1) / 2);
	ck_assert_uint_eq(complete(), 0);
}
END_TEST

/* States that no bus with these devices has. */
static void wrong_kind(struct virtio_device *d)
{
	d->kind = VIRTIO_SHARE;
}

static void wrong_queues(struct virtio_device *d)
{
	d->queues = 3;
}

static void wrong_number(struct virtio_device *d)
{
	d->number = 1;
}

static void wrong_size(struct virtio_device *d)
{
	d->queue[0].size = 3;
}

static void wrong_large(struct virtio_device *d)
{
	d->queue[0].size = 2 * VIRTIO_QUEUE_MAX;
}

static void wrong_ready(struct virtio_device *d)
{
	d->queue[0].ready = 1;
}

static void wrong_vector(struct virtio_device *d)
{
	d->vector[0] = 2;
}

static void wrong_raised(struct virtio_device *d)
{
	d->raised = 2;
}

static void wrong_rules(struct virtio_device *d)
{
	d->queue[1].rules = VIRTIO_RULES + 1;
}

static void wrong_config(struct virtio_device *d)
{
	d->config[0]++;
}

static void wrong_due(struct virtio_device *d)
{
	d[-1].due = 0; /* of the shared folder, which has no time */
}

static void (*const wrongs[])(struct virtio_device *d) = {
	wrong_kind,   wrong_queues, wrong_number, wrong_size, wrong_large, wrong_ready,
	wrong_vector, wrong_raised, wrong_config, wrong_due,  wrong_rules,
};

START_TEST(not_saved)
{
	struct virtio_bus other = vio_bus;
	uint8_t state[4096];

	wrongs[_i](&other.device[DISK]);
	virtio_save(&other, state);
	ck_assert(!virtio_load(&vio_bus, state, virtio_saved_bytes(&vio_bus)));
	virtio_save(&vio_bus, state);
	ck_assert(virtio_load(&vio_bus, state, virtio_saved_bytes(&vio_bus)));
}
END_TEST

TEST_SUITE("virtio_block", vio_setup, vio_teardown)
{
	TEST_ADD(tcase, disk_requests, disk_read_only, disk_time, saved);
	TEST_ROWS(tcase, disk_refuses, refusals);
	TEST_ROWS(tcase, broken_disk, disk_faults);
	TEST_ROWS(tcase, not_saved, wrongs);
}
