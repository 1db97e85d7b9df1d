// SPDX-License-Identifier: GPL-2.0-or-later
/* The console: port 0, without the features of several ports and of a size. */
#include <errno.h>

#include "virtio/device.h"

#define RECEIVE	 0u
#define TRANSMIT 1u
#define ROOM	 4096u

int virtio_add_console(struct virtio_bus *bus)
{
	return virtio_device_add(bus, VIRTIO_CONSOLE, 2) ? 0 : -ENOSPC;
}

static struct virtio_device *find(struct virtio_bus *bus)
{
	unsigned int i;

	for (i = 0; i < bus->count; i++)
		if (bus->device[i].kind == VIRTIO_CONSOLE)
			return &bus->device[i];
	return NULL;
}

bool virtio_has_console(const struct virtio_bus *bus)
{
	return find((struct virtio_bus *)bus);
}

/* A driver sends at most a page at a time. More than that in one chain is dropped. */
static bool transmit(struct virtio_bus *bus, struct virtio_device *d,
		     const struct virtio_chain *chain)
{
	const size_t n = chain->out_bytes < ROOM ? chain->out_bytes : ROOM;
	uint8_t bytes[ROOM];

	if (!virtio_chain_read(chain, &bus->host.memory, bytes, n))
		return false;
	if (bus->host.console)
		bus->host.console(bus->host.opaque, bytes, n);
	virtio_device_give(bus, d, TRANSMIT, chain, 0);
	return true;
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue)
{
	enum virtio_taken taken;
	struct virtio_chain chain;
	unsigned int left;

	if (queue != TRANSMIT)
		return;
	for (left = VIRTIO_QUEUE_MAX; left && virtio_device_runs(d); left--) {
		taken = virtio_queue_take(&d->queue[queue], &bus->host.memory, &chain);
		if (taken == VIRTIO_NONE)
			return;
		if (taken == VIRTIO_BROKEN || !transmit(bus, d, &chain))
			virtio_device_break(d);
	}
}

size_t virtio_console_wants(const struct virtio_bus *bus, size_t most)
{
	const struct virtio_device *d = find((struct virtio_bus *)bus);
	struct virtio_chain chain;

	if (!d || !virtio_device_runs(d) ||
	    virtio_queue_peek(&d->queue[RECEIVE], &bus->host.memory, &chain) != VIRTIO_CHAIN)
		return 0;
	return chain.in_bytes < most ? chain.in_bytes : most;
}

void virtio_console_receive(struct virtio_bus *bus, const uint8_t *bytes, size_t count)
{
	struct virtio_device *d = find(bus);
	struct virtio_chain chain;

	if (!d || virtio_queue_take(&d->queue[RECEIVE], &bus->host.memory, &chain) != VIRTIO_CHAIN)
		return;
	if (count > chain.in_bytes)
		count = chain.in_bytes;
	if (!virtio_chain_write(&chain, &bus->host.memory, bytes, count))
		virtio_device_break(d);
	else
		virtio_device_give(bus, d, RECEIVE, &chain, (uint32_t)count);
}

const struct virtio_type virtio_type_console = {
	.class_code = 0x078000,
	.notify = notify,
};
