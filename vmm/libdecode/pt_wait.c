// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Report events later than their packet: with a FUP, with a branch, or at the end of an overflow.
 */
#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"

static void report(struct dec_pt *pt, const struct vptd_event *event)
{
	if (pt->ops->event)
		pt->ops->event(pt->context, event);
}

/* Returns false if the queue is full. */
static bool put(struct dec_pt_queue *queue, const struct vptd_event *event)
{
	if (queue->n == DEC_PT_QUEUE)
		return false;
	queue->at[queue->n++] = *event;
	return true;
}

/*
 * Report the events after an overflow. The overflow itself is reported before or after them. Later
 * events have the time of their own packets.
 */
static void report_behind(struct dec_pt *pt)
{
	unsigned int i;

	for (i = 0; i < pt->behind.n; i++)
		report(pt, &pt->behind.at[i]);
	pt->behind.n = 0;
	if (pt->timing && !(pt->waits & W_ALONE))
		pt->timing->holds = false;
}

void dec_pt_emit(struct dec_pt *pt, struct vptd_event event)
{
	event.offset = pt->offset;
	if (pt->waits & W_OVF) {
		if (put(&pt->behind, &event))
			return;
		report_behind(pt);
	}
	report(pt, &event);
}

void dec_pt_end_overflow(struct dec_pt *pt)
{
	const struct vptd_event overflow = {.kind = VPTD_EVENT_OVERFLOW,
					    .offset = pt->overflow_offset};

	if (!(pt->waits & W_OVF))
		return;
	pt->waits &= ~(uint32_t)W_OVF;
	report(pt, &overflow);
	report_behind(pt);
}

void dec_pt_resume_overflow(struct dec_pt *pt, uint64_t ip)
{
	pt->waits &= ~(uint32_t)W_OVF;
	report_behind(pt);
	dec_pt_emit(pt, (struct vptd_event){
				.kind = VPTD_EVENT_OVERFLOW, .flags = VPTD_EV_TO, .to = ip});
}

static void drop_bound(struct dec_pt *pt)
{
	unsigned int i, n = pt->bound.n;

	pt->bound.n = 0;
	for (i = 0; i < n; i++)
		dec_pt_emit(pt, pt->bound.at[i]);
}

void dec_pt_alone(struct dec_pt *pt, struct vptd_event event)
{
	if (!put(&pt->alone, &event)) {
		dec_pt_drop_alone(pt);
		put(&pt->alone, &event);
	}
	pt->waits |= W_ALONE;
}

void dec_pt_drop_alone(struct dec_pt *pt)
{
	unsigned int i, n = pt->alone.n;

	pt->waits &= ~(uint32_t)W_ALONE;
	pt->alone.n = 0;
	for (i = 0; i < n; i++)
		dec_pt_emit(pt, pt->alone.at[i]);
}

static void bind(struct dec_pt *pt, const struct vptd_event *event)
{
	if (!put(&pt->bound, event)) {
		drop_bound(pt);
		put(&pt->bound, event);
	}
	pt->waits |= W_BOUND;
}

void dec_pt_place_alone(struct dec_pt *pt, uint64_t ip, bool to_branch)
{
	unsigned int i;

	for (i = 0; i < pt->alone.n; i++) {
		if (pt->alone.at[i].kind == VPTD_EVENT_EVD)
			continue;
		pt->alone.at[i].flags |= VPTD_EV_IP;
		pt->alone.at[i].ip = ip;
	}
	for (i = 0; to_branch && i < pt->alone.n; i++)
		bind(pt, &pt->alone.at[i]);
	if (to_branch)
		pt->alone.n = 0;
	dec_pt_drop_alone(pt);
}

void dec_pt_cfe(struct dec_pt *pt, struct vptd_event event, bool has_fup)
{
	unsigned int i, n = pt->bound.n;

	if (has_fup) {
		pt->bound.n = 0;
		for (i = 0; i < n; i++)
			dec_pt_alone(pt, pt->bound.at[i]);
		dec_pt_alone(pt, event);
		return;
	}
	if (!pt->enabled) {
		dec_pt_emit(pt, event);
		return;
	}
	bind(pt, &event);
}

void dec_pt_mwait(struct dec_pt *pt, struct vptd_event event)
{
	pt->mwait = event;
	pt->waits |= W_MWAIT;
}

void dec_pt_exstop(struct dec_pt *pt, struct vptd_event event, bool has_fup)
{
	if (!has_fup) {
		dec_pt_drop_mwait(pt);
		dec_pt_emit(pt, event);
		return;
	}
	if (pt->waits & W_MWAIT)
		dec_pt_alone(pt, pt->mwait);
	pt->waits &= ~(uint32_t)W_MWAIT;
	dec_pt_alone(pt, event);
}

void dec_pt_drop_mwait(struct dec_pt *pt)
{
	if (!(pt->waits & W_MWAIT))
		return;
	pt->waits &= ~(uint32_t)W_MWAIT;
	dec_pt_emit(pt, pt->mwait);
}

void dec_pt_trig(struct dec_pt *pt, struct vptd_event event, bool has_fup)
{
	if (!has_fup) {
		dec_pt_emit(pt, event);
		return;
	}
	pt->trig = event;
	pt->waits |= W_TRIG;
}

void dec_pt_end_trig(struct dec_pt *pt, const uint64_t *ip)
{
	if (!(pt->waits & W_TRIG))
		return;
	pt->waits &= ~(uint32_t)W_TRIG;
	if (ip) {
		pt->trig.flags |= VPTD_EV_IP;
		pt->trig.ip = *ip;
	}
	dec_pt_emit(pt, pt->trig);
}

void dec_pt_use_bound(struct dec_pt *pt)
{
	pt->waits &= ~(uint32_t)W_BOUND;
	drop_bound(pt);
}

void dec_pt_use_vmcs(struct dec_pt *pt)
{
	if (!(pt->waits & W_VMCS))
		return;
	pt->waits &= ~(uint32_t)W_VMCS;
	pt->vmcs = pt->new_vmcs;
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_VMCS, .value = pt->vmcs});
}

void dec_pt_drop_waiting(struct dec_pt *pt)
{
	dec_pt_drop_alone(pt);
	dec_pt_drop_mwait(pt);
	dec_pt_end_trig(pt, NULL);
	dec_pt_use_bound(pt);
	if (!(pt->waits & W_PSB))
		dec_pt_use_vmcs(pt);
}
