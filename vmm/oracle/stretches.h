/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares runs of a decoder with the stretches of RUN blocks. Both are instructions that follow
 * each other by falling through. The first time, a run and a stretch are compared instruction by
 * instruction. From then on, equal numbers mean equal runs. compare.c compares all events and every
 * difference step by step.
 */
#ifndef VMM_ORACLE_STRETCHES_H
#define VMM_ORACLE_STRETCHES_H

#include "decode/flow.h"
#include "oracle/expect.h"

/* The eight instructions in a report of a difference, and the two that are compared again. */
#define ORACLE_STRETCHES_TAIL 10u

struct oracle_stretches_insn {
	uint64_t ip;
	uint64_t offset; /* as in an item */
	uint8_t mode, len;
};

/* One for each flow. Zero-initialise it. */
struct oracle_stretches_match {
	struct oracle_stretch_known *known; /* indexed by the stretch's id */
	size_t nknown;
	struct {
		uint32_t *at;
		size_t n, room;
	} words; /* words of equal runs that may recur, see end_runs() */
	/* The result of oracle_stretches_match(): */
	uint64_t agreed; /* instructions that are equal */
	struct oracle_stretches_insn
		tail[ORACLE_STRETCHES_TAIL]; /* the last of them, oldest first */
	unsigned int ntail;
	uint64_t cr3;	    /* the address space of all of them, as in an item */
	unsigned int again; /* number of the last instructions that are expected again, at most 2 */
};

/*
 * Compare the next runs of @flow with the steps from @step on, until they differ or something other
 * than an instruction comes. @flow continues behind the instructions that are equal. @expect and
 * @step continue with the last two of these, because a record is only complete when the next one
 * is known. The caller ensures that oracle_expect_is_steady() is true for @expect and @step. With @spaces, an instruction of
 * another address space than that of @step is a difference. Returns 0 or -errno.
 */
int oracle_stretches_match(struct oracle_stretches_match *m, struct decode_flow *flow,
			   struct oracle_expect *expect, struct oracle_step *step, bool spaces);
void oracle_stretches_match_free(struct oracle_stretches_match *m);

#endif /* VMM_ORACLE_STRETCHES_H */
