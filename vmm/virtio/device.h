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

/* Features of every device. */
#define VIRTIO_FEATURE_INDIRECT	 (1ull << 28)
#define VIRTIO_FEATURE_EVENT	 (1ull << 29)
#define VIRTIO_FEATURE_VERSION_1 (1ull << 32)

/* Bits of virtio_device.raised: those of the queues, and this one. */
#define VIRTIO_RAISED_CONFIG (1u << 31)

/* A kind of device. The file of each kind defines one, and kinds.def lists it. */
struct virtio_type {
	uint32_t class_code; /* of PCI */
	/* Returns the features that this kind adds to those of every device. NULL: none. */
	uint64_t (*features)(const struct virtio_device *d);
	/* The driver has notified a queue of a device that runs. */
	void (*notify)(struct virtio_bus *bus, struct virtio_device *d, unsigned int queue);
	/* The time of the current request has come. NULL if requests take no time. */
	void (*complete)(struct virtio_bus *bus, struct virtio_device *d);
};

#define VIRTIO_KIND(NAME, id, type) extern const struct virtio_type virtio_type_##type;
#include "virtio/kinds.def"
#undef VIRTIO_KIND

/* Returns the type of a kind (type.c). */
const struct virtio_type *virtio_type_of(enum virtio_kind kind);

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

#endif /* VMM_VIRTIO_DEVICE_H */
