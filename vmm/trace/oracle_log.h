/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that ran on a vCPU, from ORACLE and RUN blocks. All is checked as it is added.
 * The blocks stay where the file is mapped, so that words can change. A walk ends at a word that is
 * no longer a stretch.
 */
#ifndef VMM_TRACE_ORACLE_LOG_H
#define VMM_TRACE_ORACLE_LOG_H

#include "trace/reader.h"

/* Stretches by their id. Zero when empty. */
struct trace_stretches {
	const struct trace_stretch **at; /* NULL: there is none with this id */
	size_t room;
	uint64_t count;
};

struct trace_oracle_block {
	const void *at;
	size_t n;   /* records or words */
	bool words; /* of a RUN block */
};

struct trace_oracle_log {
	struct {
		struct trace_oracle_block *at;
		size_t n, room;
	} blocks;
	uint64_t records; /* that walking it gives */

	const struct trace_stretch *last; /* what the last word says ran, NULL: it does not */
	bool rep;			  /* a REP instruction may have retired, at: */
	uint64_t rep_ip;
};

/*
 * Take a block's payload of stretches, which stays where it is. NULL, or what is wrong with it:
 * then reading ends, and no later block may be taken.
 */
const char *trace_stretches_take(struct trace_stretches *s, const void *payload, size_t len);

/* Check the payload of an ORACLE or RUN block, and count what it says. Returns as above. */
const char *trace_oracle_log_count_records(struct trace_oracle_log *log, const void *payload,
					   size_t len);
const char *trace_oracle_log_count_words(struct trace_oracle_log *log,
					 const struct trace_stretches *s, const void *payload,
					 size_t len);

/*
 * Add one that was counted, and which stays where it is, for trace_oracle_log_next(). NULL, or
 * that there is no memory.
 */
const char *trace_oracle_log_keep_records(struct trace_oracle_log *log, const void *payload,
					  size_t len);
const char *trace_oracle_log_keep_words(struct trace_oracle_log *log, const void *payload,
					size_t len);

/* The same as trace_reader_oracle(). */
const struct trace_oracle_record *trace_oracle_log_next(const struct trace_oracle_log *log,
							const struct trace_stretches *s,
							struct trace_oracle_cursor *cursor);

bool trace_oracle_log_rest(const struct trace_oracle_log *log, const struct trace_stretches *s,
			   const struct trace_oracle_cursor *cursor,
			   struct trace_oracle_rest *rest);

#endif /* VMM_TRACE_ORACLE_LOG_H */
