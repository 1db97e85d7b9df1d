/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream without TNT packets (33.3.9), as far as it goes: what its packets say, and
 * nothing of what ran in between. In: what the filter made of it (filter.h).
 */
#ifndef VMM_JUDGE_BARE_H
#define VMM_JUDGE_BARE_H

#include "decode/item.h"
#include "vpt/packet.h"

struct judge_bare {
	const uint8_t *bytes;
	size_t len, at;
	struct vpt_parser parser;
	bool synced; /* else a PSB is to be looked for */
	bool in_psb;
	bool has_last; /* the last IP is known */
	uint64_t last_ip;
	bool has_fup; /* one waits for its TIP */
	uint64_t fup;
	bool branches;		 /* CTL.BranchEn: an overflow has a FUP */
	struct decode_item held; /* its FUP comes next; DECODE_ITEM_END: nothing */
};

void judge_bare_init(struct judge_bare *bare, const uint8_t *bytes, size_t len);

/* The next EVENT, ERROR or END; `offset` is where in the bytes it was read. */
void judge_bare_next(struct judge_bare *bare, struct decode_item *item);

#endif /* VMM_JUDGE_BARE_H */
