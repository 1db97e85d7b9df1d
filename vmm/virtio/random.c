// SPDX-License-Identifier: GPL-2.0-or-later
/* The entropy device (virtio 1.2, 5.4). Its numbers follow from the seed of the run. */
#include <errno.h>
#include <string.h>

#include "virtio/device.h"

/* A driver asks for few bytes. A longer buffer gets no more than these. */
#define ROOM 256u

int virtio_add_random(struct virtio_bus *bus, uint64_t seed)
{
	bus->random = seed;
	return virtio_device_add(bus, VIRTIO_RANDOM, 1) ? 0 : -ENOSPC;
}

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static bool serve(struct virtio_bus *bus, struct virtio_device *d, const struct virtio_chain *chain)
{
	const size_t n = chain->in_bytes < ROOM ? chain->in_bytes : ROOM;
	uint64_t bytes[ROOM / sizeof(uint64_t)];
	size_t i;

	for (i = 0; i * sizeof(bytes[0]) < n; i++)
		bytes[i] = next(&bus->random);
	if (!virtio_chain_write(chain, &bus->host.memory, bytes, n))
		return false;
	virtio_device_give(bus, d, 0, chain, (uint32_t)n);
	return true;
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue)
{
	enum virtio_taken taken;
	struct virtio_chain chain;
	unsigned int left;

	for (left = VIRTIO_QUEUE_MAX; left && virtio_device_runs(d); left--) {
		taken = virtio_queue_take(&d->queue[queue], &bus->host.memory, &chain);
		if (taken == VIRTIO_NONE)
			return;
		if (taken == VIRTIO_BROKEN || !serve(bus, d, &chain))
			virtio_device_break(d);
	}
}

const struct virtio_type virtio_type_random = {
	.class_code = 0x00ff00,
	.notify = notify,
};
