// SPDX-License-Identifier: GPL-2.0-or-later
/* The device of a shared folder: each chain is a request and the room for its reply. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "virtio/device.h"

#define FEATURE_TAG (1ull << 0)

int virtio_add_share(struct virtio_bus *bus, const char *tag)
{
	const size_t len = strlen(tag);
	struct virtio_device *d;

	if (!len || len > VIRTIO_TAG_MAX)
		return -EINVAL;
	if (!bus->request)
		bus->request = malloc(VIRTIO_SHARE_MAX);
	if (!bus->reply)
		bus->reply = malloc(VIRTIO_SHARE_MAX);
	if (!bus->request || !bus->reply)
		return -ENOMEM;
	d = virtio_device_add(bus, VIRTIO_SHARE, 1);
	if (!d)
		return -ENOSPC;
	d->config[0] = (uint8_t)len;
	memcpy(d->config + 2, tag, len);
	d->config_bytes = (uint8_t)(2 + len);
	return 0;
}

/* Handle one request. Returns false if the chain breaks the rules. */
static bool serve(struct virtio_bus *bus, struct virtio_device *d, const struct virtio_chain *chain)
{
	const struct virtio_memory *m = &bus->host.memory;
	size_t bytes = chain->out_bytes, room = chain->in_bytes, used;

	if (bytes > VIRTIO_SHARE_MAX || !virtio_chain_read(chain, m, bus->request, bytes))
		return false;
	if (room > VIRTIO_SHARE_MAX)
		room = VIRTIO_SHARE_MAX;
	used = bus->host.share(bus->host.opaque, bus->request, bytes, bus->reply, room);
	if (used > room || !virtio_chain_write(chain, m, bus->reply, used))
		return false;
	virtio_device_give(bus, d, 0, chain, (uint32_t)used);
	return true;
}

static void notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue)
{
	enum virtio_taken taken = VIRTIO_CHAIN;
	struct virtio_chain chain;

	/* A reply can change the queue, so the number of chains is bounded here. */
	for (unsigned int left = VIRTIO_QUEUE_MAX; left && virtio_device_runs(d); left--) {
		taken = virtio_queue_take(&d->queue[queue], &bus->host.memory, &chain);
		if (taken == VIRTIO_NONE)
			return;
		if (taken == VIRTIO_BROKEN || !serve(bus, d, &chain))
			virtio_device_break(d);
	}
}

static uint64_t features(const struct virtio_device *d)
{
	(void)d;
	return FEATURE_TAG;
}

const struct virtio_type virtio_type_share = {
	.class_code = 0x00ff00,
	.features = features,
	.notify = notify,
};
