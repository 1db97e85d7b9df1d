// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The disk (virtio 1.2, 5.2): each chain is a request, its data and a byte for the status. A request
 * stays in the queue until its time has come, so that guest RAM holds the requests in flight.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "virtio/device.h"

#define FEATURE_SIZE_MAX (1ull << 1)
#define FEATURE_SEG_MAX	 (1ull << 2)
#define FEATURE_RO	 (1ull << 5)
#define FEATURE_FLUSH	 (1ull << 9)

#define SECTOR	 512u
#define SEGMENTS 32u
#define SEGMENT	 (VIRTIO_DISK_MAX / SEGMENTS)
#define ID_BYTES 20u
/* The time of a request, about that of a fast disk: 20 us, and 2 bytes a ns. */
#define REQUEST_NS   20000u
#define BYTES_PER_NS 2u
#define STATUS_OK    0u
#define STATUS_IO    1u
#define STATUS_NOT   2u /* the device has no such request */

enum request_type {
	REQUEST_READ = 0,
	REQUEST_WRITE = 1,
	REQUEST_FLUSH = 4,
	REQUEST_ID = 8,
};

struct request {
	uint32_t type, reserved;
	uint64_t sector;
};

int virtio_add_disk(struct virtio_bus *bus, uint64_t bytes, bool read_only)
{
	const uint64_t sectors = bytes / SECTOR;
	const uint32_t limits[] = {SEGMENT, SEGMENTS};
	struct virtio_device *d;

	if (bus->disks == VIRTIO_DISKS)
		return -ENOSPC;
	if (!bus->disk_buffer)
		bus->disk_buffer = malloc(sizeof(struct request) + VIRTIO_DISK_MAX + 1);
	if (!bus->disk_buffer)
		return -ENOMEM;
	d = virtio_device_add(bus, VIRTIO_BLOCK, 1);
	if (!d)
		return -ENOSPC;
	d->number = (uint8_t)bus->disks++;
	d->read_only = read_only;
	d->config_bytes = sizeof(sectors) + sizeof(limits);
	memcpy(d->config, &sectors, sizeof(sectors));
	memcpy(d->config + sizeof(sectors), limits, sizeof(limits));
	return 0;
}

static bool is_inside(const struct virtio_device *d, uint64_t sector, size_t bytes)
{
	uint64_t sectors;

	memcpy(&sectors, d->config, sizeof(sectors));
	return !(bytes % SECTOR) && sector <= sectors && bytes / SECTOR <= sectors - sector;
}

static uint8_t access_disk(struct virtio_bus *bus, const struct virtio_device *d,
			   enum virtio_disk_access access, uint64_t sector, uint8_t *data,
			   size_t bytes)
{
	if (!bus->host.disk || !is_inside(d, sector, bytes) ||
	    (access == VIRTIO_DISK_WRITE && d->read_only))
		return STATUS_IO;
	return bus->host.disk(bus->host.opaque, d->number, access, sector * SECTOR, data, bytes)
		       ? STATUS_IO
		       : STATUS_OK;
}

/* Do the request. @in and @out are the bytes of data that the driver receives and sent. */
static uint8_t perform(struct virtio_bus *bus, const struct virtio_device *d,
		       const struct request *r, uint8_t *data, size_t in, size_t out)
{
	switch (r->type) {
	case REQUEST_READ:
		return access_disk(bus, d, VIRTIO_DISK_READ, r->sector, data, in);
	case REQUEST_WRITE:
		return access_disk(bus, d, VIRTIO_DISK_WRITE, r->sector, data, out);
	case REQUEST_FLUSH:
		return access_disk(bus, d, VIRTIO_DISK_FLUSH, 0, data, 0);
	case REQUEST_ID:
		if (in < ID_BYTES)
			return STATUS_IO;
		memcpy(data, "vpt-disk0", sizeof("vpt-disk0"));
		data[sizeof("vpt-disk0") - 2] = (uint8_t)('0' + d->number);
		return STATUS_OK;
	default:
		return STATUS_NOT;
	}
}

/* Handle one request. Returns false if the chain breaks the rules. */
static bool serve(struct virtio_bus *bus, struct virtio_device *d, const struct virtio_chain *chain)
{
	const struct virtio_memory *m = &bus->host.memory;
	uint8_t *buffer = bus->disk_buffer, *data = buffer + sizeof(struct request), status;
	struct request r;
	size_t in, out;

	if (!chain->in_bytes || chain->out_bytes < sizeof(r))
		return false;
	in = chain->in_bytes - 1;
	out = chain->out_bytes - sizeof(r);
	if (in > VIRTIO_DISK_MAX || out > VIRTIO_DISK_MAX)
		return false;
	if (!virtio_chain_read(chain, m, buffer, chain->out_bytes))
		return false;
	memcpy(&r, buffer, sizeof(r));
	if (in)
		memset(data, 0, in);
	status = perform(bus, d, &r, data, in, out);
	data[in] = status;
	if (!virtio_chain_write(chain, m, data, chain->in_bytes))
		return false;
	virtio_device_give(bus, d, 0, chain, (uint32_t)chain->in_bytes);
	return true;
}

/* Set the time at which the next request completes, if there is one. */
static void schedule(struct virtio_bus *bus, struct virtio_device *d, uint64_t from)
{
	struct virtio_chain chain;

	d->due = VIRTIO_NEVER;
	switch (virtio_queue_peek(&d->queue[0], &bus->host.memory, &chain)) {
	case VIRTIO_NONE:
		break;
	case VIRTIO_BROKEN:
		virtio_device_break(d);
		break;
	case VIRTIO_CHAIN:
		d->due = from + REQUEST_NS + (chain.in_bytes + chain.out_bytes) / BYTES_PER_NS;
		break;
	}
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue)
{
	(void)queue;
	if (d->due == VIRTIO_NEVER)
		schedule(bus, d, bus->now);
}

static void complete(struct virtio_bus *bus, struct virtio_device *d)
{
	const uint64_t now = d->due;
	struct virtio_chain chain;

	d->due = VIRTIO_NEVER;
	if (!virtio_device_runs(d))
		return;
	/* The driver may have changed the chain since schedule(). */
	if (virtio_queue_take(&d->queue[0], &bus->host.memory, &chain) != VIRTIO_CHAIN ||
	    !serve(bus, d, &chain)) {
		virtio_device_break(d);
		return;
	}
	schedule(bus, d, now);
}

static uint64_t features(const struct virtio_device *d)
{
	return FEATURE_SIZE_MAX | FEATURE_SEG_MAX | FEATURE_FLUSH | (d->read_only ? FEATURE_RO : 0);
}

const struct virtio_type virtio_type_block = {
	.class_code = 0x010000,
	.features = features,
	.notify = notify,
	.complete = complete,
};
