/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decode a piece of a stream, from a PSB up to the first error, to compare versions of its code. */
#ifndef VMM_DECODE_REFINE_TRIAL_H
#define VMM_DECODE_REFINE_TRIAL_H

#include "decode/pt_shard.h"
#include "decode/refine_sites.h"

/* The maximum number of sites that are listed in a piece, the last ones that were executed. */

/* The end of a piece, or its first error. */
struct decode_refine_result {
	bool error;
	bool stopped;	   /* the piece took more items than it may */
	uint64_t at;	   /* the stream offset of the error; UINT64_MAX without an error */
	unsigned int left; /* the outcomes that were not used */
	uint64_t ip;
	uint64_t cr3;	/* the space in the store, or DECODE_CR3_UNKNOWN */
	uint64_t pip;	/* the CR3 of the last PIP */
	uint64_t items; /* the number of items before */
};

struct decode_refine_trial {
	struct decode_pt_flow *f;
	struct decode_refine_sites *sites;
	struct decode_refine_visits visits;
	uint64_t trials, items; /* the sums of all trials */
	int err;		/* -errno; the search then ends */
};

/*
 * Decode a piece. It has an error if it takes more than @most items. With @list the sites that it
 * executed become @visits.
 */
struct decode_refine_result decode_refine_trial(struct decode_refine_trial *t,
						const struct decode_shard *piece, uint64_t most,
						bool list);

/* Returns true if a trial with the result @a got farther than one with @b. */
bool decode_refine_is_better(const struct decode_refine_result *a,
			     const struct decode_refine_result *b);

/* Set the store to its versions at the begin of a piece, before changes behind it are edited. */
void decode_refine_rewind(struct decode_refine_trial *t, const struct decode_shard *piece);

/* Let the decoder forget all code, because contents are freed or pages are removed. */
void decode_refine_forget_code(struct decode_refine_trial *t);

#endif /* VMM_DECODE_REFINE_TRIAL_H */
