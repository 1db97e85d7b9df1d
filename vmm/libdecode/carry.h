/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Give a packet reader a stream in pieces, which may cut a packet in two. */
#ifndef VMM_LIBDECODE_CARRY_H
#define VMM_LIBDECODE_CARRY_H

#include <string.h>

#include "vpt/packet.h"

/* The begin of a packet whose remaining bytes are in the next piece. All-zero means empty. */
struct dec_carry {
	uint8_t bytes[2 * VPT_PKT_MAX];
	size_t n;
};

/* The rest of a piece of the stream, and the bytes that the reader reads next. */
struct dec_piece {
	const uint8_t *left;
	size_t nleft;
	const uint8_t *at;
	size_t n;
};

/* Set the bytes that the reader reads next. Returns false if the piece is used up. */
static inline bool dec_carry_next(struct dec_carry *c, struct dec_piece *p)
{
	size_t room = sizeof(c->bytes) - c->n;

	if (!p->nleft)
		return false;
	if (vpt_likely(!c->n)) {
		p->at = p->left;
		p->n = p->nleft;
		return true;
	}
	if (p->nleft < room)
		room = p->nleft;
	memcpy(c->bytes + c->n, p->left, room);
	p->at = c->bytes;
	p->n = c->n + room;
	return true;
}

/* Remove @n bytes from the piece. */
static inline void dec_carry_skip(struct dec_piece *p, size_t n)
{
	p->left += n;
	p->nleft -= n;
}

/* Note that the reader has used @used bytes, or 0 if the first packet is incomplete. */
static inline void dec_carry_used(struct dec_carry *c, struct dec_piece *p, size_t used)
{
	size_t had = c->n;

	if (had && !used) {
		c->n = p->n;
		dec_carry_skip(p, p->n - had);
	} else if (had && used < had) {
		memmove(c->bytes, c->bytes + used, had - used);
		c->n = had - used;
	} else if (had || used) {
		c->n = 0;
		dec_carry_skip(p, used - had);
	} else {
		if (p->nleft <= sizeof(c->bytes)) {
			memcpy(c->bytes, p->left, p->nleft);
			c->n = p->nleft;
		}
		p->nleft = 0;
	}
}

#endif /* VMM_LIBDECODE_CARRY_H */
