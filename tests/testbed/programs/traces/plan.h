/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tasks and the results of a guest, for C and assembly. */
#ifndef BED_TRACES_PLAN_H
#define BED_TRACES_PLAN_H

#define PLAN_LIST 16 /* pairs at most, with the last one, whose MSR is 0 */

/* Bits of `what`. */
#define PLAN_BRANCHES 1
#define PLAN_EXITS    2	 /* CPUID */
#define PLAN_CR3      4	 /* switch between two equal address spaces */
#define PLAN_TRAPS    8	 /* INT3 and #UD */
#define PLAN_USER     16 /* ring 3 */
#define PLAN_OUT      32 /* exit to userspace in every 16th round */
#define PLAN_TSC      64 /* CPUID, then store the TSC */

#define PLAN_ALL (PLAN_BRANCHES | PLAN_EXITS | PLAN_CR3 | PLAN_TRAPS | PLAN_USER | PLAN_OUT)

#define PLAN_CR3_FLIP 0x6000

#define PLAN_BEGIN	 0
#define PLAN_END	 256
#define PLAN_ROUNDS	 512
#define PLAN_WHAT	 520
#define PLAN_TIMES	 528
#define PLAN_NMIS	 536
#define PLAN_OUTPUT_BASE 544

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct plan_msr {
	uint64_t index, value;
};

struct plan {
	struct plan_msr begin[PLAN_LIST], end[PLAN_LIST];
	uint64_t rounds, what;
	uint64_t times; /* where the next TSC is written */
	uint64_t nmis;
	uint64_t output_base, mask_ptrs, ctl, status; /* PT's MSRs at the end */
};

_Static_assert(offsetof(struct plan, end) == PLAN_END &&
		       offsetof(struct plan, rounds) == PLAN_ROUNDS &&
		       offsetof(struct plan, nmis) == PLAN_NMIS &&
		       offsetof(struct plan, output_base) == PLAN_OUTPUT_BASE,
	       "payload.S uses these offsets");
#endif
#endif
