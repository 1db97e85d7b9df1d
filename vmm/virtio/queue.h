/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split virtqueues of virtio 1.2 (2.7), for any transport. The queue is in guest RAM and hostile:
 * each field is read once, and the copy is checked. The driver may accept indirect descriptors
 * (2.7.5.3) and event indices (2.7.7, 2.7.10).
 */
#ifndef VMM_VIRTIO_QUEUE_H
#define VMM_VIRTIO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/mem.h"

#define VIRTIO_QUEUE_MAX 256u /* descriptors */

/* Bits of virtio_queue.rules: the features of queues that the driver accepted. */
#define VIRTIO_RULE_INDIRECT (1u << 0)
#define VIRTIO_RULE_EVENT    (1u << 1)
#define VIRTIO_RULES	     (VIRTIO_RULE_INDIRECT | VIRTIO_RULE_EVENT)

/* Guest RAM, and a callback for each range that a device wrote, because it may hold code. */
struct virtio_memory {
	const struct x86_mem *mem;
	void (*wrote)(void *opaque, uint64_t gpa, uint64_t bytes);
	void *opaque;
};

struct virtio_queue {
	uint64_t desc, avail, used; /* guest-physical addresses */
	uint32_t size;		    /* a power of 2, at most VIRTIO_QUEUE_MAX */
	uint32_t ready;
	uint16_t taken; /* the index of the next available chain */
	uint16_t given; /* the index of the next used chain */
	uint32_t rules; /* VIRTIO_RULE_* */
};

/* A copy of a chain of descriptors. The first @out pieces are for reading by the device. */
struct virtio_chain {
	uint16_t head;
	unsigned int out, count;
	size_t out_bytes, in_bytes;
	struct {
		uint64_t gpa;
		uint32_t bytes;
	} piece[VIRTIO_QUEUE_MAX];
};

enum virtio_taken {
	VIRTIO_NONE,
	VIRTIO_CHAIN,
	VIRTIO_BROKEN, /* the driver has violated the rules of queues */
};

/*
 * Take the next available chain. With event indices, ask the driver for a notification when it makes
 * the chain after this one available.
 */
enum virtio_taken virtio_queue_take(struct virtio_queue *q, const struct virtio_memory *m,
				    struct virtio_chain *chain);
/* The same, but leave the chain available. */
enum virtio_taken virtio_queue_peek(const struct virtio_queue *q, const struct virtio_memory *m,
				    struct virtio_chain *chain);
/*
 * Copy the first @room bytes that the driver sends, or fewer if the chain has fewer. Returns false
 * if the chain is not in RAM.
 */
bool virtio_chain_read(const struct virtio_chain *chain, const struct virtio_memory *m, void *to,
		       size_t room);
/* Copy at most chain->in_bytes bytes to the driver. */
bool virtio_chain_write(const struct virtio_chain *chain, const struct virtio_memory *m,
			const void *from, size_t bytes);
/*
 * Return a chain of which the device wrote @bytes bytes. Sets *interrupt to true if the driver
 * wants an interrupt, and else leaves it. Returns false if the queue is not in RAM.
 */
bool virtio_queue_give(struct virtio_queue *q, const struct virtio_memory *m,
		       const struct virtio_chain *chain, uint32_t bytes, bool *interrupt);

#endif /* VMM_VIRTIO_QUEUE_H */
