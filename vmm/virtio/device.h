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
#define VIRTIO_FEATURE_SIZE_MAX	 (1ull << 1) /* of a disk, as the next three */
#define VIRTIO_FEATURE_SEG_MAX	 (1ull << 2)
#define VIRTIO_FEATURE_RO	 (1ull << 5)
#define VIRTIO_FEATURE_FLUSH	 (1ull << 9)
#define VIRTIO_FEATURE_MAC	 (1ull << 5) /* of a network card, as the next one */
#define VIRTIO_FEATURE_STATUS	 (1ull << 16)
#define VIRTIO_FEATURE_INDIRECT	 (1ull << 28) /* of queues */
#define VIRTIO_FEATURE_EVENT	 (1ull << 29)
#define VIRTIO_FEATURE_VERSION_1 (1ull << 32)

/* Bits of virtio_device.raised: those of the queues, and this one. */
#define VIRTIO_RAISED_CONFIG (1u << 31)

/* Returns a new device with so many queues, or NULL if the bus is full. */
struct virtio_device *virtio_device_add(struct virtio_bus *bus, enum virtio_kind kind,
					uint8_t queues);
/* Returns true if the driver has set up the device, and has not broken its rules. */
bool virtio_device_runs(const struct virtio_device *d);
/* Stop a device whose driver broke the rules, until the driver resets the device. */
void virtio_device_break(struct virtio_device *d);
/* Return a chain, and interrupt the driver if it wants that. */
void virtio_device_give(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue,
			const struct virtio_chain *chain, uint32_t bytes);

uint64_t virtio_device_features(const struct virtio_device *d);
/* The driver has written the register of the status; 0 resets the device. */
void virtio_device_set_status(struct virtio_device *d, uint32_t value);
/* Read the configuration of a device. Bytes behind the configuration are 0. */
void virtio_device_read_config(const struct virtio_device *d, uint32_t offset, uint32_t len,
			       uint8_t *to);

/* The driver has notified a queue (notify.c). */
void virtio_device_notify(struct virtio_bus *bus, struct virtio_device *d, uint32_t queue);
/* The same for each kind of device. */
void virtio_share_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
void virtio_block_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
void virtio_console_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
void virtio_random_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
void virtio_net_notify(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
/* The time of the current request has come. */
void virtio_block_complete(struct virtio_bus *bus, struct virtio_device *d);
void virtio_net_complete(struct virtio_bus *bus, struct virtio_device *d);

#endif /* VMM_VIRTIO_DEVICE_H */
