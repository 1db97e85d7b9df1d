/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetch and decoding of the instruction at an address. */
#ifndef VMM_CORE_FETCH_H
#define VMM_CORE_FETCH_H

#include <stdint.h>

#include "core/insn.h"

struct core_vcpu;

/* The result of core_fetch(). */
struct core_fetched {
	const struct core_insn *insn; /* NULL: no valid instruction, executing it must fault */
	struct core_insn_bytes bytes;
	/* guest-physical addresses of RIP and of the next page, if that was read */
	uint64_t gpa, gpa2;
};
void core_fetch(struct core_vcpu *v, uint64_t ip, struct core_fetched *f);

#endif /* VMM_CORE_FETCH_H */
