/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decode one shard, or consecutive ones, to a partial result. */
#ifndef VMM_DECODE_SHARD_PART_H
#define VMM_DECODE_SHARD_PART_H

#include "decode/last_calls.h"
#include "decode/partial.h"
#include "decode/shard_listing.h"
#include "decode/shard_plan.h"

/* The code that a shard uses. */
struct decode_shard_code {
	size_t *list; /* indices of trace_reader_code(), ascending, from malloc() */
	size_t n;
	size_t applied[2]; /* how many changes were applied at its begin and at its end */
};

struct decode_shard_part {
	struct trace_reader *reader;
	struct debug_symbols *symbols; /* for names; may be NULL */
	unsigned int vcpu;
	enum decode_partial_kind kind;
	bool pti; /* SPACES, EDGES, listings with spaces: of decode_by_cr3_new() */
	struct decode_listing_how listing; /* INSNS, BLOCKS */
	/* From the begin of the first shard to the end of the last; NULL: all of the vCPU. */
	const struct decode_shard *shard;
	/* If not NULL, it receives the code that the part uses, and the result has no trees and no listing. */
	struct decode_shard_code *code;
	/* COUNTS: if not NULL, it receives the last calls, and blocks are not counted. Set it to zeros. */
	struct decode_last_calls *last_calls;
};

/*
 * Decode @part into @to, whose plan and shards the caller sets. Returns 0, -EPROTO if @part->shard
 * is not one of this file, -EBADMSG or -ENODATA if the file is damaged, or -errno. Free @to also after an error.
 */
int decode_shard_part(const struct decode_shard_part *part, struct decode_partial *to);

#endif /* VMM_DECODE_SHARD_PART_H */
