/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records that perf needs, and when.
 *
 * perf decodes all vCPUs in the order of their time stamps, and applies a record when each vCPU has
 * reached the time of the record. The plan does the same with the decoded flow. At each block it
 * knows which process and which code perf will have there. It adds a record wherever that differs
 * from what ran.
 */
#ifndef VMM_EXPORT_PLAN_H
#define VMM_EXPORT_PLAN_H

#include "export/lane.h"
#include "export/pages.h"

enum export_what {
	EXPORT_SWITCH, /* `process` runs on the vCPU */
	EXPORT_PATCH,  /* a user page, see its process's patches */
	EXPORT_POKE,   /* a kernel page: from, bytes */
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

/* Of all vCPUs, or of one. 0 or -errno. The reader outlives the plan. */
int export_plan_open(struct export_plan *plan, struct trace_reader *reader, bool one_vcpu,
		     unsigned int vcpu);
void export_plan_close(struct export_plan *plan);

#endif /* VMM_EXPORT_PLAN_H */
