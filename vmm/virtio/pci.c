// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers of virtio over PCI (virtio 1.2, 4.1), without those of legacy devices. */
#include <string.h>

#include "virtio/device.h"

/* Where the structures are in BAR 0. Each has a page. */
enum place {
	COMMON = 0x0000,
	ISR = 0x1000,
	CONFIG = 0x2000,
	NOTIFY = 0x3000,
};

#define PLACE_BYTES	0x1000u
#define NOTIFY_MULTIPLE 4u
#define CAP_VENDOR	9u

/* The types of capabilities. */
enum cap_type {
	CAP_COMMON = 1,
	CAP_NOTIFY = 2,
	CAP_ISR = 3,
	CAP_DEVICE = 4,
};

struct cap {
	uint8_t id, next, bytes, type, bar, number, pad[2];
	uint32_t offset, length;
};

/* The common configuration. */
struct common {
	uint32_t device_select, device_features, driver_select, driver_features;
	uint16_t config_vector, queues;
	uint8_t status, generation;
	uint16_t queue_select, size, vector, enable, notify_off;
	uint64_t desc, avail, used;
};

_Static_assert(sizeof(struct common) == 56, "common configuration of virtio 1.2 without additions");

void virtio_pci_capabilities(uint8_t *config, unsigned int at)
{
	static const struct {
		uint8_t type;
		uint16_t offset;
	} rows[] = {
		{CAP_COMMON, COMMON}, {CAP_ISR, ISR}, {CAP_DEVICE, CONFIG}, {CAP_NOTIFY, NOTIFY}};
	const uint32_t multiple = NOTIFY_MULTIPLE;
	const unsigned int count = sizeof(rows) / sizeof(rows[0]);
	unsigned int i;

	for (i = 0; i < count; i++, at += sizeof(struct cap)) {
		const struct cap cap = {
			.id = CAP_VENDOR,
			.next = (uint8_t)(i + 1 < count ? at + sizeof(cap) : 0),
			.bytes = sizeof(cap) + (rows[i].type == CAP_NOTIFY ? sizeof(multiple) : 0),
			.type = rows[i].type,
			.offset = rows[i].offset,
			.length = PLACE_BYTES,
		};

		memcpy(config + at, &cap, sizeof(cap));
	}
	memcpy(config + at, &multiple, sizeof(multiple));
}

static struct virtio_queue *selected(struct virtio_device *d)
{
	return d->queue_select < d->queues ? &d->queue[d->queue_select] : NULL;
}

static uint32_t half(uint64_t features, uint32_t select)
{
	return select < 2 ? (uint32_t)(features >> 32 * select) : 0;
}

static struct common read_common(struct virtio_device *d)
{
	const struct virtio_queue *q = selected(d);
	struct common c = {
		.device_select = d->device_select,
		.device_features = half(virtio_device_features(d), d->device_select),
		.driver_select = d->driver_select,
		.driver_features = half(d->driver, d->driver_select),
		.config_vector = d->config_vector,
		.queues = d->queues,
		.status = (uint8_t)d->status,
		.queue_select = (uint16_t)d->queue_select,
		.vector = VIRTIO_NO_VECTOR,
	};

	if (!q)
		return c;
	c.size = (uint16_t)(q->size ? q->size : VIRTIO_QUEUE_MAX);
	c.vector = d->vector[d->queue_select];
	c.enable = (uint16_t)q->ready;
	c.notify_off = (uint16_t)d->queue_select;
	c.desc = q->desc;
	c.avail = q->avail;
	c.used = q->used;
	return c;
}

/* There is a vector for each queue, and one for changes of the configuration. */
static uint16_t valid_vector(const struct virtio_device *d, uint16_t vector)
{
	return vector <= d->queues ? vector : VIRTIO_NO_VECTOR;
}

/* Take the registers of a queue that is not enabled. */
static void write_queue(struct virtio_queue *q, const struct common *c, uint32_t offset)
{
	if (offset == offsetof(struct common, size)) {
		if (c->size && c->size <= VIRTIO_QUEUE_MAX && !(c->size & (c->size - 1)))
			q->size = c->size;
	} else if (offset == offsetof(struct common, enable)) {
		if (!q->size)
			q->size = VIRTIO_QUEUE_MAX;
		q->ready = c->enable == 1;
	} else if (offset >= offsetof(struct common, desc)) {
		q->desc = c->desc;
		q->avail = c->avail;
		q->used = c->used;
	}
}

static void write_features(struct virtio_device *d, uint32_t value)
{
	const unsigned int shift = 32 * (d->driver_select & 1);

	if (d->driver_select < 2 && !(d->status & VIRTIO_STATUS_FEATURES_OK))
		d->driver = (d->driver & ~(0xffffffffull << shift)) | (uint64_t)value << shift;
}

/* Take the register at @offset, which the driver has written. */
static void write_common(struct virtio_device *d, const struct common *c, uint32_t offset)
{
	struct virtio_queue *q = selected(d);

	switch (offset) {
	case offsetof(struct common, device_select):
		d->device_select = c->device_select;
		break;
	case offsetof(struct common, driver_select):
		d->driver_select = c->driver_select;
		break;
	case offsetof(struct common, driver_features):
		write_features(d, c->driver_features);
		break;
	case offsetof(struct common, config_vector):
		d->config_vector = valid_vector(d, c->config_vector);
		break;
	case offsetof(struct common, status):
		virtio_device_set_status(d, c->status);
		break;
	case offsetof(struct common, queue_select):
		d->queue_select = c->queue_select;
		break;
	case offsetof(struct common, vector):
		if (q)
			d->vector[d->queue_select] = valid_vector(d, c->vector);
		break;
	default:
		if (q && !q->ready)
			write_queue(q, c, offset);
		break;
	}
}

static void access_common(struct virtio_device *d, uint32_t offset, uint32_t len, bool write,
			  void *data)
{
	struct common c = read_common(d);

	if (len > sizeof(c) || offset > sizeof(c) - len)
		return;
	if (write) {
		memcpy((uint8_t *)&c + offset, data, len);
		write_common(d, &c, offset);
	} else {
		memcpy(data, (const uint8_t *)&c + offset, len);
	}
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, uint32_t len, const void *data)
{
	uint16_t queue = 0;

	memcpy(&queue, data, len < sizeof(queue) ? len : sizeof(queue));
	virtio_device_notify(bus, d, queue);
}

void virtio_pci(struct virtio_bus *bus, unsigned int device, uint32_t offset, uint32_t len,
		bool write, void *data)
{
	struct virtio_device *d = &bus->device[device];
	const uint32_t at = offset % PLACE_BYTES;

	if (!write)
		memset(data, 0, len);
	switch (offset - at) {
	case COMMON:
		access_common(d, at, len, write, data);
		break;
	case ISR:
		/* A read clears the register. */
		if (!write && len && !at) {
			*(uint8_t *)data = (uint8_t)d->interrupt;
			d->interrupt = 0;
		}
		break;
	case CONFIG:
		if (!write)
			virtio_device_read_config(d, at, len, data);
		break;
	case NOTIFY:
		if (write)
			notify(bus, d, len, data);
		break;
	default:
		break;
	}
}
