/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that describe an event, CFE and EVD (33.4.2.29, 33.4.2.30), and packet blocks (33.4.1.1).
 */
#ifndef VMM_DECODE_CFE_H
#define VMM_DECODE_CFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A CFE packet with the EVDs before it, or a block (33.4.1.1), which is a BBP with its BIPs. */
struct decode_cfe {
	bool is_block; /* a block, whose `type` is BBP.Type; the fields of a CFE are then unused */
	bool short_items;
	uint32_t items; /* the number of items of a block, from `first_item` on */
	size_t first_item;
	const struct decode_block_item *item; /* the first item; only set in an EVENT */
	uint64_t offset;		      /* the stream offset after the packet */
	uint64_t read;			      /* its place in the decoder's input */
	uint64_t ip;			      /* the IP of its FUP if has_ip is set */
	uint64_t reason, qualification, fault_address;
	uint8_t type, vector;
	bool lone; /* the FUP belongs only to this packet, and not also to a branch */
	bool has_ip, has_reason, has_qualification, has_fault_address;
};

struct decode_block_item {
	uint64_t value;
	uint8_t id;
};

#endif /* VMM_DECODE_CFE_H */
