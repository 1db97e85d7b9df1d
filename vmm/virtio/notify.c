// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes notifications and the time to the devices by their kinds. */
#include "virtio/device.h"

void virtio_device_notify(struct virtio_bus *bus, struct virtio_device *d, uint32_t queue)
{
	if (queue < d->queues && virtio_device_runs(d))
		virtio_type_of(d->kind)->notify(bus, d, queue);
}

/* Returns the device whose request completes first, or NULL if there is no request. */
static struct virtio_device *first_due(struct virtio_bus *bus)
{
	struct virtio_device *first = NULL;
	unsigned int i;

	for (i = 0; i < bus->count; i++)
		if (bus->device[i].due < (first ? first->due : VIRTIO_NEVER))
			first = &bus->device[i];
	return first;
}

void virtio_advance(struct virtio_bus *bus, uint64_t now)
{
	struct virtio_device *d = first_due(bus);

	for (; d && d->due <= now; d = first_due(bus))
		virtio_type_of(d->kind)->complete(bus, d);
	if (now > bus->now)
		bus->now = now;
}

uint64_t virtio_next(const struct virtio_bus *bus)
{
	const struct virtio_device *d = first_due((struct virtio_bus *)bus);

	return d ? d->due : VIRTIO_NEVER;
}
