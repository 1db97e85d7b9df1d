/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executed instructions of a vCPU, from ORACLE and RUN blocks. Each block is checked as it is
 * added. The blocks stay in the mapped file, so their words can change. A walk ends at a word that
 * is no longer a stretch.
 */
#ifndef VMM_TRACE_ORACLE_LOG_H
#define VMM_TRACE_ORACLE_LOG_H

#include "trace/reader.h"

/* Stretches by id. All zero when empty. */
struct trace_stretches {
	const struct trace_stretch **at; /* NULL: there is no stretch with this id */
	size_t room;
	uint64_t count;
};

struct trace_oracle_block {
	const void *at;
	size_t n;   /* number of records or words */
	bool words; /* set for a RUN block */
};

struct trace_oracle_log {
	struct {
		struct trace_oracle_block *at;
		size_t n, room;
	} blocks;
	uint64_t records; /* number of records that a walk returns */

	const struct trace_stretch *last; /* the stretch of the last word; NULL if the word is
	                                   * not a stretch */
	bool rep;			  /* a REP instruction at the address below may have
	         			   * retired */
	uint64_t rep_ip;
};

/*
 * Take a block's payload of stretches, which must stay in place. Returns NULL, or the error in the
 * payload; reading then ends, and no later block may be taken.
 */
const char *trace_stretches_take(struct trace_stretches *s, const void *payload, size_t len);

/* Check the payload of an ORACLE or RUN block, and count its records. Returns as above. */
const char *trace_oracle_log_count_records(struct trace_oracle_log *log, const void *payload,
					   size_t len);
const char *trace_oracle_log_count_words(struct trace_oracle_log *log,
					 const struct trace_stretches *s, const void *payload,
					 size_t len);

/*
 * Keep a counted block, which must stay in place, for trace_oracle_log_next(). Returns NULL, or an
 * error if there is no memory.
 */
const char *trace_oracle_log_keep_records(struct trace_oracle_log *log, const void *payload,
					  size_t len);
const char *trace_oracle_log_keep_words(struct trace_oracle_log *log, const void *payload,
					size_t len);

/* Return the next record, like trace_reader_oracle(). */
const struct trace_oracle_record *trace_oracle_log_next(const struct trace_oracle_log *log,
							const struct trace_stretches *s,
							struct trace_oracle_cursor *cursor);

bool trace_oracle_log_rest(const struct trace_oracle_log *log, const struct trace_stretches *s,
			   const struct trace_oracle_cursor *cursor,
			   struct trace_oracle_rest *rest);

#endif /* VMM_TRACE_ORACLE_LOG_H */
