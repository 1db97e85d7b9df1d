/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fetch and decode the instruction at an address. */
#ifndef VMM_CORE_FETCH_H
#define VMM_CORE_FETCH_H

#include <stdint.h>

#include "core/insn.h"

struct vpt_vcpu;

/* fetch.c: the instruction at RIP. */
struct vpt_fetched {
	const struct vpt_insn *insn; /* NULL: none, executing must fault */
	struct vpt_insn_bytes bytes;
	uint64_t gpa, gpa2; /* of RIP and of the next page */
};
void vpt_fetch(struct vpt_vcpu *v, uint64_t ip, struct vpt_fetched *f);

#endif /* VMM_CORE_FETCH_H */
