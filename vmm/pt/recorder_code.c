// SPDX-License-Identifier: GPL-2.0-or-later
/* Record pages of code before the code runs. */
#include "pt/code_pages.h"
#include "pt/recorder.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)

/* More than the blocks of one page take. */
#define CODE_ROOM (2 * X86_PAGE_SIZE)

/*
 * Write a content that was noted, and set its number. Other vCPUs can write to the page meanwhile, so
 * the copy is written, with which later contents are compared. Returns 0 or -errno.
 */
static int put_content(struct tracer_recorder *rec, uint64_t *id)
{
	const uint8_t *now = tracer_code_pages_latest(rec->pages);
	size_t from, to;
	uint64_t base;
	int error;

	if (rec->state & TRACER_RECORDER_CHANGES &&
	    tracer_code_pages_base(rec->pages, &base, &from, &to))
		error = trace_writer_change(rec->writer, base, now, from, to, id);
	else
		error = trace_writer_page(rec->writer, now, id);
	tracer_code_pages_number(rec->pages, *id);
	return error;
}

static void put_page(struct tracer_recorder *rec, const struct trace_code_page *page, int news,
		     uint64_t id, const uint8_t *now)
{
	struct trace_page_map map = {.page = *page, .content = id};
	int error = 0;

	if (rec->live)
		rec->live->page(rec->live->opaque, page, now);
	if (!rec->writer) {
		if (news == TRACER_CODE_CHANGED)
			tracer_code_pages_number(rec->pages, ++rec->live_contents);
		return;
	}
	if (vpt_unlikely(tracer_recorder_at_limit(rec)) &&
	    trace_writer_room(rec->writer) < CODE_ROOM)
		return;
	if (news == TRACER_CODE_CHANGED)
		error = put_content(rec, &map.content);
	if (!error)
		error = trace_writer_map(rec->writer, rec->vcpu, &map, 1);
	tracer_recorder_note(rec, error);
}

bool tracer_recorder_page(struct tracer_recorder *rec, const struct trace_code_page *page,
			  unsigned int offset, unsigned int len, const uint8_t *now)
{
	uint64_t id = 0;
	int news = tracer_code_pages_note(rec->pages, page->cr3, page->vaddr, page->gpa, now,
					  offset, len, &id);

	if (news > TRACER_CODE_KNOWN)
		put_page(rec, page, news, id, now);
	else if (vpt_unlikely(news < 0))
		tracer_recorder_note(rec, news);
	return news > TRACER_CODE_KNOWN;
}

void tracer_recorder_code(struct tracer_recorder *rec, uint64_t cr3, uint64_t ip, unsigned int len,
			  uint64_t gpa)
{
	struct trace_code_page page = {
		.cr3 = cr3,
		.vaddr = ip & ~PAGE_MASK,
		.gpa = gpa & ~PAGE_MASK,
		.insns = rec->insns,
	};
	const uint8_t *now = x86_mem_at(rec->mem, page.gpa, X86_PAGE_SIZE);

	if (now)
		tracer_recorder_page(rec, &page, ip & PAGE_MASK, len, now);
}
