/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listing of a shard, kept until the shards before it were printed. Its text is in chunks of a
 * pool, which all threads share. A thread that needs a chunk waits while the pool is empty. This limits how
 * far the threads get ahead of the consumer.
 */
#ifndef VMM_DECODE_SHARD_TEXT_H
#define VMM_DECODE_SHARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug/symbol.h"

/* The maximum size of the text of a shard. The consumer decodes a larger shard by itself. */
#define DECODE_SHARD_TEXT_MOST ((uint64_t)64 << 20)
/* Each thread adds a half of this maximum to the pool. A chunk is a part of it. */
#define DECODE_SHARD_TEXT_CHUNKS 256u

struct decode_shard_chunk {
	struct decode_shard_chunk *next;
	size_t n;
	char text[];
};

/* The lock of the threads protects it. */
struct decode_shard_pool {
	size_t room;	/* the size of a chunk */
	uint64_t shard; /* the maximum size of the text of a shard */
	uint64_t most, n,
		peak; /* the number of chunks: of the pool, allocated now, and at most so far */
	struct decode_shard_chunk *spare;
};

/* @shard: the maximum size of the text of a shard; 0: a default. @jobs: the number of threads. */
void decode_shard_pool_init(struct decode_shard_pool *pool, uint64_t shard, unsigned int jobs);
/* Free the spare chunks. */
void decode_shard_pool_free(struct decode_shard_pool *pool);

/* Initialise with zeros. */
struct decode_shard_text {
	struct decode_shard_chunk *first, *last;
	uint64_t bytes;
	uint64_t shown; /* the number of printed items */
	bool dropped;	/* the text is too large, and was not kept */
	/*
	 * The first source line is not in the text, because the shard before may end with the same
	 * line. It belongs after `line_at` bytes. NULL if there is none.
	 */
	const struct debug_line *line;
	uint64_t line_at;
	/* The last source line. It is not known if the shard before has it. */
	bool knows_last;
	const struct debug_line *last_line;
};

/* A listing whose texts a thread keeps. */
struct decode_shard_lister;

#endif /* VMM_DECODE_SHARD_TEXT_H */
