/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Record code of segments whose base is not 0, for traces whose payloads are RIPs. */
#ifndef VMM_PT_CODE_BY_RIP_H
#define VMM_PT_CODE_BY_RIP_H

#include "pt/recorder.h"

/* Code that will run next, as for tracer_code(). */
struct tracer_code_by_rip {
	uint64_t cr3, lin, base; /* base: the base of the code segment, not 0 */
	uint64_t gpa[2];	 /* the first byte, and the next page if the code crosses into it */
	unsigned int len;
};

void tracer_set_code_by_rip(struct tracer_recorder *rec, const struct tracer_code_by_rip *code);

#endif /* VMM_PT_CODE_BY_RIP_H */
