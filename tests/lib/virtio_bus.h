/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of virtio devices: a bus with a device of each kind, and its driver's side. */
#ifndef TESTS_LIB_VIRTIO_BUS_H
#define TESTS_LIB_VIRTIO_BUS_H

#include "virtio/virtio.h"

#define RAM	  (1u << 20)
#define DESC	  0x1000u
#define AVAIL	  0x2000u
#define USED	  0x3000u
#define DATA	  0x8000u
#define QUEUE	  8u
#define CONSOLE	  0u
#define FOLDER	  1u
#define DISK	  2u
#define READ_ONLY 3u
#define RANDOM	  4u

/* BAR 0 (virtio 1.2, 4.1.4). */
enum {
	DEVICE_SELECT = 0x00,
	DEVICE = 0x04,
	DRIVER_SELECT = 0x08,
	DRIVER = 0x0c,
	CONFIG_VECTOR = 0x10,
	QUEUES = 0x12,
	STATUS = 0x14,
	QUEUE_SELECT = 0x16,
	SIZE = 0x18,
	VECTOR = 0x1a,
	ENABLE = 0x1c,
	NOTIFY_OFF = 0x1e,
	DESC_AT = 0x20,
	AVAIL_AT = 0x28,
	USED_AT = 0x30,
	ISR = 0x1000,
	CONFIG = 0x2000,
	NOTIFY = 0x3000,
};

#define SECTORS 8u
#define SECTOR	512u

#define NEXT	 1u
#define WRITE	 2u
#define INDIRECT 4u

/* Features of queues, and where the indices of events are in queue 0. */
#define FEATURE_INDIRECT (1u << 28)
#define FEATURE_EVENT	 (1u << 29)
#define USED_EVENT	 (AVAIL + 4 + 2 * QUEUE)
#define AVAIL_EVENT	 (USED + 4 + 8 * QUEUE)

/* The bus and its RAM, and what its callbacks have seen. */
extern struct x86_mem vio_mem;
extern struct virtio_bus vio_bus;
extern char vio_printed[64], vio_asked[64];
extern const char *vio_answer;
extern uint8_t vio_image[2][SECTORS * SECTOR];
extern int vio_disk_error;
/* The features that vio_negotiate() accepts, but for VERSION_1. The fixture clears them. */
extern uint32_t vio_features;
extern unsigned int vio_flushes;
extern size_t vio_printed_bytes, vio_asked_bytes, vio_room, vio_wrote_bytes;
extern unsigned int vio_requests;

/* The fixture. */
void vio_setup(void);
void vio_teardown(void);

/*
 * Access the registers of a device by their widths, take an interrupt (-1: none), and set up a
 * device and its queues. Queue n has its pages 64 KiB behind those of queue 0.
 */
uint32_t vio_get(unsigned int device, uint32_t offset);
void vio_set(unsigned int device, uint32_t offset, uint32_t value);
void vio_notify(unsigned int device, uint16_t queue);
int vio_taken(unsigned int device);
void vio_negotiate(unsigned int device);
void vio_make_queue(unsigned int device, unsigned int n);
void vio_start(unsigned int device, unsigned int queues);
void vio_put(uint64_t gpa, const void *from, size_t bytes);
void vio_put_desc(unsigned int queue, unsigned int n, uint64_t gpa, uint32_t bytes, uint16_t flags,
		  uint16_t next);
uint16_t vio_word(uint64_t gpa);
void vio_offer(unsigned int queue, uint16_t head);

#endif /* TESTS_LIB_VIRTIO_BUS_H */
