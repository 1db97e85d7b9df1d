// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers of virtio-mmio, version 2 (virtio 1.2, 4.2.2). */
#include <string.h>

#include "virtio/device.h"

enum reg {
	MAGIC = 0x00,
	VERSION = 0x04,
	DEVICE_ID = 0x08,
	VENDOR_ID = 0x0c,
	DEVICE_FEATURES = 0x10,
	DEVICE_SELECT = 0x14,
	DRIVER_FEATURES = 0x20,
	DRIVER_SELECT = 0x24,
	QUEUE_SELECT = 0x30,
	QUEUE_MAX = 0x34,
	QUEUE_SIZE = 0x38,
	QUEUE_READY = 0x44,
	QUEUE_NOTIFY = 0x50,
	INTERRUPT_STATUS = 0x60,
	INTERRUPT_ACK = 0x64,
	STATUS = 0x70,
	QUEUE_DESC = 0x80,
	QUEUE_AVAIL = 0x90,
	QUEUE_USED = 0xa0,
	SHM_LENGTH_LOW = 0xb0,
	SHM_LENGTH_HIGH = 0xb4,
	CONFIG = 0x100,
};

static uint64_t features(const struct virtio_device *d)
{
	return VIRTIO_FEATURE_VERSION_1 | (d->kind == VIRTIO_SHARE ? VIRTIO_FEATURE_TAG : 0);
}

/* The queue that is selected, or NULL if there is none. */
static struct virtio_queue *selected(struct virtio_device *d)
{
	return d->queue_select < d->queues ? &d->queue[d->queue_select] : NULL;
}

static uint32_t read_register(struct virtio_device *d, uint32_t offset)
{
	const struct virtio_queue *q = selected(d);

	switch (offset) {
	case MAGIC:
		return 0x74726976; /* "virt" */
	case VERSION:
		return 2;
	case DEVICE_ID:
		return d->kind;
	case VENDOR_ID:
		return 0x545056; /* "VPT" */
	case DEVICE_FEATURES:
		return d->device_select < 2 ? (uint32_t)(features(d) >> 32 * d->device_select) : 0;
	case QUEUE_MAX:
		return q ? VIRTIO_QUEUE_MAX : 0;
	case QUEUE_READY:
		return q ? q->ready : 0;
	case INTERRUPT_STATUS:
		return d->interrupt;
	case STATUS:
		return d->status;
	case SHM_LENGTH_LOW:
	case SHM_LENGTH_HIGH:
		return ~0u; /* there is no shared memory */
	default:
		return 0;
	}
}

static void set_half(uint64_t *value, bool high, uint32_t half)
{
	const unsigned int shift = high ? 32 : 0;

	*value = (*value & ~(0xffffffffull << shift)) | (uint64_t)half << shift;
}

/* The registers of the selected queue. A queue that is ready keeps its size and its places. */
static void write_queue(struct virtio_queue *q, uint32_t offset, uint32_t value)
{
	const bool high = offset & 4;

	if (offset == QUEUE_READY) {
		if (!(value & 1))
			*q = (struct virtio_queue){0};
		else if (q->size)
			q->ready = 1;
		return;
	}
	if (q->ready)
		return;
	switch (offset & ~4u) {
	case QUEUE_SIZE:
		if (value && value <= VIRTIO_QUEUE_MAX && !(value & (value - 1)))
			q->size = value;
		break;
	case QUEUE_DESC:
		set_half(&q->desc, high, value);
		break;
	case QUEUE_AVAIL:
		set_half(&q->avail, high, value);
		break;
	case QUEUE_USED:
		set_half(&q->used, high, value);
		break;
	default:
		break;
	}
}

static void reset(struct virtio_device *d)
{
	d->status = d->interrupt = 0;
	d->driver = 0;
	memset(d->queue, 0, sizeof(d->queue));
}

static void write_status(struct virtio_device *d, uint32_t value)
{
	if (!value) {
		reset(d);
		return;
	}
	/* The driver must accept VERSION_1, and no feature that was not offered. */
	if (d->driver & ~features(d) || !(d->driver & VIRTIO_FEATURE_VERSION_1))
		value &= ~VIRTIO_STATUS_FEATURES_OK;
	if (!(value & VIRTIO_STATUS_FEATURES_OK))
		value &= ~VIRTIO_STATUS_DRIVER_OK;
	d->status = (value & 0x3f & ~VIRTIO_STATUS_NEEDS_RESET) | (value & 0x80) |
		    (d->status & VIRTIO_STATUS_NEEDS_RESET);
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, uint32_t queue)
{
	if (queue >= d->queues || !virtio_device_runs(d))
		return;
	if (d->kind == VIRTIO_SHARE)
		virtio_share_notify(bus, d, queue);
	else
		virtio_console_notify(bus, d, queue);
}

static void write_register(struct virtio_bus *bus, struct virtio_device *d, uint32_t offset,
			   uint32_t value)
{
	struct virtio_queue *q = selected(d);

	switch (offset) {
	case DEVICE_SELECT:
		d->device_select = value;
		break;
	case DRIVER_FEATURES:
		if (d->driver_select < 2 && !(d->status & VIRTIO_STATUS_FEATURES_OK))
			set_half(&d->driver, d->driver_select, value);
		break;
	case DRIVER_SELECT:
		d->driver_select = value;
		break;
	case QUEUE_SELECT:
		d->queue_select = value;
		break;
	case QUEUE_NOTIFY:
		notify(bus, d, value);
		break;
	case INTERRUPT_ACK:
		d->interrupt &= ~value;
		break;
	case STATUS:
		write_status(d, value);
		break;
	default:
		if (q)
			write_queue(q, offset, value);
		break;
	}
}

static void read_config(const struct virtio_device *d, uint32_t offset, uint32_t len, uint8_t *to)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		to[i] = offset + i < d->config_bytes ? d->config[offset + i] : 0;
}

bool virtio_mmio(struct virtio_bus *bus, uint64_t gpa, uint32_t len, bool write, void *data)
{
	const uint32_t offset = gpa & (VIRTIO_PAGE - 1);
	struct virtio_device *d;
	uint32_t value;

	if (gpa < VIRTIO_FIRST || (gpa - VIRTIO_FIRST) / VIRTIO_PAGE >= bus->count)
		return false;
	d = &bus->device[(gpa - VIRTIO_FIRST) / VIRTIO_PAGE];
	if (offset >= CONFIG) {
		if (!write)
			read_config(d, offset - CONFIG, len, data);
		return true;
	}
	/* Registers are four bytes wide. Other accesses read 0 and write nothing. */
	if (len != sizeof(value) || offset % sizeof(value)) {
		if (!write)
			memset(data, 0, len);
		return true;
	}
	if (write) {
		memcpy(&value, data, sizeof(value));
		write_register(bus, d, offset, value);
	} else {
		value = read_register(d, offset);
		memcpy(data, &value, sizeof(value));
	}
	return true;
}
