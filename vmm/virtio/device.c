// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices of a bus, and their state that no transport has. */
#include "virtio/device.h"

#include <stdlib.h>
#include <string.h>

static void reset(struct virtio_device *d)
{
	unsigned int i;

	d->status = d->interrupt = d->raised = 0;
	d->driver = 0;
	d->due = VIRTIO_NEVER;
	d->config_vector = VIRTIO_NO_VECTOR;
	memset(d->queue, 0, sizeof(d->queue));
	for (i = 0; i < VIRTIO_QUEUES; i++)
		d->vector[i] = VIRTIO_NO_VECTOR;
}

static void power_on(struct virtio_device *d)
{
	reset(d);
	d->device_select = d->driver_select = d->queue_select = 0;
}

struct virtio_device *virtio_device_add(struct virtio_bus *bus, enum virtio_kind kind,
					uint8_t queues)
{
	struct virtio_device *d;

	if (bus->count == VIRTIO_DEVICES)
		return NULL;
	d = &bus->device[bus->count++];
	*d = (struct virtio_device){.kind = kind, .queues = queues};
	power_on(d);
	return d;
}

void virtio_reset(struct virtio_bus *bus)
{
	unsigned int i;

	for (i = 0; i < bus->count; i++)
		power_on(&bus->device[i]);
}

void virtio_free(struct virtio_bus *bus)
{
	free(bus->request);
	free(bus->reply);
	free(bus->disk_buffer);
	bus->request = bus->reply = bus->disk_buffer = NULL;
}

bool virtio_device_runs(const struct virtio_device *d)
{
	return d->status & VIRTIO_STATUS_DRIVER_OK && !(d->status & VIRTIO_STATUS_NEEDS_RESET);
}

void virtio_device_break(struct virtio_device *d)
{
	d->status |= VIRTIO_STATUS_NEEDS_RESET;
	d->interrupt |= VIRTIO_INTERRUPT_CONFIG;
	d->raised |= VIRTIO_RAISED_CONFIG;
}

void virtio_device_give(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue,
			const struct virtio_chain *chain, uint32_t bytes)
{
	bool interrupt = false;

	if (!virtio_queue_give(&d->queue[queue], &bus->host.memory, chain, bytes, &interrupt))
		virtio_device_break(d);
	if (!interrupt)
		return;
	d->interrupt |= VIRTIO_INTERRUPT_QUEUE;
	d->raised |= 1u << queue;
}

uint64_t virtio_device_features(const struct virtio_device *d)
{
	const struct virtio_type *type = virtio_type_of(d->kind);

	return VIRTIO_FEATURE_VERSION_1 | VIRTIO_FEATURE_INDIRECT | VIRTIO_FEATURE_EVENT |
	       (type->features ? type->features(d) : 0);
}

/* Let the queues follow the features that the driver has accepted. */
static void set_rules(struct virtio_device *d)
{
	uint32_t rules = 0;
	unsigned int i;

	if (d->driver & VIRTIO_FEATURE_INDIRECT)
		rules |= VIRTIO_RULE_INDIRECT;
	if (d->driver & VIRTIO_FEATURE_EVENT)
		rules |= VIRTIO_RULE_EVENT;
	for (i = 0; i < VIRTIO_QUEUES; i++)
		d->queue[i].rules = rules;
}

void virtio_device_set_status(struct virtio_device *d, uint32_t value)
{
	if (!value) {
		reset(d);
		return;
	}
	/* The driver must accept VERSION_1, and no feature that was not offered. */
	if (d->driver & ~virtio_device_features(d) || !(d->driver & VIRTIO_FEATURE_VERSION_1))
		value &= ~VIRTIO_STATUS_FEATURES_OK;
	if (value & VIRTIO_STATUS_FEATURES_OK)
		set_rules(d);
	else
		value &= ~VIRTIO_STATUS_DRIVER_OK;
	d->status = (value & 0x3f & ~VIRTIO_STATUS_NEEDS_RESET) | (value & 0x80) |
		    (d->status & VIRTIO_STATUS_NEEDS_RESET);
}

void virtio_device_read_config(const struct virtio_device *d, uint32_t offset, uint32_t len,
			       uint8_t *to)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		to[i] = offset + i < d->config_bytes ? d->config[offset + i] : 0;
}

bool virtio_take_vector(struct virtio_bus *bus, unsigned int device, uint16_t *vector)
{
	struct virtio_device *d = &bus->device[device];
	const uint32_t bit = d->raised & -d->raised;

	d->raised &= ~bit;
	*vector = bit == VIRTIO_RAISED_CONFIG ? d->config_vector
		  : bit			      ? d->vector[__builtin_ctz(bit)]
					      : VIRTIO_NO_VECTOR;
	return bit;
}
