/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio devices with the transport virtio-mmio (virtio 1.2, 4.2): a shared folder (9P) and a
 * console. A device handles a request completely when the driver notifies it, and takes no time.
 *
 * The caller passes accesses to [VIRTIO_FIRST, VIRTIO_FIRST + VIRTIO_DEVICES * VIRTIO_PAGE), and
 * then sets the interrupt lines.
 */
#ifndef VMM_VIRTIO_VIRTIO_H
#define VMM_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio/queue.h"

#define VIRTIO_FIRST   0xfeb00000ull
#define VIRTIO_PAGE    0x1000ull
#define VIRTIO_DEVICES 2u
#define VIRTIO_LINE    16u /* the line of the first device; the others follow */
#define VIRTIO_QUEUES  2u
/* The longest message of the shared folder. */
#define VIRTIO_SHARE_MAX (128u << 10)
#define VIRTIO_TAG_MAX	 32u

enum virtio_kind {
	VIRTIO_CONSOLE = 3,
	VIRTIO_SHARE = 9,
};

/* Callbacks from the devices to the machine. */
struct virtio_host {
	struct virtio_memory memory;
	/* Bytes that the guest wrote to its console. */
	void (*console)(void *opaque, const uint8_t *bytes, size_t count);
	/* Make the reply to a request of the shared folder. Returns its size, at most @room. */
	size_t (*share)(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply,
			size_t room);
	void *opaque;
};

struct virtio_bus;

struct virtio_device {
	enum virtio_kind kind;
	uint32_t status, interrupt; /* the registers of these names */
	uint32_t device_select, driver_select, queue_select;
	uint64_t driver; /* the features that the driver accepted */
	struct virtio_queue queue[VIRTIO_QUEUES];
	uint8_t config[2 + VIRTIO_TAG_MAX];
	uint8_t config_bytes, queues;
};

struct virtio_bus {
	struct virtio_host host;
	struct virtio_device device[VIRTIO_DEVICES];
	unsigned int count;
	uint8_t *request, *reply; /* of VIRTIO_SHARE_MAX bytes, if there is a shared folder */
};

/* Add a shared folder with this tag. Returns 0, -EINVAL if the tag is too long, or -ENOMEM. */
int virtio_add_share(struct virtio_bus *bus, const char *tag);
void virtio_add_console(struct virtio_bus *bus);
/* Reset all devices, as at power-on. */
void virtio_reset(struct virtio_bus *bus);
void virtio_free(struct virtio_bus *bus);

/* Access a device. Returns false if there is none at this address. */
bool virtio_mmio(struct virtio_bus *bus, uint64_t gpa, uint32_t len, bool write, void *data);
/* Returns true if the device asserts its interrupt line. */
bool virtio_irq(const struct virtio_bus *bus, unsigned int device);

bool virtio_has_console(const struct virtio_bus *bus);
/* Returns the number of bytes that the console can receive now, at most @most. */
size_t virtio_console_wants(const struct virtio_bus *bus, size_t most);
/* Receive at most as many bytes as virtio_console_wants() has returned. */
void virtio_console_receive(struct virtio_bus *bus, const uint8_t *bytes, size_t count);

#endif /* VMM_VIRTIO_VIRTIO_H */
