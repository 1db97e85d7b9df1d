// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The internal buffer of Atom's RTIT (4.2.5): packets fill it, core clocks empty it. The one
 * that does not fit sets Buffer_Overflow, as software can.
 */
#include "atom_gen.h"
#include "gen_clock.h"

void vpt_atom_buffer_start(struct vpt_atom *a)
{
	vpt_atom_buffer_empty(a);
	a->buffer.drained = a->time.now.cycles;
	/* A TraceStop is held for as long as Buffer_Overflow is set, in the next trace too. */
	if (!vpt_atom_overflow(a))
		a->buffer.stop_held = false;
}

void vpt_atom_buffer_empty(struct vpt_atom *a)
{
	a->buffer.fill = 0;
	a->buffer.credit = 0;
}

/* [ATOM-SLEEP-DRAIN] What is in it while the core sleeps stays. */
void vpt_atom_buffer_pass(struct vpt_atom *a)
{
	struct vpt_atom_buffer *buffer = &a->buffer;
	const struct vpt_level level = {&buffer->drained, &buffer->fill, &buffer->credit};

	if (a->time.asleep)
		buffer->drained = a->time.now.cycles;
	else
		vpt_level_drain(level, a->options.buffer_drain, a->time.now.cycles);
}

void vpt_atom_set_overflow(struct vpt_atom *a, bool overflow)
{
	a->regs.status &= ~(uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	if (overflow)
		a->regs.status |= (uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	vpt_atom_update(a);
}

/* [ATOM-OVF] */
bool vpt_atom_room(struct vpt_atom *a, size_t len)
{
	if (vpt_atom_overflow(a))
		return false;
	if (len > a->options.buffer_bytes - a->buffer.fill) {
		vpt_atom_set_overflow(a, true);
		return false;
	}
	a->buffer.fill += (uint32_t)len;
	return true;
}

void vpt_atom_force(struct vpt_atom *a, size_t len)
{
	const uint32_t left = a->options.buffer_bytes - a->buffer.fill;

	if (a->options.buffer_bytes)
		a->buffer.fill += len < left ? (uint32_t)len : left;
}

/* [ATOM-STOP ATOM-WHEN-STOP ATOM-OVF-STOP ATOM-E4] */
void vpt_atom_trace_stop(struct vpt_atom *a)
{
	if (vpt_atom_overflow(a) && vpt_atom_erratum(a, VPT_ATOM_E4)) {
		(void)vpt_atom_put_stop(a, true);
		return;
	}
	a->buffer.stop_held = !vpt_atom_put_stop(a, false);
	if (a->buffer.stop_held)
		return;
	a->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, TRACE_ACTIVE);
	a->filter_en = false;
	vpt_atom_end(a);
}

/*
 * [ATOM-OVF-CLEAR ATOM-WHEN-OVF ATOM-OVF-TNT] Between two instructions: what comes here fits
 * into an empty buffer of any size.
 */
void vpt_atom_resolve(struct vpt_atom *a, uint64_t ip)
{
	const uint64_t lip = vpt_atom_lip(a, ip);
	const bool branched = a->buffer.branched && a->buffer.branched_to == lip;

	if (!vpt_atom_overflow(a) || a->buffer.fill || !a->trigger_en || !a->context_en)
		return;
	vpt_atom_set_overflow(a, false);
	vpt_atom_forget_lips(a);
	vpt_atom_put_lip(a, VPT_ATOM_PKT_BUF_OVF, lip);
	/* [ATOM-E5] */
	if (branched && vpt_atom_erratum(a, VPT_ATOM_E5))
		vpt_atom_put_lip(a, VPT_ATOM_PKT_TIP, lip);
	if (a->buffer.stop_held)
		vpt_atom_trace_stop(a);
}
