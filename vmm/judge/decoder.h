/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoder of packets and code into items, which libipt (ipt.h) implements. A decoder reads one
 * stretch of packets. Its state begins with this struct.
 */
#ifndef VMM_JUDGE_DECODER_H
#define VMM_JUDGE_DECODER_H

#include "decode/item.h"

struct judge_decoder {
	const struct judge_decoder_ops *ops;
};

struct judge_decoder_ops {
	void (*free)(struct judge_decoder *d);
	/*
	 * Synchronise with the packets, also after an ERROR. *offset is the place. Returns false if
	 * no such place is left.
	 */
	bool (*sync)(struct judge_decoder *d, uint64_t *offset);
	/*
	 * Return the next INSN or BLOCK, EVENT, ERROR, or END of the stretch. After an ERROR, call
	 * sync() first.
	 */
	void (*next)(struct judge_decoder *d, struct decode_item *item);
	/* Returns true if the last ERROR was an unknown packet, or bytes that form no packet. */
	bool (*unknown_packet)(const struct judge_decoder *d);
	/* Returns true if the last ERROR was a failed allocation. */
	bool (*no_memory)(const struct judge_decoder *d);
	/* Returns true if the last ERROR was missing code. */
	bool (*no_code)(const struct judge_decoder *d);
	/* Resume after no_code() once the caller has supplied other code. */
	void (*retry)(struct judge_decoder *d);
};

static inline void judge_decoder_free(struct judge_decoder *d)
{
	if (d)
		d->ops->free(d);
}

#endif /* VMM_JUDGE_DECODER_H */
