/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that describe an event: CFE and EVD (33.4.2.29, 33.4.2.30), and blocks (33.4.1.1). */
#ifndef VMM_DECODE_CFE_H
#define VMM_DECODE_CFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A CFE packet with the EVDs before it; or a block (33.4.1.1), that is a BBP with its BIPs. */
struct decode_cfe {
	bool is_block; /* then `type` is BBP.Type, and not all of the rest counts */
	bool short_items;
	uint32_t items; /* of a block: so many from `first_item` on of judge_filtered.items */
	size_t first_item;
	const struct decode_block_item *item; /* of the first, where an EVENT has it */
	uint64_t offset;		      /* in the stream, behind it */
	uint64_t read;			      /* where it would be in `bytes` */
	uint64_t ip;			      /* of its FUP, see has_ip */
	uint64_t reason, qualification, fault_address;
	uint8_t type, vector;
	bool lone; /* the FUP is its own, not that of a branch too */
	bool has_ip, has_reason, has_qualification, has_fault_address;
};

struct decode_block_item {
	uint64_t value;
	uint8_t id;
};

#endif /* VMM_DECODE_CFE_H */
