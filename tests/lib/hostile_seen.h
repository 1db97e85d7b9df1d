/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inspects a software vCPU: its invariants, and the state that is visible to the guest. */
#ifndef TESTS_LIB_HOSTILE_SEEN_H
#define TESTS_LIB_HOSTILE_SEEN_H

#include "lib/hostile.h"
#include "x86/mem.h"

/* Check with REQUIRE() the invariants between two instructions, whatever the guest does. */
void hostile_check(const struct engine_vcpu *v, const struct x86_mem *mem);

/* All guest-visible state except RAM. Stale TLB entries are not included. */
struct hostile_seen {
	struct x86_regs regs;
	uint64_t retired, tsc_offset;
	struct x86_sregs s;
	uint64_t dr[8];
	uint8_t msr[512], fpu[4096];
	bool shadow;
	uint64_t more; /* for the caller */
};

void hostile_see(const struct engine_vcpu *v, struct hostile_seen *seen);
void hostile_require_same(const struct hostile_seen *a, const struct hostile_seen *b);

#endif /* TESTS_LIB_HOSTILE_SEEN_H */
