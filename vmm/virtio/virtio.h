/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio devices of a PCI bus (virtio 1.2): disks, a shared folder (9P), a console, a network card
 * and random numbers. The transport is that of 4.1 without the registers of legacy devices.
 *
 * A disk completes its requests one after the other, each at a time that follows from its size. So
 * does a network card with the frames that it sends. The
 * other devices handle a request when the driver notifies them, and take no time.
 */
#ifndef VMM_VIRTIO_VIRTIO_H
#define VMM_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio/queue.h"

#define VIRTIO_DEVICES 12u
#define VIRTIO_DISKS   8u
#define VIRTIO_QUEUES  2u
#define VIRTIO_CONFIG  40u
/* The longest message of the shared folder, and the longest name of it. */
#define VIRTIO_SHARE_MAX (128u << 10)
#define VIRTIO_TAG_MAX	 32u
/* The most data of one request to a disk. */
#define VIRTIO_DISK_MAX	 (1u << 20)
#define VIRTIO_NO_VECTOR 0xffffu
#define VIRTIO_NEVER	 UINT64_MAX
/* The longest frame of the network. */
#define VIRTIO_FRAME_MAX 1514u
/* The size of BAR 0, and the offset of the MSI-X table in it. */
#define VIRTIO_PCI_BAR	0x8000u
#define VIRTIO_PCI_MSIX 0x4000u
/* The vectors of a device: one for each queue, and one for its configuration. */
#define VIRTIO_VECTORS (VIRTIO_QUEUES + 1)

enum virtio_kind {
#define VIRTIO_KIND(NAME, id, type) VIRTIO_##NAME = (id),
#include "virtio/kinds.def"
#undef VIRTIO_KIND
};

enum virtio_disk_access {
	VIRTIO_DISK_READ,
	VIRTIO_DISK_WRITE,
	VIRTIO_DISK_FLUSH, /* without data */
};

/* Callbacks from the devices to the machine. */
struct virtio_host {
	struct virtio_memory memory;
	/* Bytes that the guest wrote to its console. */
	void (*console)(void *opaque, const uint8_t *bytes, size_t count);
	/* A frame that the guest sends. */
	void (*frame)(void *opaque, const uint8_t *bytes, size_t count);
	/* Make the reply to a request of the shared folder. Returns its size, at most @room. */
	size_t (*share)(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply,
			size_t room);
	/* Access a disk by its number. Returns 0 or -errno. */
	int (*disk)(void *opaque, unsigned int number, enum virtio_disk_access access,
		    uint64_t offset, void *data, size_t bytes);
	void *opaque;
};

struct virtio_bus;

/* The registers of a device. A snapshot holds them as they are, so there are no pointers. */
struct virtio_device {
	uint32_t kind;		    /* enum virtio_kind */
	uint32_t status, interrupt; /* the registers of these names */
	uint32_t device_select, driver_select, queue_select;
	uint64_t driver; /* the features that the driver accepted */
	struct virtio_queue queue[VIRTIO_QUEUES];
	uint64_t due;	 /* ns: when the current request completes, or VIRTIO_NEVER */
	uint32_t raised; /* the interrupts to send */
	uint16_t config_vector, vector[VIRTIO_QUEUES];
	uint8_t queues, config_bytes;
	uint8_t number, read_only; /* of a disk */
	uint8_t config[VIRTIO_CONFIG];
	uint8_t spare[4];
};

struct virtio_bus {
	struct virtio_host host;
	struct virtio_device device[VIRTIO_DEVICES];
	unsigned int count;
	unsigned int disks;	  /* how many of them are disks */
	uint64_t now;		  /* ns */
	uint64_t random;	  /* the state of the random numbers */
	uint8_t *disk_buffer;	  /* if there is a disk */
	uint8_t *request, *reply; /* of VIRTIO_SHARE_MAX bytes, if there is a shared folder */
};

/*
 * Each of these functions adds a device. They return 0, -ENOSPC if the bus is full, or -ENOMEM.
 * virtio_add_share() returns -EINVAL if the tag has no or too many bytes.
 */
int virtio_add_share(struct virtio_bus *bus, const char *tag);
int virtio_add_console(struct virtio_bus *bus);
/* The last part of a sector of the disk is not visible. */
int virtio_add_disk(struct virtio_bus *bus, uint64_t bytes, bool read_only);
int virtio_add_random(struct virtio_bus *bus, uint64_t seed);
int virtio_add_net(struct virtio_bus *bus);
/* Reset all devices, as at power-on. */
void virtio_reset(struct virtio_bus *bus);
void virtio_free(struct virtio_bus *bus);

/* Return the number of bytes that virtio_save() writes, and save the state. */
size_t virtio_saved_bytes(const struct virtio_bus *bus);
void virtio_save(const struct virtio_bus *bus, void *to);
/*
 * Load a saved state. Returns false, without changes, if the bytes are not a state of a bus with
 * these devices.
 */
bool virtio_load(struct virtio_bus *bus, const void *from, size_t bytes);

/* Set the time, and complete the requests that are due. */
void virtio_advance(struct virtio_bus *bus, uint64_t now);
/* Returns the time at which the next request completes, or VIRTIO_NEVER. */
uint64_t virtio_next(const struct virtio_bus *bus);

/* Returns the PCI class code of a kind of device. */
uint32_t virtio_class_code(enum virtio_kind kind);
/* Write the capabilities of a device at @at of its configuration space, 68 bytes. */
void virtio_pci_capabilities(uint8_t *config, unsigned int at);
/* Access BAR 0 of a device, without its MSI-X table. */
void virtio_pci(struct virtio_bus *bus, unsigned int device, uint32_t offset, uint32_t len,
		bool write, void *data);
/*
 * Take an interrupt to send. *vector is VIRTIO_NO_VECTOR if the driver has given it none. Returns
 * false if there is none.
 */
bool virtio_take_vector(struct virtio_bus *bus, unsigned int device, uint16_t *vector);

bool virtio_has_console(const struct virtio_bus *bus);
/* Returns the number of bytes that the console can receive now, at most @most. */
size_t virtio_console_wants(const struct virtio_bus *bus, size_t most);
/* Receive at most as many bytes as virtio_console_wants() has returned. */
void virtio_console_receive(struct virtio_bus *bus, const uint8_t *bytes, size_t count);

/* Returns true if there is a network card that can receive a frame now. */
bool virtio_net_wants(const struct virtio_bus *bus);
/* Receive a frame of at most VIRTIO_FRAME_MAX bytes, after virtio_net_wants() has returned true. */
void virtio_net_receive(struct virtio_bus *bus, const uint8_t *frame, size_t count);

#endif /* VMM_VIRTIO_VIRTIO_H */
