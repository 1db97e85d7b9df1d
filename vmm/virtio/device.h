/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to vmm/virtio: what the transport and the devices have in common. */
#ifndef VMM_VIRTIO_DEVICE_H
#define VMM_VIRTIO_DEVICE_H

#include "virtio/virtio.h"

#define VIRTIO_STATUS_DRIVER_OK	  4u
#define VIRTIO_STATUS_FEATURES_OK 8u
#define VIRTIO_STATUS_NEEDS_RESET 64u
#define VIRTIO_INTERRUPT_QUEUE	  1u
#define VIRTIO_INTERRUPT_CONFIG	  2u

#define VIRTIO_FEATURE_TAG	 (1ull << 0) /* of a shared folder: it has a tag */
#define VIRTIO_FEATURE_VERSION_1 (1ull << 32)

/* Returns true if the driver has set up the device, and has not broken its rules. */
bool virtio_device_runs(const struct virtio_device *d);
/* Stop a device whose driver broke the rules, until the driver resets the device. */
void virtio_device_break(struct virtio_device *d);
/* Return a chain, and interrupt the driver if it wants that. */
void virtio_device_give(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue,
			const struct virtio_chain *chain, uint32_t bytes);

/* The driver has notified a queue (share.c, console.c). */
void virtio_share_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
void virtio_console_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);

#endif /* VMM_VIRTIO_DEVICE_H */
