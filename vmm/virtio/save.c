// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Save and load the devices: a head, and the registers of each. Requests in flight are in the queues
 * in guest RAM. A device has only the time at which its first one completes.
 */
#include <string.h>

#include "virtio/device.h"

#define MAGIC 0x4f49545249567076ull /* "vpVIRTIO" */

struct head {
	uint64_t magic, now, random;
	uint32_t count, bytes;
};

size_t virtio_saved_bytes(const struct virtio_bus *bus)
{
	return sizeof(struct head) + bus->count * sizeof(bus->device[0]);
}

void virtio_save(const struct virtio_bus *bus, void *to)
{
	const struct head head = {
		.magic = MAGIC,
		.now = bus->now,
		.random = bus->random,
		.count = bus->count,
		.bytes = sizeof(bus->device[0]),
	};

	memcpy(to, &head, sizeof(head));
	memcpy((char *)to + sizeof(head), bus->device, bus->count * sizeof(bus->device[0]));
}

static bool is_queue(const struct virtio_queue *q)
{
	return q->size <= VIRTIO_QUEUE_MAX && !(q->size & (q->size - 1)) && q->ready <= 1 &&
	       (q->size || !q->ready) && !(q->rules & ~VIRTIO_RULES);
}

static bool is_vector(const struct virtio_device *d, uint16_t vector)
{
	return vector <= d->queues || vector == VIRTIO_NO_VECTOR;
}

/* Returns true if @d is a state of the device @as, whose fixed properties it must have. */
static bool makes_sense(const struct virtio_device *d, const struct virtio_device *as)
{
	const uint32_t raised = VIRTIO_RAISED_CONFIG | ((1u << as->queues) - 1);
	unsigned int i;

	if (d->kind != as->kind || d->queues != as->queues || d->number != as->number ||
	    d->read_only != as->read_only || d->config_bytes != as->config_bytes ||
	    memcmp(d->config, as->config, sizeof(d->config)) != 0)
		return false;
	if (d->raised & ~raised || !is_vector(d, d->config_vector) ||
	    (d->due != VIRTIO_NEVER && !virtio_type_of(as->kind)->complete))
		return false;
	for (i = 0; i < VIRTIO_QUEUES; i++)
		if (!is_queue(&d->queue[i]) || !is_vector(d, d->vector[i]))
			return false;
	return true;
}

bool virtio_load(struct virtio_bus *bus, const void *from, size_t bytes)
{
	struct virtio_device loaded[VIRTIO_DEVICES];
	struct head head;
	unsigned int i;

	if (bytes != virtio_saved_bytes(bus))
		return false;
	memcpy(&head, from, sizeof(head));
	if (head.magic != MAGIC || head.count != bus->count || head.bytes != sizeof(loaded[0]))
		return false;
	memcpy(loaded, (const char *)from + sizeof(head), bus->count * sizeof(loaded[0]));
	for (i = 0; i < bus->count; i++)
		if (!makes_sense(&loaded[i], &bus->device[i]))
			return false;
	memcpy(bus->device, loaded, bus->count * sizeof(loaded[0]));
	bus->now = head.now;
	bus->random = head.random;
	return true;
}
