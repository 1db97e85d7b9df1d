// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the address space and the addresses at which code is recorded. */
#include <string.h>

#include "pt/code_by_rip.h"
#include "pt/code_pages.h"
#include "pt/tracer.h"
#include "x86/insn.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)
#define INSN_MAX  15u

static uint64_t space_now(struct tracer *t)
{
	struct vpt_context ctx;

	tracer_context(t, &ctx);
	return tracer_recorder_space(&t->recorder, &ctx);
}

void tracer_host_code(struct tracer *t, uint64_t ip, unsigned int len, uint64_t gpa,
		      const uint8_t *bytes)
{
	struct trace_code_page page = {
		.vaddr = ip & ~PAGE_MASK,
		.gpa = gpa,
		.insns = t->recorder.insns,
	};

	if (!t->recorder.pages)
		return;
	page.cr3 = space_now(t);
	if (!(t->recorder.state & TRACER_RECORDER_CROWDED))
		tracer_recorder_page(&t->recorder, &page, ip & PAGE_MASK, len, bytes);
}

/* Return the base of the code segment if payloads are RIPs. Otherwise return 0. */
static uint64_t rip_base(struct tracer *t)
{
	struct vpt_context ctx;

	if (t->config.system != TRACER_SYSTEM_PT || *t->unit.ip_mask > UINT32_MAX ||
	    vpt_caps_has(&t->caps, VPT_CAP_LIP))
		return 0;
	tracer_context(t, &ctx);
	return ctx.cs_base;
}

void tracer_code(struct tracer *t, uint64_t cr3, uint64_t ip, unsigned int len, uint64_t gpa,
		 uint64_t gpa2)
{
	unsigned int room = (unsigned int)(X86_PAGE_SIZE - (ip & PAGE_MASK));
	struct tracer_recorder *rec = &t->recorder;
	uint64_t base;

	if (!rec->pages)
		return;
	cr3 = rec->vmx ? space_now(t) : cr3 & ~PAGE_MASK;
	if (rec->state & TRACER_RECORDER_CROWDED)
		return;
	base = rip_base(t);
	if (vpt_unlikely(base)) {
		const struct tracer_code_by_rip code = {cr3, ip, base, {gpa, gpa2}, len};

		tracer_set_code_by_rip(rec, &code);
		return;
	}
	tracer_recorder_code(rec, cr3, ip, len < room ? len : room, gpa);
	if (len > room)
		tracer_recorder_code(rec, cr3, ip + room, len - room, gpa2);
}

/* Copy the bytes of an instruction as the file has them. Returns their number. */
static size_t recorded(const struct tracer_recorder *rec, uint64_t cr3, uint64_t ip, uint8_t *bytes)
{
	const size_t offset = ip & PAGE_MASK, room = X86_PAGE_SIZE - offset;
	const uint8_t *page = tracer_code_pages_at(rec->pages, cr3, ip - offset);
	const size_t len = room < INSN_MAX ? room : INSN_MAX;

	if (!page)
		return 0;
	memcpy(bytes, page + offset, len);
	if (len == INSN_MAX)
		return len;
	page = tracer_code_pages_at(rec->pages, cr3, ip + len);
	if (!page)
		return len;
	memcpy(bytes + len, page, INSN_MAX - len);
	return INSN_MAX;
}

bool tracer_seems_to_run(struct tracer *t, const struct vpt_event *event)
{
	const struct vpt_pt *pt = t->acting;
	struct tracer_recorder *rec = &t->recorder;
	uint8_t bytes[INSN_MAX];
	struct vpt_context ctx;
	uint64_t space;
	int vector;

	if (!rec->pages || t->config.system != TRACER_SYSTEM_PT ||
	    pt->mode_exec == VPT_MODE_UNKNOWN || rec->state & TRACER_RECORDER_CROWDED)
		return false;
	tracer_context(t, &ctx);
	space = rec->vmx ? tracer_recorder_space(rec, &ctx) : ctx.cr3 & ~PAGE_MASK;
	vector = x86_int_vector(pt->mode_exec & 1   ? 64
				: pt->mode_exec & 2 ? 32
						    : 16,
				bytes, recorded(rec, space, event->from, bytes));
	return vector >= 0 && (!VPT_CTL_GET(pt->rtit.ctl, EVENT_EN) || event->vector == vector);
}
