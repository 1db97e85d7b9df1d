// SPDX-License-Identifier: GPL-2.0-or-later
/* The network card of virtio: frames out at their times, frames in, and what it refuses. */
#include "lib/suite.h"

#include <string.h>

#include "lib/virtio_bus.h"

#define NET	 5u
#define RECEIVE	 0u
#define TRANSMIT 1u
#define HEADER	 12u
/* Queue 1 has its pages 64 KiB behind those of queue 0. */
#define USED_1 (USED + 0x10000)

static uint8_t sent[4][VIRTIO_FRAME_MAX];
static size_t sent_bytes[4];
static unsigned int frames;

static void take_frame(void *opaque, const uint8_t *bytes, size_t count)
{
	(void)opaque;
	ck_assert_uint_le(count, VIRTIO_FRAME_MAX);
	ck_assert_uint_lt(frames, 4);
	memcpy(sent[frames], bytes, count);
	sent_bytes[frames++] = count;
}

static void setup(void)
{
	vio_setup();
	vio_bus.host.frame = take_frame;
	ck_assert_int_eq(virtio_add_net(&vio_bus), 0);
	frames = 0;
}

/* Offer a frame with a header in its own descriptor. */
static void offer_frame(uint16_t first, uint64_t at, uint32_t bytes)
{
	vio_put_desc(TRANSMIT, first, 0x7000, HEADER, NEXT, (uint16_t)(first + 1));
	vio_put_desc(TRANSMIT, first + 1u, at, bytes, 0, 0);
	vio_offer(TRANSMIT, first);
}

static void offer_room(uint32_t bytes)
{
	vio_put_desc(RECEIVE, 0, DATA, bytes, WRITE, 0);
	vio_offer(RECEIVE, 0);
	vio_notify(NET, RECEIVE);
}

START_TEST(properties)
{
	uint8_t config[8];

	virtio_pci(&vio_bus, NET, CONFIG, 8, false, config);
	ck_assert_mem_eq(config, "\x52\x54\x00\x12\x34\x56\1\0", 8);
	ck_assert_uint_eq(vio_get(NET, DEVICE),
			  FEATURE_INDIRECT | FEATURE_EVENT | 1 << 5 | 1 << 16);
}
END_TEST

START_TEST(frames_leave_at_their_times)
{
	vio_start(NET, 2);
	virtio_advance(&vio_bus, 1000);
	vio_put(DATA, "first frame", 11);
	vio_put(DATA + 0x100, "second", 6);
	offer_frame(0, DATA, 11);
	offer_frame(2, DATA + 0x100, 6);
	vio_notify(NET, TRANSMIT);
	ck_assert_uint_eq(virtio_next(&vio_bus), 1000 + 2000 + HEADER + 11);
	virtio_advance(&vio_bus, virtio_next(&vio_bus) - 1);
	ck_assert_uint_eq(frames, 0);
	virtio_advance(&vio_bus, virtio_next(&vio_bus));
	ck_assert_uint_eq(frames, 1);
	ck_assert_uint_eq(sent_bytes[0], 11);
	ck_assert_mem_eq(sent[0], "first frame", 11);
	ck_assert_uint_eq(vio_word(USED_1 + 2), 1);
	ck_assert_int_eq(vio_taken(NET), 1);
	ck_assert_uint_eq(virtio_next(&vio_bus), 3023 + 2000 + HEADER + 6);
	virtio_advance(&vio_bus, virtio_next(&vio_bus));
	ck_assert_mem_eq(sent[1], "second", 6);
	ck_assert_uint_eq(virtio_next(&vio_bus), VIRTIO_NEVER);
}
END_TEST

START_TEST(frames_arrive)
{
	static uint8_t frame[VIRTIO_FRAME_MAX], header[HEADER] = {[10] = 1}, got[HEADER];

	memset(frame, 0x5a, sizeof(frame));
	ck_assert(!virtio_net_wants(&vio_bus));
	vio_start(NET, 2);
	ck_assert(!virtio_net_wants(&vio_bus));
	offer_room(HEADER + VIRTIO_FRAME_MAX);
	ck_assert(virtio_net_wants(&vio_bus));
	virtio_net_receive(&vio_bus, frame, sizeof(frame));
	ck_assert_uint_eq(vio_word(USED + 8), HEADER + VIRTIO_FRAME_MAX);
	ck_assert(x86_mem_read(&vio_mem, DATA, got, HEADER));
	ck_assert_mem_eq(got, header, HEADER);
	ck_assert(x86_mem_read(&vio_mem, DATA + HEADER, got, 4));
	ck_assert_mem_eq(got, frame, 4);
	ck_assert_int_eq(vio_taken(NET), 0);
	/* The buffer is used, so that there is no room any more. */
	ck_assert(!virtio_net_wants(&vio_bus));
	virtio_net_receive(&vio_bus, frame, 60);
	ck_assert_uint_eq(vio_word(USED + 2), 1);
}
END_TEST

/* Less room than the longest frame needs is none. */
START_TEST(short_room)
{
	vio_start(NET, 2);
	offer_room(HEADER + VIRTIO_FRAME_MAX - 1);
	ck_assert(!virtio_net_wants(&vio_bus));
}
END_TEST

/* Chains that break the rules: sizes of the header, of the frame, and whether a device writes. */
static const struct breach {
	uint32_t header, frame;
	uint16_t flags;
	uint64_t at;
} breaches[] = {
	{HEADER - 1, 0, 0, DATA},   {HEADER, VIRTIO_FRAME_MAX + 1, 0, DATA},
	{HEADER, 1 << 20, 0, DATA}, {HEADER, 64, WRITE, DATA},
	{HEADER, 64, 0, RAM - 8},
};

START_TEST(breaks)
{
	const struct breach *b = &breaches[_i];

	vio_start(NET, 2);
	vio_put_desc(TRANSMIT, 0, 0x7000, b->header, b->frame ? NEXT : 0, 1);
	vio_put_desc(TRANSMIT, 1, b->at, b->frame, b->flags, 0);
	vio_offer(TRANSMIT, 0);
	vio_notify(NET, TRANSMIT);
	virtio_advance(&vio_bus, vio_bus.now + 100000000);
	ck_assert_uint_eq(frames, 0);
	ck_assert_uint_eq(vio_get(NET, STATUS) & 64, 64);
	ck_assert(!virtio_net_wants(&vio_bus));
}
END_TEST

START_TEST(reset_drops_frames)
{
	vio_start(NET, 2);
	offer_frame(0, DATA, 60);
	vio_notify(NET, TRANSMIT);
	ck_assert_uint_ne(virtio_next(&vio_bus), VIRTIO_NEVER);
	vio_set(NET, STATUS, 0);
	ck_assert_uint_eq(virtio_next(&vio_bus), VIRTIO_NEVER);
	virtio_advance(&vio_bus, vio_bus.now + 1000000);
	ck_assert_uint_eq(frames, 0);
}
END_TEST

TEST_SUITE("virtio_net", setup, vio_teardown)
{
	TEST_ADD(tcase, properties, frames_leave_at_their_times, frames_arrive, short_room,
		 reset_drops_frames);
	tcase_add_loop_test(tcase, breaks, 0, sizeof(breaches) / sizeof(breaches[0]));
}
