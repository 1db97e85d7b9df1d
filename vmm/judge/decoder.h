/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoder of packets and code into items, which libipt (ipt.h) implements.
 * It decodes one stretch of packets, and begins with this struct.
 */
#ifndef VMM_JUDGE_DECODER_H
#define VMM_JUDGE_DECODER_H

#include "decode/item.h"

struct judge_decoder {
	const struct judge_decoder_ops *ops;
};

struct judge_decoder_ops {
	void (*free)(struct judge_decoder *d);
	/* Get in step with the packets, anew after an ERROR; *offset is where. False: there is
	 * no place left where that is possible. */
	bool (*sync)(struct judge_decoder *d, uint64_t *offset);
	/* The next INSN or BLOCK, EVENT, ERROR, or END of the stretch. After an ERROR there is
	 * nothing more before sync(). */
	void (*next)(struct judge_decoder *d, struct decode_item *item);
	/* The last ERROR was a packet that it does not know (or no packet at all). */
	bool (*unknown_packet)(const struct judge_decoder *d);
	/* Returns true if the last ERROR was a failed allocation. */
	bool (*no_memory)(const struct judge_decoder *d);
	/* The last ERROR was that there is no code where it is. */
	bool (*no_code)(const struct judge_decoder *d);
	/* After that: go on all the same, since there is other code now. */
	void (*retry)(struct judge_decoder *d);
};

static inline void judge_decoder_free(struct judge_decoder *d)
{
	if (d)
		d->ops->free(d);
}

#endif /* VMM_JUDGE_DECODER_H */
