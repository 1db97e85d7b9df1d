/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording code of segments whose base is not 0, for traces whose payloads are RIPs. */
#ifndef VMM_PT_CODE_BY_RIP_H
#define VMM_PT_CODE_BY_RIP_H

#include "pt/tracer.h"

/* Code about to run, as for vpt_tracer_code(). */
struct vpt_code_by_rip {
	uint64_t cr3, lin, base; /* base: of the code segment, not 0 */
	uint64_t gpa[2]; /* of the first byte, and of the next page if the code crosses one */
	unsigned int len;
};

void vpt_tracer_code_by_rip(struct vpt_tracer *t, const struct vpt_code_by_rip *code);

#endif /* VMM_PT_CODE_BY_RIP_H */
