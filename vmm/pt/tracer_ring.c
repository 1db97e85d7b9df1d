// SPDX-License-Identifier: GPL-2.0-or-later
/* Begin another generation of a ring, where a decoder can begin. */
#include "pt/tracer_ring.h"

#include "pt/tracer_session.h"

bool tracer_ring_is_open(const struct tracer *t)
{
	return t->unit.acts->state & VPT_GATE_TRIGGER_EN &&
	       !(t->recorder.state & TRACER_RECORDER_LOST);
}

void tracer_ring_end(struct tracer *t, uint64_t ip)
{
	/* Packets that are due before the PSB, and the outcomes of an incomplete packet. */
	tracer_tick(t, ip);
	if (tracer_ring_is_open(t))
		vpt_pt_flush(&t->pt);
	t->unit.ops->flush(t);
	tracer_recorder_sync(&t->recorder);
}

/* As if the bytes of its period had been sent. */
void tracer_ring_psb(struct tracer *t, uint64_t ip)
{
	t->pt.psb_bytes = t->pt.psb_period;
	vpt_pt_tnt_due(&t->pt, ip);
	t->unit.ops->flush(t);
	tracer_recorder_sync(&t->recorder);
}

int tracer_ring_begin(struct tracer *t, struct trace_ring *ring, uint64_t ip)
{
	struct tracer_recorder *rec = &t->recorder;
	int error = tracer_recorder_move(rec, rec->writer);

	if (error)
		return error;
	trace_ring_place(ring, rec->vcpu, rec->insns);
	if (tracer_ring_is_open(t)) {
		tracer_ring_psb(t, ip);
		trace_ring_state(ring, true);
		tracer_session_enter(t, ip, NULL, 0);
		trace_ring_state(ring, false);
	} else {
		/* The next session begins with a PSB. */
		t->pt.rtit.status &= ~VPT_STATUS_MASK(PACKET_BYTE_CNT);
	}
	return rec->error;
}
