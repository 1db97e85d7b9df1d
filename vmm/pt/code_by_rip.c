// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Record code of segments whose base is not 0, for traces whose payloads are RIPs (33.3.1.1). A
 * decoder looks up code at the RIPs in the packets, so the file has the code at these addresses.
 */
#include "pt/code_by_rip.h"

#include <string.h>

#define PAGE_MASK (X86_PAGE_SIZE - 1)

/*
 * Copy the part of @page, at RIP @rip, that the frame at @gpa holds. The first byte of the frame is
 * at RIP @at. Returns false if the frame is not in RAM.
 */
static bool copy_frame(const struct x86_mem *mem, uint8_t *page, uint64_t rip, uint64_t at,
		       uint64_t gpa)
{
	const uint8_t *frame = x86_mem_at(mem, gpa & ~PAGE_MASK, X86_PAGE_SIZE);
	uint32_t ahead = (uint32_t)(at - rip), behind = (uint32_t)(rip - at);

	if (!frame)
		return false;
	if (ahead < X86_PAGE_SIZE)
		memcpy(page + ahead, frame, X86_PAGE_SIZE - ahead);
	else if (behind < X86_PAGE_SIZE)
		memcpy(page, frame + behind, X86_PAGE_SIZE - behind);
	return true;
}

/* Record the code's bytes in the page at RIP @rip. Bytes of other frames are 0 until they run. */
static void note(struct tracer_recorder *rec, const struct tracer_code_by_rip *code, uint64_t rip,
		 unsigned int offset, unsigned int len)
{
	uint64_t frame = (uint32_t)(code->lin - code->base - (code->lin & PAGE_MASK));
	bool both = (code->lin & PAGE_MASK) + code->len > X86_PAGE_SIZE;
	uint8_t bytes[X86_PAGE_SIZE] = {0};
	struct trace_code_page page = {
		.cr3 = code->cr3,
		.vaddr = rip,
		.gpa = code->gpa[0] & ~PAGE_MASK,
		.insns = rec->insns,
	};

	if (!copy_frame(rec->mem, bytes, rip, frame, code->gpa[0]))
		return;
	if (both && !copy_frame(rec->mem, bytes, rip, frame + X86_PAGE_SIZE, code->gpa[1]))
		return;
	tracer_recorder_page(rec, &page, offset, len, bytes);
}

void tracer_set_code_by_rip(struct tracer_recorder *rec, const struct tracer_code_by_rip *code)
{
	uint32_t rip = (uint32_t)(code->lin - code->base);
	unsigned int offset = rip & PAGE_MASK, room = X86_PAGE_SIZE - offset;

	note(rec, code, rip - offset, offset, code->len < room ? code->len : room);
	if (code->len > room)
		note(rec, code, (uint32_t)(rip + room), 0, code->len - room);
}
