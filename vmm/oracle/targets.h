/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace without TNT packets (33.3.9) against what ran. It does not tell which way conditional
 * branches go. The places where the trace is enabled and disabled, and the events there, must be
 * exact. Between two of them, each target of a TIP must be an instruction that ran, in the same
 * order.
 */
#ifndef VMM_ORACLE_TARGETS_H
#define VMM_ORACLE_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/reader.h"

struct oracle_targets {
	uint64_t retired;    /* instructions that should be in the trace */
	uint64_t targets;    /* that were found among these */
	uint64_t events;     /* that are as they should be */
	uint64_t mismatches; /* of a vCPU the first */
	char first[160];     /* what and where */
	bool overflow;	     /* the trace was looked at up to there only */
};

/* Is there a session without TNT packets? */
bool oracle_targets_needed(const struct trace_reader *reader);

/* Compare a vCPU; adds to `t`. 0 or -errno. */
int oracle_targets(struct trace_reader *reader, unsigned int vcpu, struct oracle_targets *t);

#endif /* VMM_ORACLE_TARGETS_H */
