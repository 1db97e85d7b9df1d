// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan the records that perf needs, and their times. */
#include "export/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/blind.h"
#include "decode/code.h"
#include "trace/vec.h"

/*
 * A TSC packet has 56 bits, in units of 1/1024 ns. Beyond this limit the rest would not last for
 * hours.
 */
#define LATE (1ull << 45)

#define INSN_MAX 15
#define PAGES	 32 /* the maximum pages of a block, which has about 65535 bytes at most */

/* The required pages of a block. */
struct needs {
	struct {
		struct export_page *page;
		const uint8_t *bytes;
	} at[PAGES];
	size_t n;
	struct export_process *process;
	enum export_width width;
	bool change;
};

static bool differs(const struct export_page *page, const uint8_t *bytes, enum export_width width)
{
	if (page->width != width)
		return true;
	return page->have != bytes && memcmp(page->have, bytes, TRACE_CODE_BYTES);
}

/*
 * Require a page. If perf does not have the page yet, the export has the page from the beginning,
 * with the current content.
 */
static void need_page(struct needs *needs, struct export_page *page, const uint8_t *bytes)
{
	if (!page->have) {
		page->base = bytes;
		page->have = bytes;
		page->base_width = needs->width;
		page->width = needs->width;
	}
	if (differs(page, bytes, needs->width))
		needs->change = true;
	needs->at[needs->n].page = page;
	needs->at[needs->n++].bytes = bytes;
}

static void find_needs(struct export_plan *plan, struct export_lane *l, struct needs *needs)
{
	const struct decode_code_store *code = decode_flow_code(l->flow);
	const struct decode_item *item = &l->item;
	uint64_t last = item->last + INSN_MAX - 1, vaddr;
	struct export_process *process = export_process(&plan->pages, item->cr3);

	memset(needs, 0, sizeof(*needs));
	needs->width = item->mode == 32 ? EXPORT_CODE32 : EXPORT_CODE64;
	if (last < item->last)
		last = item->last;
	last &= ~(uint64_t)(TRACE_CODE_BYTES - 1);
	for (vaddr = item->ip & ~(uint64_t)(TRACE_CODE_BYTES - 1); process && needs->n < PAGES;
	     vaddr += TRACE_CODE_BYTES) {
		const uint8_t *bytes = decode_code_page(code, item->cr3, vaddr);
		struct export_page *page = export_page(&plan->pages, process, vaddr);

		if (bytes && page) {
			needs->process = process;
			need_page(needs, page, bytes);
		}
		if (vaddr == last)
			break;
	}
	if (needs->process && needs->process != l->process)
		needs->change = true;
}

static int add(struct export_plan *plan, const struct export_event *event)
{
	if (!trace_vec_room(&plan->events))
		return -ENOMEM;
	plan->events.at[plan->events.n++] = *event;
	return 0;
}

/* Return perf's current content of a neighbouring page. */
static const uint8_t *neighbour(const struct export_plan *plan, const struct export_page *page,
				uint64_t vaddr)
{
	const struct export_page *next = export_page(&plan->pages, page->process, vaddr);

	return next && next->width == page->width ? next->have : NULL;
}

static int replace(struct export_plan *plan, struct export_event *event, struct export_page *page,
		   const uint8_t *bytes, enum export_width width)
{
	event->page = page;
	event->from = page->have;
	event->bytes = bytes;
	event->width = width;
	page->have = bytes;
	page->width = width;
	if (!page->process) {
		event->what = EXPORT_POKE;
		return add(plan, event);
	}
	event->what = EXPORT_PATCH;
	event->process = page->process;
	event->patch = page->process->patches[width].n;
	if (!trace_vec_room(&page->process->patches[width]))
		return -ENOMEM;
	page->process->patches[width].at[page->process->patches[width].n++] = (struct export_patch){
		.page = page,
		.before = neighbour(plan, page, page->vaddr - TRACE_CODE_BYTES),
		.bytes = bytes,
		.after = neighbour(plan, page, page->vaddr + TRACE_CODE_BYTES),
	};
	return add(plan, event);
}

static int change(struct export_plan *plan, struct export_lane *l, const struct needs *needs,
		  uint64_t ns)
{
	struct export_event event = {.ns = ns, .vcpu = l->vcpu};
	int err = export_lane_change(l, ns);
	size_t i;

	if (!err && needs->process != l->process) {
		l->process = needs->process;
		event.what = EXPORT_SWITCH;
		event.process = needs->process;
		err = add(plan, &event);
	}
	for (i = 0; i < needs->n && !err; i++) {
		struct export_page *page = needs->at[i].page;

		if (differs(page, needs->at[i].bytes, needs->width))
			err = replace(plan, &event, page, needs->at[i].bytes, needs->width);
	}
	return err;
}

/*
 * Handle the lane's item. *passed is false if lanes up to `bound` must advance first. perf will
 * have decoded these before it applies this change.
 */
static int take_item(struct export_plan *plan, struct export_lane *l, uint64_t bound, bool *passed)
{
	struct needs needs;
	int err = 0;

	*passed = true;
	if (!export_lane_shown(l))
		return 0;
	find_needs(plan, l, &needs);
	if (needs.change) {
		if (!l->due)
			l->due = export_lane_change_time(l);
		if (l->due > bound) {
			*passed = false;
			return 0;
		}
		err = change(plan, l, &needs, l->due);
	}
	l->due = 0;
	if (needs.process)
		needs.process->used = true;
	return err;
}

static uint64_t lane_time(const struct export_lane *l)
{
	return l->due ? l->due : l->now;
}

/*
 * Return the lane that is behind all others, or NULL if all are done. *bound is the time of the
 * next lane.
 */
static struct export_lane *first_lane(struct export_plan *plan, uint64_t *bound)
{
	struct export_lane *first = NULL;
	unsigned int i;

	*bound = UINT64_MAX;
	for (i = 0; i < plan->nlanes; i++) {
		struct export_lane *l = &plan->lanes[i];

		if (l->done)
			continue;
		if (!first || lane_time(l) < lane_time(first)) {
			if (first)
				*bound = lane_time(first);
			first = l;
		} else if (lane_time(l) < *bound) {
			*bound = lane_time(l);
		}
	}
	return first;
}

static int run(struct export_plan *plan)
{
	struct export_lane *l;
	uint64_t bound;
	bool passed;
	int err = 0;

	while (!err && (l = first_lane(plan, &bound)) != NULL) {
		do {
			err = take_item(plan, l, bound, &passed);
			if (!err && passed)
				err = export_lane_next(l);
		} while (!err && passed && !l->done && l->now <= bound);
	}
	return err;
}

static void find_base(struct export_plan *plan)
{
	uint64_t first = UINT64_MAX, tsc;
	unsigned int i;

	for (i = 0; i < plan->nlanes; i++) {
		if (export_lane_first_tsc(&plan->lanes[i], &tsc) && tsc < first)
			first = tsc;
	}
	if (first != UINT64_MAX && first > LATE)
		plan->time.base = first;
}

int export_plan_open(struct export_plan *plan, struct trace_reader *reader, bool one_vcpu,
		     unsigned int vcpu)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	unsigned int i;
	int err;

	memset(plan, 0, sizeof(*plan));
	plan->time.hz = info->tsc_hz;
	err = export_pages_open(&plan->pages, reader);
	if (err)
		return err;
	plan->nlanes = one_vcpu ? 1 : info->vcpus;
	plan->lanes = calloc(plan->nlanes, sizeof(*plan->lanes));
	plan->disasm = decode_disasm_new(NULL);
	if (!plan->lanes || !plan->disasm)
		err = -ENOMEM;
	for (i = 0; i < plan->nlanes && !err; i++) {
		plan->lanes[i].vcpu = one_vcpu ? vcpu : i;
		plan->lanes[i].time = &plan->time;
		plan->lanes[i].disasm = plan->disasm;
		err = export_lane_open(&plan->lanes[i], reader);
	}
	if (!err)
		find_base(plan);
	for (i = 0; i < plan->nlanes && !err; i++) {
		if (plan->lanes[i].start != EXPORT_SCAN_NONE)
			err = export_lane_begin(&plan->lanes[i]);
		if (!err && plan->lanes[i].blind)
			err = export_plan_blind(plan, reader, &plan->lanes[i]);
	}
	if (!err)
		err = run(plan);
	if (err)
		export_plan_close(plan);
	return err;
}

void export_plan_close(struct export_plan *plan)
{
	unsigned int i;

	for (i = 0; i < plan->nlanes && plan->lanes; i++)
		export_lane_close(&plan->lanes[i]);
	free(plan->lanes);
	free(plan->events.at);
	decode_disasm_free(plan->disasm);
	export_pages_close(&plan->pages);
	memset(plan, 0, sizeof(*plan));
}
