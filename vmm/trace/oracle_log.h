/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that ran on a vCPU, from ORACLE and RUN blocks. All is checked as it is added.
 * The blocks stay where the file is mapped, so that words can change. A walk ends at a word that is
 * no longer a stretch.
 */
#ifndef VMM_TRACE_ORACLE_LOG_H
#define VMM_TRACE_ORACLE_LOG_H

#include "reader.h"

/* Stretches by their id. Zero when empty. */
struct vpt_stretches {
	const struct vpt_stretch **at; /* NULL: there is none with this id */
	size_t room;
	uint64_t count;
};

struct vpt_oracle_block {
	const void *at;
	size_t n;   /* records or words */
	bool words; /* of a RUN block */
};

struct vpt_oracle_log {
	struct {
		struct vpt_oracle_block *at;
		size_t n, room;
	} blocks;
	uint64_t records; /* that walking it gives */

	const struct vpt_stretch *last; /* what the last word says ran, NULL: it does not */
	bool rep;			/* a REP instruction may have retired, at: */
	uint64_t rep_ip;
};

/*
 * Take a block's payload of stretches, which stays where it is. NULL, or what is wrong with it:
 * then reading ends, and no later block may be taken.
 */
const char *vpt_stretches_take(struct vpt_stretches *s, const void *payload, size_t len);

/* Check the payload of an ORACLE or RUN block, and count what it says. Returns as above. */
const char *vpt_oracle_log_count_records(struct vpt_oracle_log *log, const void *payload,
					 size_t len);
const char *vpt_oracle_log_count_words(struct vpt_oracle_log *log, const struct vpt_stretches *s,
				       const void *payload, size_t len);

/*
 * Add one that was counted, and which stays where it is, for vpt_oracle_log_next(). NULL, or
 * that there is no memory.
 */
const char *vpt_oracle_log_keep_records(struct vpt_oracle_log *log, const void *payload,
					size_t len);
const char *vpt_oracle_log_keep_words(struct vpt_oracle_log *log, const void *payload, size_t len);

/* The same as vpt_reader_oracle(). */
const struct vpt_oracle_record *vpt_oracle_log_next(const struct vpt_oracle_log *log,
						    const struct vpt_stretches *s,
						    struct vpt_oracle_cursor *cursor);

bool vpt_oracle_log_rest(const struct vpt_oracle_log *log, const struct vpt_stretches *s,
			 const struct vpt_oracle_cursor *cursor, struct vpt_oracle_rest *rest);

#endif /* VMM_TRACE_ORACLE_LOG_H */
