/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Give a reader of packets a stream that comes in pieces, which may cut a packet in two. */
#ifndef VMM_LIBDECODE_CARRY_H
#define VMM_LIBDECODE_CARRY_H

#include <string.h>

#include "vpt/packet.h"

/* The beginning of a packet whose other bytes are in the next piece. All zero is empty. */
struct dec_carry {
	uint8_t bytes[2 * VPT_PKT_MAX];
	size_t n;
};

/* One step into the bytes. Returns how many were used; 0: more are needed. */
typedef size_t dec_step_fn(void *reader, const uint8_t *bytes, size_t len);

/* Take bytes into the carry until the packet that is in it is whole. Returns how many. */
static inline size_t dec_carry_complete(struct dec_carry *c, dec_step_fn *step, void *reader,
					const uint8_t *bytes, size_t len)
{
	size_t had = c->n, room = sizeof(c->bytes) - had, used;

	if (len < room)
		room = len;
	memcpy(c->bytes + had, bytes, room);
	used = step(reader, c->bytes, had + room);
	if (!used) {
		c->n = had + room;
		return room;
	}
	if (used < had) {
		memmove(c->bytes, c->bytes + used, had - used);
		c->n = had - used;
		return 0;
	}
	c->n = 0;
	return used - had;
}

/* Call @step for all of a piece, and keep the packet that is cut at its end. */
static inline void dec_carry_push(struct dec_carry *c, dec_step_fn *step, void *reader,
				  const uint8_t *bytes, size_t len)
{
	while (len && c->n) {
		size_t used = dec_carry_complete(c, step, reader, bytes, len);

		bytes += used;
		len -= used;
	}
	while (len) {
		size_t used = step(reader, bytes, len);

		if (!used)
			break;
		bytes += used;
		len -= used;
	}
	if (len && len <= sizeof(c->bytes)) {
		memcpy(c->bytes, bytes, len);
		c->n = len;
	}
}

#endif /* VMM_LIBDECODE_CARRY_H */
