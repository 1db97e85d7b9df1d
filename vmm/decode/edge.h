/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How execution reached a block: the changes of flow between the blocks of one address space. */
#ifndef VMM_DECODE_EDGE_H
#define VMM_DECODE_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/item.h"

/* DECODE_EDGE(enumerator, text). The order is that of files. */
#define DECODE_EDGES(DECODE_EDGE)           \
	DECODE_EDGE(TAKEN, "taken")         \
	DECODE_EDGE(NOT_TAKEN, "not taken") \
	DECODE_EDGE(JUMP, "jump")           \
	DECODE_EDGE(CALL, "call")           \
	DECODE_EDGE(RETURN, "return")       \
	DECODE_EDGE(FAR, "far transfer")    \
	DECODE_EDGE(EVENT, "event")

#define DECODE_EDGE(name, text) DECODE_EDGE_##name,
enum decode_edge_kind { DECODE_EDGES(DECODE_EDGE) DECODE_EDGE_COUNT };
#undef DECODE_EDGE

/* The place from which the next block is reached, if it is known. */
struct decode_from {
	bool known;
	uint64_t ip;	/* the branch, or the place of the event */
	uint64_t next;	/* the IP after the branch; 0 if not known */
	uint64_t block; /* the first instruction of the last block; 0 if none ran */
	uint8_t class;	/* enum decode_insn_class */
	bool event;
};

/* Set the place to the end of a BLOCK. */
void decode_from_block(struct decode_from *from, const struct decode_item *block);
/* Set the place to that of an ASYNC_BRANCH. */
void decode_from_event(struct decode_from *from, const struct decode_item *event);

/*
 * Find the kind of the edge from the place to a block at @ip. Returns false if there is none: the
 * place is not known, or execution fell through.
 */
bool decode_edge_kind(const struct decode_from *from, uint64_t ip, enum decode_edge_kind *kind);

#endif /* VMM_DECODE_EDGE_H */
