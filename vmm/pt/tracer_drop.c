// SPDX-License-Identifier: GPL-2.0-or-later
/* Leave a part of a trace out of its file. */
#include "pt/tracer_drop.h"

#include "pt/tracer_ring.h"
#include "pt/tracer_session.h"

void tracer_drop_begin(struct tracer *t, uint64_t ip)
{
	struct tracer_recorder *rec = &t->recorder;

	tracer_ring_end(t, ip);
	if (tracer_ring_is_open(t))
		tracer_session_leave(t, ip);
	/* Until the end of the gap, this is the number without the bytes of the gap. */
	rec->dropped -= rec->bytes;
	tracer_recorder_set(rec, TRACER_RECORDER_DROPS, true);
	tracer_recorder_set(rec, TRACER_RECORDER_LOST, true);
}

uint64_t tracer_drop_bytes(const struct tracer *t)
{
	const struct tracer_recorder *rec = &t->recorder;

	return rec->dropped + (rec->state & TRACER_RECORDER_DROPS ? rec->bytes : 0);
}

void tracer_drop_end(struct tracer *t, uint64_t ip)
{
	struct tracer_recorder *rec = &t->recorder;

	/* The packets of instructions before the gap's end belong to the gap. */
	tracer_tick(t, ip);
	if (t->unit.acts->state & VPT_GATE_TRIGGER_EN)
		vpt_pt_flush(&t->pt);
	t->unit.ops->flush(t);
	rec->dropped += rec->bytes;
	tracer_recorder_set(rec, TRACER_RECORDER_DROPS, false);
	tracer_recorder_set(rec, TRACER_RECORDER_LOST, false);
	if (tracer_ring_is_open(t)) {
		tracer_session_enter(t, ip, NULL, 0);
		tracer_ring_psb(t, ip);
	} else {
		t->pt.rtit.status &= ~VPT_STATUS_MASK(PACKET_BYTE_CNT);
	}
}
