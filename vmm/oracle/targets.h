/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of a trace without TNT packets (33.3.9) with the execution. The trace has no
 * directions of conditional branches. The places where it is enabled and disabled, and the events
 * there, must be exact. Between two of them, each target of a TIP must be an executed instruction,
 * in the same order.
 */
#ifndef VMM_ORACLE_TARGETS_H
#define VMM_ORACLE_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/reader.h"

struct oracle_targets {
	uint64_t retired;    /* instructions that the trace should contain */
	uint64_t targets;    /* targets that were found among these */
	uint64_t events;     /* events that agreed */
	uint64_t mismatches; /* mismatches; only the first of a vCPU counts */
	char first[160];     /* description and place of the first mismatch */
	bool overflow;	     /* only the trace before the overflow was compared */
};

/* Returns true if there is a session without TNT packets. */
bool oracle_targets_needed(const struct trace_reader *reader);

/* Compare a vCPU and add the result to `t`. Returns 0 or -errno. */
int oracle_targets(struct trace_reader *reader, unsigned int vcpu, struct oracle_targets *t);

#endif /* VMM_ORACLE_TARGETS_H */
