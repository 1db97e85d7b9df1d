/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording code of segments whose base is not 0, for traces whose payloads are RIPs. */
#ifndef VMM_PT_CODE_BY_RIP_H
#define VMM_PT_CODE_BY_RIP_H

#include "pt/tracer.h"

/* Code about to run, as for tracer_code(). */
struct tracer_code_by_rip {
	uint64_t cr3, lin, base; /* base: of the code segment, not 0 */
	uint64_t gpa[2]; /* of the first byte, and of the next page if the code crosses one */
	unsigned int len;
};

void tracer_set_code_by_rip(struct tracer *t, const struct tracer_code_by_rip *code);

#endif /* VMM_PT_CODE_BY_RIP_H */
