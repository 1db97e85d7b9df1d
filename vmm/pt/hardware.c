// SPDX-License-Identifier: GPL-2.0-or-later
/* Record sessions of the processor's own PT: registers, address spaces, code and bytes. */
#include "pt/hardware.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "pt/code_pages.h"
#include "pt/sweep.h"
#include "pt/tracer.h"

/*
 * The instruction counter at the start of a session is the number of sessions, shifted left by
 * SESSION_SHIFT. No session retires 1 << 40 instructions. The positions of code are offsets.
 */
#define SESSION_SHIFT 40

/* The code is recorded again after this many times the time that this took, up to CODE_NS. */
#define CODE_PAUSE 4u
#define CODE_NS	   50000000u

static const struct engine_pt *pt_of(const struct tracer *t)
{
	return t->config.engine->pt;
}

static uint64_t counter(const struct tracer *t)
{
	return t->hardware.sessions << SESSION_SHIFT;
}

/* The argument of a sweep's callbacks. */
struct code {
	struct tracer *t;
	uint64_t cr3;
	bool all;     /* also pages far from the IPs in the trace */
	size_t pages; /* the number of pages of the space */
	size_t most;  /* the largest number of pages of a space */
};

static void code_page(void *opaque, uint64_t vaddr, uint64_t gpa)
{
	struct code *c = opaque;
	struct tracer *t = c->t;
	const struct trace_code_page page = {
		.cr3 = c->cr3,
		.vaddr = vaddr,
		.gpa = gpa,
		.insns = trace_writer_stream_bytes(t->recorder.writer, t->recorder.vcpu),
	};

	c->pages++;
	if (!tracer_collect_has(&t->hardware.collect, gpa))
		tracer_recorder_page(&t->recorder, &page, 0, X86_PAGE_SIZE,
				     x86_mem_at(t->config.mem, gpa, X86_PAGE_SIZE));
}

static bool wants_block(void *opaque, uint64_t block)
{
	const struct code *c = opaque;

	return c->all || tracer_seen_near(&c->t->hardware.seen, block);
}

/*
 * A trace of ring 3 alone has no PIPs. At a guest's WRMSR only the kernel's tables are known, so
 * the sweep finds the code of ring 3 there.
 */
static void sweep(struct code *c, struct x86_paging *paging, uint64_t cr3)
{
	const struct vpt_rtit *rtit = &c->t->hardware.rtit;
	const uint32_t flags = VPT_CTL_GET(rtit->ctl, OS) ? 0 : TRACER_SWEEP_ISOLATED;
	const struct tracer_sweep_sink sink = {code_page, wants_block, c};

	paging->cr3 = cr3;
	c->cr3 = cr3 & ~(X86_PAGE_SIZE - 1);
	c->pages = 0;
	tracer_sweep(c->t->config.mem, paging, flags, c->t->config.urged, &sink);
	if (c->pages > c->most)
		c->most = c->pages;
}

/*
 * Record the code of the address spaces that were active since the last time. The tables of a space
 * that is no longer in use may be anything by now. Without a file, no code is recorded.
 *
 * An EPOCH block marks the read, because code that it finds changed since the one before.
 *
 * A kernel's first page tables make all of memory executable. So during a session only pages near
 * the IPs of the trace are code. All pages are at its begin and end.
 *
 * Returns the number of pages of the largest space.
 */
static size_t record_code(struct tracer *t, bool all)
{
	struct code c = {.t = t, .all = all};
	struct tracer_seen *seen = &t->hardware.seen;
	struct trace_epoch read = {0};
	struct x86_paging paging;
	struct x86_sregs s;
	size_t i;

	if (!t->recorder.pages || t->config.engine->get_sregs(t->config.ev, &s))
		return 0;
	paging = (struct x86_paging){
		.cr0 = s.cr0,
		.cr4 = s.cr4,
		.efer = s.efer,
		.max_phy_addr = t->caps.max_phy_addr,
	};
	sweep(&c, &paging, s.cr3);
	for (i = 0; i < seen->spaces; i++)
		if ((seen->cr3[i] ^ s.cr3) & ~(X86_PAGE_SIZE - 1))
			sweep(&c, &paging, seen->cr3[i]);
	seen->spaces = 0;
	read.insns = counter(t);
	read.epoch = ++t->hardware.reads;
	tracer_recorder_note(&t->recorder,
			     trace_writer_epoch(t->recorder.writer, t->recorder.vcpu, &read));
	return c.most;
}

static void put_session(struct tracer *t, const struct vpt_rtit *rtit, enum trace_session_end end)
{
	struct trace_session s = {
		.edge = end == TRACE_END_NONE ? TRACE_SESSION_START : TRACE_SESSION_END,
		.end = end,
		.insns = counter(t),
		.ctl = rtit->ctl,
		.status = rtit->status,
		.output_base = rtit->output_base,
		.output_mask_ptrs = rtit->output_mask_ptrs,
		.cr3_match = rtit->cr3_match,
	};

	memcpy(s.addr, rtit->addr, sizeof(s.addr));
	tracer_recorder_session(&t->recorder, &s);
}

static void take_bytes(void *opaque, uint64_t gpa, const uint8_t *bytes, uint64_t len)
{
	struct tracer *t = opaque;
	struct tracer_recorder *rec = &t->recorder;

	rec->bytes += len;
	if (!rec->writer || rec->state & TRACER_RECORDER_REFUSED)
		return;
	len = tracer_recorder_fit(rec, len);
	tracer_seen_feed(&t->hardware.seen, bytes, len);
	tracer_recorder_note(rec, trace_writer_mapped(rec->writer, rec->vcpu, gpa, bytes, len));
}

/* End the session and start another, because a session of the file has contiguous bytes. */
static void take_lost(void *opaque)
{
	struct tracer *t = opaque;

	if (t->recorder.state & TRACER_RECORDER_REFUSED)
		return;
	tracer_seen_lost(&t->hardware.seen);
	put_session(t, &t->hardware.rtit, TRACE_END_LOST);
	put_session(t, &t->hardware.rtit, TRACE_END_NONE);
}

static void take_interrupt(void *opaque)
{
	struct tracer *t = opaque;

	t->config.pmi(t->config.opaque);
}

static void collect(struct tracer *t, const struct vpt_rtit *rtit)
{
	const struct tracer_collect_sink sink = {take_bytes, take_lost, take_interrupt, t};

	tracer_collect_read(&t->hardware.collect, rtit, &sink);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Record code during a session, if it is time. If the code of one time nearly fills the tables of
 * the recorder, all of it would go to the file each time. So the session of such a guest has the
 * code of its begin, of one read and of its end.
 */
static void record_code_now_and_then(struct tracer *t)
{
	struct tracer_hardware *h = &t->hardware;
	const uint64_t before = now_ns();
	uint64_t now, pause;

	if (before < h->code_at || h->state & TRACER_HARDWARE_FULL)
		return;
	if (record_code(t, false) > TRACER_CODE_CONTENTS / 2)
		h->state |= TRACER_HARDWARE_FULL;
	now = now_ns();
	pause = CODE_PAUSE * (now - before);
	h->code_at = now + (pause < CODE_NS ? pause : CODE_NS);
}

static void begin(struct tracer *t, const struct vpt_rtit *rtit)
{
	struct tracer_hardware *h = &t->hardware;

	h->rtit = *rtit;
	h->state = (h->state & ~TRACER_HARDWARE_FULL) | TRACER_HARDWARE_ON;
	h->sessions++;
	tracer_seen_lost(&h->seen);
	if (!(h->state & TRACER_HARDWARE_FOR_HOST))
		tracer_collect_start(&h->collect, t->config.mem, rtit);
	put_session(t, rtit, TRACE_END_NONE);
	(void)record_code(t, true);
}

static enum trace_session_end why_ended(const struct tracer *t, const struct vpt_rtit *rtit,
					enum trace_session_end otherwise)
{
	if (t->recorder.state & TRACER_RECORDER_REFUSED)
		return TRACE_END_LOST;
	if (VPT_STATUS_GET(rtit->status, ERROR))
		return TRACE_END_ERROR;
	if (VPT_STATUS_GET(rtit->status, STOPPED))
		return t->hardware.collect.state & TRACER_COLLECT_FULL ? TRACE_END_TOPA_STOP
								       : TRACE_END_TRACE_STOP;
	return otherwise;
}

static void end(struct tracer *t, const struct vpt_rtit *rtit, enum trace_session_end why)
{
	(void)record_code(t, true);
	put_session(t, rtit, why_ended(t, rtit, why));
	tracer_collect_end(&t->hardware.collect);
	t->hardware.state &= ~TRACER_HARDWARE_ON;
}

/* Returns true if the session can output anything. Only such a session is recorded. */
static bool can_trace(const struct vpt_rtit *rtit)
{
	return VPT_CTL_GET(rtit->ctl, TRACE_EN) && !VPT_STATUS_GET(rtit->status, STOPPED) &&
	       !VPT_STATUS_GET(rtit->status, ERROR);
}

enum vpt_fault tracer_hardware_wrmsr(struct tracer *t, uint32_t msr, uint64_t value)
{
	struct vpt_rtit was, is;

	if (t->config.owner != TRACE_OWNER_GUEST || msr != VPT_MSR_CTL)
		return VPT_FAULT_GP;
	if (pt_of(t)->get(t->config.ev, &was)) {
		tracer_recorder_note(&t->recorder, -EIO);
		return VPT_FAULT_GP;
	}
	is = was;
	if (vpt_rtit_write(&is, &t->caps, msr, value, VPT_ACCESS_GUEST) != VPT_FAULT_NONE ||
	    pt_of(t)->set_ctl(t->config.ev, value))
		return VPT_FAULT_GP;
	if (t->hardware.state & TRACER_HARDWARE_ON && !VPT_CTL_GET(is.ctl, TRACE_EN)) {
		collect(t, &was);
		is.status = was.status;
		end(t, &is, TRACE_END_DISABLED);
	}
	if (!(t->hardware.state & TRACER_HARDWARE_ON) && can_trace(&is))
		begin(t, &is);
	return VPT_FAULT_NONE;
}

static void find_host(struct tracer *t)
{
	struct engine_trace trace;
	unsigned int i;

	if (pt_of(t)->read(t->config.ev, &trace)) {
		tracer_recorder_note(&t->recorder, -EIO);
		return;
	}
	if (trace.lost)
		take_lost(t);
	for (i = 0; i < 2; i++)
		if (trace.piece[i].len)
			take_bytes(t, UINT64_MAX, trace.piece[i].bytes, trace.piece[i].len);
	t->hardware.rtit.status = trace.status;
}

/* Take the rest of a host's trace, and end it with these registers. */
static void end_host(struct tracer *t, struct vpt_rtit rtit, enum trace_session_end why)
{
	find_host(t);
	(void)pt_of(t)->stop(t->config.ev);
	rtit.status = t->hardware.rtit.status;
	t->hardware.rtit = rtit;
	end(t, &rtit, why);
	t->hardware.state &= ~TRACER_HARDWARE_FOR_HOST;
}

enum vpt_fault tracer_hardware_host_write(struct tracer *t, uint32_t msr, uint64_t value)
{
	struct tracer_hardware *h = &t->hardware;
	struct vpt_rtit rtit = h->rtit;
	int error;

	if (vpt_rtit_write(&rtit, &t->caps, msr, value, VPT_ACCESS_HOST) != VPT_FAULT_NONE)
		return VPT_FAULT_GP;
	if (h->state & TRACER_HARDWARE_ON && !VPT_CTL_GET(rtit.ctl, TRACE_EN)) {
		end_host(t, rtit, TRACE_END_DISABLED);
		return VPT_FAULT_NONE;
	}
	h->rtit = rtit;
	if (!VPT_CTL_GET(rtit.ctl, TRACE_EN))
		return VPT_FAULT_NONE;
	/* The processor's registers are new. */
	rtit.status = 0;
	error = pt_of(t)->start(t->config.ev, &rtit);
	if (error) {
		tracer_recorder_note(&t->recorder, error);
		return VPT_FAULT_GP;
	}
	h->state |= TRACER_HARDWARE_FOR_HOST;
	rtit.ctl = (rtit.ctl & ~VPT_CTL_MASK(FABRIC_EN)) | VPT_CTL_MASK(TOPA);
	begin(t, &rtit);
	return VPT_FAULT_NONE;
}

void tracer_hardware_take(struct tracer *t)
{
	struct vpt_rtit rtit;

	if (!(t->hardware.state & TRACER_HARDWARE_ON))
		return;
	if (t->hardware.state & TRACER_HARDWARE_FOR_HOST)
		find_host(t);
	else if (!pt_of(t)->get(t->config.ev, &rtit))
		collect(t, &rtit);
	record_code_now_and_then(t);
	tracer_recorder_sync(&t->recorder);
}

void tracer_hardware_close(struct tracer *t)
{
	struct vpt_rtit rtit = t->hardware.rtit;

	if (!(t->hardware.state & TRACER_HARDWARE_ON))
		return;
	if (t->hardware.state & TRACER_HARDWARE_FOR_HOST) {
		end_host(t, rtit, TRACE_END_CLOSED);
		return;
	}
	tracer_hardware_take(t);
	(void)pt_of(t)->get(t->config.ev, &rtit);
	end(t, &rtit, TRACE_END_CLOSED);
}
