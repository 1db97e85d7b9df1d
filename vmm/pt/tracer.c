// SPDX-License-Identifier: GPL-2.0-or-later
/* libvpt's trace unit, guest RAM and the .vpt file, joined. */
#include "pt/tracer.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "pt/code_by_rip.h"
#include "pt/code_pages.h"
#include "pt/spaces.h"
#include "vpt/xsave.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)

/* More than the blocks of one page take. */
#define CODE_ROOM (2 * X86_PAGE_SIZE)

/* Instructions after which what there is goes to the file: a second or less. */
#define SYNC_INSNS (1u << 15)

static bool by_hardware(const struct tracer *t)
{
	return t->config.engine && t->config.engine->pt;
}

static void note_error(struct tracer *t, int error)
{
	if (error && !t->error)
		t->error = error;
}

size_t tracer_fit(struct tracer *t, size_t len)
{
	size_t room;

	if (vpt_likely(!*t->file_full))
		return len;
	room = trace_writer_room(t->config.writer);
	if (len <= room)
		return len;
	t->refused = true;
	return room;
}

static struct tracer *of(void *opaque)
{
	return opaque;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	return x86_mem_read(of(opaque)->config.mem, gpa, dst, len);
}

static void wrote(const struct tracer *t, uint64_t gpa, size_t len)
{
	if (t->config.wrote)
		t->config.wrote(t->config.opaque, gpa, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct tracer *t = of(opaque);

	if (!x86_mem_write(t->config.mem, gpa, src, len)) {
		t->refused = !t->unit.ops->ends_refused;
		return false;
	}
	wrote(t, gpa, len);
	return true;
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	const struct x86_mem *mem = of(opaque)->config.mem;

	if (gpa >= mem->bytes)
		return NULL;
	if (*len > mem->bytes - gpa)
		*len = (size_t)(mem->bytes - gpa);
	return mem->host + gpa;
}

/* What is recorded is what the guest finds in its buffer, read back from there. */
static void mem_committed(void *opaque, uint64_t gpa, size_t len)
{
	struct tracer *t = of(opaque);
	const void *bytes = x86_mem_at(t->config.mem, gpa, len);

	t->bytes += len;
	wrote(t, gpa, len);
	if (bytes && t->config.writer && !t->refused && !t->lost)
		note_error(t, trace_writer_trace(t->config.writer, t->config.vcpu, gpa, bytes,
						 tracer_fit(t, len)));
}

static void host_stream(void *opaque, const void *bytes, size_t len)
{
	struct tracer *t = of(opaque);

	t->bytes += len;
	if (t->config.writer && !t->refused && !t->lost)
		note_error(t, trace_writer_trace(t->config.writer, t->config.vcpu, ~0ull, bytes,
						 tracer_fit(t, len)));
}

static void context(void *opaque, struct vpt_context *ctx)
{
	of(opaque)->config.context(of(opaque)->config.opaque, ctx);
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	const struct tracer_config *config = &of(opaque)->config;
	struct vpt_context ctx;

	if (config->clock) {
		config->clock(config->opaque, now);
	} else {
		context(opaque, &ctx);
		now->cycles = now->tsc = ctx.tsc;
	}
}

static void pmi(void *opaque)
{
	of(opaque)->config.pmi(of(opaque)->config.opaque);
}

static void fill_session(const struct tracer *t, struct trace_session *s)
{
	memset(s, 0, sizeof(*s));
	s->insns = t->insns;
	t->unit.ops->registers(t, s);
}

static void put_session(struct tracer *t, struct trace_session *s)
{
	if (t->config.writer)
		note_error(t, trace_writer_session(t->config.writer, t->config.vcpu, s));
}

/*
 * A start is written at once, before the first bytes of its trace. An end waits
 * until the instruction that made it has been counted.
 */
static void trigger(void *opaque, bool trigger_en)
{
	struct tracer *t = of(opaque);
	struct trace_session s;

	if (trigger_en) {
		t->refused = false;
		t->lost = t->full;
		if (t->lost)
			return;
		fill_session(t, &s);
		s.edge = TRACE_SESSION_START;
		put_session(t, &s);
		t->rose = true;
		return;
	}
	if (t->lost)
		return;
	fill_session(t, &t->end);
	t->end.edge = TRACE_SESSION_END;
	t->end.end = t->unit.ops->why_ended(t, &t->end);
	t->fell = true;
}

static const struct vpt_pt_ops ops = {
	.mem =
		{
			.read = mem_read,
			.write = mem_write,
			.map = mem_map,
			.committed = mem_committed,
		},
	.context = context,
	.pmi = pmi,
	.trigger = trigger,
	.clock = clock_now,
};

int tracer_init(struct tracer *t, const struct tracer_config *config)
{
	static const bool never;

	memset(t, 0, sizeof(*t));
	t->config = *config;
	t->file_full = config->writer ? trace_writer_full(config->writer) : &never;
	t->caps = *config->caps;
	tracer_unit_choose(t, config->system);
	if (config->writer) {
		t->pages = tracer_code_pages_create();
		if (!t->pages)
			return -ENOMEM;
	}
	t->unit.ops->init(t, &ops, host_stream);
	return 0;
}

void tracer_free(struct tracer *t)
{
	tracer_collect_end(&t->hardware.collect);
	tracer_code_pages_destroy(t->pages);
	t->pages = NULL;
	tracer_spaces_free(&t->spaces);
}

static void put_record(struct tracer *t, uint8_t kind, uint64_t ip, uint8_t cpl, uint16_t aux)
{
	const struct trace_oracle_record record = {.ip = ip, .kind = kind, .cpl = cpl, .aux = aux};

	if (t->config.oracle && t->config.writer && !t->lost)
		note_error(t, trace_writer_oracle(t->config.writer, t->config.vcpu, record));
}

/* The oracle has IPs as the packets do: where payloads are LIPs, @rip is not yet one. */
static void put_oracle(struct tracer *t, uint8_t kind, uint64_t rip, uint8_t cpl, uint16_t aux)
{
	uint64_t base = *t->unit.ip_base;

	put_record(t, kind, base ? (uint32_t)(rip + base) : rip, cpl, aux);
}

/* The id of the address space that counts now; in the file before it is used there. */
static uint64_t space_of(struct tracer *t, const struct vpt_context *ctx)
{
	struct trace_space space;
	int is_new;

	if (!t->config.writer || t->lost)
		return 0;
	is_new = tracer_spaces_note(&t->spaces, &t->acting->vmx, ctx, &space);
	/* What runs in it cannot be recorded: the session ends before it. */
	if (is_new == -ENOSPC)
		t->crowded = t->refused = t->full = true;
	else if (is_new < 0)
		note_error(t, is_new);
	else if (is_new)
		note_error(t, trace_writer_spaces(t->config.writer, &space, 1));
	return space.id;
}

static void put_cr3(struct tracer *t, const struct vpt_context *ctx)
{
	uint64_t cr3 = t->config.vmx ? space_of(t, ctx) : ctx->cr3;

	if (t->crowded || (t->oracle_cr3_known && t->oracle_cr3 == cr3))
		return;
	t->oracle_cr3 = cr3;
	t->oracle_cr3_known = true;
	put_record(t, TRACE_ORACLE_CR3, cr3, ctx->cpl, 0);
}

/* The execution mode of what runs next (trace/format.h), if the file is to tell it. */
static uint64_t mode_of(const struct tracer *t, const struct vpt_context *ctx)
{
	if (t->unit.ops->tells_mode)
		return 0;
	if (ctx->lma && ctx->cs_l)
		return TRACE_CR3_CODE64;
	return ctx->cs_d ? TRACE_CR3_CODE32 : TRACE_CR3_CODE16;
}

static uint64_t place_of(struct tracer *t, const struct vpt_context *ctx)
{
	uint64_t space = t->config.vmx ? space_of(t, ctx) : ctx->cr3 & ~PAGE_MASK;

	return space | mode_of(t, ctx);
}

/* The file says which address space is in use. */
static void put_place(struct tracer *t, const struct vpt_context *ctx, uint64_t flags)
{
	struct trace_cr3_switch sw = {.insns = t->insns};

	if (!t->config.writer || t->lost)
		return;
	t->told = place_of(t, ctx);
	if (t->crowded)
		return;
	sw.cr3 = t->told | flags;
	note_error(t, trace_writer_cr3(t->config.writer, t->config.vcpu, &sw));
}

/* Without PIPs. */
static void put_cr3_switch(struct tracer *t, const struct vpt_context *ctx)
{
	if (!t->unit.ops->reports_space(t))
		put_place(t, ctx, 0);
}

/* An overflow is over: its packet tells neither what the counter is nor, for long, which space it is. */
static void note_resumed(struct tracer *t)
{
	bool did = t->loses;
	struct vpt_context ctx;

	t->loses = t->unit.ops->loses(t);
	/* One that is not in the file needs none. */
	if (!did || t->loses || t->refused)
		return;
	context(t, &ctx);
	put_place(t, &ctx, TRACE_CR3_RESUMED);
}

/* A transfer may have changed mode or space, and its packets would not tell. */
static void follow_place(struct tracer *t)
{
	struct vpt_context ctx;

	if (!(t->unit.acts->state & VPT_GATE_TRIGGER_EN))
		return;
	context(t, &ctx);
	put_cr3(t, &ctx);
	if (place_of(t, &ctx) != t->told)
		put_cr3_switch(t, &ctx);
}

static void note_start(struct tracer *t, uint64_t ip, const struct vpt_context *ctx)
{
	put_oracle(t, TRACE_ORACLE_START, ip, ctx->cpl, 0);
	t->oracle_cr3_known = false;
	put_cr3(t, ctx);
	/* PSB+ has no PIP out of context, and there need not be one. */
	put_place(t, ctx, 0);
}

static void note_end(struct tracer *t, uint64_t ip, const struct vpt_context *ctx)
{
	t->end.insns = t->insns;
	t->unit.ops->flush(t);
	if (t->refused)
		t->end.end = TRACE_END_LOST;
	t->refused = false;
	put_oracle(t, TRACE_ORACLE_STOP, ip, ctx->cpl, (uint16_t)t->end.end);
	put_session(t, &t->end);
}

/*
 * Memory has refused bytes of the trace, and what comes behind them cannot be followed: the
 * file has it up to there, and again from when TriggerEn next rises.
 */
static void end_refused(struct tracer *t)
{
	t->refused = false;
	if (!t->fell) {
		fill_session(t, &t->end);
		t->end.edge = TRACE_SESSION_END;
	}
	t->end.end = TRACE_END_LOST;
	t->fell = true;
}

/*
 * The file has become full: end the trace before the instruction at `ip`. Where it ends
 * must not depend on when the engine comes back, so that a guest makes the same file each
 * time, in one run or with snapshots in between. With an engine that is asked for each
 * step the core stops at the next one; in VMX operation there is a transition to finish.
 */
void tracer_end_full(struct tracer *t, uint64_t ip)
{
	if (t->full)
		return;
	t->full = true;
	if (!t->config.engine || !(t->config.engine->can & ENGINE_REPORTS) || t->config.vmx)
		return;
	t->closing = true;
	t->unit.ops->close(t, ip);
	t->lost = true;
}

/* Note what TriggerEn did during an event or MSR write; `ip`: what runs next. */
static void note_trigger(struct tracer *t, uint64_t ip)
{
	struct vpt_context ctx;

	if (t->unit.acts->state & VPT_GATE_MAY_LOSE)
		note_resumed(t);
	if (vpt_unlikely(t->refused) && !t->lost)
		end_refused(t);
	if (!t->fell && !t->rose)
		return;
	context(t, &ctx);
	if (t->rose)
		note_start(t, ip, &ctx);
	if (t->fell)
		note_end(t, ip, &ctx);
	t->lost = t->lost || (t->fell && t->end.end == TRACE_END_LOST);
	t->fell = t->rose = false;
}

/* What is due after an event or MSR write; `ip`: what runs next. */
static void finish(struct tracer *t, uint64_t ip)
{
	note_trigger(t, ip);
	tracer_limit(t, ip);
}

/*
 * A register that decoding depends on is written while a trace runs: one session ends, and
 * one begins with the registers of *s, before the write puts out anything.
 */
static void cut(struct tracer *t, struct trace_session *s, uint64_t ip)
{
	struct vpt_context ctx;

	context(t, &ctx);
	fill_session(t, &t->end);
	t->end.edge = TRACE_SESSION_END;
	t->end.end = TRACE_END_CHANGED;
	note_end(t, ip, &ctx);
	s->edge = TRACE_SESSION_START;
	s->insns = t->insns;
	put_session(t, s);
	note_start(t, ip, &ctx);
}

void tracer_take(struct tracer *t)
{
	tracer_hardware_take(t);
}

void tracer_sync(struct tracer *t)
{
	t->unit.ops->flush(t);
	if (t->config.writer)
		note_error(t, trace_writer_sync(t->config.writer));
}

/*
 * What a killed run leaves behind lacks no more than its last second. The outcomes
 * that are being gathered stay: a trace is the same however often it is synced. And
 * the file is the same in however many parts instructions are reported, since what
 * is due does not depend on it.
 */
static void sync_now_and_then(struct tracer *t)
{
	if (t->config.caller_syncs || ++t->since_sync < SYNC_INSNS)
		return;
	t->since_sync = 0;
	tracer_sync(t);
}

/* `traced`: it began with PacketEn set, and so counts (trace/format.h). */
static void retired(struct tracer *t, const struct engine_report *r, bool traced)
{
	t->insns += traced;
	put_oracle(t, TRACE_ORACLE_INSN, r->event.from, r->cpl, r->about);
	sync_now_and_then(t);
}

enum vpt_fault tracer_rdmsr(struct tracer *t, uint32_t msr, uint64_t *value)
{
	if (t->config.owner != TRACE_OWNER_GUEST)
		return VPT_FAULT_GP;
	return t->unit.ops->rdmsr(t, msr, value);
}

enum vpt_fault tracer_wrmsr(struct tracer *t, uint32_t msr, uint64_t value, struct engine_report *r)
{
	if (t->config.owner != TRACE_OWNER_GUEST)
		return VPT_FAULT_GP;
	if (by_hardware(t))
		return tracer_hardware_wrmsr(t, msr, value);
	return tracer_root_wrmsr(t, msr, value, r);
}

enum vpt_fault tracer_root_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
				 struct engine_report *r)
{
	bool was = t->unit.acts->state & VPT_GATE_TRIGGER_EN,
	     traced = t->unit.acts->state & VPT_GATE_PACKET_EN;
	const struct tracer_unit_ops *unit = t->unit.ops;
	struct trace_session s = {.edge = TRACE_SESSION_START};
	bool cuts = unit->cuts && !t->lost && unit->cuts(t, msr, value, &s);
	enum vpt_fault fault;

	if (cuts) {
		retired(t, r, traced);
		cut(t, &s, r->next);
	}
	r->flags |= ENGINE_REPORT_COUNTED;
	fault = unit->wrmsr(t, msr, value, VPT_ACCESS_GUEST, r->event.from, r->next);
	if (fault == VPT_FAULT_NONE && was && !cuts)
		retired(t, r, traced);
	finish(t, r->next);
	return fault;
}

void tracer_xsaves(struct tracer *t, void *state, struct engine_report *r)
{
	bool was = tracer_on(t), traced = t->pt.packet_en;

	r->flags |= ENGINE_REPORT_COUNTED;
	vpt_pt_xsaves(&t->pt, state, r->event.from, r->next);
	if (was)
		retired(t, r, traced);
	finish(t, r->next);
}

/* It was checked, and TraceEn is clear: nothing is counted. */
void tracer_xrstors(struct tracer *t, const void *state, struct engine_report *r)
{
	r->flags |= ENGINE_REPORT_COUNTED;
	(void)!vpt_pt_xrstors(&t->pt, state, r->event.from, r->next);
	finish(t, r->next);
}

enum vpt_fault tracer_host_write(struct tracer *t, uint32_t msr, uint64_t value, uint64_t next_ip)
{
	enum vpt_fault fault;

	if (by_hardware(t))
		return tracer_hardware_host_write(t, msr, value);
	fault = t->unit.ops->wrmsr(t, msr, value, VPT_ACCESS_HOST, next_ip, next_ip);
	finish(t, next_ip);
	return fault;
}

const struct vpt_pt_ops *tracer_ops(void)
{
	return &ops;
}

void tracer_vm_exit(struct tracer *t, uint64_t ip, uint8_t cpl, uint8_t flags)
{
	if (t->unit.acts->state & VPT_GATE_TRIGGER_EN)
		put_oracle(t, TRACE_ORACLE_VM_EXIT, ip, cpl, TRACE_ORACLE_AUX(0, flags));
}

void tracer_complete(struct tracer *t, uint64_t ip)
{
	finish(t, ip);
}

void tracer_space(struct tracer *t)
{
	struct vpt_context ctx;

	if (!(t->unit.acts->state & VPT_GATE_TRIGGER_EN))
		return;
	context(t, &ctx);
	put_cr3(t, &ctx);
	put_cr3_switch(t, &ctx);
}

static void put_page(struct tracer *t, const struct trace_code_page *page, int news, uint64_t id,
		     const uint8_t *now)
{
	struct trace_page_map map = {.page = *page, .content = id};
	int error = 0;

	if (vpt_unlikely(*t->file_full) && trace_writer_room(t->config.writer) < CODE_ROOM)
		return;
	if (news == TRACER_CODE_CHANGED) {
		error = trace_writer_page(t->config.writer, now, &map.content);
		tracer_code_pages_number(t->pages, map.content);
	}
	if (!error)
		error = trace_writer_map(t->config.writer, t->config.vcpu, &map, 1);
	note_error(t, error);
}

void tracer_page(struct tracer *t, const struct trace_code_page *page, unsigned int offset,
		 unsigned int len, const uint8_t *now)
{
	uint64_t id = 0;
	int news = tracer_code_pages_note(t->pages, page->cr3, page->vaddr, page->gpa, now, offset,
					  len, &id);

	if (news > TRACER_CODE_KNOWN)
		put_page(t, page, news, id, now);
	else if (vpt_unlikely(news < 0))
		note_error(t, news);
}

static void note_page(struct tracer *t, uint64_t cr3, uint64_t ip, unsigned int len, uint64_t gpa)
{
	struct trace_code_page page = {
		.cr3 = cr3,
		.vaddr = ip & ~PAGE_MASK,
		.gpa = gpa & ~PAGE_MASK,
		.insns = t->insns,
	};
	const uint8_t *now = x86_mem_at(t->config.mem, page.gpa, X86_PAGE_SIZE);

	if (now)
		tracer_page(t, &page, ip & PAGE_MASK, len, now);
}

static uint64_t space_now(struct tracer *t)
{
	struct vpt_context ctx;

	context(t, &ctx);
	return space_of(t, &ctx);
}

void tracer_host_code(struct tracer *t, uint64_t ip, unsigned int len, uint64_t gpa,
		      const uint8_t *bytes)
{
	struct trace_code_page page = {
		.vaddr = ip & ~PAGE_MASK,
		.gpa = gpa,
		.insns = t->insns,
	};

	if (!t->pages)
		return;
	page.cr3 = space_now(t);
	if (!t->crowded)
		tracer_page(t, &page, ip & PAGE_MASK, len, bytes);
}

/* The base of a code segment that is not flat, where payloads are RIPs; else 0. */
static uint64_t rip_base(struct tracer *t)
{
	struct vpt_context ctx;

	if (t->config.system != TRACER_SYSTEM_PT || *t->unit.ip_mask > UINT32_MAX ||
	    vpt_caps_has(&t->caps, VPT_CAP_LIP))
		return 0;
	context(t, &ctx);
	return ctx.cs_base;
}

void tracer_code(struct tracer *t, uint64_t cr3, uint64_t ip, unsigned int len, uint64_t gpa,
		 uint64_t gpa2)
{
	unsigned int room = (unsigned int)(X86_PAGE_SIZE - (ip & PAGE_MASK));
	uint64_t base;

	if (!t->pages)
		return;
	cr3 = t->config.vmx ? space_now(t) : cr3 & ~PAGE_MASK;
	if (t->crowded)
		return;
	base = rip_base(t);
	if (vpt_unlikely(base)) {
		const struct tracer_code_by_rip code = {cr3, ip, base, {gpa, gpa2}, len};

		tracer_set_code_by_rip(t, &code);
		return;
	}
	note_page(t, cr3, ip, len < room ? len : room, gpa);
	if (len > room)
		note_page(t, cr3, ip + room, len - room, gpa2);
}

/* May it change the mode or the address space? */
static bool goes_far(const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_FAR:
	case VPT_EV_SOFT_INT:
	case VPT_EV_ASYNC:
	case VPT_EV_PAGING:
	case VPT_EV_INIT:
	case VPT_EV_SIPI:
		return true;
	default:
		return false;
	}
}

void tracer_event_at(struct tracer *t, const struct vpt_event *event, uint8_t cpl, bool arrived)
{
	if (!tracer_acts(t))
		return;
	if ((event->kind == VPT_EV_ASYNC || event->kind == VPT_EV_SOFT_INT) &&
	    t->unit.acts->state & VPT_GATE_TRIGGER_EN)
		put_oracle(t, TRACE_ORACLE_EVENT, event->from, cpl,
			   TRACE_ORACLE_AUX(event->vector, arrived ? TRACE_ORACLE_ARRIVED : 0));
	if (event->kind == VPT_EV_CR3)
		tracer_space(t);
	else if (!t->unit.ops->tells_mode && goes_far(event))
		follow_place(t);
	t->unit.ops->event(t, event);
	finish(t, event->to);
}

/* The event of the instruction that *r is of. */
static void report_event(struct tracer *t, const struct engine_report *r)
{
	const struct vpt_event *event = &r->event;

	switch (event->kind) {
	case VPT_EV_COUNT:
		return;
	case VPT_EV_INSN:
		if (vpt_likely(!(r->flags & ENGINE_REPORT_INSN) ||
			       !(t->unit.acts->state & VPT_GATE_EACH_INSN)))
			return;
		t->unit.ops->event(t, event);
		break;
	case VPT_EV_COND:
		t->unit.ops->cond(t, event);
		break;
	default:
		tracer_event_at(t, event, r->cpl, false);
		return;
	}
	finish(t, event->to);
}

void tracer_report(struct tracer *t, const struct engine_report *r)
{
	const uint32_t state = t->unit.acts->state;

	if (vpt_unlikely(r->flags & ENGINE_REPORT_COUNTED))
		return;
	if (!(r->flags & ENGINE_REPORT_INSN))
		t->insns += state & VPT_GATE_PACKET_EN ? r->insns : 0;
	else if (state & VPT_GATE_TRIGGER_EN)
		retired(t, r, state & VPT_GATE_PACKET_EN);
	report_event(t, r);
}

void tracer_tick(struct tracer *t, uint64_t ip)
{
	if (!tracer_acts(t))
		return;
	t->unit.ops->tick(t, ip);
	finish(t, ip);
}

void tracer_close(struct tracer *t, uint64_t ip)
{
	tracer_hardware_close(t);
	t->closing = true;
	t->unit.ops->close(t, ip);
}
