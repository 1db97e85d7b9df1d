/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a .vpt file: finds them, checks them, hands out copies, and resumes behind
 * damage at the next block whose checksum is right.
 */
#ifndef VMM_TRACE_BLOCKS_H
#define VMM_TRACE_BLOCKS_H

#include "trace/arena.h"
#include "trace/reader.h"
#include "trace/source.h"

/* The payload that take() gets of a valid block. */
enum trace_block_use {
	TRACE_USE_PASS,	 /* no payload */
	TRACE_USE_LOOK,	 /* a copy of the payload, valid during the call */
	TRACE_USE_KEEP,	 /* a copy of the payload, which stays in the arena */
	TRACE_USE_STAY,	 /* the payload in the mapped file, or else a copy as with KEEP */
	TRACE_USE_CHECK, /* its first bytes, after a check of the whole: see `skipped` */
	TRACE_USE_SKIP,	 /* its first bytes, unchecked: see `skipped`. Not in PACKED blocks */
};

struct trace_blocks {
	struct trace_source source;
	struct trace_arena arena;
	struct trace_extent extent; /* its `damage` points to `damages.at` */
	struct {
		struct trace_damage *at;
		size_t n, room;
	} damages;
	uint64_t budget; /* remaining bytes for failed checks */
	uint64_t
		skipped; /* position of the block that is passed to take() with SKIP or CHECK, or else 0 */
	bool packed; /* the blocks are in a PACKED block */
	uint64_t at; /* position of the first block that trace_blocks_more() has not read */

	enum trace_block_use (*use)(struct trace_blocks *b, const struct trace_block *head);
	/*
	 * Take a block. @payload is NULL if the block is passed, and may change if it is mapped.
	 * Returns NULL, or a static reason why the block is damaged; then nothing of it is kept.
	 * The callback reports its own errors in `error`, which ends reading.
	 */
	const char *(*take)(struct trace_blocks *b, const struct trace_block *head,
			    const void *payload);
	/* A damaged part ends, and blocks follow. */
	void (*resumed)(struct trace_blocks *b);
	int error; /* -errno */
};

/*
 * Read all blocks from @at on, or up to the first damage if @how is TRACE_READER_PREFIX. Returns 0,
 * even if the file is damaged, or -errno: -ENOMEM, or a read error.
 */
int trace_blocks_read(struct trace_blocks *b, uint64_t at, unsigned int how);
/*
 * Read the whole blocks of a file that grows, from b->at on, up to END. Returns 0, -EBADMSG at
 * damage, or -errno. After an error the reader can only be closed.
 */
int trace_blocks_more(struct trace_blocks *b);
/* The bytes of a payload that take() gets with SKIP. A smaller block is not skipped. */
#define TRACE_SKIP_BYTES 16u
/*
 * Read and check the block at @at, which was skipped. *payload receives a copy, which
 * trace_arena_undo() frees. Returns NULL, or a static reason why the block is damaged. `error` is set
 * after other errors.
 */
const char *trace_blocks_load(struct trace_blocks *b, uint64_t at, struct trace_block *head,
			      void **payload);
void trace_blocks_close(struct trace_blocks *b);

/*
 * reader_packed.c: take all blocks inside a PACKED block like those of the file. Returns NULL or a
 * static reason why the block is damaged. If an inner block is damaged, the blocks before it have
 * been taken.
 */
const char *trace_blocks_unpack(struct trace_blocks *b, const void *payload, size_t len);

#endif /* VMM_TRACE_BLOCKS_H */
