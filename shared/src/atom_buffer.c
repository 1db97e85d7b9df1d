// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The internal buffer of the Atom trace unit (4.2.5). Packets fill it and core clocks drain it. A
 * packet that does not fit sets Buffer_Overflow, which software can set too.
 */
#include "atom_gen.h"
#include "gen_clock.h"

void vpti_atom_buffer_start(struct vpt_atom *a)
{
	vpti_atom_buffer_empty(a);
	a->buffer.drained = a->time.now.cycles;
	/* A TraceStop is deferred while Buffer_Overflow is set, even into the next trace. */
	if (!vpti_atom_overflow(a))
		a->buffer.stop_held = false;
}

void vpti_atom_buffer_empty(struct vpt_atom *a)
{
	a->buffer.fill = 0;
	a->buffer.credit = 0;
}

/* [ATOM-SLEEP-DRAIN] The buffer does not drain while the core sleeps. */
void vpti_atom_buffer_pass(struct vpt_atom *a)
{
	struct vpt_atom_buffer *buffer = &a->buffer;
	const struct vpti_level level = {&buffer->drained, &buffer->fill, &buffer->credit};

	if (a->time.asleep)
		buffer->drained = a->time.now.cycles;
	else
		vpti_level_drain(level, a->options.buffer_drain, a->time.now.cycles);
}

void vpti_atom_set_overflow(struct vpt_atom *a, bool overflow)
{
	a->regs.status &= ~(uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	if (overflow)
		a->regs.status |= (uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	vpti_atom_update(a);
}

/* [ATOM-OVF] */
bool vpti_atom_room(struct vpt_atom *a, size_t len)
{
	if (vpti_atom_overflow(a))
		return false;
	if (len > a->options.buffer_bytes - a->buffer.fill) {
		vpti_atom_set_overflow(a, true);
		return false;
	}
	a->buffer.fill += (uint32_t)len;
	return true;
}

void vpti_atom_force(struct vpt_atom *a, size_t len)
{
	const uint32_t left = a->options.buffer_bytes - a->buffer.fill;

	if (a->options.buffer_bytes)
		a->buffer.fill += len < left ? (uint32_t)len : left;
}
