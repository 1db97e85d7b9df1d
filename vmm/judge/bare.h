/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report the packets of a stream without TNT packets (33.3.9). The instructions between the packets
 * are not reported. The input is the output of the filter (filter.h).
 */
#ifndef VMM_JUDGE_BARE_H
#define VMM_JUDGE_BARE_H

#include "decode/item.h"
#include "vpt/packet.h"

struct judge_bare {
	const uint8_t *bytes;
	size_t len, at;
	struct vpt_parser parser;
	bool synced; /* if clear, the reader must first find a PSB */
	bool in_psb;
	bool has_last; /* the last IP is known */
	uint64_t last_ip;
	bool has_fup; /* a FUP waits for its TIP */
	uint64_t fup;
	bool branches;		 /* CTL.BranchEn is set, so an overflow has a FUP */
	struct decode_item held; /* the event whose FUP comes next, or DECODE_ITEM_END */
};

void judge_bare_init(struct judge_bare *bare, const uint8_t *bytes, size_t len);

/* Return the next EVENT, ERROR or END. `offset` is the place in the bytes where it was read. */
void judge_bare_next(struct judge_bare *bare, struct decode_item *item);

#endif /* VMM_JUDGE_BARE_H */
