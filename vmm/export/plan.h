/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What perf has to be told, and when.
 *
 * perf decodes all vCPUs in the order of their time stamps, and puts a record into
 * effect when each has got to the record's time. The plan does the same with the
 * decoded flow, so that it knows at each block which process and which code perf will
 * have there, and adds a record wherever that is not what ran.
 */
#ifndef VMM_EXPORT_PLAN_H
#define VMM_EXPORT_PLAN_H

#include "lane.h"
#include "pages.h"

enum vpt_export_what {
	VPT_EXPORT_SWITCH, /* `process` runs on the vCPU */
	VPT_EXPORT_PATCH,  /* a user page, see its process's patches */
	VPT_EXPORT_POKE,   /* a kernel page: from, bytes */
};

struct vpt_export_event {
	uint64_t ns;
	enum vpt_export_what what;
	unsigned int vcpu;
	struct vpt_export_process *process;
	const struct vpt_export_page *page;
	const uint8_t *from, *bytes;
	enum vpt_export_width width;
	size_t patch;
};

struct vpt_export_plan {
	struct vpt_export_pages pages;
	struct vpt_export_time time;
	struct vpt_disasm *disasm;
	struct vpt_export_lane *lanes;
	unsigned int nlanes;
	struct {
		struct vpt_export_event *at;
		size_t n, room;
	} events; /* in the order of time */
};

/* Of all vCPUs, or of one. 0 or -errno. The reader outlives the plan. */
int vpt_export_plan_open(struct vpt_export_plan *plan, struct vpt_reader *reader, bool one_vcpu,
			 unsigned int vcpu);
void vpt_export_plan_close(struct vpt_export_plan *plan);

#endif /* VMM_EXPORT_PLAN_H */
