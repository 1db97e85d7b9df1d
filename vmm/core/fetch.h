/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetch and decode the instruction at an address. */
#ifndef VMM_CORE_FETCH_H
#define VMM_CORE_FETCH_H

#include <stdint.h>

#include "core/insn.h"

struct core_vcpu;

/* fetch.c: the instruction at RIP. */
struct core_fetched {
	const struct core_insn *insn; /* NULL: none, executing must fault */
	struct core_insn_bytes bytes;
	uint64_t gpa, gpa2; /* of RIP and of the next page */
};
void core_fetch(struct core_vcpu *v, uint64_t ip, struct core_fetched *f);

#endif /* VMM_CORE_FETCH_H */
