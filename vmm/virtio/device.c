// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices of a bus, and their state that no transport has. */
#include "virtio/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int virtio_add_share(struct virtio_bus *bus, const char *tag)
{
	const size_t len = strlen(tag);
	struct virtio_device *d;

	if (bus->count == VIRTIO_DEVICES || !len || len > VIRTIO_TAG_MAX)
		return -EINVAL;
	bus->request = malloc(VIRTIO_SHARE_MAX);
	bus->reply = malloc(VIRTIO_SHARE_MAX);
	if (!bus->request || !bus->reply) {
		virtio_free(bus);
		return -ENOMEM;
	}
	d = &bus->device[bus->count++];
	*d = (struct virtio_device){
		.kind = VIRTIO_SHARE,
		.queues = 1,
		.config_bytes = (uint8_t)(2 + len),
		.config = {(uint8_t)len},
	};
	memcpy(d->config + 2, tag, len);
	return 0;
}

void virtio_add_console(struct virtio_bus *bus)
{
	if (bus->count < VIRTIO_DEVICES)
		bus->device[bus->count++] = (struct virtio_device){
			.kind = VIRTIO_CONSOLE,
			.queues = 2,
		};
}

void virtio_reset(struct virtio_bus *bus)
{
	unsigned int i;

	for (i = 0; i < bus->count; i++) {
		struct virtio_device *d = &bus->device[i];

		d->status = d->interrupt = 0;
		d->device_select = d->driver_select = d->queue_select = 0;
		d->driver = 0;
		memset(d->queue, 0, sizeof(d->queue));
	}
}

void virtio_free(struct virtio_bus *bus)
{
	free(bus->request);
	free(bus->reply);
	bus->request = bus->reply = NULL;
}

bool virtio_device_runs(const struct virtio_device *d)
{
	return d->status & VIRTIO_STATUS_DRIVER_OK && !(d->status & VIRTIO_STATUS_NEEDS_RESET);
}

void virtio_device_break(struct virtio_device *d)
{
	d->status |= VIRTIO_STATUS_NEEDS_RESET;
	d->interrupt |= VIRTIO_INTERRUPT_CONFIG;
}

void virtio_device_give(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue,
			const struct virtio_chain *chain, uint32_t bytes)
{
	bool interrupt = false;

	if (!virtio_queue_give(&d->queue[queue], &bus->host.memory, chain, bytes, &interrupt))
		virtio_device_break(d);
	else if (interrupt)
		d->interrupt |= VIRTIO_INTERRUPT_QUEUE;
}

bool virtio_irq(const struct virtio_bus *bus, unsigned int device)
{
	return device < bus->count && bus->device[device].interrupt;
}
