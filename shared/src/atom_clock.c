// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The clock of the Atom trace unit: the time that was last read, and CNTP (3.3.4). */
#include "atom_gen.h"
#include "gen_clock.h"

#define CNTP_MASK ((uint32_t)VPT_MASK64(VPT_ATOM_CNTP_BITS - 1, 0))

void vpti_atom_clock_read(const struct vpt_atom *a, struct vpt_clock *now)
{
	vpti_clock_read(a->ops, a->opaque, a->time.now.cycles, now);
}

/* [ATOM-CYC-WRAP] */
void vpti_atom_clock_advance(struct vpt_atom *a, uint64_t cycles)
{
	if (a->time.counting && !a->time.asleep)
		a->regs.cntp = (uint32_t)(a->regs.cntp + (cycles - a->time.now.cycles)) & CNTP_MASK;
	a->time.now.cycles = cycles;
}

void vpti_atom_set_counting(struct vpt_atom *a, bool counting)
{
	/* In the slow path each event has already read the time. */
	if (!a->slow && a->trigger_en) {
		struct vpt_clock now;

		vpti_atom_clock_read(a, &now);
		vpti_atom_clock_advance(a, now.cycles);
		a->time.now = now;
	}
	a->time.counting = counting;
}
