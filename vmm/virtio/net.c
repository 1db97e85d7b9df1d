// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The network card (virtio 1.2, 5.1), without offloads: each chain is a header and a frame. A frame
 * that the guest sends stays in the queue until its time has come. One from outside is delivered at
 * once, if the driver has offered room for the longest.
 */
#include <errno.h>
#include <string.h>

#include "virtio/device.h"

#define FEATURE_MAC    (1ull << 5)
#define FEATURE_STATUS (1ull << 16)

#define RECEIVE	 0u
#define TRANSMIT 1u
/* The time of a frame: 2 us, and a byte a ns. */
#define FRAME_NS     2000u
#define BYTES_PER_NS 1u
#define LINK_UP	     1u

struct header {
	uint8_t flags, gso_type;
	uint16_t hdr_len, gso_size, csum_start, csum_offset;
	uint16_t num_buffers;
};

#define LONGEST (sizeof(struct header) + VIRTIO_FRAME_MAX)

int virtio_add_net(struct virtio_bus *bus)
{
	static const uint8_t mac[] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};
	static const uint16_t status = LINK_UP;
	struct virtio_device *d = virtio_device_add(bus, VIRTIO_NET, 2);

	if (!d)
		return -ENOSPC;
	d->config_bytes = sizeof(mac) + sizeof(status);
	memcpy(d->config, mac, sizeof(mac));
	memcpy(d->config + sizeof(mac), &status, sizeof(status));
	return 0;
}

static struct virtio_device *find(struct virtio_bus *bus)
{
	unsigned int i;

	for (i = 0; i < bus->count; i++)
		if (bus->device[i].kind == VIRTIO_NET)
			return &bus->device[i];
	return NULL;
}

/* Send one frame. Returns false if the chain breaks the rules. */
static bool transmit(struct virtio_bus *bus, struct virtio_device *d,
		     const struct virtio_chain *chain)
{
	uint8_t bytes[LONGEST];

	if (chain->in_bytes || chain->out_bytes < sizeof(struct header) ||
	    chain->out_bytes > sizeof(bytes) ||
	    !virtio_chain_read(chain, &bus->host.memory, bytes, chain->out_bytes))
		return false;
	if (bus->host.frame)
		bus->host.frame(bus->host.opaque, bytes + sizeof(struct header),
				chain->out_bytes - sizeof(struct header));
	virtio_device_give(bus, d, TRANSMIT, chain, 0);
	return true;
}

/* Set the time at which the next frame is sent, if there is one. */
static void schedule(struct virtio_bus *bus, struct virtio_device *d, uint64_t from)
{
	struct virtio_chain chain;

	d->due = VIRTIO_NEVER;
	switch (virtio_queue_peek(&d->queue[TRANSMIT], &bus->host.memory, &chain)) {
	case VIRTIO_NONE:
		break;
	case VIRTIO_BROKEN:
		virtio_device_break(d);
		break;
	case VIRTIO_CHAIN:
		d->due = from + FRAME_NS + chain.out_bytes / BYTES_PER_NS;
		break;
	}
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue)
{
	if (queue == TRANSMIT && d->due == VIRTIO_NEVER)
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
	if (virtio_queue_take(&d->queue[TRANSMIT], &bus->host.memory, &chain) != VIRTIO_CHAIN ||
	    !transmit(bus, d, &chain)) {
		virtio_device_break(d);
		return;
	}
	schedule(bus, d, now);
}

bool virtio_net_wants(const struct virtio_bus *bus)
{
	const struct virtio_device *d = find((struct virtio_bus *)bus);
	struct virtio_chain chain;

	return d && virtio_device_runs(d) &&
	       virtio_queue_peek(&d->queue[RECEIVE], &bus->host.memory, &chain) == VIRTIO_CHAIN &&
	       chain.in_bytes >= LONGEST;
}

void virtio_net_receive(struct virtio_bus *bus, const uint8_t *frame, size_t count)
{
	struct virtio_device *d = find(bus);
	const struct header header = {.num_buffers = 1};
	uint8_t bytes[LONGEST];
	struct virtio_chain chain;

	if (!d || count > VIRTIO_FRAME_MAX ||
	    virtio_queue_take(&d->queue[RECEIVE], &bus->host.memory, &chain) != VIRTIO_CHAIN)
		return;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), frame, count);
	if (!virtio_chain_write(&chain, &bus->host.memory, bytes, sizeof(header) + count))
		virtio_device_break(d);
	else
		virtio_device_give(bus, d, RECEIVE, &chain, (uint32_t)(sizeof(header) + count));
}

static uint64_t features(const struct virtio_device *d)
{
	(void)d;
	return FEATURE_MAC | FEATURE_STATUS;
}

const struct virtio_type virtio_type_net = {
	.class_code = 0x020000,
	.features = features,
	.notify = notify,
	.complete = complete,
};
