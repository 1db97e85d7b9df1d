/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records that perf needs, and their times.
 *
 * perf decodes all vCPUs in the order of their time stamps, and applies a record when each vCPU has
 * reached the time of the record. The plan does the same with the decoded flow. At each block the
 * plan knows the process and the code that perf will have there. The plan adds a record wherever
 * the trace differs.
 */
#ifndef VMM_EXPORT_PLAN_H
#define VMM_EXPORT_PLAN_H

#include "export/lane.h"
#include "export/pages.h"

enum export_what {
	EXPORT_SWITCH, /* `process` runs on the vCPU */
	EXPORT_PATCH,  /* a changed user page: see the patches of its process */
	EXPORT_POKE,   /* a changed kernel page: from, bytes */
};

struct export_event {
	uint64_t ns;
	enum export_what what;
	unsigned int vcpu;
	struct export_process *process;
	const struct export_page *page;
	const uint8_t *from, *bytes;
	enum export_width width;
	size_t patch;
};

struct export_plan {
	struct export_pages pages;
	struct export_time time;
	struct decode_disasm *disasm;
	struct export_lane *lanes;
	unsigned int nlanes;
	struct {
		struct export_event *at;
		size_t n, room;
	} events; /* in the order of time */
};

/*
 * Make the plan of all vCPUs or of one vCPU. The reader must outlive the plan. Returns 0 or -errno.
 */
int export_plan_open(struct export_plan *plan, struct trace_reader *reader, bool one_vcpu,
		     unsigned int vcpu);
void export_plan_close(struct export_plan *plan);

#endif /* VMM_EXPORT_PLAN_H */
