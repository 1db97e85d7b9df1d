// SPDX-License-Identifier: GPL-2.0-or-later
#include "blind.h"

#include <errno.h>

#include "trace/vec.h"
#include "vpt/msr.h"

bool vpt_export_is_blind(const struct vpt_export_lane *l)
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

/* Whose code the packets are of: the first PIP says, or there is but one. */
static struct vpt_export_process *find_process(const struct vpt_export_pages *pages,
					       const struct vpt_export_lane *l)
{
	struct vpt_scan scan = {.bytes = l->scan.bytes, .caps = l->scan.caps};
	struct vpt_packet p;
	uint64_t at;

	vpt_scan_segment(&scan, l->start, l->len);
	while (vpt_scan_next(&scan, &p, &at)) {
		struct vpt_export_process *process;

		if (p.kind != VPT_PKT_PIP)
			continue;
		process = vpt_export_process(pages, p.value);
		if (process)
			return process;
	}
	return pages->nprocesses ? &pages->processes[0] : NULL;
}

/* Each page as it is first. */
static void show_pages(const struct vpt_export_pages *pages, const struct vpt_reader *reader,
		       unsigned int vcpu)
{
	const struct vpt_code *code;
	size_t i, n;

	code = vpt_reader_code(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		struct vpt_export_page *page = vpt_export_page(
			pages, vpt_export_process(pages, code[i].page->cr3), code[i].page->vaddr);

		if (page->have)
			continue;
		page->base = page->have = code[i].bytes;
		page->base_width = page->width = VPT_EXPORT_CODE64;
	}
}

int vpt_export_plan_blind(struct vpt_export_plan *plan, const struct vpt_reader *reader,
			  struct vpt_export_lane *l)
{
	struct vpt_export_event event = {.what = VPT_EXPORT_SWITCH, .ns = l->now, .vcpu = l->vcpu};

	event.process = find_process(&plan->pages, l);
	if (!event.process)
		return 0;
	event.process->used = true;
	show_pages(&plan->pages, reader, l->vcpu);
	if (!vpt_vec_room(&plan->events))
		return -ENOMEM;
	plan->events.at[plan->events.n++] = event;
	return 0;
}
