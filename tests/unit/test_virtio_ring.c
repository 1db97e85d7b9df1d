// SPDX-License-Identifier: GPL-2.0-or-later
/* The features of virtqueues: indirect descriptors, and event indices with their wrap. */
#include "lib/suite.h"

#include <string.h>

#include "lib/virtio_bus.h"

#define TABLE 0x6000u

/* Write descriptor @n of the indirect table. */
static void put_entry(unsigned int n, uint64_t gpa, uint32_t bytes, uint16_t flags, uint16_t next)
{
	/* Descriptors of queue 0 are at DESC, so the table is a later part of the same list. */
	vio_put_desc(0, n + (TABLE - DESC) / 16, gpa, bytes, flags, next);
}

static void start_indirect(void)
{
	vio_features = FEATURE_INDIRECT;
	vio_start(FOLDER, 1);
	vio_put(DATA, "request", 7);
}

/* Tables in a valid chain: after direct descriptors, in any order, and with a flag of no meaning. */
static const struct table {
	uint16_t head, flags;
	uint32_t bytes;
	struct {
		uint32_t gpa, bytes;
		uint16_t flags, next;
	} entry[3];
	size_t asked, room;
	bool is_valid;
} tables[] = {
	/* One table is the whole chain. Its descriptor's flag of writing has no meaning. */
	{1, INDIRECT, 32, {{DATA, 7, NEXT, 1}, {DATA + 0x200, 5, WRITE, 0}}, 7, 5, true},
	{1, INDIRECT | WRITE, 32, {{DATA, 7, NEXT, 1}, {DATA + 0x200, 5, WRITE, 0}}, 7, 5, true},
	/* Behind a direct descriptor of 2 bytes. */
	{0, INDIRECT, 32, {{DATA + 2, 5, NEXT, 1}, {DATA + 0x200, 5, WRITE, 0}}, 7, 5, true},
	/* Entry 1 is not in the chain. The last entry's next has no meaning. */
	{1, INDIRECT, 48, {{DATA, 3, NEXT, 2}, {RAM, 9, 7, 9}, {DATA + 3, 4, 0, 99}}, 7, 0, true},
	/* As long as the queue, and longer. */
	{1, INDIRECT, 16 * QUEUE, {{DATA, 7, 0, 0}}, 7, 0, true},
	{1, INDIRECT, 16 * QUEUE + 16, {{DATA, 7, 0, 0}}, 0, 0, false},
	{1, INDIRECT, 0xfffffff0, {{DATA, 7, 0, 0}}, 0, 0, false},
	/* Empty, and no multiple of 16. */
	{1, INDIRECT, 0, {{DATA, 7, 0, 0}}, 0, 0, false},
	{1, INDIRECT, 31, {{DATA, 7, 0, 0}}, 0, 0, false},
	/* A nested table, a descriptor with a next one, a loop, a next one outside of the table. */
	{1, INDIRECT, 32, {{DATA, 7, NEXT, 1}, {TABLE, 16, INDIRECT, 0}}, 0, 0, false},
	{1, INDIRECT | NEXT, 16, {{DATA, 7, 0, 0}}, 0, 0, false},
	{1, INDIRECT, 16, {{DATA, 7, NEXT, 0}}, 0, 0, false},
	{1, INDIRECT, 16, {{DATA, 7, NEXT, 1}, {DATA, 7, 0, 0}}, 0, 0, false},
	/* The device reads behind a piece that it writes. */
	{1, INDIRECT, 32, {{DATA, 7, NEXT | WRITE, 1}, {DATA, 7, 0, 0}}, 0, 0, false},
	{1, INDIRECT | 8, 16, {{DATA, 7, 0, 0}}, 0, 0, false},
};

START_TEST(indirect)
{
	const struct table *row = &tables[_i];
	unsigned int i;

	start_indirect();
	vio_put_desc(0, 0, DATA, 2, NEXT, 1);
	vio_put_desc(0, 1, TABLE, row->bytes, row->flags, 0);
	for (i = 0; i < 3; i++)
		put_entry(i, row->entry[i].gpa, row->entry[i].bytes, row->entry[i].flags,
			  row->entry[i].next);
	vio_offer(0, row->head);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, row->is_valid);
	ck_assert_uint_eq(vio_word(USED + 2), row->is_valid);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), row->is_valid ? 15 : 15 | 64);
	if (!row->is_valid)
		return;
	ck_assert_uint_eq(vio_word(USED + 4), row->head);
	ck_assert_uint_eq(vio_asked_bytes, row->asked);
	ck_assert_mem_eq(vio_asked, "request", row->asked);
	ck_assert_uint_eq(vio_room, row->room);
}
END_TEST

/* A table of which the last byte is not in RAM, and one whose end is not below 2^64. */
START_TEST(table_outside)
{
	static const uint64_t at[] = {RAM - 15, RAM, UINT64_MAX - 15, UINT64_MAX};

	start_indirect();
	vio_put_desc(0, 0, at[_i], 16, INDIRECT, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), 15 | 64);
}
END_TEST

/* Direct descriptors and those of the table are together at most as many as the queue has. */
START_TEST(chain_length)
{
	const unsigned int direct = (unsigned int)_i;
	unsigned int i;

	start_indirect();
	for (i = 0; i < direct; i++)
		vio_put_desc(0, i, DATA, 1, NEXT, (uint16_t)(i + 1));
	vio_put_desc(0, direct, TABLE, 16 * (QUEUE - 1), INDIRECT, 0);
	for (i = 0; i < QUEUE - 1; i++)
		put_entry(i, DATA, 1, i < QUEUE - 2 ? NEXT : 0, (uint16_t)(i + 1));
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, direct <= 1);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), direct <= 1 ? 15 : 15 | 64);
}
END_TEST

/*
 * Serve a chain when the rings are at @index, with the driver's index of events. The driver gets an
 * interrupt only for the chain with that index. The flag in the ring has no meaning.
 */
static const struct event {
	uint16_t index, used_event, flags;
	bool interrupts;
} events[] = {
	{0, 0, 0, true},
	{0, 0, 1, true},
	{0, 1, 0, false},
	{0, 0xffff, 0, false},
	{5, 5, 0, true},
	{5, 4, 0, false},
	{5, 6, 0, false},
	{0x7fff, 0x7fff, 0, true},
	{0x7fff, 0x8000, 0, false},
	{0x8000, 0x7fff, 0, false},
	{0xfffe, 0xffff, 0, false},
	{0xffff, 0xffff, 0, true},
	{0xffff, 0xffff, 1, true},
	{0xffff, 0xfffe, 0, false},
	{0xffff, 0, 0, false},
	{0x1234, 0x9234, 0, false},
};

static void serve_at(uint16_t index)
{
	struct virtio_queue *q = &vio_bus.device[FOLDER].queue[0];

	q->taken = q->given = index;
	vio_put(AVAIL + 2, &index, sizeof(index));
	vio_put_desc(0, 0, DATA, 4, 0, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_word(USED + 2), (uint16_t)(index + 1));
}

START_TEST(used_event)
{
	const struct event *row = &events[_i];

	vio_features = FEATURE_EVENT;
	vio_start(FOLDER, 1);
	vio_put(AVAIL, &row->flags, sizeof(row->flags));
	vio_put(USED_EVENT, &row->used_event, sizeof(row->used_event));
	serve_at(row->index);
	ck_assert_int_eq(vio_taken(FOLDER), row->interrupts ? 0 : -1);
	ck_assert_uint_eq(vio_get(FOLDER, ISR), row->interrupts);
	/* The driver is to notify when the chain after this one is available. */
	ck_assert_uint_eq(vio_word(AVAIL_EVENT), (uint16_t)(row->index + 1));
}
END_TEST

/* A driver that polls sets its index once: one interrupt comes in 65536 chains. */
START_TEST(whole_wrap)
{
	const uint16_t event = 3;
	unsigned int i, interrupts = 0;

	vio_features = FEATURE_EVENT;
	vio_start(FOLDER, 1);
	vio_put(USED_EVENT, &event, sizeof(event));
	vio_put_desc(0, 0, DATA, 4, 0, 0);
	for (i = 0; i < 0x10000; i++) {
		vio_offer(0, 0);
		vio_notify(FOLDER, 0);
		interrupts += vio_taken(FOLDER) == 0;
	}
	ck_assert_uint_eq(vio_requests, 0x10000);
	ck_assert_uint_eq(vio_word(USED + 2), 0);
	ck_assert_uint_eq(interrupts, 1);
}
END_TEST

/* Without the feature, the indices of events are not read and not written. */
START_TEST(no_events)
{
	const uint16_t event = 9;

	vio_start(FOLDER, 1);
	vio_put(USED_EVENT, &event, sizeof(event));
	vio_put(AVAIL_EVENT, &event, sizeof(event));
	serve_at(0);
	ck_assert_int_eq(vio_taken(FOLDER), 0);
	ck_assert_uint_eq(vio_word(AVAIL_EVENT), event);
}
END_TEST

/* Indices of events that are not in RAM break the device. The rings before them are. */
START_TEST(events_outside)
{
	static const struct {
		uint32_t at, gpa;
	} rows[] = {{AVAIL_AT, RAM - 4 - 2 * QUEUE}, {USED_AT, RAM - 4 - 8 * QUEUE}};
	const uint16_t one = 1;

	vio_features = _i < 2 ? FEATURE_EVENT : 0;
	vio_negotiate(FOLDER);
	vio_set(FOLDER, SIZE, QUEUE);
	vio_set(FOLDER, DESC_AT, DESC);
	vio_set(FOLDER, AVAIL_AT, AVAIL);
	vio_set(FOLDER, USED_AT, USED);
	vio_set(FOLDER, rows[_i % 2].at, rows[_i % 2].gpa);
	vio_set(FOLDER, ENABLE, 1);
	vio_set(FOLDER, STATUS, 15);
	vio_put_desc(0, 0, DATA, 4, 0, 0);
	vio_put((_i % 2 ? AVAIL : RAM - 4 - 2 * QUEUE) + 2, &one, sizeof(one));
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_get(FOLDER, STATUS), _i < 2 ? 15 | 64 : 15);
}
END_TEST

/* A snapshot has the features of the queues. */
START_TEST(saved_rules)
{
	uint8_t state[4096];

	ck_assert_uint_le(virtio_saved_bytes(&vio_bus), sizeof(state));
	vio_features = FEATURE_EVENT | FEATURE_INDIRECT;
	vio_start(FOLDER, 1);
	virtio_save(&vio_bus, state);
	virtio_reset(&vio_bus);
	ck_assert(virtio_load(&vio_bus, state, virtio_saved_bytes(&vio_bus)));
	vio_put_desc(0, 0, TABLE, 16, INDIRECT, 0);
	put_entry(0, DATA, 4, 0, 0);
	vio_offer(0, 0);
	vio_notify(FOLDER, 0);
	ck_assert_uint_eq(vio_requests, 1);
	ck_assert_uint_eq(vio_word(AVAIL_EVENT), 1);
}
END_TEST

TEST_SUITE("virtio_ring", vio_setup, vio_teardown)
{
	TEST_ADD(tcase, whole_wrap, no_events, saved_rules);
	TEST_ROWS(tcase, indirect, tables);
	TEST_ROWS(tcase, used_event, events);
	TEST_LOOP(tcase, 4, table_outside);
	TEST_LOOP(tcase, 4, chain_length);
	TEST_LOOP(tcase, 4, events_outside);
}
