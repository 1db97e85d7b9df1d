// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan the export of a trace without a flow. */
#include "export/blind.h"

#include <errno.h>

#include "trace/vec.h"
#include "vpt/msr.h"

bool export_is_blind(const struct export_lane *l)
{
	bool branches = !l->nperiods;
	size_t i;

	for (i = 0; i < l->nperiods; i++) {
		uint64_t ctl = l->periods[i].start->ctl;

		if (ctl & VPT_CTL_MASK(DIS_TNT))
			return true;
		branches |= (ctl & VPT_CTL_MASK(BRANCH_EN)) != 0;
	}
	return !branches;
}

/* Find the process of the first PIP with a known space, or else the first process. */
static struct export_process *find_process(const struct export_pages *pages,
					   const struct export_lane *l)
{
	struct export_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	export_scan_segment(&scan, l->start, l->len);
	while (export_scan_next(&scan, &p, &at)) {
		struct export_process *process;

		if (p.kind != VPT_PKT_PIP)
			continue;
		process = export_process(pages, p.value);
		if (process)
			return process;
	}
	return pages->nprocesses ? &pages->processes[0] : NULL;
}

/* Give perf the first version of each page. */
static void show_pages(const struct export_pages *pages, const struct trace_reader *reader,
		       unsigned int vcpu)
{
	const struct trace_code *code;
	size_t i, n;

	code = trace_reader_code(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		struct export_page *page = export_page(
			pages, export_process(pages, code[i].page->cr3), code[i].page->vaddr);

		if (page->have)
			continue;
		page->base = page->have = code[i].bytes;
		page->base_width = page->width = EXPORT_CODE64;
	}
}

int export_plan_blind(struct export_plan *plan, const struct trace_reader *reader,
		      struct export_lane *l)
{
	struct export_event event = {.what = EXPORT_SWITCH, .ns = l->now, .vcpu = l->vcpu};

	event.process = find_process(&plan->pages, l);
	if (!event.process)
		return 0;
	event.process->used = true;
	show_pages(&plan->pages, reader, l->vcpu);
	if (!trace_vec_room(&plan->events))
		return -ENOMEM;
	plan->events.at[plan->events.n++] = event;
	return 0;
}
