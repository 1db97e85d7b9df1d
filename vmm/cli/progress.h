/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line on a terminal that shows the progress of decoding, for every verb that decodes. */
#ifndef VMM_CLI_PROGRESS_H
#define VMM_CLI_PROGRESS_H

#include <pthread.h>

#include "trace/reader.h"

struct cli_progress {
	const uint64_t *mismatches; /* a count to show, read atomically; NULL if there is none */

	/* The rest is private to progress.c. */
	pthread_mutex_t lock; /* threads decode several vCPUs */
	struct trace_reader *reader;
	struct trace_watch watch;
	uint64_t *at;	       /* offset in the stream of each vCPU; NULL if nothing is shown */
	uint64_t total;	       /* bytes of trace */
	uint64_t began, shown; /* in ns; 0 if not shown yet */
};

/*
 * Show on standard error how much of @reader's trace is decoded, the rate, and the remaining time.
 * Nothing is shown if standard error is not a terminal, if @wanted is false, or in the first two
 * seconds. @vcpu is the only vCPU that is decoded, or -1 for all. @p is zero but for `mismatches`.
 */
void cli_progress_begin(struct cli_progress *p, struct trace_reader *reader, int vcpu, bool wanted);

/* Clear the line. Call it before anything else is printed, while the reader is open. */
void cli_progress_end(struct cli_progress *p);

#endif /* VMM_CLI_PROGRESS_H */
