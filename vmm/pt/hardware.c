// SPDX-License-Identifier: GPL-2.0-or-later
/* Record sessions of the processor's own PT: registers, address spaces, code and bytes. */
#include "pt/hardware.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "pt/code_pages.h"
#include "pt/hardware_code.h"
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

uint64_t tracer_hardware_counter(const struct tracer *t)
{
	return t->hardware.sessions << SESSION_SHIFT;
}

static void put_session(struct tracer *t, const struct vpt_rtit *rtit, enum trace_session_end end)
{
	struct trace_session s = {
		.edge = end == TRACE_END_NONE ? TRACE_SESSION_START : TRACE_SESSION_END,
		.end = end,
		.insns = tracer_hardware_counter(t),
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

/* Return the end of the pause after an action that began at @before. */
static uint64_t after_pause(uint64_t before)
{
	const uint64_t now = now_ns();
	const uint64_t pause = CODE_PAUSE * (now - before);

	return now + (pause < CODE_NS ? pause : CODE_NS);
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

	if (before < h->code_at || h->state & TRACER_HARDWARE_FULL)
		return;
	tracer_code_written(t);
	if (tracer_code_sweep(t, TRACER_CODE_SWEEP_NEAR) > TRACER_CODE_CONTENTS / 2)
		h->state |= TRACER_HARDWARE_FULL;
	h->code_at = after_pause(before);
}

static void begin(struct tracer *t, const struct vpt_rtit *rtit)
{
	struct tracer_hardware *h = &t->hardware;

	h->rtit = *rtit;
	h->state = (h->state &
		    ~(TRACER_HARDWARE_FULL | TRACER_HARDWARE_LOGS | TRACER_HARDWARE_STOPS)) |
		   TRACER_HARDWARE_ON;
	h->sessions++;
	tracer_seen_lost(&h->seen);
	if (h->state & TRACER_HARDWARE_FOR_HOST)
		tracer_code_log(t);
	else
		tracer_collect_start(&h->collect, t->config.mem, rtit);
	put_session(t, rtit, TRACE_END_NONE);
	(void)tracer_code_sweep(t, TRACER_CODE_SWEEP_ALL);
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
	tracer_code_written(t);
	(void)tracer_code_sweep(t, TRACER_CODE_SWEEP_ALL);
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
	if (t->hardware.state & TRACER_HARDWARE_FOR_HOST) {
		find_host(t);
	} else if (!pt_of(t)->get(t->config.ev, &rtit)) {
		collect(t, &rtit);
	}
	record_code_now_and_then(t);
	tracer_recorder_sync(&t->recorder);
}

void tracer_hardware_exited(struct tracer *t)
{
	struct tracer_hardware *h = &t->hardware;
	const bool stops = h->state & TRACER_HARDWARE_STOPS;
	uint64_t before = now_ns();

	if (before >= h->written_at || stops) {
		find_host(t);
		tracer_code_written(t);
		h->written_at = after_pause(before);
		before = now_ns();
	}
	if (h->state & TRACER_HARDWARE_FULL)
		return;
	/* A short process may be gone at the next exit. */
	if (before >= h->new_at || (stops && tracer_code_is_new(t))) {
		find_host(t);
		(void)tracer_code_sweep(t, TRACER_CODE_SWEEP_NEW);
		h->new_at = stops ? now_ns() + CODE_NS : after_pause(before);
	}
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
